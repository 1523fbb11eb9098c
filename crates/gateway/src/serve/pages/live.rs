//! Live updates: server-sent events when something changed that the viewer may see. The page is then fetched again.

use super::access::Viewer;
use super::refusal;
use crate::serve::answer::text_answer;
use crate::serve::gateway::Gateway;
use crate::serve::{Body, BoxError};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::BodyExt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// How often it is looked whether something changed.
const LOOK_EVERY: Duration = Duration::from_millis(700);
/// Looks without news after which a comment keeps the connection known to whatever stands between.
const QUIET_LOOKS: u32 = 20;
/// Looks after which a stream ends; browsers come back by themselves.
const MOST_LOOKS: u32 = 1_200;
/// Sessions that are looked at.
const MOST_SESSIONS: usize = 100;

/// The stream of a viewer.
pub fn stream(gateway: &Arc<Gateway>, viewer: Viewer) -> Response<Body> {
    let Ok(permit) = gateway.viewers.clone().try_acquire_owned() else {
        let words = "Too many live pages are open; this one does not update itself.";
        return refusal(&viewer, StatusCode::SERVICE_UNAVAILABLE, words);
    };
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(watch(gateway.clone(), viewer, sender));
    let mut answer = text_answer(StatusCode::OK, "text/event-stream", "");
    *answer.body_mut() = Events { receiver, _permit: permit }.boxed_unsync();
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

async fn watch(gateway: Arc<Gateway>, viewer: Viewer, sender: mpsc::Sender<Bytes>) {
    let mut seen = None;
    let mut quiet = 0;
    for _ in 0..MOST_LOOKS {
        let is_revoked = !gateway.setup().keys.knows(viewer.credential);
        if is_revoked || !gateway.is_open.load(Ordering::Relaxed) || sender.is_closed() {
            return;
        }
        let now = look(&gateway, viewer).await;
        let event = match seen {
            // The page fetches itself again, because it may be older than this first look.
            None => Some("event: ready\ndata: \n\n"),
            Some(before) if before != now => Some("event: changed\ndata: \n\n"),
            Some(_) if quiet >= QUIET_LOOKS => Some(": still here\n\n"),
            Some(_) => None,
        };
        seen = Some(now);
        quiet += 1;
        if let Some(event) = event {
            quiet = 0;
            if sender.send(Bytes::from_static(event.as_bytes())).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = sender.closed() => return,
        }
    }
}

/// A digest of what the viewer may see. Nobody learns when others are at work.
async fn look(gateway: &Arc<Gateway>, viewer: Viewer) -> u64 {
    let gateway = gateway.clone();
    let sessions = tokio::task::spawn_blocking(move || {
        gateway.conversations.sessions(viewer.whose().as_ref(), MOST_SESSIONS).unwrap_or_default()
    });
    let mut hasher = DefaultHasher::new();
    for session in sessions.await.unwrap_or_default() {
        let sums = session.sums;
        (session.id.as_str(), session.last_at, session.context).hash(&mut hasher);
        (sums.requests, sums.folds, sums.prunes, sums.reported_prompt, sums.reported_output).hash(&mut hasher);
    }
    hasher.finish()
}

/// The body of a stream.
struct Events {
    receiver: mpsc::Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.receiver.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}
