//! A model writes the handoff of a plan: what it is asked, and how the plan goes on with what it said.

use super::fold::reason;
use super::{CannotFit, Planner};
use crate::inserted;
use crate::ledger::{Author, Ledger};
use crate::plan::{Fold, Outcome, Plan};
use crate::request::Trigger;
use crate::summary::{self, Input, Summary, SummaryJob, Written};
use std::borrow::Cow;

impl Planner<'_, '_> {
    /// Says what to ask a model about the fold of a plan.
    pub(super) fn ask_a_model(&self, plan: &mut Plan) {
        let Some(fold) = &plan.fold else { return };
        let room = match self.request.target {
            // Where the result must fit a target, the handoff is what fits.
            Some(_) => fold.handoff.tokens,
            None => fold.handoff.tokens.max(self.budgets.handoff(u32::try_from(fold.tokens).unwrap_or(u32::MAX))),
        };
        plan.writing.job = SummaryJob::of(Input {
            transcript: self.transcript,
            messages: &fold.messages,
            ledger: &fold.draft.ledger,
            after: &self.ledger_after(fold),
            total: self.counts.total(),
            room,
            policy: self.policy,
            model: &self.setting.model,
            models: self.models,
            prefix_call: self.request.prefix_call,
            focus: self.request.focus.as_deref(),
            memory: self.request.memory.as_deref(),
            today: self.request.today.as_deref(),
        });
        if plan.writing.job.is_none() {
            plan.warnings.push("the summariser's window has no room for a prompt (summarizer.window)".to_owned());
        }
    }

    /// Goes on with a plan when a model has written its handoff, or failed to.
    pub(super) fn resume(mut self, mut plan: Plan, summary: &Summary) -> Result<Plan, CannotFit> {
        plan.writing.job = None;
        plan.writing.summary = Some(summary.clone());
        if plan.fold.is_none() {
            return Ok(plan);
        }
        // The stretch that a fold takes away is the first original of its plan.
        let covered = plan.originals.first().map(|original| original.handle);
        match summary {
            Summary::Failed(failure) => {
                self.failure = Some(failure.clone());
                // The handoff says that it was made without one.
                self.rewrite(&mut plan, None);
                self.after_failure(&mut plan);
                Ok(plan)
            }
            // Words about other messages are not used.
            Summary::Written(written) if Some(written.covers) != covered => Ok(plan),
            Summary::Written(written) => self.with_words(plan, written),
        }
    }

    fn with_words(&self, plan: Plan, written: &Written) -> Result<Plan, CannotFit> {
        let mut told = plan.clone();
        self.rewrite(&mut told, Some(written));
        // Longer than what the ledger alone had to say: as it was, the plan fits.
        if told.tokens.after > self.request.target.unwrap_or_else(|| self.room()).max(plan.tokens.after) {
            return Ok(plan);
        }
        let (verdict, writing) = (told.verdict.clone(), told.writing.clone());
        let mut told = self.unless_it_grows(told);
        if self.request.target.is_none() && matches!(self.request.trigger, Trigger::Engine | Trigger::Background) {
            told = self.unless_it_frees_too_little(told);
        }
        Ok(Plan { verdict, writing, ..told })
    }

    /// Writes the handoff of a plan again, with a model's words among the facts where there are any.
    fn rewrite(&self, plan: &mut Plan, written: Option<&Written>) {
        let Some(fold) = plan.fold.as_mut() else { return };
        let ledger = match written {
            Some(written) => Cow::Owned(self.adopted(fold, written)),
            None => Cow::Borrowed(&*fold.draft.ledger),
        };
        let original = plan.originals.first();
        let handoff = self.write_handoff(&plan.zones, &fold.messages, &ledger, fold.draft.budget, original);
        plan.tokens.after = plan.tokens.after + u64::from(handoff.tokens) - u64::from(fold.handoff.tokens);
        if plan.outcome != Outcome::Unchanged {
            plan.reason = reason(fold.messages.len(), fold.tokens, &handoff);
        }
        if let Some(written) = written {
            fold.by = Author::Model;
            fold.checked = written.checked();
        }
        fold.handoff = handoff;
    }

    /// The facts of a fold, with a model's words among them.
    fn adopted(&self, fold: &Fold, written: &Written) -> Ledger {
        let mut ledger = Ledger::clone(&fold.draft.ledger);
        let is_handoff = |index: &usize| inserted::is_handoff(self.transcript, *index);
        let handoffs: Vec<usize> = fold.messages.iter().copied().filter(is_handoff).collect();
        summary::adopt(&mut ledger, written, &handoffs);
        ledger
    }
}
