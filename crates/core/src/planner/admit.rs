//! Admission: outputs that are huge when they first appear come in reduced form, on every request alike.
//!
//! What an output becomes is a function of the output, its call and the policy. So a client that keeps sending the
//! original gets the same bytes every time, and no cached prefix breaks.

use super::Planner;
use crate::plan::{Outcome, Plan};
use crate::policy::Fidelity;
use crate::prune::Proposal;

impl Planner<'_, '_> {
    /// The huge outputs, each in the form in which it is admitted; none unless the policy wants it.
    pub(crate) fn admitted(&self) -> Vec<Proposal> {
        let knobs = &self.policy.compression;
        let is_wanted = knobs.enabled && knobs.admission && knobs.fidelity != Fidelity::Exact;
        if !is_wanted || self.request.target.is_some() {
            return Vec::new();
        }
        let pruner = self.pruner();
        let may_change = |part: usize| !knobs.never_prune.iter().any(|name| name == self.transcript.tool_of(part));
        (0..self.transcript.parts.len())
            .filter(|&part| may_change(part))
            .filter_map(|part| pruner.admit(part))
            .collect()
    }

    /// Adds them to a plan, where it leaves them as they are. Signed reasoning after them stays: it was signed after
    /// their reduced form.
    pub(crate) fn admit(&self, plan: &mut Plan, admitted: Vec<Proposal>) {
        let mut count = 0;
        for Proposal { step, original } in admitted {
            let is_folded = plan.fold.as_ref().is_some_and(|fold| fold.messages.binary_search(&step.message).is_ok());
            if is_folded || plan.steps.iter().any(|other| other.part == step.part) {
                continue;
            }
            count += 1;
            plan.tokens.after -= step.saves().min(plan.tokens.after);
            plan.steps.push(step);
            plan.originals.push(original);
        }
        if count == 0 {
            return;
        }
        plan.steps.sort_by_key(|step| (step.message, step.part));
        if plan.outcome == Outcome::Unchanged {
            plan.outcome = Outcome::Pruned;
            plan.reason = format!("{count} huge outputs are admitted in reduced form; {}", plan.reason);
        }
    }
}
