//! Which turns an outage of the database can have touched: those while it is away or nodes have yet to find it again, and
//! the later ones of the same conversations, which go on with what was decided then.

use super::drive::{Driven, Turn};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long nodes may take to find a database again and to write down what happened meanwhile: they leave it alone for a
/// second at a time.
const SETTLING: Duration = Duration::from_secs(3);

/// When the database was away, and until when nodes may have noticed it.
#[derive(Debug, Default)]
pub(super) struct Outages(Mutex<Vec<(Instant, Instant)>>);

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No outage has touched its conversation.
    Clear,
    /// The database was away, or had just come back.
    During,
    /// An earlier turn of its conversation was touched.
    After,
}

impl Outages {
    /// Runs something that takes the database away and brings it back.
    pub(super) fn during<T>(&self, outage: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = outage();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((began, Instant::now() + SETTLING));
        done
    }

    /// How long the longest of them took.
    pub(super) fn longest(&self) -> Duration {
        let outages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lengths = outages.iter().map(|(began, ended)| ended.duration_since(*began).saturating_sub(SETTLING));
        lengths.max().unwrap_or_default()
    }

    fn touches(&self, (from, until): (Instant, Instant)) -> bool {
        let outages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outages.iter().any(|(began, ended)| *began <= until && from <= *ended)
    }

    /// Where a turn of a run stands.
    pub(super) fn phase(&self, driven: &Driven, turn: Turn) -> Phase {
        let is_touched = |turn: &Turn| driven.times.get(turn).is_some_and(|times| self.touches(*times));
        let earlier = (0..turn.1).map(|number| (turn.0, number));
        match (is_touched(&turn), earlier.into_iter().any(|turn| is_touched(&turn))) {
            (true, _) => Phase::During,
            (false, true) => Phase::After,
            (false, false) => Phase::Clear,
        }
    }
}
