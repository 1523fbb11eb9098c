//! A plan: what will be done to a transcript and why, and what will not and why not. Pure data.

use crate::handoff::{Handoff, Standing};
use crate::ledger::Author;
use crate::policy::Fidelity;
use crate::summary::Checked;
use crate::tokens::Source;
use crate::zone::Zones;
use foldline_reduce::wording::counted;
use foldline_transcript::recall::{Handle, Original};
use foldline_transcript::repair::Repaired;
use serde::Serialize;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was changed.
    Unchanged,
    /// Old outputs were reduced in place, or damage was repaired.
    Pruned,
    /// The middle became a handoff.
    Folded,
    /// Folded, and protected messages had to give, too.
    Clamped,
    /// Given up; the input comes back as it was.
    Aborted,
}

/// What is done to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A tool output made shorter.
    Reduce,
    /// An output that a later message repeats.
    Duplicate,
    /// A file read that a later read or write of the same file replaces.
    Superseded,
    /// Arguments of a call made shorter.
    Arguments,
    /// An image or document that became a placeholder.
    Media,
    /// A message of the middle that went into the handoff.
    Fold,
    /// A text cut in the middle because nothing else was left to give.
    Clamp,
    /// Signed reasoning dropped as a whole because something before it changed.
    DropSealed,
    /// The id taken off an item whose reasoning goes: its provider would ask for that.
    DropId,
    /// A request of the middle that stays alive in front of the tail.
    Carry,
    /// A note appended to the system prompt.
    SystemNote,
    /// Damage in the input that was repaired.
    Repair,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The message it concerns, by its index in the input.
    pub message: usize,
    /// The part, for steps on one part.
    pub part: Option<usize>,
    /// What is done.
    pub kind: StepKind,
    /// The tool concerned; empty when there is none.
    pub tool: String,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
    /// What a reader loses.
    pub fidelity: Fidelity,
    /// Where the original can be had.
    pub handle: Option<Handle>,
    /// The text that comes instead, for steps on one part.
    pub text: Option<String>,
}

impl Step {
    /// Tokens that it frees.
    pub fn saves(&self) -> u64 {
        self.before.saturating_sub(self.after)
    }
}

/// Why something was left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Skip {
    /// Less than `prune_above` tokens.
    Small {
        /// How many outputs.
        outputs: usize,
        /// Their tokens.
        tokens: u64,
    },
    /// Its tool is on the list of those never pruned.
    NeverPruned {
        /// The message.
        message: usize,
        /// The tool.
        tool: String,
    },
    /// Recent tool output that the policy spares.
    Spared {
        /// How many outputs.
        outputs: usize,
        /// Their tokens.
        tokens: u64,
    },
    /// A prune alone would not have reached the low-water mark.
    NoRunway {
        /// Where it would have landed.
        tokens: u64,
        /// Where it had to land.
        target: u64,
    },
    /// The result would not have been smaller.
    NoGain {
        /// Tokens before.
        before: u64,
        /// Tokens after.
        after: u64,
    },
}

/// The fold of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// The messages that go, by index, in order.
    pub messages: Vec<usize>,
    /// Tokens that they cost.
    pub tokens: u64,
    /// What comes instead.
    pub handoff: Handoff,
    /// The host's standing context (memory files, environment, skills) in its newest version, verbatim: it stands
    /// before the handoff.
    pub context: Vec<String>,
    /// Tokens that it costs.
    pub context_tokens: u64,
    /// Whether an earlier handoff is among them.
    pub iterative: bool,
    /// Who wrote what comes instead.
    pub by: Author,
    /// What holding a model's words against the source found.
    pub checked: Checked,
}

/// Before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// In the input.
    pub before: u64,
    /// In the output.
    pub after: u64,
}

/// Tokens before and after, and how they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TokenChange {
    /// In the input.
    pub before: u64,
    /// In the output.
    pub after: u64,
    /// How the count of the input is known.
    pub source: Source,
}

/// What will be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How it will end.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
    /// Where the boundaries are.
    pub zones: Zones,
    /// What is done to parts, in document order.
    pub steps: Vec<Step>,
    /// What is left alone.
    pub skips: Vec<Skip>,
    /// The fold, if there is one.
    pub fold: Option<Fold>,
    /// What was removed and can be had again.
    pub originals: Vec<Original>,
    /// Tokens before and after.
    pub tokens: TokenChange,
    /// Where the conversation stood.
    pub standing: Standing,
    /// Things a person should know.
    pub warnings: Vec<String>,
}

impl Plan {
    /// The first message that changes; `None` when none does.
    pub fn earliest_changed(&self) -> Option<usize> {
        let fold = self.fold.as_ref().and_then(|fold| fold.messages.first().copied());
        self.steps.iter().map(|step| step.message).chain(fold).min()
    }

    /// Adds what was repaired before planning; message indexes come back to those of the input.
    pub(crate) fn note_repairs(&mut self, repaired: &Repaired) {
        let origin = |index: usize| repaired.origin.get(index).copied().unwrap_or(index);
        for step in &mut self.steps {
            step.message = origin(step.message);
        }
        if let Some(fold) = &mut self.fold {
            fold.messages.iter_mut().for_each(|message| *message = origin(*message));
            fold.messages.sort_unstable();
            fold.messages.dedup();
        }
        let messages = repaired.messages;
        let boundary = |index: usize| repaired.origin.get(index).copied().unwrap_or(messages);
        self.zones = Zones {
            head: boundary(self.zones.head),
            tail: boundary(self.zones.tail),
            messages,
            carried: self.zones.carried.map(origin),
        };
        let fixes = repaired.fixes.iter().map(|fix| Step {
            message: fix.message,
            part: None,
            kind: StepKind::Repair,
            tool: String::new(),
            before: 0,
            after: 0,
            fidelity: Fidelity::Exact,
            handle: None,
            text: Some(fix.what.clone()),
        });
        self.steps.extend(fixes);
        self.steps.sort_by_key(|step| (step.message, step.part));
        if self.outcome == Outcome::Unchanged {
            self.outcome = Outcome::Pruned;
            self.reason =
                format!("{} made the transcript valid; {}", counted(repaired.fixes.len(), "repair"), self.reason);
        }
    }

    /// Whether anything is to be done.
    pub fn changes_something(&self) -> bool {
        self.fold.is_some() || !self.steps.is_empty()
    }
}
