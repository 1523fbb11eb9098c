//! Totals over replays: cache figures and cost.

use super::play::{Compacted, Run};
use crate::retention::Tally;
use foldline_core::cache::{Bill, Traffic};
use serde::Serialize;

/// Figures over one or more sessions under one policy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Metrics {
    /// Sessions.
    pub sessions: u64,
    /// Requests.
    pub requests: u64,
    /// Compactions.
    pub compactions: u64,
    /// Compactions per 100 requests.
    pub per_100_requests: f64,
    /// Requests between two compactions of a session, on average; none where no session had two.
    pub requests_between: Option<f64>,
    /// Calls to a summariser.
    pub summary_calls: u64,
    /// Tokens reclaimed per compaction, on average.
    pub reclaimed: f64,
    /// Prompt and summariser tokens in all.
    pub total_tokens: u64,
    /// Index of the first changed message, on average over compactions.
    pub earliest_changed: f64,
    /// Compactions that only reduced outputs.
    pub prune_only: u64,
    /// Compactions that folded.
    pub folded: u64,
    /// Dollars by class.
    pub bill: Bill,
    /// Dollars in all.
    pub dollars: f64,
    /// Tokens by class.
    pub traffic: Traffic,
    /// Share of prompt tokens read from a cache, 0 to 1.
    pub cache_read_share: f64,
    /// Facts needed after compactions, and how many of them survived.
    pub retention: Tally,
    /// The same as a share, 0 to 1.
    pub kept: Option<f64>,
    /// Broken rules of providers.
    pub violations: u64,
    /// Requests whose beginning changed though it must not.
    pub unstable: u64,
    /// Requests that do not fit the window.
    pub over_window: u64,
    /// Compactions that could not be made.
    pub failures: u64,
    /// Signed reasoning that was dropped.
    pub dropped_sealed: u64,
}

impl Metrics {
    /// The figures of some runs.
    pub fn of<'r>(runs: impl Iterator<Item = &'r Run>) -> Metrics {
        let mut sum = Metrics::default();
        let (mut gaps, mut pairs) = (0, 0);
        let (mut reclaimed, mut earliest) = (0, 0);
        for run in runs {
            sum.sessions += 1;
            sum.requests += run.requests.len() as u64;
            sum.compactions += run.events.len() as u64;
            sum.traffic += run.traffic;
            sum.bill += run.bill;
            sum.unstable += run.unstable.len() as u64;
            sum.over_window += run.over_window;
            sum.failures += run.failures.len() as u64;
            for pair in run.events.windows(2) {
                if let [one, two] = pair {
                    gaps += two.event.request - one.event.request;
                    pairs += 1;
                }
            }
            for Compacted { event, retention } in &run.events {
                sum.summary_calls += u64::from(event.summary_calls);
                sum.prune_only += u64::from(event.is_prune_only());
                sum.violations += event.violations;
                sum.dropped_sealed += event.dropped_sealed;
                reclaimed += event.reclaimed();
                earliest += event.earliest_changed.unwrap_or_default() as u64;
                sum.retention += retention.unwrap_or_default();
            }
        }
        let per_event = |total: u64| total as f64 / sum.compactions.max(1) as f64;
        sum.reclaimed = per_event(reclaimed);
        sum.earliest_changed = per_event(earliest);
        sum.folded = sum.compactions - sum.prune_only;
        sum.per_100_requests = sum.compactions as f64 * 100.0 / sum.requests.max(1) as f64;
        sum.requests_between = (pairs > 0).then(|| gaps as f64 / f64::from(pairs));
        sum.total_tokens = sum.traffic.prompt();
        sum.dollars = sum.bill.total();
        sum.cache_read_share = sum.traffic.read_share();
        sum.kept = sum.retention.share();
        sum
    }
}
