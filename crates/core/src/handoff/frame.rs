//! What a handoff says about itself: that it is a record and no request, and where the live conversation is.

use super::quote::quoted;
use super::render::is_users_words;
use crate::inserted::{CLOSING, OPENING, ORIGINALS, ROOT, USERS_WORDS};
use crate::ledger::{Episode, Ledger};
use crate::reading::Reach;
use serde::Serialize;
use std::fmt::Write as _;

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

/// How much of the record a handoff tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// What is worth a place in every request until the next fold.
    Worthwhile,
    /// As much as there is room for: somebody named the size.
    Room,
}

/// What surrounds the sections.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The request that is being worked on, in the user's words.
    pub task: Option<&'a str>,
    /// What the assistant had said that a short request answers.
    pub answers: Option<&'a str>,
    /// Whether the request stands as a live message before the handoff instead of after it.
    pub task_is_above: bool,
    /// Where the conversation stood.
    pub standing: Standing,
    /// Messages that the handoff stands for.
    pub messages: usize,
    /// Handle of the folded originals, if they are kept.
    pub handle: Option<&'a str>,
    /// How the reader gets at them.
    pub reach: &'a Reach,
    /// A note about how the handoff was made, if there is something to say.
    pub note: Option<&'a str>,
    /// Whether there is only room for what matters most: sections that have nothing to say are not named.
    pub is_brief: bool,
    /// How much is told.
    pub fill: Fill,
}

impl Frame<'_> {
    /// The lines above the first section.
    pub(super) fn opening(&self, ledger: &Ledger) -> String {
        let mut out = format!("{OPENING} · reference only]\n");
        let is_users_words = is_users_words(ledger, self.handle.is_some());
        let _ = match (self.is_brief, is_users_words) {
            // A small chat has hardly more room than this takes.
            (true, true) => writeln!(out, "{} earlier messages in {USERS_WORDS}: no request.", self.messages),
            (is_brief, _) => {
                let more = match is_brief {
                    true => "",
                    false => {
                        "; system prompt, memory files and tools stay in force. Files may have changed. \
                         Where entries disagree, the later one holds"
                    }
                };
                let whose = match is_users_words {
                    true => format!(" Lines below Completed Actions are {USERS_WORDS}."),
                    false => String::new(),
                };
                writeln!(
                    out,
                    "Record of {} earlier messages: no request, needs no answer. The newest user message wins{more}.{whose}",
                    self.messages
                )
            }
        };
        if !ledger.root.is_empty() {
            let _ = writeln!(out, "{ROOT}{} unless they say otherwise.", ledger.root);
        }
        if let Some(handle) = self.handle {
            let mut held: Vec<String> = ledger.earlier.clone();
            let is_new = |one: &&Episode| one.is_new && one.number > 0;
            let new: Vec<u32> = ledger.episodes.iter().filter(is_new).map(|one| one.number).collect();
            held.push(match (new.first(), new.last()) {
                (Some(first), Some(last)) if first != last => format!("{first}–{last} {handle}"),
                (Some(first), _) => format!("{first} {handle}"),
                _ => handle.to_owned(),
            });
            let _ = writeln!(out, "{ORIGINALS}{}. {}", held.join(", "), self.reach.sentence());
        }
        if let Some(note) = self.note {
            let _ = writeln!(out, "Note: {note}");
        }
        out
    }

    /// The active task, with what it answers where it is too short to be understood alone.
    pub(super) fn write_task(&self, out: &mut String) {
        // Where the user speaks next, what they asked has been answered.
        let Some(task) = self.task.filter(|_| self.standing != Standing::AwaitingUser) else {
            return;
        };
        let _ = writeln!(out, "User asked: {}", indented(task));
        if let Some(answers) = self.answers {
            let _ = writeln!(out, "in reply to the assistant: {}", indented(answers));
        }
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
        let next = match (self.is_brief, next.split_once("; ")) {
            (true, Some((_, next))) => next,
            _ => next,
        };
        format!("{CLOSING} · {next}]")
    }
}

/// A quote whose further lines are indented.
fn indented(text: &str) -> String {
    quoted(text).lines().collect::<Vec<_>>().join("\n  ")
}
