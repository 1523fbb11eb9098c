//! Planning: prune, fold, or the ladder for a target.
//!
//! The ladder always goes forward and always ends: prune, fold, fold with a smaller tail, reduce the
//! tail, cut single messages, start again from the handoff, say with numbers why it cannot be done.

mod admit;
mod aftermath;
mod fold;
mod ladder;
mod prune;
mod resume;
mod seal;

use crate::assess::Verdict;
use crate::handoff::Standing;
use crate::ledger::Held;
use crate::models::ModelTable;
use crate::plan::{Outcome, Plan, TokenChange, Writing};
use crate::policy::{Budgets, Fidelity, Policy};
use crate::prune::{Keeping, Pruner};
use crate::request::{Inputs, Request, Trigger};
use crate::setting::Setting;
use crate::sound::{Sound, pruner};
use crate::summary::{Failure, Summary};
use crate::tokens::{Counts, Measure};
use crate::zone::{self, Cuts, FEWEST_RECENT, TailBudget, Zones, head_end};
use foldline_transcript::edit::Span;
use foldline_transcript::recall::Original;
use foldline_transcript::{PartKind, Role, Transcript};
use std::cell::RefCell;

/// The result cannot fit, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the transcript cannot be brought to {target} tokens: system prompt, tools and instructions take {fixed}, the last \
     request {request}, and both are kept; the smallest possible result has {smallest}"
)]
pub struct CannotFit {
    /// What was asked for.
    pub target: u64,
    /// What cannot be touched.
    pub fixed: u64,
    /// The last request.
    pub request: u64,
    /// The smallest result that was found.
    pub smallest: u64,
}

/// Plans what a verdict asks for: as little as suffices.
///
/// Where a model should write the handoff, the plan is complete without it and [`Writing::job`] says what to ask;
/// [`resume`] goes on with what the model said.
pub fn plan(sound: &Sound<'_>, verdict: Verdict, inputs: &Inputs<'_>) -> Result<Plan, CannotFit> {
    let transcript = sound.transcript();
    let mut planner = Planner::new(sound, &transcript, inputs);
    let request = planner.request;
    let asks_a_model = inputs.policy.summarizer.url.is_some() || request.has_summariser;
    if asks_a_model && request.summary.is_none() {
        planner.failure = aftermath::rest_until(&inputs.state.summariser, request);
    }
    let mut plan = match &verdict {
        Verdict::Wait(reason) => planner.unchanged(reason.clone()),
        Verdict::Act(_) => planner.plan()?,
    };
    planner.admit(&mut plan, &sound.admitted);
    plan.verdict = verdict;
    match &request.summary {
        Some(summary) => return planner.resume(plan, summary),
        None if planner.failure.is_some() => planner.after_failure(&mut plan),
        None if asks_a_model => planner.ask_a_model(&mut plan),
        None => {}
    }
    Ok(plan)
}

/// Goes on with a plan when a model has written its handoff, or failed to: nothing is read or gathered again.
pub fn resume(sound: &Sound<'_>, plan: Plan, summary: &Summary, inputs: &Inputs<'_>) -> Result<Plan, CannotFit> {
    let transcript = sound.transcript();
    Planner::new(sound, &transcript, inputs).resume(plan, summary)
}

/// Plans again, lower, after a result came out `excess` tokens over its target: estimates of parts do not add up to the
/// last token.
pub(crate) fn lower(
    sound: &Sound<'_>,
    plan: Plan,
    target: u64,
    excess: u64,
    inputs: &Inputs<'_>,
) -> Result<Plan, CannotFit> {
    let transcript = sound.transcript();
    let mut planner = Planner::new(sound, &transcript, inputs);
    planner.failure.clone_from(&plan.writing.failure);
    let aim = target.saturating_sub(excess + excess / 4 + 8);
    let lower = planner.descend(aim).map_err(|error| CannotFit { target, ..error })?;
    Ok(Plan { verdict: plan.verdict, writing: plan.writing, ..lower })
}

/// The plan of a result that turned out not to be smaller.
pub(crate) fn dropped(sound: &Sound<'_>, plan: Plan, inputs: &Inputs<'_>) -> Plan {
    let transcript = sound.transcript();
    let (verdict, writing) = (plan.verdict.clone(), plan.writing.clone());
    Plan { verdict, writing, ..Planner::new(sound, &transcript, inputs).unless_it_grows(plan) }
}

/// Says with numbers why a target cannot be met.
pub(crate) fn cannot_fit(sound: &Sound<'_>, target: u64, smallest: u64, inputs: &Inputs<'_>) -> CannotFit {
    let transcript = sound.transcript();
    Planner::new(sound, &transcript, inputs).cannot_fit(target, smallest)
}

/// The zones that the policy asks for.
pub fn zones(sound: &Sound<'_>, inputs: &Inputs<'_>) -> Zones {
    let transcript = sound.transcript();
    Planner::new(sound, &transcript, inputs).zones()
}

/// The rules and pins of the whole conversation.
pub(crate) fn held(sound: &Sound<'_>, inputs: &Inputs<'_>) -> Vec<Held> {
    let transcript = sound.transcript();
    Planner::new(sound, &transcript, inputs).held()
}

/// Everything a plan is made from.
struct Planner<'t, 'a> {
    transcript: &'t Transcript<'a>,
    counts: &'t Counts,
    policy: &'t Policy,
    setting: &'t Setting,
    budgets: &'t Budgets,
    measure: &'t Measure,
    request: &'t Request,
    models: &'t ModelTable,
    cuts: Cuts,
    /// Why a model that should have written did not.
    failure: Option<Failure>,
    /// The stretch that was last looked at as an original.
    stretch: RefCell<Option<(Span, Original)>>,
}

impl<'t, 'a> Planner<'t, 'a> {
    fn new(sound: &'t Sound<'_>, transcript: &'t Transcript<'a>, inputs: &Inputs<'t>) -> Planner<'t, 'a> {
        Planner {
            transcript,
            counts: &sound.counts,
            policy: inputs.policy,
            setting: &sound.setting,
            budgets: &sound.setting.budgets,
            measure: &sound.setting.measure,
            request: &inputs.job.request,
            models: inputs.job.models(),
            cuts: Cuts::find(transcript),
            failure: None,
            stretch: RefCell::new(None),
        }
    }

    /// A plan that changes nothing.
    fn unchanged(&self, reason: impl Into<String>) -> Plan {
        let before = self.counts.total();
        Plan {
            outcome: Outcome::Unchanged,
            reason: reason.into(),
            zones: self.zones(),
            steps: Vec::new(),
            skips: Vec::new(),
            fold: None,
            originals: Vec::new(),
            tokens: TokenChange { before, after: before, source: self.counts.source },
            standing: standing(self.transcript),
            warnings: Vec::new(),
            verdict: Verdict::Wait(String::new()),
            writing: Writing::default(),
        }
    }

    /// Whether originals can be had again.
    fn keeping(&self) -> Keeping<'t> {
        Keeping::of(self.request)
    }

    fn pruner(&self) -> Pruner<'t, 'a> {
        pruner(self.transcript, self.counts, self.setting, self.policy, self.keeping())
    }

    /// The zones that the policy asks for.
    fn zones(&self) -> Zones {
        self.zones_with(self.head(), self.tail_budget())
    }

    fn zones_with(&self, head: usize, tail: TailBudget) -> Zones {
        zone::zones(self.transcript, self.counts, &self.cuts, head, tail)
    }

    /// The head, unless its opening is so large that little else would have room.
    fn head(&self) -> usize {
        let wanted = self.policy.compression.protect_first_n as usize;
        let room = u64::from(self.budgets.trigger / 4);
        (0..=wanted)
            .rev()
            .map(|protect| head_end(self.transcript, &self.cuts, protect))
            .find(|&head| self.counts.between(0, head) <= room)
            .unwrap_or_else(|| self.bare_head())
    }

    /// Standing instructions only.
    fn bare_head(&self) -> usize {
        head_end(self.transcript, &self.cuts, 0)
    }

    fn tail_budget(&self) -> TailBudget {
        let budget = TailBudget::of(&self.policy.compression, self.budgets);
        // Who asks for a fold wants one: below the trigger the tail gives way in proportion.
        if self.request.trigger == Trigger::Manual {
            let share = (self.counts.messages() as f64 * MANUAL_TAIL) as u64;
            let budget = TailBudget { floor: FEWEST_RECENT, ..budget };
            return if share < budget.tokens { budget.with_tokens(share) } else { budget };
        }
        // System prompt and tools stand beside the tail: with large ones, as many messages as the policy likes would
        // bring the result back to the trigger, and every second turn would fold.
        let beside = self.counts.outside() + u64::from(self.budgets.handoff_min);
        let room = u64::from(self.budgets.low_water).saturating_sub(beside);
        TailBudget { room: budget.room.min(room), ..budget }
    }

    /// Makes the plan: as little as suffices.
    fn plan(&self) -> Result<Plan, CannotFit> {
        let mut skips = Vec::new();
        if self.policy.compression.fidelity == Fidelity::Exact {
            return match self.request.target {
                Some(target) => Err(self.cannot_fit(target, self.counts.total())),
                None => Ok(self.unchanged("compression.fidelity allows exact steps only")),
            };
        }
        // Who asks for a fold gets one; everybody else is served with the least that suffices.
        // By money, one large rewrite beats several small ones: a prune would be followed by a fold.
        if self.request.trigger != Trigger::Manual && !self.policy.compression.economy {
            match self.prune_alone() {
                Ok(plan) => return Ok(plan),
                Err(skipped) => skips.extend(skipped),
            }
        }
        let mut plan = match self.request.target {
            Some(target) => self.descend(target)?,
            None => self.fold_as_the_policy_says()?,
        };
        plan.skips.splice(0..0, skips);
        if self.request.target.is_none() && matches!(self.request.trigger, Trigger::Engine | Trigger::Background) {
            plan = self.unless_it_frees_too_little(plan);
        }
        Ok(plan)
    }
}

/// A fold on request below the trigger keeps this share of the messages as tail.
const MANUAL_TAIL: f64 = 0.3;

/// Where the conversation stands at its end.
pub fn standing(transcript: &Transcript<'_>) -> Standing {
    let Some((index, last)) =
        transcript.messages.iter().enumerate().rev().find(|(_, message)| message.role != Role::Meta)
    else {
        return Standing::AwaitingUser;
    };
    let parts = transcript.parts_of(last);
    let interrupted = parts.iter().any(|part| {
        part.kind == PartKind::Text && {
            let words = transcript.words(part);
            words.contains("interrupted by user") || words.contains("Request interrupted")
        }
    });
    if interrupted {
        return Standing::Interrupted;
    }
    let is_waiting = last.role == Role::Assistant
        && !parts.iter().any(|part| part.kind == PartKind::ToolCall)
        && !transcript.speaks(index);
    if is_waiting { Standing::AwaitingUser } else { Standing::InToolLoop }
}
