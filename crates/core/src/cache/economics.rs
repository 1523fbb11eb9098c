//! Whether a fold pays off.
//!
//! Keeping a token costs a cache read in every request, and a whole write whenever the cache has gone cold. A fold
//! costs a write of everything behind its first change. So there is a best amount to let a conversation
//! grow before it is folded, as there is a best size of an order in a warehouse: with a fold that costs `K`, growth `g`
//! per request and `a` for holding a token through one, it is `sqrt(2 K g / a)`. When the cache is cold anyway, a fold
//! costs less than going on.

use super::bill::Tariff;
use crate::policy::{Budgets, CacheTtl};
use serde::{Deserialize, Serialize};

/// Growth of a conversation that nobody has watched yet, in tokens per request: the mean of recorded coding sessions
/// (`lab fit odds DIR`).
const USUAL_GROWTH: f64 = 1_300.0;
/// Share of requests that meet a cold cache where nobody has counted: the mean of recorded coding sessions
/// (`lab fit odds DIR`).
const USUAL_COLD: f64 = 0.025;
/// How many requests the usual values count for against what was seen.
const PRIOR: f64 = 10.0;
/// A session is expected to go on for as long as it has lasted, within bounds: nobody folds for the next two
/// requests, and no session is expected to last for ever.
const EXPECTED: (f64, f64) = (10.0, 200.0);
/// A fold must pay for itself this many times over: agents read some of what was folded again.
const MARGIN: f64 = 2.0;

/// How a conversation has gone so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pace {
    /// Requests seen.
    pub requests: u32,
    /// Of these, how many came when the cache had gone cold.
    pub cold: u32,
    /// Prompt tokens that were added, over all requests.
    pub grown: u64,
    /// Prompt tokens of the last request.
    pub last: u64,
}

impl Pace {
    /// Takes note of a request.
    pub fn observe(&mut self, prompt: u64) {
        if self.requests > 0 {
            self.grown += prompt.saturating_sub(self.last);
        }
        self.requests += 1;
        self.last = prompt;
    }

    /// The prompt was made shorter.
    pub fn shrink(&mut self, prompt: u64) {
        self.last = prompt;
    }

    fn growth(&self) -> f64 {
        (self.grown as f64 + PRIOR * USUAL_GROWTH) / (f64::from(self.requests) + PRIOR)
    }

    fn cold_share(&self) -> f64 {
        (f64::from(self.cold) + PRIOR * USUAL_COLD) / (f64::from(self.requests) + PRIOR)
    }

    fn expected(&self) -> f64 {
        f64::from(self.requests).clamp(EXPECTED.0, EXPECTED.1)
    }
}

/// What is known when a decision is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Tokens of the request.
    pub tokens: u64,
    /// Tokens that no fold touches: system prompt, tools and the head.
    pub fixed: u64,
    /// Seconds since the last request; `None` where nobody knows.
    pub idle: Option<u32>,
    /// Lifetime of cached prefixes.
    pub ttl: CacheTtl,
    /// How the conversation has gone.
    pub pace: Pace,
}

/// The numbers of a decision, in dollars and requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Economics {
    /// Tokens after a fold, by the budgets.
    pub after: u64,
    /// Whether the prompt cache has expired.
    pub is_cold: bool,
    /// What a fold adds to the next request; negative when it makes it cheaper.
    pub cost_now: f64,
    /// What it saves in each one after.
    pub saving_per_request: f64,
    /// Requests until it has paid for itself.
    pub break_even: f64,
    /// Requests that are expected.
    pub expected: f64,
    /// Tokens beyond `after` from which a fold pays best.
    pub worth_folding: u64,
    /// Whether to fold now.
    pub pays: bool,
}

/// Weighs a fold.
pub fn weigh(outlook: &Outlook, budgets: &Budgets, tariff: &Tariff) -> Economics {
    let Outlook { tokens, fixed, ttl, pace, .. } = *outlook;
    let kept = u64::from(budgets.tail);
    let folded = tokens.saturating_sub(fixed + kept);
    let handoff = u64::from(budgets.handoff(u32::try_from(folded).unwrap_or(u32::MAX)));
    let rewritten = kept + handoff;
    let after = (fixed + rewritten).min(tokens);
    let freed = (tokens - after) as f64;
    let (read, write) = (tariff.prices.cache_read / 1e6, tariff.write(ttl) / 1e6);
    let is_cold = outlook.idle.is_some_and(|idle| idle > ttl.seconds());
    let fold = (write - read) * rewritten as f64;
    let hold = read * (1.0 - pace.cold_share()) + write * pace.cold_share();
    let cost_now = if is_cold { -write * freed } else { fold - read * freed };
    let saving_per_request = hold * freed;
    let break_even = if saving_per_request > 0.0 { (cost_now / saving_per_request).max(0.0) } else { f64::INFINITY };
    let worth_folding = (2.0 * fold * pace.growth() / hold.max(f64::MIN_POSITIVE)).sqrt() as u64;
    let expected = pace.expected();
    let minimum = if is_cold { u64::from(budgets.prune_minimum) } else { worth_folding };
    let pays = freed as u64 >= minimum.max(1) && break_even * MARGIN <= expected;
    Economics { after, is_cold, cost_now, saving_per_request, break_even, expected, worth_folding, pays }
}

impl Economics {
    /// The decision in a sentence.
    pub fn sentence(&self, tokens: u64) -> String {
        let Economics { after, cost_now, saving_per_request, break_even, expected, .. } = *self;
        let each = format!("saves ${saving_per_request:.4} in each request after");
        match (self.is_cold, self.pays) {
            (true, true) => format!(
                "the cache is cold, so folding {tokens} to about {after} tokens makes this request ${:.4} cheaper and {each}",
                -cost_now
            ),
            (false, true) => format!(
                "folding {tokens} to about {after} tokens costs ${cost_now:.4} now and {each}: even after {break_even:.1} of about {expected:.0} requests to come"
            ),
            (_, false) => format!(
                "{tokens} tokens; a fold to about {after} pays best from {} on (${cost_now:.4} now, ${saving_per_request:.4} saved per request)",
                after + self.worth_folding
            ),
        }
    }
}
