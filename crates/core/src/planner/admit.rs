//! Admission: huge outputs come in reduced form, whatever else a plan does.

use super::Planner;
use crate::plan::{Outcome, Plan};
use crate::prune::Proposal;

impl Planner<'_, '_> {
    /// Adds outputs as they are admitted to a plan, where it leaves them as they are. Signed reasoning after them stays: it was signed after
    /// their reduced form.
    pub(crate) fn admit(&self, plan: &mut Plan, admitted: &[Proposal]) {
        let mut count = 0;
        for Proposal { step, original } in admitted.iter().cloned() {
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
            plan.reason = format!("{count} huge outputs reduced on arrival; {}", plan.reason);
        }
    }
}
