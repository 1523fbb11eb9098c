//! Named alternatives that models differ in.

use crate::settings::{AutoOr, choice};

choice! {
    /// Lifetime that is asked for cached prefixes.
    CacheTtl {
        /// Five minutes, refreshed by each use.
        FiveMinutes = "5m",
        /// One hour, at a higher price for the write.
        OneHour = "1h",
    }
}

impl CacheTtl {
    /// The lifetime in seconds.
    pub const fn seconds(self) -> u32 {
        match self {
            Self::FiveMinutes => 300,
            Self::OneHour => 3600,
        }
    }
}

choice! {
    /// What an edit does to signed reasoning that comes after it.
    SignedReasoning {
        /// Nothing is signed, or signatures are not checked against the history.
        None = "none",
        /// The latest assistant turn must come back as it was sent.
        LatestTurn = "latest_turn",
        /// Every signed block is bound to all bytes before it.
        PrefixBound = "prefix_bound",
    }
}

impl AutoOr<SignedReasoning> {
    /// Names for a setting that may leave the profile to the model.
    pub(crate) const NAMES: &'static [&'static str] = &["auto", "none", "latest_turn", "prefix_bound"];
}
