//! What people see of sessions: counts and money, no content.

use super::ask::{Dialect, SessionId};
use serde::{Deserialize, Serialize};

/// Sums over the requests of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// Requests that were prepared.
    pub requests: u64,
    /// Folds.
    pub folds: u64,
    /// Prunes without a fold.
    pub prunes: u64,
    /// Requests in which a known prefix was swapped.
    pub swaps: u64,
    /// Requests that a provider refused for their size and that were folded harder.
    pub recoveries: u64,
    /// Folds that could not be made durable.
    pub failed_open: u64,
    /// Tokens as they came, counted.
    pub tokens_before: u64,
    /// Tokens as they went out, counted.
    pub tokens_after: u64,
    /// Prompt tokens that the provider reported.
    pub reported_prompt: u64,
    /// Of these, read from a cache.
    pub reported_cached: u64,
    /// Output tokens that the provider reported.
    pub reported_output: u64,
    /// Dollars that the provider charged, as far as prices are known.
    pub charged: f64,
    /// Dollars that the same requests would have cost as they came.
    pub uncompacted: f64,
    /// Dollars that summaries cost.
    pub summaries: f64,
}

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The name that its client gave it; empty when it gave none.
    pub label: String,
    /// The API it speaks.
    pub dialect: Dialect,
    /// The model of its last request.
    pub model: String,
    /// Its first request, in milliseconds since 1970.
    pub first_at: i64,
    /// Its last request.
    pub last_at: i64,
    /// Prompt tokens of its last request, reported or counted.
    pub context: u64,
    /// Tokens at which the engine acts.
    pub trigger: u64,
    /// Window of the model.
    pub window: u64,
    /// Sums.
    pub sums: Sums,
}

/// One turn of a session, for its history: counts only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEvent {
    /// When, in milliseconds since 1970.
    #[serde(skip)]
    pub at: i64,
    /// What became of it.
    pub outcome: String,
    /// Tokens as they came.
    pub before: u64,
    /// Tokens as they went out.
    pub after: u64,
    /// Prompt tokens that the provider reported.
    pub prompt: u64,
    /// Of these, read from a cache.
    pub cached: u64,
    /// Output tokens that the provider reported.
    pub output: u64,
    /// Dollars that it cost.
    pub charged: f64,
    /// Dollars that it would have cost as it came.
    pub uncompacted: f64,
}

/// Sums over everything since the process started, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Sums over all sessions.
    pub sums: Sums,
    /// Requests for which a checkpoint was known.
    pub checkpoint_hits: u64,
    /// Requests for which none was.
    pub checkpoint_misses: u64,
    /// Folds in the background that are under way.
    pub in_flight: u64,
    /// Sessions in memory.
    pub sessions: u64,
}
