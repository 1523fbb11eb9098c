//! What becomes of a fold whose summariser failed.
//!
//! Stopping where the policy says so; waiting, where a working model could still read everything and
//! nothing forces the fold; otherwise a handoff without a model that says so.

use super::{Planner, Request, Trigger};
use crate::ledger::Author;
use crate::plan::{Outcome, Plan};
use crate::state::SessionState;
use crate::summary::{Cooldown, Failure, SummariserReport, Summary};

/// How it went with the summariser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aftermath {
    /// No model was asked, or its words were not used.
    Nothing,
    /// A model wrote.
    Written,
    /// It failed, and the input comes back.
    Aborted,
    /// It failed, and the fold waits.
    Held,
    /// It failed, and the ledger wrote alone.
    Ledger,
}

impl Aftermath {
    /// How it went when nothing failed.
    pub(crate) fn of(request: &Request, plan: &Plan) -> Aftermath {
        let by_model = plan.fold.as_ref().is_some_and(|fold| fold.by == Author::Model);
        match request.summary {
            Some(Summary::Written(_)) if by_model => Aftermath::Written,
            _ => Aftermath::Nothing,
        }
    }

    /// Notes in a session's memory how its summariser fared.
    pub(crate) fn note(self, state: &mut SessionState, request: &Request) {
        if let Some(summary) = &request.summary {
            state.summariser.learn(summary, request.now_ms.unwrap_or_default());
        }
        if self == Aftermath::Ledger {
            state.summariser.fallbacks = state.summariser.fallbacks.saturating_add(1);
        }
    }

    /// What the report says about the summariser.
    pub(crate) fn report(self, request: &Request, failure: Option<&Failure>) -> SummariserReport {
        let instead = match self {
            Aftermath::Nothing | Aftermath::Written => None,
            Aftermath::Aborted => Some("aborted"),
            Aftermath::Held => Some("unchanged"),
            Aftermath::Ledger => Some("ledger"),
        };
        match (&request.summary, failure, instead) {
            (_, Some(failure), Some(instead)) => SummariserReport::of_failure(failure, instead),
            (Some(Summary::Written(written)), _, _) => SummariserReport::of_words(written),
            _ => SummariserReport::default(),
        }
    }
}

/// The failure for which no model is asked: the summariser failed a moment ago. Who asks by hand is not put off.
pub(crate) fn rest_until(cooldown: &Cooldown, request: &Request) -> Option<Failure> {
    let now = request.now_ms.filter(|_| request.trigger != Trigger::Manual)?;
    cooldown.at(now).cloned()
}

impl Planner<'_, '_> {
    /// Decides about a fold whose summariser failed.
    pub(crate) fn after_failure(&self, failure: &Failure, plan: &mut Plan) -> Aftermath {
        let advice = failure.class.advice();
        if self.policy.compression.abort_on_failure {
            *plan = self.unchanged(format!("the summariser failed ({failure}) and abort_on_failure is set; {advice}"));
            plan.outcome = Outcome::Aborted;
            return Aftermath::Aborted;
        }
        if failure.class.holds_the_fold() && !self.is_forced() {
            *plan = self.unchanged(format!("the summariser failed ({failure}), so nothing was folded"));
            plan.warnings.push(format!(
                "nothing was folded because the summariser cannot be reached as it is set up; {advice}, or fold without \
                 a model (--summarizer none)"
            ));
            return Aftermath::Held;
        }
        plan.warnings
            .push(format!("the summariser failed ({failure}); the handoff was written without a model; {advice}"));
        Aftermath::Ledger
    }

    /// Whether a fold cannot wait: the next request would not fit, or somebody needs the room.
    fn is_forced(&self) -> bool {
        self.request.target.is_some()
            || self.request.trigger == Trigger::Overflow
            || self.counts.total() >= u64::from(self.budgets.hygiene)
            || self.transcript.text.len() as u64 > self.budgets.max_body_bytes
    }
}
