//! From tokens to dollars.

use crate::models::{ModelProfile, PriceStep, Prices};
use crate::policy::CacheTtl;
use serde::Serialize;
use std::ops::AddAssign;

/// Tokens of one request, or of many, by what they are charged as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Input that no cache served and none keeps.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache for the shorter lifetime.
    pub cache_write: u64,
    /// Input written to a cache for the longer lifetime.
    pub cache_write_long: u64,
    /// Output.
    pub output: u64,
}

impl Traffic {
    /// Tokens of the prompt.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.written()
    }

    /// Tokens written to a cache.
    pub fn written(&self) -> u64 {
        self.cache_write + self.cache_write_long
    }

    /// Share of the prompt that was read from a cache, 0 to 1.
    pub fn read_share(&self) -> f64 {
        self.cache_read as f64 / self.prompt().max(1) as f64
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_long += other.cache_write_long;
        self.output += other.output;
    }
}

/// Dollars by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bill {
    /// Plain input.
    pub input: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes, of both lifetimes.
    pub cache_write: f64,
    /// Output.
    pub output: f64,
    /// Calls to a summariser.
    pub summaries: f64,
}

impl Bill {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.input + self.cache_read + self.cache_write + self.output + self.summaries
    }
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Bill) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
        self.summaries += other.summaries;
    }
}

/// Nobody knows what a model costs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "prices of the model {0:?} are not known; name another with --model, or add it to the file that model.table names"
)]
pub struct PricesUnknown(pub String);

/// What a model charges, with where that is from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tariff {
    /// The model.
    pub model: String,
    /// Dollars per million tokens.
    pub prices: Prices,
    /// Prompt size above which a request costs a multiple, as a whole.
    pub step: Option<PriceStep>,
    /// Where the prices are from.
    pub source: Option<String>,
    /// When they were true.
    pub date: Option<String>,
}

/// Prices are per this many tokens.
const MILLION: f64 = 1e6;

impl Tariff {
    /// The tariff of a model.
    pub fn of(model: &ModelProfile) -> Result<Tariff, PricesUnknown> {
        let prices = model.prices.clone().ok_or_else(|| PricesUnknown(model.name.clone()))?;
        Ok(Tariff {
            model: model.name.clone(),
            prices,
            step: model.price_step,
            source: model.source.clone(),
            date: model.date.clone(),
        })
    }

    /// What one request costs. A step applies to the whole request, so that requests are billed one by one.
    pub fn bill(&self, traffic: Traffic) -> Bill {
        let (input, output) = self.multiples(traffic.prompt());
        let cost = |tokens: u64, price: f64, times: f64| tokens as f64 * price * times / MILLION;
        Bill {
            input: cost(traffic.input, self.prices.input, input),
            cache_read: cost(traffic.cache_read, self.prices.cache_read, input),
            cache_write: cost(traffic.cache_write, self.write(CacheTtl::FiveMinutes), input)
                + cost(traffic.cache_write_long, self.write(CacheTtl::OneHour), input),
            output: cost(traffic.output, self.prices.output, output),
            summaries: 0.0,
        }
    }

    /// Dollars per million tokens written to a cache.
    pub fn write(&self, ttl: CacheTtl) -> f64 {
        self.prices.cache_write(ttl.seconds())
    }

    fn multiples(&self, prompt: u64) -> (f64, f64) {
        match self.step {
            Some(step) if prompt > u64::from(step.above) => (step.input, step.output),
            _ => (1.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ApiFamily, ModelTable};

    fn tariff(name: &str, family: ApiFamily) -> Tariff {
        Tariff::of(&ModelTable::embedded().profile(name, family)).unwrap()
    }

    #[test]
    fn every_class_has_its_price() {
        let sonnet = tariff("claude-sonnet-4-6", ApiFamily::Anthropic);
        let million = Traffic {
            input: 1_000_000,
            cache_read: 1_000_000,
            cache_write: 1_000_000,
            cache_write_long: 1_000_000,
            output: 1_000_000,
        };
        let bill = Tariff { step: None, ..sonnet }.bill(million);
        let close = |one: f64, two: f64| (one - two).abs() < 1e-9;
        assert!(close(bill.input, 3.0) && close(bill.cache_read, 0.3) && close(bill.output, 15.0), "{bill:?}");
        assert!(close(bill.cache_write, 3.75 + 6.0), "{bill:?}");
    }

    #[test]
    fn a_request_above_the_step_costs_more_as_a_whole() {
        let haiku = tariff("claude-haiku-5-5", ApiFamily::Anthropic);
        let at = |read: u64| haiku.bill(Traffic { cache_read: read, output: 1000, ..Traffic::default() });
        let (below, above) = (at(100_000), at(100_001));
        assert!(above.cache_read > 4.9 * below.cache_read && above.output > 4.9 * below.output);
    }

    #[test]
    fn a_model_without_prices_is_an_error_that_names_it() {
        let unknown = ModelTable::embedded().profile("house-llm-7", ApiFamily::OpenAi);
        let error = Tariff::of(&unknown).unwrap_err();
        assert!(error.to_string().contains("house-llm-7") && error.to_string().contains("model.table"));
    }

    #[test]
    fn every_price_has_a_source_and_a_date() {
        for stem in ModelTable::embedded().stems() {
            let profile = ModelTable::embedded().profile(stem, ApiFamily::OpenAi);
            if profile.prices.is_some() {
                assert!(profile.source.is_some() && profile.date.is_some(), "{stem}");
            }
        }
    }
}
