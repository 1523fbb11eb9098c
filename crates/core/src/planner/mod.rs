//! Planning: whether to act, and then how far down the ladder to go.
//!
//! The ladder always goes forward and always ends: prune, fold, fold with a smaller tail, reduce the
//! tail, cut single messages, start again from the handoff, say with numbers why it cannot be done.

mod admit;
mod aftermath;
mod decide;
mod fold;
mod ladder;
mod prune;
mod seal;

pub(crate) use aftermath::{Aftermath, rest_until};
pub use decide::{Size, Trigger, Verdict, Warmth, decide, decide_by_money, record};

use crate::handoff::Standing;
use crate::ledger::Weights;
use crate::plan::{Outcome, Plan, TokenChange};
use crate::policy::{Budgets, Fidelity, Policy};
use crate::prune::{Keeping, Pruner};
use crate::reading::Reach;
use crate::setting::Setting;
use crate::summary::{Failure, PrefixCall, Summary};
use crate::tokens::{Counts, Measure};
use crate::zone::{Cuts, FEWEST_RECENT, TailBudget, Zones, head_end, zones};
use foldline_transcript::{PartKind, Role, Transcript};

/// What a plan is made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Why we are asked.
    pub trigger: Trigger,
    /// What the user cares about most.
    pub focus: Option<String>,
    /// What must stay, beside the pins of the policy.
    pub pins: Vec<String>,
    /// Tokens that the result must fit.
    pub target: Option<u64>,
    /// Whether originals will be kept, so that handles can be shown.
    pub keeps_originals: bool,
    /// How whoever reads the result gets at them.
    pub reach: Reach,
    /// Seconds since the conversation's last request; `None` where nobody knows.
    pub idle: Option<u32>,
    /// What came of an earlier [`SummaryJob`](crate::summary::SummaryJob).
    pub summary: Option<Summary>,
    /// The time, in milliseconds since 1970, for cooldowns; without it there are none.
    pub now_ms: Option<i64>,
    /// The day, for the summariser, as it should be written.
    pub today: Option<String>,
    /// Memory that stays in force beside a handoff; the summariser need not repeat it.
    pub memory: Option<String>,
    /// Whether the conversation itself can be sent to its own model for a summary.
    pub prefix_call: PrefixCall,
    /// How passages are weighed against each other.
    pub weights: Weights,
}

/// The result cannot fit, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the transcript cannot be brought to {target} tokens: {fixed} are the system prompt, tools and instructions, \
     {request} the last request, which stays as it is; the smallest result has {smallest}"
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

/// Everything a plan is made from.
pub struct Planner<'t, 'a> {
    pub(crate) transcript: &'t Transcript<'a>,
    pub(crate) counts: &'t Counts,
    pub(crate) policy: &'t Policy,
    pub(crate) budgets: &'t Budgets,
    pub(crate) measure: &'t Measure,
    pub(crate) request: &'t Request,
    pub(crate) cuts: Cuts,
    /// Why a model that should have written did not.
    pub(crate) failure: Option<Failure>,
}

impl<'t, 'a> Planner<'t, 'a> {
    /// Prepares planning.
    pub fn new(
        transcript: &'t Transcript<'a>,
        counts: &'t Counts,
        policy: &'t Policy,
        setting: &'t Setting,
        request: &'t Request,
    ) -> Planner<'t, 'a> {
        Planner {
            transcript,
            counts,
            policy,
            budgets: &setting.budgets,
            measure: &setting.measure,
            request,
            cuts: Cuts::find(transcript),
            failure: match &request.summary {
                Some(Summary::Failed(failure)) => Some(failure.clone()),
                _ => None,
            },
        }
    }

    /// A plan that changes nothing.
    pub fn unchanged(&self, reason: impl Into<String>) -> Plan {
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
        }
    }

    /// Whether originals can be had again.
    pub(crate) fn keeping(&self) -> Keeping {
        if self.request.keeps_originals { Keeping::Kept } else { Keeping::Dropped }
    }

    pub(crate) fn pruner(&self) -> Pruner<'t, 'a> {
        let above = self.policy.compression.prune_above;
        let admits = self.policy.compression.admission.then_some(self.budgets.admission_above);
        Pruner::new(self.transcript, self.counts, self.measure, above, self.keeping()).admitting(admits)
    }

    /// The zones that the policy asks for.
    pub fn zones(&self) -> Zones {
        self.zones_with(self.head(), self.tail_budget())
    }

    pub(crate) fn zones_with(&self, head: usize, tail: TailBudget) -> Zones {
        zones(self.transcript, self.counts, &self.cuts, head, tail)
    }

    /// The head, unless its opening is so large that little else would have room.
    pub(crate) fn head(&self) -> usize {
        let wanted = self.policy.compression.protect_first_n as usize;
        let room = u64::from(self.budgets.trigger / 4);
        (0..=wanted)
            .rev()
            .map(|protect| head_end(self.transcript, &self.cuts, protect))
            .find(|&head| self.counts.between(0, head) <= room)
            .unwrap_or_else(|| self.bare_head())
    }

    /// Standing instructions only.
    pub(crate) fn bare_head(&self) -> usize {
        head_end(self.transcript, &self.cuts, 0)
    }

    pub(crate) fn tail_budget(&self) -> TailBudget {
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

    /// Makes the plan again after a result came out `excess` tokens over its target: estimates of parts
    /// do not add up to the last token.
    pub fn plan_lower(&self, target: u64, excess: u64) -> Result<Plan, CannotFit> {
        let aim = target.saturating_sub(excess + excess / 4 + 8);
        self.descend(aim).map_err(|error| CannotFit { target, ..error })
    }

    /// Makes the plan: as little as suffices.
    pub fn plan(&self) -> Result<Plan, CannotFit> {
        let mut skips = Vec::new();
        if self.policy.compression.fidelity == Fidelity::Exact {
            return match self.request.target {
                Some(target) => Err(self.cannot_fit(target, self.counts.total())),
                None => Ok(self.unchanged("the policy allows exact steps only (compression.fidelity)")),
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
