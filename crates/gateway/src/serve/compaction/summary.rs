//! Summaries that clients ask a model for (`/compact` of Claude Code, opencode and others), answered with our handoff and the
//! words that followed it. No model is asked.

use super::super::Body;
use super::super::assistant_answer;
use super::super::gateway::Gateway;
use super::super::rewrite::TurnRequest;
use super::super::slash_commands::folded;
use crate::conversation::{Bypass, IncomingTurn, PurposeHint, is_compaction};
use foldline_core::handoff::handoff_part;
use foldline_core::reading::{self, Choice, PAGE_SIZES, Reach, Way};
use foldline_transcript::edit::Span;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::{Role, Transcript, wire};
use http::Response;
use std::sync::Arc;
use tracing::info;

/// Characters of what followed the handoff that are told with it; the newest of them.
const LATEST: usize = 24_000;
/// Stands between a handoff and what followed it.
const FOLLOWED: &str = "What followed, word for word:";

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
        let told = told(&wire::read(&prepared.body, Some(turn_request.dialect.format())).ok()?)?;
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

/// The latest handoff of a conversation, and what was said and done since.
fn told(transcript: &Transcript<'_>) -> Option<String> {
    let parts = (0..transcript.messages.len()).rev();
    let (at, part) = parts.filter_map(|index| Some((index, handoff_part(transcript, index)?))).next()?;
    let handoff = transcript.words(transcript.parts.get(part)?).into_owned();
    let rest = transcript.messages.get(at + 1..).unwrap_or_default();
    let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return Some(handoff) };
    let raw = transcript.raw(Span::new(first.span.range().start, last.span.range().end));
    let choice = Choice { page_size: *PAGE_SIZES.end(), ..Choice::default() };
    let page = reading::page(&reading::read(raw, ""), &choice, &Way::of(Reach::Nothing), "").ok()?.to_string();
    let skipped = page.chars().count().saturating_sub(LATEST);
    let start = page.char_indices().nth(skipped).map_or(0, |(start, _)| start);
    // A line that is cut says something else.
    let start = if skipped == 0 { 0 } else { start + page.get(start..)?.find('\n').map_or(0, |end| end + 1) };
    Some(format!("{handoff}\n\n{FOLLOWED}\n{}", page.get(start..)?))
}
