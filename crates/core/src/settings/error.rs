//! What is wrong with a setting, in words that name the place, the key, the value and the range.

use super::layer::Origin;

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{key}: {problem}", .origin.prefix())]
pub struct PolicyError {
    /// The key as the user wrote it.
    pub key: String,
    /// Where it was written.
    pub origin: Origin,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The ways in which a setting can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No knob has this key.
    #[error("unknown key{}", .nearest.map(|key| format!(", did you mean {key}?")).unwrap_or_default())]
    UnknownKey {
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A key that earlier releases had.
    #[error("there is no such setting any more: {instead}")]
    Retired {
        /// What to do instead.
        instead: &'static str,
    },
    /// Text where a number is due, and the like.
    #[error("{value} has the wrong type, expected {expected}")]
    WrongType {
        /// What was written.
        value: String,
        /// What is accepted.
        expected: String,
    },
    /// A number outside of the range.
    #[error("{value} is out of range, expected {expected}")]
    OutOfRange {
        /// What was written.
        value: String,
        /// What is accepted.
        expected: String,
    },
    /// A name that is not in the list.
    #[error("{value} is not known, expected {expected}")]
    UnknownName {
        /// What was written.
        value: String,
        /// What is accepted.
        expected: String,
    },
    /// The same key twice in one source.
    #[error("set twice in the same place, first {first}")]
    Twice {
        /// Where the first one stands.
        first: String,
    },
    /// Two settings that are fine alone, but not together.
    #[error("{value} contradicts {other} ({other_value}), expected {expected}")]
    Contradiction {
        /// What was written.
        value: String,
        /// The other key.
        other: &'static str,
        /// The value of the other key.
        other_value: String,
        /// What is accepted.
        expected: String,
    },
}
