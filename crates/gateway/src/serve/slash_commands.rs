//! `/compress`, `/pin …` and `/unpin …` for people who chat: a message that is exactly one of these is answered here, as
//! an assistant would; the provider is not asked. `/compress` folds the conversation before it, with a focus or without.
//! Pins stay in the conversation as messages, where folds find them.

use super::Body;
use super::assistant_answer;
use super::gateway::Gateway;
use super::rewrite::TurnRequest;
use crate::conversation::{Bypass, Conversations, IncomingTurn, Outcome, PrepareError, Prepared};
use bytes::Bytes;
use foldline_core::ledger::PinOrder;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire;
use foldline_transcript::{PartKind, Role};
use http::Response;
use std::sync::Arc;
use tracing::info;

/// The command.
const COMMAND: &str = "/compress";

/// A request that is a command.
#[derive(Debug, PartialEq, Eq)]
struct SlashCommand {
    model: String,
    action: Action,
}

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Fold {
        focus: Option<String>,
        /// The request without the command.
        before: Option<String>,
    },
    Pin(String),
    Unpin(String),
}

/// What became of it.
enum CommandResult {
    Nothing,
    Folded { before: u64, after: u64 },
    Pinned(String),
    Unpinned(String),
}

/// The answer to a request whose last message is the command; `None` for every other, and where folding fails: then
/// the request is forwarded as any other.
pub async fn answer(gateway: &Arc<Gateway>, turn_request: &TurnRequest) -> Option<Response<Body>> {
    let is_in = |command: &str| memchr::memmem::find(&turn_request.body, command.as_bytes()).is_some();
    if turn_request.hints.bypass == Bypass::Wanted || !(is_in(COMMAND) || is_in("/pin") || is_in("/unpin")) {
        return None;
    }
    let (turn_request, conversations) = (turn_request.clone(), gateway.conversations.clone());
    let job = tokio::task::spawn_blocking(move || {
        let text = std::str::from_utf8(&turn_request.body).ok()?;
        let command = SlashCommand::read(text, turn_request.dialect.format())?;
        let result = command.run(&conversations, &turn_request).ok()?;
        let streams = turn_request.url.delivery.unwrap_or_else(|| assistant_answer::streams(text));
        let model = turn_request.url.model.as_deref().map_or(command.model, str::to_owned);
        Some((turn_request.dialect, model, streams, result))
    });
    let (dialect, model, streams, result) = job.await.ok()??;
    let words = match result {
        CommandResult::Nothing => "There is nothing to compact yet: the conversation is short.".to_owned(),
        CommandResult::Folded { before, after } => {
            info!(before, after, "folded by command");
            format!("Compacted the conversation: about {before} tokens became {after}. Go on as before.")
        }
        CommandResult::Pinned(text) => {
            format!(
                "Pinned: {text}\nIt stays in this conversation through every compaction, until /unpin takes it back."
            )
        }
        CommandResult::Unpinned(text) => format!("Unpinned what contains: {text}"),
    };
    gateway.metrics.turn(dialect, "command", (0, 0), std::time::Duration::ZERO);
    Some(assistant_answer::answer(dialect, &model, &words, streams))
}

impl SlashCommand {
    fn read(text: &str, format: foldline_core::Format) -> Option<SlashCommand> {
        let transcript = wire::read(text, Some(format)).ok()?;
        let last = transcript.messages.len().checked_sub(1)?;
        let message = transcript.messages.get(last).filter(|message| message.role == Role::User)?;
        let [part] = transcript.parts_of(message) else { return None };
        if part.kind != PartKind::Text {
            return None;
        }
        let words = transcript.words(part);
        let model = transcript.model.as_deref().unwrap_or_default().to_owned();
        match PinOrder::read(&words).filter(|_| !words.trim().contains('\n')) {
            Some(PinOrder::Pin(text)) => return Some(SlashCommand { model, action: Action::Pin(text.to_owned()) }),
            Some(PinOrder::Unpin(text)) => return Some(SlashCommand { model, action: Action::Unpin(text.to_owned()) }),
            None => {}
        }
        let rest = words.trim().strip_prefix(COMMAND)?;
        if !(rest.is_empty() || rest.starts_with([' ', '\t']) && !rest.contains('\n')) {
            return None;
        }
        let focus = Some(rest.trim().to_owned()).filter(|focus| !focus.is_empty());
        let before = (last > 0).then(|| {
            let mut rewrite = Rewrite::default();
            rewrite.remove(last);
            rewrite.apply(&transcript)
        });
        Some(SlashCommand { model, action: Action::Fold { focus, before } })
    }

    fn run(&self, conversations: &Conversations, turn_request: &TurnRequest) -> Result<CommandResult, PrepareError> {
        match &self.action {
            Action::Fold { focus, before: Some(before) } => fold(focus.as_deref(), before, conversations, turn_request),
            Action::Fold { before: None, .. } => Ok(CommandResult::Nothing),
            Action::Pin(text) => Ok(CommandResult::Pinned(text.clone())),
            Action::Unpin(text) => Ok(CommandResult::Unpinned(text.clone())),
        }
    }
}

/// Folds what stands before the command, which itself is no part of the task.
fn fold(
    focus: Option<&str>,
    before: &str,
    conversations: &Conversations,
    turn_request: &TurnRequest,
) -> Result<CommandResult, PrepareError> {
    let body = Bytes::from(before.to_owned());
    let turn_request = TurnRequest { body: turn_request.body.with(body), ..turn_request.clone() };
    let (before, after) = folded(conversations, &IncomingTurn { focus, ..turn_request.ask(before) })?.tokens;
    Ok(if after < before { CommandResult::Folded { before, after } } else { CommandResult::Nothing })
}

/// A request that is folded now, whatever its size.
pub fn folded<'a>(conversations: &Conversations, ask: &IncomingTurn<'a>) -> Result<Prepared<'a>, PrepareError> {
    // The first look finds the session, the second folds it.
    let prepared = conversations.prepare(ask)?;
    if prepared.outcome == Outcome::Folded {
        return Ok(prepared);
    }
    conversations.compact_now(&prepared.session, ask.focus)?;
    conversations.prepare(ask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::Format;
    use serde_json::json;

    fn read(last: &str) -> Option<SlashCommand> {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": last}]});
        SlashCommand::read(&body.to_string(), Format::OpenAiChat)
    }

    fn focus_of(last: &str) -> Option<String> {
        match read(last)?.action {
            Action::Fold { focus, .. } => focus,
            _ => None,
        }
    }

    #[test]
    fn only_a_message_that_is_exactly_the_command_is_one() {
        assert!(matches!(read("/compress").unwrap().action, Action::Fold { focus: None, .. }));
        assert_eq!(focus_of(" /compress the database schema ").as_deref(), Some("the database schema"));
        assert_eq!(read("/pin no calls before nine").unwrap().action, Action::Pin("no calls before nine".to_owned()));
        assert_eq!(read("/unpin calls").unwrap().action, Action::Unpin("calls".to_owned()));
        for other in ["/compressed", "please /compress", "/compress\nand then go on", "/compact", "/pin", "/pin a\nb"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn the_command_is_no_part_of_what_is_folded() {
        let Action::Fold { before: Some(before), .. } = read("/compress").unwrap().action else { panic!() };
        assert!(before.contains("Hello") && !before.contains(COMMAND), "{before}");
    }
}
