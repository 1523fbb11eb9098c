//! Telemetry: what one compaction did, as numbers. The same event feeds reports, replays and metrics; it holds no
//! content, so that it can be logged.

use crate::cache::Economics;
use crate::engine::Compaction;
use crate::plan::{Change, Outcome, StepKind};
use serde::Serialize;

/// One compaction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The request before which it happened, counted from 0, if the caller counts requests.
    pub request: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
    /// Tokens.
    pub tokens: Change,
    /// Messages.
    pub messages: Change,
    /// Messages that went into the handoff.
    pub folded_messages: u64,
    /// Tokens that they had.
    pub folded_tokens: u64,
    /// Tokens of the handoff.
    pub handoff_tokens: u64,
    /// Outputs that were reduced in place.
    pub reduced_outputs: u64,
    /// Signed reasoning that was dropped.
    pub dropped_sealed: u64,
    /// The first message that changed.
    pub earliest_changed: Option<usize>,
    /// Calls to a summariser.
    pub summary_calls: u32,
    /// What the fold was expected to cost and save.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub economics: Option<Economics>,
    /// Violations of the provider's rules in the result; anything but 0 is a defect.
    pub violations: u64,
    /// Milliseconds, if the caller measured them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<f64>,
}

impl Event {
    /// The event of a compaction; `None` when nothing was changed.
    pub fn of(done: &Compaction<'_>) -> Option<Event> {
        let plan = &done.plan;
        if matches!(plan.outcome, Outcome::Unchanged | Outcome::Aborted) {
            return None;
        }
        let steps = |kinds: &[StepKind]| plan.steps.iter().filter(|step| kinds.contains(&step.kind)).count() as u64;
        let reducing = [StepKind::Reduce, StepKind::Duplicate, StepKind::Superseded, StepKind::Media];
        Some(Event {
            request: 0,
            outcome: plan.outcome,
            reason: plan.reason.clone(),
            tokens: Change { before: plan.tokens.before, after: plan.tokens.after },
            messages: Change { before: done.messages.0 as u64, after: done.messages.1 as u64 },
            folded_messages: plan.fold.as_ref().map_or(0, |fold| fold.messages.len() as u64),
            folded_tokens: plan.fold.as_ref().map_or(0, |fold| fold.tokens),
            handoff_tokens: plan.fold.as_ref().map_or(0, |fold| fold.handoff.tokens.into()),
            reduced_outputs: steps(&reducing),
            dropped_sealed: steps(&[StepKind::DropSealed]),
            earliest_changed: plan.earliest_changed(),
            summary_calls: 0,
            economics: done.economics,
            violations: 0,
            milliseconds: None,
        })
    }

    /// Whether outputs were reduced and nothing was folded.
    pub fn is_prune_only(&self) -> bool {
        self.outcome == Outcome::Pruned
    }

    /// Tokens that it freed.
    pub fn reclaimed(&self) -> u64 {
        self.tokens.before.saturating_sub(self.tokens.after)
    }
}
