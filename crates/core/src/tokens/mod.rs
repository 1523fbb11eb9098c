//! How many tokens something costs, and how we know.
//!
//! Sources, best first: usage that the provider reported, exact counts where the vocabulary is
//! public, and a fast estimate. Every count says which one it was.

mod estimate;
mod measure;

pub use estimate::{estimate, estimate_escaped};
pub use measure::{Counts, Measure, measure};

use serde::{Deserialize, Serialize};

/// Where a number of tokens comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The provider reported it for this conversation; what came since is estimated.
    Reported,
    /// Counted with the model's own vocabulary.
    Exact,
    /// Estimated from the text.
    Estimate,
}

/// How texts are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counter {
    /// The fast estimate.
    #[default]
    Estimate,
}

impl Counter {
    /// The best counter for a model and a body of this size.
    pub fn for_model(_model: &crate::models::ModelProfile, _bytes: usize) -> Counter {
        Counter::Estimate
    }

    /// Tokens of a text.
    pub fn count(self, text: &str) -> u32 {
        match self {
            Counter::Estimate => estimate(text),
        }
    }

    /// Tokens of the inside of a JSON string literal, without decoding it where that can be avoided.
    pub fn count_escaped(self, raw: &str) -> u32 {
        match self {
            Counter::Estimate => estimate_escaped(raw),
        }
    }

    /// What to call counts of this counter.
    pub fn source(self) -> Source {
        match self {
            Counter::Estimate => Source::Estimate,
        }
    }
}
