//! The cost of requests by the provider's prices, with cheap cache reads and the cache write after a rewrite.

use foldline_core::models::ModelProfile;
use foldline_transcript::wire::reply::ReportedUsage;

/// Prices are per million tokens.
const MILLION: f64 = 1_000_000.0;

/// Entries live five minutes unless a client asks for more, which costs more and is rare.
const LIFETIME: u32 = 300;

/// Dollars that the provider charges for a request; nothing when prices are not known.
pub(super) fn charged(model: &ModelProfile, usage: &ReportedUsage) -> f64 {
    let Some(prices) = &model.prices else {
        return 0.0;
    };
    let step = model.price_step.filter(|step| usage.prompt() > u64::from(step.above));
    let (input, output) = step.map_or((1.0, 1.0), |step| (step.input, step.output));
    let prompt = usage.input as f64 * prices.input
        + usage.cache_read as f64 * prices.cache_read
        + usage.cache_write as f64 * prices.cache_write(LIFETIME);
    (prompt * input + usage.output as f64 * prices.output * output) / MILLION
}

/// What is known about a request as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsItCame {
    /// Its tokens.
    pub(super) tokens: u64,
    /// Of these, what its conversation had sent before.
    pub(super) repeated: u64,
    /// Whether the provider was seen to read this conversation from a cache.
    pub(super) caches: bool,
}

/// Dollars that a request would have cost as it came: what was sent before is read from the cache where
/// the provider has one for this conversation, the rest is new.
pub(super) fn uncompacted(model: &ModelProfile, came: AsItCame, usage: &ReportedUsage) -> f64 {
    let new = came.tokens.saturating_sub(came.repeated);
    let (input, cache_read, cache_write) = match (came.caches, usage.cache_write > 0) {
        (false, _) => (came.tokens, 0, 0),
        (true, true) => (0, came.tokens - new, new),
        (true, false) => (new, came.tokens - new, 0),
    };
    charged(model, &ReportedUsage { input, cache_read, cache_write, output: usage.output })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::models::{ApiFamily, ModelTable};

    fn sonnet() -> ModelProfile {
        ModelTable::embedded().profile("claude-sonnet-4-5", ApiFamily::Anthropic)
    }

    #[test]
    fn a_request_costs_what_its_parts_cost() {
        let usage = ReportedUsage { input: 1_000_000, cache_read: 0, cache_write: 0, output: 0 };
        let plain = charged(&sonnet(), &usage);
        let read = charged(&sonnet(), &ReportedUsage { input: 0, cache_read: 1_000_000, ..usage });
        assert!((plain - 6.0).abs() < 1e-9, "three dollars, twice above the step: {plain}");
        assert!((read - plain / 10.0).abs() < 1e-9);
    }

    #[test]
    fn what_would_have_been_read_from_a_cache_is_cheap() {
        let usage = ReportedUsage { cache_write: 1, ..ReportedUsage::default() };
        let came = AsItCame { tokens: 100_000, repeated: 98_000, caches: true };
        let warm = uncompacted(&sonnet(), came, &usage);
        let cold = uncompacted(&sonnet(), AsItCame { caches: false, ..came }, &usage);
        assert!((warm - (98_000.0 * 0.3 + 2_000.0 * 3.75) / MILLION).abs() < 1e-9, "{warm}");
        assert!((cold - 0.3).abs() < 1e-9, "{cold}");
    }

    #[test]
    fn an_unknown_model_costs_nothing_that_we_know_of() {
        let model = ModelProfile::unknown("x", ApiFamily::OpenAi);
        assert_eq!(charged(&model, &ReportedUsage { input: 1_000, ..ReportedUsage::default() }), 0.0);
    }
}
