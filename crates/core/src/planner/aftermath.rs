//! What happens to a fold whose summariser failed.
//!
//! Stopping where the policy says so; waiting, where a working model could still read everything and
//! nothing forces the fold; otherwise a handoff without a model that says so.

use super::Planner;
use crate::plan::{Aftermath, Outcome, Plan, Writing};
use crate::request::{Request, Trigger};
use crate::summary::{Cooldown, Failure};

/// The failure for which no model is asked: the summariser failed a moment ago. Who asks by hand is not put off.
pub(super) fn rest_until(cooldown: &Cooldown, request: &Request) -> Option<Failure> {
    let now = request.now_ms.filter(|_| request.trigger != Trigger::Manual)?;
    cooldown.at(now).cloned()
}

impl Planner<'_, '_> {
    /// Decides about a fold whose summariser failed.
    pub(super) fn after_failure(&self, plan: &mut Plan) {
        let (Some(failure), true) = (&self.failure, plan.fold.is_some()) else { return };
        plan.writing.failure = Some(failure.clone());
        let advice = failure.class.advice();
        if self.policy.compression.abort_on_failure {
            let reason = format!("the summariser failed ({failure}) and abort_on_failure is set; {advice}");
            self.give_up(plan, Aftermath::Aborted, reason);
            plan.outcome = Outcome::Aborted;
        } else if failure.class.holds_the_fold() && !self.is_forced() {
            self.give_up(plan, Aftermath::Held, format!("the summariser failed ({failure}), so nothing was folded"));
            plan.warnings.push(format!(
                "nothing was folded because the summariser is not reachable with these settings; {advice}, or fold \
                 without a model (--summarizer none)"
            ));
        } else {
            plan.writing.aftermath = Aftermath::Ledger;
            plan.warnings
                .push(format!("the summariser failed ({failure}); the handoff was written without a model; {advice}"));
        }
    }

    fn give_up(&self, plan: &mut Plan, aftermath: Aftermath, reason: String) {
        let (verdict, writing) = (plan.verdict.clone(), Writing { aftermath, ..std::mem::take(&mut plan.writing) });
        *plan = Plan { verdict, writing, ..self.unchanged(reason) };
    }

    /// Whether a fold cannot wait: the next request would not fit, or somebody needs the room.
    fn is_forced(&self) -> bool {
        self.request.target.is_some()
            || matches!(self.request.trigger, Trigger::Overflow | Trigger::TooLarge)
            || self.counts.total() >= u64::from(self.budgets.hygiene)
            || self.transcript.text.len() as u64 > self.budgets.max_body_bytes
    }
}
