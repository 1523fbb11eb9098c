//! Whether to act now.

use crate::cache::Economics;
use crate::plan::Plan;
use crate::policy::{Budgets, CacheTtl, Policy};
use crate::state::{Cause, SessionState};

/// Why we are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// The agent's loop asks before a request.
    #[default]
    Engine,
    /// Nobody waits: a fold is made beside the conversation, from the pressure mark on.
    Background,
    /// The safety net asks before the agent sees a message.
    Hygiene,
    /// The provider refused the request as too long or too large.
    Overflow,
    /// A person asks.
    Manual,
}

/// The answer, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Act.
    Act(String),
    /// Leave it.
    Wait(String),
}

impl Verdict {
    /// Whether to act.
    pub fn acts(&self) -> bool {
        matches!(self, Verdict::Act(_))
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Act(reason) | Verdict::Wait(reason) => reason,
        }
    }
}

/// What is known about the size of a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Tokens of the whole request.
    pub tokens: u64,
    /// Messages.
    pub messages: usize,
    /// Bytes of the body.
    pub bytes: u64,
    /// Whether what providers keep of it is still there.
    pub cache: Warmth,
}

/// Whether a cached prefix is still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmth {
    /// As far as anybody knows.
    #[default]
    Warm,
    /// It has expired: the next request pays for all of it, whatever it looks like.
    Cold,
}

impl Warmth {
    /// After a pause of so many seconds; `None` where nobody knows.
    pub fn after(idle: Option<u32>, ttl: CacheTtl) -> Warmth {
        match idle {
            Some(idle) if idle > ttl.seconds() => Warmth::Cold,
            _ => Warmth::Warm,
        }
    }
}

/// Decides whether to act on a conversation of this size.
pub fn decide(size: Size, policy: &Policy, budgets: &Budgets, state: &SessionState, trigger: Trigger) -> Verdict {
    let knobs = &policy.compression;
    if !knobs.enabled {
        return Verdict::Wait("compression is switched off (compression.enabled)".into());
    }
    let tokens = size.tokens;
    match trigger {
        Trigger::Manual => return Verdict::Act("requested".into()),
        Trigger::Overflow => return Verdict::Act("the provider refused the request as too large".into()),
        Trigger::Engine | Trigger::Background | Trigger::Hygiene => {}
    }
    if size.bytes > budgets.max_body_bytes {
        return Verdict::Act(format!("{} bytes, over the limit of {}", size.bytes, budgets.max_body_bytes));
    }
    let (name, mark) = match trigger {
        Trigger::Hygiene => ("safety net", budgets.hygiene),
        Trigger::Background => ("pressure mark", budgets.pressure),
        _ if size.cache == Warmth::Cold && budgets.cold_trigger < budgets.trigger => {
            ("trigger for a cold cache", budgets.cold_trigger)
        }
        _ => ("trigger", budgets.trigger),
    };
    if tokens < u64::from(mark) {
        return Verdict::Wait(format!("{tokens} tokens, below the {name} of {mark}"));
    }
    // The safety net is far above the trigger: where folds at the trigger saved too little, one there may save enough.
    let most = if trigger == Trigger::Hygiene { 2 * knobs.max_strikes } else { knobs.max_strikes };
    if state.strikes >= most {
        return Verdict::Wait(stopped(state));
    }
    if trigger == Trigger::Hygiene {
        return match size.messages < knobs.hygiene_min_messages as usize {
            true => Verdict::Wait(format!(
                "{} messages; the safety net starts at {}",
                size.messages, knobs.hygiene_min_messages
            )),
            false => Verdict::Act(format!("{tokens} tokens reach the safety net of {mark}")),
        };
    }
    if state.awaiting_usage {
        return Verdict::Wait(
            "the last fold still waits for reported usage; an estimate alone starts no second one".into(),
        );
    }
    // What a client repeats in every request may leave so little room below the trigger that a fold lands just under it:
    // then every second request would lose its cached prefix.
    let grown = state.landed.map_or(u64::MAX, |landed| tokens.saturating_sub(landed));
    if grown < u64::from(budgets.growth) {
        return Verdict::Wait(format!(
            "{tokens} tokens; the next rewrite waits until {} have been added to what the last one left ({grown} so far)",
            budgets.growth
        ));
    }
    Verdict::Act(format!("{tokens} tokens reach the {name} of {mark}"))
}

/// Lets money decide where the marks leave the conversation alone and the policy wants that.
pub fn decide_by_money(
    verdict: Verdict,
    tokens: u64,
    policy: &Policy,
    state: &SessionState,
    trigger: Trigger,
    economics: Option<&Economics>,
) -> Verdict {
    let knobs = &policy.compression;
    match (verdict, economics) {
        (Verdict::Wait(reason), Some(economics)) if knobs.enabled && knobs.economy && trigger == Trigger::Engine => {
            let is_free = !state.awaiting_usage && state.strikes < knobs.max_strikes;
            match economics.pays && is_free {
                true => Verdict::Act(economics.sentence(tokens)),
                false => Verdict::Wait(format!("{reason}; {}", economics.sentence(tokens))),
            }
        }
        (verdict, _) => verdict,
    }
}

/// Why automatic folds have stopped, and what helps.
fn stopped(state: &SessionState) -> String {
    let advice = match state.cause {
        Some(Cause::LongSummary) => {
            "the summaries are nearly as long as what they replace; lower compression.summary_max or use another summary model"
        }
        Some(Cause::Dense) | None => {
            "head and tail fill the room; lower compression.target_ratio, fold with a focus, or start a new session"
        }
    };
    format!("the last {} folds saved too little, so automatic ones have stopped: {advice}", state.strikes)
}

/// Takes note of what a plan achieved.
pub fn record(state: &mut SessionState, plan: &Plan, policy: &Policy) {
    if plan.changes_something() {
        // What was reported for the longer conversation says nothing about the shorter one.
        state.usage = None;
    }
    let before = plan.tokens.before.max(1) as f64;
    let saved = 1.0 - plan.tokens.after as f64 / before;
    match &plan.fold {
        Some(fold) => {
            state.folds += 1;
            state.awaiting_usage = true;
            if saved < policy.compression.min_saving {
                state.strikes += 1;
                let long = u64::from(fold.handoff.tokens) * 2 > fold.tokens;
                state.cause = Some(if long { Cause::LongSummary } else { Cause::Dense });
            } else {
                state.strikes = 0;
                state.cause = None;
            }
        }
        None if plan.changes_something() => {
            state.prunes += 1;
            state.awaiting_usage = true;
        }
        None => {
            // Asked to act and found nothing to do: that is a strike, or the question comes back every turn.
            state.strikes += 1;
            state.cause = Some(Cause::Dense);
        }
    }
}
