//! Log lines: one per event, with session, model, counts, reason, time and cost. Never content.
//!
//! | line | level |
//! |---|---|
//! | `pruned`, `folded`, `recovered`, `would fold` | INFO |
//! | `refused`: a request that the gateway rejected | INFO |
//! | `fallback`: an internal error; the request was forwarded unchanged | WARN |
//! | `upstream failed`: a provider answered with an error, too late or not at all | WARN |
//! | `totals`: what happened in the last minute, if anything did | INFO |

use super::answer::Refusal;
use super::gateway::Gateway;
use crate::conversation::{Compacted, CompactionKind, SessionId, Sums};
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How often totals are logged.
const TOTALS_EVERY: Duration = Duration::from_secs(60);

/// Longest model name that is logged.
const LONGEST_MODEL: usize = 64;

/// Whether and when a compaction was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Before the request was forwarded.
    BeforeForwarding,
    /// In the background, for the next request.
    InBackground,
    /// Not applied: the gateway runs in shadow mode.
    ShadowOnly,
}

/// A prune or a fold.
pub fn compacted(session: &SessionId, done: &Compacted, applied: Applied, took: Duration) {
    let words = match (applied, done.kind) {
        (Applied::ShadowOnly, CompactionKind::Fold) => "would fold",
        (Applied::ShadowOnly, CompactionKind::Prune) => "would prune",
        (_, CompactionKind::Fold) => "folded",
        (_, CompactionKind::Prune) => "pruned",
    };
    write(words, session, done, took, Circumstance::Background(applied == Applied::InBackground));
}

/// A request that the provider refused as too long, and that was folded again.
pub fn recovered(session: &SessionId, done: &Compacted, attempt: u8, took: Duration) {
    write("recovered", session, done, took, Circumstance::Attempt(attempt));
}

/// What a line says beside the figures.
#[derive(Clone, Copy)]
enum Circumstance {
    Background(bool),
    Attempt(u8),
}

fn write(words: &str, session: &SessionId, done: &Compacted, took: Duration, circumstance: Circumstance) {
    let (background, attempt) = match circumstance {
        Circumstance::Background(background) => (Some(background), None),
        Circumstance::Attempt(attempt) => (None, Some(attempt)),
    };
    info!(
        session = session.as_str(),
        model = model_name(&done.model),
        tokens_before = done.tokens.0,
        tokens_after = done.tokens.1,
        reason = done.reason,
        ms = milliseconds(took),
        saved_dollars_per_request = dollars(done.dollars_per_request),
        background,
        attempt,
        "{words}"
    );
}

/// A request that the gateway rejected; `route` is what was requested.
pub fn refused(refusal: &Refusal, route: &'static str) {
    let (kind, status) = (refusal.name(), refusal.status().as_u16());
    match refusal {
        Refusal::UpstreamUnreachable { host, reason } => warn!(kind, status, host, reason, "upstream failed"),
        Refusal::UpstreamTimeout { host, seconds } => warn!(kind, status, host, seconds, "upstream failed"),
        _ => info!(kind, status, route, "refused"),
    }
}

/// A provider answered with an error.
pub fn upstream_failed(host: &str, status: u16, session: Option<&SessionId>, took: Duration) {
    let session = session.map(SessionId::as_str).unwrap_or_default();
    warn!(host, status, session, ms = milliseconds(took), "upstream failed");
}

/// The totals of a gateway, logged once a minute.
#[derive(Debug)]
pub struct Totals {
    logged_at: Instant,
    logged: Figures,
}

/// What is counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Sums over all sessions.
    pub sums: Sums,
    /// Internal errors.
    pub fallbacks: u64,
    /// Rejected requests.
    pub refusals: u64,
    /// Error replies of providers.
    pub upstream_errors: u64,
}

impl Figures {
    /// Those of a gateway, now.
    pub fn of(gateway: &Gateway) -> Figures {
        let (fallbacks, refusals, upstream_errors) = gateway.metrics.troubles();
        Figures { sums: gateway.conversations.totals().sums, fallbacks, refusals, upstream_errors }
    }
}

impl Totals {
    /// Nothing logged yet.
    pub fn new(now: Instant) -> Totals {
        Totals { logged_at: now, logged: Figures::default() }
    }

    /// Logs what has happened since the last time, if a minute has passed and something has. Returns whether it did.
    pub fn log(&mut self, now: Instant, figures: impl FnOnce() -> Figures) -> bool {
        let passed = now.saturating_duration_since(self.logged_at);
        if passed < TOTALS_EVERY {
            return false;
        }
        self.logged_at = now;
        let figures = figures();
        let before = std::mem::replace(&mut self.logged, figures);
        if figures == before {
            return false;
        }
        let sums = figures.sums.since(&before.sums);
        info!(
            seconds = passed.as_secs(),
            requests = sums.requests,
            folds = sums.folds,
            prunes = sums.prunes,
            recoveries = sums.recoveries,
            fallbacks = figures.fallbacks - before.fallbacks,
            refused = figures.refusals - before.refusals,
            upstream_errors = figures.upstream_errors - before.upstream_errors,
            tokens_before = sums.tokens_before,
            tokens_after = sums.tokens_after,
            cached_tokens = sums.reported_cached,
            charged_dollars = dollars(sums.charged),
            saved_dollars = dollars(sums.saved()),
            shadow_saved_tokens = sums.shadow_tokens,
            shadow_saved_dollars = dollars(sums.shadow_dollars),
            "totals"
        );
        true
    }
}

/// The name of a model. Clients may send any text there, so only what looks like a name is logged.
pub fn model_name(name: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    if !name.is_empty() && name.len() <= LONGEST_MODEL && name.chars().all(is_plain) { name } else { "other" }
}

fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// Dollars to a hundredth of a cent; more digits are noise.
fn dollars(amount: f64) -> f64 {
    let rounded = (amount * 10_000.0).round() / 10_000.0;
    // No negative zero.
    rounded + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_logged_once_a_minute_if_something_happened() {
        let start = Instant::now();
        let mut totals = Totals::new(start);
        let figures = |requests| Figures { sums: Sums { requests, ..Sums::default() }, ..Figures::default() };
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!totals.log(at(59), || unreachable!("it is not time")));
        assert!(!totals.log(at(60), || figures(0)), "nothing happened");
        assert!(!totals.log(at(100), || figures(3)));
        assert!(totals.log(at(120), || figures(3)));
        assert!(!totals.log(at(180), || figures(3)), "nothing new");
        assert!(totals.log(at(240), || Figures { refusals: 1, ..figures(3) }));
    }

    #[test]
    fn a_model_that_does_not_look_like_a_name_is_not_logged() {
        assert_eq!(model_name("anthropic/claude-sonnet-4.5:beta"), "anthropic/claude-sonnet-4.5:beta");
        for odd in ["", "what the user said", &"m".repeat(65), "m\nforged line"] {
            assert_eq!(model_name(odd), "other");
        }
    }

    #[test]
    fn dollars_are_rounded_to_a_hundredth_of_a_cent() {
        assert_eq!(dollars(0.123_456), 0.1235);
        assert!(dollars(-0.000_001).is_sign_positive());
    }
}
