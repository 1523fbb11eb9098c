//! Compactions that clients ask for, answered here: Codex' `compaction_trigger` where the upstream cannot serve it, and, if the
//! settings say so, summaries that clients ask a model for.

mod item;
mod summary;

pub use summary::answer as answer_summary;

use super::Body;
use super::answer::Refusal;
use super::assistant_answer::{self, Delivery};
use super::budget::AccountedBytes;
use super::gateway::Gateway;
use super::rewrite::TurnRequest;
use super::slash_commands::folded;
use crate::conversation::{IncomingTurn, PurposeHint};
use foldline_transcript::wire;
use http::{Response, StatusCode};
use item::Items;
use std::sync::Arc;
use tracing::info;

/// The body with what our own compaction items stand for; `None` when it has none.
pub async fn expand(
    gateway: &Arc<Gateway>,
    body: &AccountedBytes,
    limit: u64,
) -> Result<Option<AccountedBytes>, Refusal> {
    if memchr::memmem::find(body, b"foldline.1.").is_none() {
        return Ok(None);
    }
    let (body, memory) = (body.clone(), gateway.memory.clone());
    // As for bodies that are packed: few at once, on a thread that may block.
    let worker = gateway.workers.clone().acquire_owned().await;
    let job = tokio::task::spawn_blocking(move || {
        let _worker = worker;
        match std::str::from_utf8(&body).ok().and_then(Items::of) {
            Some(items) => items.expanded(limit, &memory),
            None => Ok(None),
        }
    });
    job.await.unwrap_or(Ok(None))
}

/// The body without Codex' request for a compaction; `None` when it has none.
pub fn without_trigger(body: &[u8]) -> Option<String> {
    memchr::memmem::find(body, b"compaction_trigger")?;
    Items::of(std::str::from_utf8(body).ok()?)?.without_trigger()
}

/// Whether an upstream's answer says that it does not know what is asked of it.
pub fn is_refused(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 405 | 415 | 422 | 501)
}

/// The answer to a trigger: one item that stands for the conversation before it. `None` when it cannot be made.
pub async fn answer(gateway: &Arc<Gateway>, turn_request: &TurnRequest, before: String) -> Option<Response<Body>> {
    let (turn_request, conversations) = (turn_request.clone(), gateway.conversations.clone());
    let dialect = turn_request.dialect;
    let job = tokio::task::spawn_blocking(move || {
        let ask = IncomingTurn { purpose: PurposeHint::Turn, ..turn_request.ask(&before) };
        let prepared = folded(&conversations, &ask).ok()?;
        let transcript = wire::read(&prepared.body, Some(turn_request.dialect.format())).ok()?;
        // Instructions at the beginning come anew with every request.
        let lead = transcript.messages.iter().take_while(|message| message.role.is_instruction()).count();
        let kept = transcript.messages.get(lead..).filter(|kept| !kept.is_empty())?;
        let items: Vec<&str> = kept.iter().map(|message| transcript.raw(message.span)).collect();
        let content = item::packed(&items.join(","))?;
        let model = transcript.model.as_deref().unwrap_or_default().to_owned();
        Some((content, model, assistant_answer::streams(&before), prepared.tokens))
    });
    let (content, model, delivery, (before, after)) = job.await.ok()??;
    info!(before, after, "compacted for the client");
    gateway.metrics.turn(dialect, "compaction", (before, after), std::time::Duration::ZERO);
    let delivery = if delivery == Delivery::Whole { Delivery::Whole } else { Delivery::Stream };
    Some(assistant_answer::compaction(&model, &content, after, delivery))
}
