//! The report: what happened, for machines. Numbers, names and handles; of the content only the rules and pins that
//! the handoff holds, without secrets.

use crate::engine::Compaction;
use crate::event::Event;
use crate::handoff::Standing;
pub use crate::ledger::Author;
use crate::ledger::Held;
pub use crate::plan::Change;
use crate::plan::{Outcome, Skip, StepKind, TokenChange};
pub use crate::summary::SummariserReport;
use foldline_transcript::recall::Handle;
use serde::Serialize;

/// Messages in each zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ZoneSizes {
    /// Protected at the start.
    pub head: usize,
    /// Reduced or folded.
    pub middle: usize,
    /// Protected at the end.
    pub tail: usize,
}

/// One change, without content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditReport {
    /// The message, by its index in the input.
    pub index: usize,
    /// What was done.
    pub kind: StepKind,
    /// The tool concerned.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// Handle of the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
}

/// What is known about the handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HandoffReport {
    /// Its tokens.
    pub tokens: u32,
    /// Who wrote it.
    pub by: Author,
    /// Whether it updates an earlier one.
    pub iterative: bool,
    /// Tokens of the host's standing context (memory files, environment, skills) that stands before it, verbatim.
    pub context: u64,
    /// Claims that were not found in the source.
    pub unverified: usize,
    /// Facts that fit, of all that were available.
    pub facts: Change,
    /// The rules and pins in it.
    pub held: Vec<Held>,
}

/// The numbers behind the decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Economics {
    /// Window of the model.
    pub window: u32,
    /// Tokens at which the engine acts.
    pub trigger: u32,
    /// Share of the trigger that is used, before and after.
    pub pressure: (f64, f64),
    /// Whether the model is in the table.
    pub model_known: bool,
    /// Cost and savings of a fold, in dollars and requests; absent if prices are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<crate::cache::Economics>,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
    /// Messages.
    pub messages: Change,
    /// Tokens.
    pub tokens: TokenChange,
    /// Bytes.
    pub bytes: Change,
    /// Messages in each zone of the input.
    pub zones: ZoneSizes,
    /// The first message that changed.
    pub earliest_changed: Option<usize>,
    /// What was changed.
    pub edits: Vec<EditReport>,
    /// What was not changed, and why.
    pub skips: Vec<Skip>,
    /// The handoff, if there is one.
    pub handoff: Option<HandoffReport>,
    /// What the summariser did.
    pub summariser: SummariserReport,
    /// Where the conversation stood.
    pub state: Standing,
    /// The numbers behind the decision.
    pub economics: Economics,
    /// The event for metrics; absent if nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// Milliseconds by phase, if the caller measured them.
    pub timing_ms: std::collections::BTreeMap<String, f64>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Report {
    /// The report of a compaction.
    pub fn of(done: &Compaction<'_>) -> Report {
        let plan = &done.plan;
        let mut edits: Vec<EditReport> = plan
            .steps
            .iter()
            .map(|step| EditReport {
                index: step.message,
                kind: step.kind,
                tool: step.tool.clone(),
                tokens_before: step.before,
                tokens_after: step.after,
                handle: step.handle,
            })
            .collect();
        if let Some(fold) = &plan.fold
            && let Some(&index) = fold.messages.first()
        {
            edits.push(EditReport {
                index,
                kind: StepKind::Fold,
                tool: String::new(),
                tokens_before: fold.tokens,
                tokens_after: fold.handoff.tokens.into(),
                handle: plan.originals.first().map(|original| original.handle),
            });
            edits.sort_by_key(|edit| edit.index);
        }
        let trigger = f64::from(done.budgets.trigger.max(1));
        Report {
            outcome: plan.outcome,
            reason: plan.reason.clone(),
            messages: Change { before: done.messages.0 as u64, after: done.messages.1 as u64 },
            tokens: plan.tokens,
            bytes: Change { before: done.bytes_before as u64, after: done.body.len() as u64 },
            zones: ZoneSizes {
                head: plan.zones.head,
                middle: plan.zones.tail - plan.zones.head,
                tail: plan.zones.messages - plan.zones.tail,
            },
            earliest_changed: plan.earliest_changed(),
            edits,
            skips: plan.skips.clone(),
            handoff: plan.fold.as_ref().map(|fold| HandoffReport {
                tokens: fold.handoff.tokens,
                by: fold.by,
                iterative: fold.iterative,
                context: fold.context_tokens,
                unverified: fold.checked.unverified + fold.checked.dropped,
                facts: Change { before: fold.handoff.offered as u64, after: fold.handoff.shown as u64 },
                held: fold.handoff.held.clone(),
            }),
            summariser: done.summariser.clone(),
            state: plan.standing,
            economics: Economics {
                window: done.budgets.window,
                trigger: done.budgets.trigger,
                pressure: (plan.tokens.before as f64 / trigger, plan.tokens.after as f64 / trigger),
                model_known: done.model.known,
                fold: done.economics,
            },
            event: Event::of(done),
            timing_ms: Default::default(),
            warnings: plan.warnings.clone(),
        }
    }
}
