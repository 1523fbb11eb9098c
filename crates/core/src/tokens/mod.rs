//! How many tokens something costs, and how we know.
//!
//! Sources, best first: usage that the provider reported, exact counts where the vocabulary is
//! public, and a fast estimate. Every count says which one it was.

mod calibration;
mod escape;
mod estimate;
mod exact;
#[doc(hidden)]
pub mod features;
mod measure;
mod pair;
mod place;
mod sample;
mod side_by_side;
mod tables;
#[cfg(test)]
mod tests;
mod weights;

pub use calibration::Calibration;
pub use estimate::{estimate, estimate_escaped};
pub use exact::{Encoding, Exact};
pub use measure::{Counts, Measure, measure, measure_message, measure_value};

use crate::models::{ModelProfile, Tokeniser};
use foldline_transcript::wire::json;
use serde::{Deserialize, Serialize};

/// Where a number of tokens comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Reported by the provider for this conversation; later messages are estimated.
    Reported,
    /// Counted with the model's own vocabulary.
    Exact,
    /// Estimated from the text.
    Estimate,
}

/// How texts are counted.
#[derive(Clone, Copy, Debug, Default)]
pub enum Counter {
    /// The fast estimate.
    #[default]
    Estimate,
    /// The model's own vocabulary.
    Exact(Exact),
}

/// How a text is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// As it is.
    Plain,
    /// As the inside of a JSON string literal.
    Escaped,
}

/// Larger documents are estimated also where exact counts could be had: they would take longer than
/// all the rest together, and so far from any limit a few percent change nothing.
const EXACT_UP_TO: usize = 8 << 20;

impl Counter {
    /// The best counter for a model and a body of this size.
    pub fn for_model(model: &ModelProfile, bytes: usize) -> Counter {
        let encoding = match model.tokeniser {
            Tokeniser::O200k => Encoding::O200k,
            Tokeniser::Cl100k => Encoding::Cl100k,
            Tokeniser::Estimate => return Counter::Estimate,
        };
        match bytes <= EXACT_UP_TO {
            true => Exact::new(encoding).map_or(Counter::Estimate, Counter::Exact),
            false => Counter::Estimate,
        }
    }

    /// Tokens of a text.
    pub fn count(self, text: &str) -> u32 {
        match self {
            Counter::Estimate => estimate(text),
            Counter::Exact(exact) => exact.count(text),
        }
    }

    /// Tokens of the inside of a JSON string literal, without decoding it where that can be avoided.
    pub fn count_escaped(self, raw: &str) -> u32 {
        match self {
            Counter::Estimate => estimate_escaped(raw),
            Counter::Exact(exact) => exact.count(&json::decode(raw)),
        }
    }

    fn count_spelled(self, raw: &str, spelling: Spelling) -> u32 {
        match spelling {
            Spelling::Plain => self.count(raw),
            Spelling::Escaped => self.count_escaped(raw),
        }
    }

    /// What to call counts of this counter.
    pub fn source(self) -> Source {
        match self {
            Counter::Estimate => Source::Estimate,
            Counter::Exact(_) => Source::Exact,
        }
    }
}
