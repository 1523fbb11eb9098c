//! A plan: what will be done to a transcript and why, and what will not and why not. Pure data.

use crate::assess::Verdict;
use crate::handoff::{Handoff, Standing};
use crate::ledger::{Author, Ledger};
use crate::policy::{Fidelity, Policy};
use crate::state::Cause;
use crate::summary::{Checked, Failure, SummariserReport, Summary, SummaryJob};
use crate::tokens::Source;
use crate::zone::Zones;
use foldline_reduce::wording::counted;
use foldline_transcript::recall::{Handle, Original};
use foldline_transcript::repair::Repaired;
use serde::Serialize;
use std::sync::Arc;

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
    /// Folded, and protected messages had to be shortened, too.
    Clamped,
    /// Aborted; the input is returned unchanged.
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
    /// A text shortened in the middle to meet the target.
    Clamp,
    /// Signed reasoning dropped as a whole because something before it changed.
    DropSealed,
    /// The id removed from an item whose reasoning was removed, because the provider would require it.
    DropId,
    /// A request of the middle that is kept as a message in front of the tail.
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
    /// Handle of the original.
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

/// Why something was not changed.
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
    /// Recent tool output that the policy keeps.
    Spared {
        /// How many outputs.
        outputs: usize,
        /// Their tokens.
        tokens: u64,
    },
    /// A prune alone would not have reached the low-water mark.
    NoRunway {
        /// Tokens it would have left.
        tokens: u64,
        /// Tokens required.
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
    /// What it was written from.
    pub(crate) draft: Draft,
}

/// What a handoff is written from, kept until a model's words come.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The facts of the folded messages, without a model's words.
    pub(crate) ledger: Arc<Ledger>,
    /// Tokens that the handoff may take.
    pub(crate) budget: u32,
}

/// Ledgers follow from the folded messages, which are compared already.
impl PartialEq for Draft {
    fn eq(&self, other: &Draft) -> bool {
        self.budget == other.budget
    }
}

/// How it goes with the model that should write a handoff.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writing {
    /// What to ask it; [`resume`](crate::planning::resume) goes on with what it says.
    pub job: Option<SummaryJob>,
    /// What it said, or how it failed.
    pub summary: Option<Summary>,
    /// Why it did not write.
    pub failure: Option<Failure>,
    /// What became of the fold.
    pub(crate) aftermath: Aftermath,
}

/// What becomes of a fold when a model should write its handoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aftermath {
    /// No model was asked, or it wrote.
    #[default]
    Nothing,
    /// It failed, and the input comes back.
    Aborted,
    /// It failed, and the fold waits.
    Held,
    /// It failed, and the ledger wrote alone.
    Ledger,
}

impl Writing {
    /// What the report says about the summariser.
    pub(crate) fn report(&self) -> SummariserReport {
        let instead = match self.aftermath {
            Aftermath::Nothing => None,
            Aftermath::Aborted => Some("aborted"),
            Aftermath::Held => Some("unchanged"),
            Aftermath::Ledger => Some("ledger"),
        };
        match (&self.summary, &self.failure, instead) {
            (_, Some(failure), Some(instead)) => SummariserReport::of_failure(failure, instead),
            (Some(Summary::Written(written)), _, _) => SummariserReport::of_words(written),
            _ => SummariserReport::default(),
        }
    }
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
    /// Source of the count of the input.
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
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Why anything is done at all, or nothing.
    pub verdict: Verdict,
    /// How it goes with the model that should write the handoff.
    pub writing: Writing,
}

impl Plan {
    /// The first message that changes; `None` when none does.
    pub fn earliest_changed(&self) -> Option<usize> {
        let fold = self.fold.as_ref().and_then(|fold| fold.messages.first().copied());
        self.steps.iter().map(|step| step.message).chain(fold).min()
    }

    /// The same plan as it concerns the input: with what was repaired before planning, and message indexes of the input.
    #[must_use]
    pub fn of_input(mut self, repaired: Option<&Repaired>) -> Plan {
        if let (Some(repaired), true) = (repaired, self.outcome != Outcome::Aborted) {
            self.note_repairs(repaired);
        }
        self
    }

    fn note_repairs(&mut self, repaired: &Repaired) {
        let origin = |index: usize| repaired.origin_of(index);
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

    /// Why its fold saves too little, if it does.
    pub fn saved_too_little(&self, policy: &Policy) -> Option<Cause> {
        let fold = self.fold.as_ref()?;
        let saved = 1.0 - self.tokens.after as f64 / self.tokens.before.max(1) as f64;
        let is_long = u64::from(fold.handoff.tokens) * 2 > fold.tokens;
        let cause = if is_long { Cause::LongSummary } else { Cause::Dense };
        (saved < policy.compression.min_saving).then_some(cause)
    }

    /// Whether anything is to be done.
    pub fn changes_something(&self) -> bool {
        self.fold.is_some() || !self.steps.is_empty()
    }
}
