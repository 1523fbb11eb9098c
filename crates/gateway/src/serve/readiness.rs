//! The readiness check. Anybody may call it, so the store is checked at most twice a second.

use super::Body;
use super::endpoints::text;
use super::gateway::Gateway;
use http::{Response, StatusCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// For how long an answer of the store is repeated.
const REPEATED: Duration = Duration::from_millis(500);
/// How long somebody waits for one.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the store answered last.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, Verdict)>>);

/// Whether the store can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ready,
    Broken,
}

/// Answers whether the gateway is ready.
pub async fn answer(gateway: &Arc<Gateway>) -> Response<Body> {
    let not = |words| text(StatusCode::SERVICE_UNAVAILABLE, words);
    if !gateway.is_open.load(Ordering::Relaxed) {
        return not("stopping\n");
    }
    if gateway.trouble().is_some() {
        return not("the store cannot be opened; requests are forwarded unchanged\n");
    }
    // Requests are still forwarded, but nothing is folded: whoever balances load should know.
    match tokio::time::timeout(PATIENCE, verdict(gateway)).await {
        Ok(Verdict::Ready) => text(StatusCode::OK, "ready\n"),
        Ok(Verdict::Broken) => not("the store is not writable; requests are forwarded unchanged\n"),
        Err(_) => not("the store does not respond; requests are forwarded unchanged\n"),
    }
}

async fn verdict(gateway: &Arc<Gateway>) -> Verdict {
    let mut last = gateway.readiness.0.lock().await;
    if let Some((at, verdict)) = *last
        && at.elapsed() < REPEATED
    {
        return verdict;
    }
    let conversations = gateway.conversations.clone();
    let verdict = match tokio::task::spawn_blocking(move || conversations.probe()).await {
        Ok(Ok(())) => Verdict::Ready,
        Ok(Err(_)) | Err(_) => Verdict::Broken,
    };
    *last = Some((Instant::now(), verdict));
    verdict
}
