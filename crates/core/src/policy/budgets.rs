//! Converts the shares of a policy to tokens for one model.
//!
//! Every number here grows with the window, or stays; none falls, and none jumps. A transcript that fits a
//! small window is therefore never treated worse by a large one.

use super::choice::{Basis, Tail};
use super::curve;
use super::table::{CompressionPolicy, Policy};
use crate::models::{ApiFamily, ModelProfile, SignedReasoning};
use crate::settings::AutoOr;

/// A tail may exceed its budget by half, so that one large recent message stays whole.
const TAIL_CEILING: f64 = 1.5;
/// A fixed tail takes at most this share of the trigger: more leaves a small window nothing to fold.
const FIXED_TAIL_SHARE: f64 = 0.5;
/// An automatic tail moves between these multiples of the tail by ratio.
const AUTO_TAIL: (f64, f64) = (0.5, 2.0);
/// A handoff is at most this share of the trigger, also where the shortest budget is longer.
const HANDOFF_SHARE: f64 = 0.25;
/// Smallest reclaim that is worth a cache miss, and its share of larger windows.
const RECLAIM_FLOOR: f64 = 5_000.0;
const RECLAIM_SHARE: f64 = 1.0 / 20.0;
/// On small windows the reclaim is at most this share of the trigger, or no prune could ever reach it.
const RECLAIM_CAP: f64 = 0.25;
/// A tool output is huge from this share of the window on, within bounds: half a page is never huge, and
/// what vendors cut at insertion (8 to 12 K tokens) always is.
const ADMISSION_SHARE: f64 = 1.0 / 20.0;
const ADMISSION_BOUNDS: (f64, f64) = (1_000.0, 8_000.0);

/// A request that asks for at most the first share of the window as its reply has a short one; from the second on it has not.
const SHORT_REPLY: (f64, f64) = (0.05, 0.1);

/// No trigger is at a larger share of the room.
const MOST_THRESHOLD: f64 = 0.95;

/// System prompt and tools count as at most this share of the window: something must be left to take shares of.
const MOST_OUTSIDE: f64 = 0.9;

/// What is known at the moment of a decision, beside policy and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetInputs {
    /// `max_tokens` of the request: room that the client wants for the reply.
    pub max_output: Option<u32>,
    /// Tokens that no compaction touches: system prompt, tools and standing instructions.
    pub outside: u32,
    /// Window of the model that writes summaries, where there is one.
    pub summariser_window: Option<u32>,
    /// Tokens that the recent pace of calls suggests for the tail, for `tail: auto`.
    pub tail_need: Option<u32>,
    /// API of the request, for the limit of the body.
    pub family: Option<ApiFamily>,
}

/// What holds the trigger below its share of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerCap {
    /// Requests above it cost a multiple.
    PriceStep,
    /// The summariser could not read what is to be folded.
    SummariserWindow,
}

/// Budgets in tokens, unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budgets {
    /// Window of the model, or the one that the policy fixes.
    pub window: u32,
    /// What input may fill of it: the window less the room reserved for the reply.
    pub effective_window: u32,
    /// What the shares of the policy leave out: the tokens that no compaction touches, or none.
    pub base: u32,
    /// The engine acts when the input reaches this.
    pub trigger: u32,
    /// The engine acts when the input reaches this and the cache has gone cold.
    pub cold_trigger: u32,
    /// What holds the trigger below its share, if anything does.
    pub trigger_cap: Option<TriggerCap>,
    /// The safety net acts when the input reaches this.
    pub hygiene: u32,
    /// A warning is given when the input reaches this.
    pub pressure: u32,
    /// Tokens by which the input must have grown since the last rewrite before an unforced one.
    pub growth: u32,
    /// Budget of the tail.
    pub tail: u32,
    /// The tail with its last message may reach this.
    pub tail_ceiling: u32,
    /// A prune alone is accepted when the input falls to this.
    pub low_water: u32,
    /// A prune that reclaims less is not worth a cache miss.
    pub prune_minimum: u32,
    /// Recent tool output outside of the tail that a prune spares.
    pub protect_tool_tokens: u32,
    /// Shortest budget of a handoff.
    pub handoff_min: u32,
    /// Longest budget of a handoff.
    pub handoff_max: u32,
    /// A tool output above this is huge when it first appears.
    pub admission_above: u32,
    /// Tokens that one image counts for.
    pub image_tokens: u32,
    /// Largest request body, in bytes.
    pub max_body_bytes: u64,
    /// What an edit does to signed reasoning after it.
    pub signed_reasoning: SignedReasoning,
    /// Length of a handoff, as a fraction of the folded tokens.
    handoff_ratio: f64,
}

impl Budgets {
    /// The budgets of a policy for a model.
    pub fn of(policy: &Policy, model: &ModelProfile, inputs: BudgetInputs) -> Self {
        let knobs = &policy.compression;
        let window = policy.model.window.fixed().unwrap_or(model.window).max(1);
        let effective_window = effective(policy, model, window, inputs.max_output);
        let (window_f, effective_f) = (f64::from(window), f64::from(effective_window));
        // Shares are taken of shares, so rounding waits until the end: a difference of two rounded numbers
        // can fall where the exact one grows.
        let level = Level::of(knobs, window_f, inputs.max_output);
        let trigger_at =
            |level: Level| capped(level.trigger(knobs, inputs.outside, effective_f), model, inputs.summariser_window);
        let (trigger, trigger_cap) = trigger_at(level);
        // The length of the reply moves the trigger and nothing else: the same reply is a smaller share of a larger
        // window, so what falls with the level would fall with the window.
        let (plain_trigger, _) = trigger_at(Level::PLAIN);
        // Where a cap holds the trigger down, budgets follow the window that this trigger would be the plain share of,
        // and not the unused rest of the real one.
        let used = match trigger_cap {
            Some(_) => Level::PLAIN.window_of(knobs, inputs.outside, trigger, effective_f),
            None => effective_f,
        };
        let base = base(knobs, inputs.outside, used).min(plain_trigger * MOST_OUTSIDE);
        let (room, plain_room) = (trigger - base, plain_trigger - base);
        let working = (plain_room / Level::PLAIN.at(knobs, used)).min(used - base);
        let minimum = prune_minimum(knobs, working, plain_room);
        let tail = tail(knobs, room, inputs.tail_need);
        let (handoff_min, handoff_max) = handoff(knobs, window_f, room);
        let protect = knobs.protect_tool_tokens.fixed().map(f64::from);
        let huge = knobs.admission_above.fixed().map(f64::from);
        Self {
            window,
            effective_window,
            base: whole(base),
            trigger: whole(trigger).max(1),
            cold_trigger: whole(base + room * knobs.cold_threshold).max(1),
            trigger_cap,
            // The net is never tighter than the engine, and never beyond what the provider takes.
            hygiene: whole((window_f * knobs.hygiene_threshold).max(trigger).min(effective_f)).max(1),
            pressure: whole(base + room * knobs.pressure),
            growth: whole(room * knobs.min_growth.fixed().unwrap_or(0.0)),
            tail: whole(tail),
            tail_ceiling: whole(tail_ceiling(knobs, room, tail)),
            low_water: whole(base + low_water(knobs, effective_f - base, plain_room, minimum)),
            prune_minimum: whole(minimum),
            protect_tool_tokens: whole(protect.unwrap_or_else(|| curve::at(curve::TOOL_PROTECTION, working)).min(room)),
            handoff_min: whole(handoff_min).max(1),
            handoff_max: whole(handoff_max).max(1),
            admission_above: whole(huge.unwrap_or_else(|| {
                let (least, most) = ADMISSION_BOUNDS;
                (working * ADMISSION_SHARE).clamp(least, most)
            })),
            image_tokens: knobs.image_tokens,
            max_body_bytes: knobs
                .max_body_bytes
                .or_else(|| inputs.family.unwrap_or(ApiFamily::Anthropic).safe_body_bytes()),
            signed_reasoning: knobs.signed_reasoning.or_else(|| model.signed_reasoning),
            handoff_ratio: knobs.summary_ratio,
        }
    }

    /// The budget of a handoff that stands for `folded` tokens.
    pub fn handoff(&self, folded: u32) -> u32 {
        whole(f64::from(folded) * self.handoff_ratio).clamp(self.handoff_min, self.handoff_max)
    }
}

/// Whole tokens, rounded down; the small constant gives back what binary fractions lose.
fn whole(tokens: f64) -> u32 {
    // A cast from a float saturates, so that nothing can wrap.
    (tokens + 1e-6) as u32
}

/// The window less the reply.
fn effective(policy: &Policy, model: &ModelProfile, window: u32, max_output: Option<u32>) -> u32 {
    let left = match (max_output, policy.model.max_output.fixed()) {
        (None, None) => window,
        (None, Some(reply)) => less_the_reservation(window, reply),
        (Some(wish), Some(most)) => less_the_reservation(window, wish.min(most)),
        (Some(wish), None) => {
            let share = policy.compression.reply_share;
            let most = whole(f64::from(window) * share);
            // Who lets a wish reserve a share at most wants that share for the huge ones, too.
            let otherwise = if share < 1.0 { less_the_reservation } else { less_the_wish };
            otherwise(window, wish).max(window - wish.min(most))
        }
    };
    match (policy.model.window, model.max_input) {
        // Who fixes the window knows better than the table.
        (AutoOr::Auto, Some(limit)) => left.min(limit),
        _ => left,
    }
    .max(1)
}

/// A reservation of more than half of the window is followed only in part, and one of all of it not at all: it would leave
/// no room for input. The parts meet without a step.
fn less_the_reservation(window: u32, reply: u32) -> u32 {
    window.saturating_sub(reply).max(reply.min(window))
}

/// What a request asks for its reply is taken off up to a third of the window. More than half is no more than a wish:
/// clients that ask for the most that a model can write (128,000 of 200,000) have no such reply in mind, and compact
/// themselves as if they had asked for a tenth. A tenth and less is taken off then. The parts meet without a step.
fn less_the_wish(window: u32, wish: u32) -> u32 {
    let (window_f, wish_f) = (f64::from(window), f64::from(wish));
    match window_f / wish_f.max(1.0) {
        ..=1.0 => window,
        ..=2.0 => whole(wish_f + (window_f - wish_f) * 0.8),
        ..=3.0 => whole(wish_f * 1.8 + (window_f - 2.0 * wish_f) * 0.2),
        _ => window - wish,
    }
}

/// What nobody can compact, as far as shares are not taken of it.
fn base(knobs: &CompressionPolicy, outside: u32, effective: f64) -> f64 {
    match knobs.basis {
        Basis::Window => 0.0,
        Basis::Room => f64::from(outside).min(effective * MOST_OUTSIDE),
    }
}

/// How full the room may get, as far as the request decides that.
#[derive(Clone, Copy)]
struct Level {
    /// By this share the threshold is higher.
    extra: f64,
}

impl Level {
    /// Whatever the request asks for its reply.
    const PLAIN: Level = Level { extra: 0.0 };

    fn of(knobs: &CompressionPolicy, window: f64, max_output: Option<u32>) -> Level {
        let (all, none) = SHORT_REPLY;
        let reply = max_output.map_or(1.0, |tokens| f64::from(tokens) / window);
        Level { extra: knobs.short_reply_extra * ((none - reply) / (none - all)).clamp(0.0, 1.0) }
    }

    /// The share of the room at which to act.
    fn at(self, knobs: &CompressionPolicy, effective: f64) -> f64 {
        let small = knobs.small_window_extra * curve::at(curve::SMALL_WINDOW, effective);
        (knobs.threshold * (1.0 + small + self.extra)).min(MOST_THRESHOLD)
    }

    /// The trigger where no cap holds it down.
    fn trigger(self, knobs: &CompressionPolicy, outside: u32, effective: f64) -> f64 {
        let base = base(knobs, outside, effective);
        base + (effective - base) * self.at(knobs, effective)
    }

    /// The effective window of which `trigger` is the plain trigger, up to the real one. The trigger grows with its window,
    /// so halving the interval finds it.
    fn window_of(self, knobs: &CompressionPolicy, outside: u32, trigger: f64, effective: f64) -> f64 {
        const STEPS: usize = 60;
        let (mut low, mut high) = (0.0, effective);
        for _ in 0..STEPS {
            let middle = (low + high) / 2.0;
            match self.trigger(knobs, outside, middle) < trigger {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

/// The share of what is beyond the base, held down by a price step and by what the summariser can read.
fn capped(plain: f64, model: &ModelProfile, summariser_window: Option<u32>) -> (f64, Option<TriggerCap>) {
    let step = model.price_step.map(|step| (step.above, TriggerCap::PriceStep));
    let reader = summariser_window.map(|window| (window, TriggerCap::SummariserWindow));
    match [step, reader].into_iter().flatten().min_by_key(|(tokens, _)| *tokens) {
        Some((tokens, cap)) if f64::from(tokens) < plain => (f64::from(tokens.max(1)), Some(cap)),
        _ => (plain, None),
    }
}

/// Tokens that a prune must reclaim.
fn prune_minimum(knobs: &CompressionPolicy, working: f64, trigger: f64) -> f64 {
    match knobs.prune_minimum {
        AutoOr::Auto => (working * RECLAIM_SHARE).max(RECLAIM_FLOOR).min(trigger * RECLAIM_CAP),
        AutoOr::Fixed(tokens) => f64::from(tokens).min(trigger),
    }
}

/// Where a prune must land: the mark of the policy, but always with runway below the trigger.
fn low_water(knobs: &CompressionPolicy, effective: f64, trigger: f64, minimum: f64) -> f64 {
    let with_runway = trigger - minimum.max(trigger * knobs.runway);
    match knobs.low_water {
        AutoOr::Auto => with_runway,
        AutoOr::Fixed(mark) => with_runway.min(effective * mark),
    }
}

/// Tokens of the tail.
fn tail(knobs: &CompressionPolicy, trigger: f64, need: Option<u32>) -> f64 {
    let by_ratio = (trigger * knobs.target_ratio).min(f64::from(knobs.tail_max));
    let half = trigger * FIXED_TAIL_SHARE;
    match (knobs.tail, need) {
        (Tail::Tokens(tokens), _) => f64::from(tokens).min(half),
        (Tail::Auto, Some(need)) => {
            let (low, high) = (by_ratio * AUTO_TAIL.0, by_ratio * AUTO_TAIL.1);
            f64::from(need).min(high.min(half)).max(low)
        }
        (Tail::Ratio | Tail::Auto, _) => by_ratio,
    }
}

/// How far the tail may go for one more message: half again, but not into the runway.
fn tail_ceiling(knobs: &CompressionPolicy, trigger: f64, tail: f64) -> f64 {
    let with_runway = trigger * (1.0 - knobs.runway);
    (tail * TAIL_CEILING).min(with_runway).max(tail)
}

/// Shortest and longest budget of a handoff.
fn handoff(knobs: &CompressionPolicy, window: f64, trigger: f64) -> (f64, f64) {
    let (shortest, longest) = (f64::from(knobs.summary_min), f64::from(knobs.summary_max));
    // The shortest wins over the share of a small window, not over the user's own maximum.
    let roof = (window * knobs.summary_window_share).max(shortest).min(longest);
    let roof = roof.min(trigger * HANDOFF_SHARE);
    (shortest.min(roof), roof)
}
