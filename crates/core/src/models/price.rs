//! What tokens cost, in US dollars per million.

use serde::{Deserialize, Serialize};

/// Prices of one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prices {
    /// Input that no cache served.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from a cache.
    pub cache_read: f64,
    /// Input written to a cache, by lifetime, shortest first. Empty when writing costs nothing extra.
    pub cache_writes: Vec<CacheWrite>,
}

/// The price of a cache entry that lives this long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CacheWrite {
    /// Lifetime in seconds.
    pub seconds: u32,
    /// Dollars per million tokens.
    pub price: f64,
}

/// A request above a number of input tokens costs a multiple, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceStep {
    /// The largest input that costs the plain price.
    pub above: u32,
    /// Multiple for input and cache.
    pub input: f64,
    /// Multiple for output.
    pub output: f64,
}

impl Prices {
    /// Price of writing an entry that should live `seconds`: the shortest lifetime on sale that is long
    /// enough, else the longest. The plain input price where writes are free.
    pub fn cache_write(&self, seconds: u32) -> f64 {
        let enough = self.cache_writes.iter().find(|write| write.seconds >= seconds);
        enough.or(self.cache_writes.last()).map_or(self.input, |write| write.price)
    }
}

impl PriceStep {
    /// False for a step that changes nothing, which is how an override takes one away.
    pub fn is_felt(&self) -> bool {
        self.input > 1.0 || self.output > 1.0
    }
}
