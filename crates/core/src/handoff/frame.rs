//! What a handoff says about itself: that it is a record and no request, and where the live conversation is.

use super::mark::{CLOSING, OPENING};
use serde::Serialize;

/// Where the conversation stood when it was folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The assistant had answered; the user speaks next.
    AwaitingUser,
    /// The assistant was at work: a request or a tool result waits for it.
    InToolLoop,
    /// The user stopped the assistant, or a call never came back.
    Interrupted,
}

/// What surrounds the sections.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The request that is being worked on, in the user's words.
    pub task: Option<&'a str>,
    /// Whether the request stands as a live message before the handoff instead of after it.
    pub task_is_above: bool,
    /// Where the conversation stood.
    pub standing: Standing,
    /// Messages that the handoff stands for.
    pub messages: usize,
    /// Handle of the folded originals, if they are kept.
    pub handle: Option<&'a str>,
    /// A note about how the handoff was made, if there is something to say.
    pub note: Option<&'a str>,
}

impl Frame<'_> {
    /// The lines above the first section.
    pub(super) fn opening(&self) -> String {
        let originals = match self.handle {
            Some(handle) => format!(" `foldline recall {handle} [--grep RE]` prints the folded text."),
            None => String::new(),
        };
        let note = self.note.map(|note| format!("\nNote: {note}")).unwrap_or_default();
        format!(
            "{OPENING} · reference only]\n\
             Record of {} earlier messages: no request, needs no answer. The newest user message wins; system prompt, \
             memory files and tools stay in force. Files may have changed.{originals}{note}\n",
            self.messages
        )
    }

    /// The line below the last section.
    pub(super) fn closing(&self) -> String {
        let next = match (self.standing, self.task_is_above) {
            (Standing::AwaitingUser, _) => "the live conversation follows; the user speaks next",
            (Standing::InToolLoop | Standing::Interrupted, false) => {
                "the live conversation follows; continue with the newest user message"
            }
            (Standing::InToolLoop | Standing::Interrupted, true) => {
                "the live conversation follows; continue with the user's request, which stands above this record"
            }
        };
        format!("{CLOSING} · {next}]")
    }
}
