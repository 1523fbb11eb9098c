//! Signed reasoning after a change: on providers that bind it to its prefix it is invalid as soon as
//! anything before it differs, so all of it goes or nothing is changed. What was written with reasoning that goes, here or
//! into a handoff, goes on without its id.

use super::Planner;
use crate::plan::{Plan, Step, StepKind};
use crate::policy::{Fidelity, SignedReasoning};
use foldline_transcript::PartKind;
use foldline_transcript::reasoning::{Needs, is_reasoning};
use std::collections::BTreeSet;

impl Planner<'_, '_> {
    /// Drops what a plan's changes make invalid.
    pub(super) fn seal(&self, plan: &mut Plan) {
        self.unseal(plan);
        self.unname(plan);
    }

    /// Takes the ids off items whose reasoning goes.
    fn unname(&self, plan: &mut Plan) {
        let folded = plan.fold.as_ref().map(|fold| fold.messages.as_slice()).unwrap_or_default();
        let dropped = plan.steps.iter().filter(|step| step.kind == StepKind::DropSealed).map(|step| step.message);
        let unsealed: BTreeSet<usize> = dropped.filter(|&message| is_reasoning(self.transcript, message)).collect();
        let stays = |message: usize| folded.binary_search(&message).is_err() && !unsealed.contains(&message);
        let unmet = Needs::of(self.transcript).unmet(self.transcript, stays);
        plan.steps.extend(unmet.into_iter().map(|message| Step {
            message,
            part: None,
            kind: StepKind::DropId,
            tool: String::new(),
            before: 0,
            after: 0,
            fidelity: Fidelity::Exact,
            handle: None,
            text: None,
        }));
        plan.steps.sort_by_key(|step| (step.message, step.part));
    }

    /// Drops signed reasoning after the first change.
    fn unseal(&self, plan: &mut Plan) {
        if self.budgets.signed_reasoning != SignedReasoning::PrefixBound {
            return;
        }
        let Some(earliest) = plan.earliest_changed() else {
            return;
        };
        let gone =
            |message: usize| plan.fold.as_ref().is_some_and(|fold| fold.messages.binary_search(&message).is_ok());
        let mut steps = Vec::new();
        for (index, part) in self.transcript.parts.iter().enumerate() {
            if part.kind != PartKind::Sealed {
                continue;
            }
            let message = self.transcript.message_of(index);
            if message < earliest || gone(message) {
                continue;
            }
            steps.push(Step {
                message,
                part: Some(index),
                kind: StepKind::DropSealed,
                tool: String::new(),
                before: self.counts.parts.get(index).copied().unwrap_or_default().into(),
                after: 0,
                fidelity: Fidelity::Lossy,
                handle: None,
                text: None,
            });
        }
        let freed: u64 = steps.iter().map(Step::saves).sum();
        plan.tokens.after = plan.tokens.after.saturating_sub(freed);
        plan.steps.extend(steps);
        plan.steps.sort_by_key(|step| (step.message, step.part));
    }
}
