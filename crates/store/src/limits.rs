//! Limits of size and age, and why something expired.

use std::fmt;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Use is noted once per hour and original: a client that sends the same history every few seconds
/// causes no writing, and an hour is nothing beside an age limit of days.
pub(crate) const USE_GRAIN: Duration = Duration::from_secs(60 * 60);

/// How long a store says "expired" instead of "unknown".
pub(crate) const TOMBSTONE_AGE: Duration = DAY.saturating_mul(90);

/// Bounds the memory of what is gone to some 30 MB, however fast originals come and go.
pub(crate) const MAX_TOMBSTONES: i64 = 250_000;

/// Aged originals and tombstones that one put clears away: after a long pause the first put stays fast,
/// and the next ones catch up.
pub(crate) const CLEARED_PER_PUT: u32 = 256;

/// What rows and index entries take beside the packed text (measured on originals of one byte).
pub(crate) const ROW_BYTES: u64 = 256;

/// The limits of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that originals, checkpoints and sessions may take, packed, with the index of words. Of the namespaces that
    /// take more than an even share, the least recently used go first.
    pub max_bytes: u64,
    /// Bytes that one namespace may take, whatever room there is.
    pub max_bytes_per_namespace: Option<u64>,
    /// How long an original is kept after its last use.
    pub max_age: Duration,
    /// How far a clock may be ahead of the last time at once; further, and age is counted by the last time until the
    /// clock has stood there for as long. Without it every time is believed.
    pub leap: Option<Duration>,
    /// How long to wait for another process that is writing.
    pub wait: Duration,
    /// How long after its last answer a database server is waited for that is away, as one that restarts is, and how long
    /// for one that is busy. Beyond that callers are told so at once.
    pub restart: Duration,
}

/// Why an original is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Nobody used it for longer than [`Limits::max_age`].
    Age,
    /// Room was needed under [`Limits::max_bytes`].
    Size,
}

impl Limits {
    /// Limits in the units of settings.
    pub fn of(max_bytes: u64, max_age_days: u32) -> Limits {
        Limits { max_bytes, max_age: DAY.saturating_mul(max_age_days), leap: Some(DAY), ..Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_bytes: 1 << 30,
            max_bytes_per_namespace: None,
            max_age: DAY.saturating_mul(30),
            leap: None,
            wait: Duration::from_secs(10),
            restart: Duration::from_secs(5),
        }
    }
}

impl Expiry {
    /// Every reason.
    pub const ALL: [Expiry; 2] = [Expiry::Age, Expiry::Size];

    /// The name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Expiry::Age => "age",
            Expiry::Size => "size",
        }
    }

    /// The setting that holds the limit.
    pub fn setting(self) -> &'static str {
        match self {
            Expiry::Age => "store.max_age",
            Expiry::Size => "store.max_bytes",
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} limit ({})", self.name(), self.setting())
    }
}

/// A duration as the store counts time.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
