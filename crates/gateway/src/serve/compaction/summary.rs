//! Summaries that clients ask a model for (`/compact` of Claude Code, opencode and others), answered with our handoff and the
//! words that followed it. No model is asked.

use super::super::Body;
use super::super::assistant_answer;
use super::super::gateway::Gateway;
use super::super::rewrite::TurnRequest;
use super::super::slash_commands::folded;
use crate::conversation::{Bypass, IncomingTurn, PurposeHint, is_compaction};
use foldline_core::handoff::latest;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::{Role, Transcript, wire};
use http::Response;
use std::sync::Arc;
use tracing::info;

/// The answer to a request for a summary; `None` for any other request, and where nothing could be folded: then the model is
/// asked as the client wanted.
pub async fn answer(gateway: &Arc<Gateway>, turn_request: &TurnRequest) -> Option<Response<Body>> {
    if turn_request.hints.bypass == Bypass::Wanted {
        return None;
    }
    let (turn_request, conversations) = (turn_request.clone(), gateway.conversations.clone());
    let dialect = turn_request.dialect;
    let job = tokio::task::spawn_blocking(move || {
        let text = std::str::from_utf8(&turn_request.body).ok()?;
        let transcript = wire::read(text, Some(turn_request.dialect.format())).ok()?;
        if !is_compaction(turn_request.hints.purpose, &transcript) {
            return None;
        }
        let before = without_instruction(&transcript)?;
        let ask = IncomingTurn { purpose: PurposeHint::Turn, ..turn_request.ask(&before) };
        let prepared = folded(&conversations, &ask).ok()?;
        let told = latest(&wire::read(&prepared.body, Some(turn_request.dialect.format())).ok()?)?;
        let streams = turn_request.url.delivery.unwrap_or_else(|| assistant_answer::streams(text));
        let model = turn_request.url.model.as_deref().or(transcript.model.as_deref()).unwrap_or_default().to_owned();
        Some((told, model, streams, prepared.tokens))
    });
    let (told, model, streams, (before, after)) = job.await.ok()??;
    info!(before, after, "summarised for the client");
    gateway.metrics.turn(dialect, "summary", (before, after), std::time::Duration::ZERO);
    Some(assistant_answer::answer(dialect, &model, &told, streams))
}

/// The conversation without the message that asks for its summary.
fn without_instruction(transcript: &Transcript<'_>) -> Option<String> {
    let last = transcript.messages.len().checked_sub(1)?;
    transcript.messages.get(last).filter(|message| message.role == Role::User && last > 0)?;
    let mut rewrite = Rewrite::default();
    rewrite.remove(last);
    Some(rewrite.apply(transcript))
}
