//! The memory budget for request bodies in progress, compressed and decompressed.

use super::answer::Refusal;
use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory that all request bodies share.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    taken: AtomicU64,
    /// The same, for people.
    shown: Gauge,
}

impl MemoryBudget {
    /// This many bytes, none of them taken; how many are is shown in `shown`.
    pub fn new(limit: u64, shown: Gauge) -> Arc<MemoryBudget> {
        Arc::new(MemoryBudget { limit, taken: AtomicU64::new(0), shown })
    }

    /// A part of it, of no bytes yet.
    pub fn lease(self: &Arc<MemoryBudget>) -> MemoryLease {
        MemoryLease { budget: self.clone(), bytes: 0 }
    }

    /// A part of it that is needed whether there is room or not.
    pub fn owe(self: &Arc<MemoryBudget>, bytes: usize) -> MemoryLease {
        let mut lease = self.lease();
        lease.add(bytes as u64);
        lease
    }
}

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub struct MemoryLease {
    budget: Arc<MemoryBudget>,
    bytes: u64,
}

impl MemoryLease {
    /// Makes it so many bytes, if there is room for them.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let more = (bytes as u64).saturating_sub(self.bytes);
        let budget = &self.budget;
        let fits = |taken: u64| taken.checked_add(more).filter(|taken| *taken <= budget.limit);
        match budget.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => {
                budget.shown.inc_by(signed(more));
                self.bytes += more;
                Ok(())
            }
            Err(_) => Err(Refusal::BodyMemory { limit: budget.limit }),
        }
    }

    /// Gives back all but so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes as u64);
        self.budget.taken.fetch_sub(less, Ordering::Relaxed);
        self.budget.shown.dec_by(signed(less));
        self.bytes -= less;
    }

    /// What it is a part of.
    pub fn budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
    }

    fn add(&mut self, bytes: u64) {
        self.budget.taken.fetch_add(bytes, Ordering::Relaxed);
        self.budget.shown.inc_by(signed(bytes));
        self.bytes += bytes;
    }

    /// Bytes that belong to it.
    pub fn holds(self, bytes: impl Into<Bytes>) -> AccountedBytes {
        AccountedBytes { bytes: bytes.into(), _lease: Arc::new(self) }
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
        self.budget.shown.dec_by(signed(self.bytes));
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// A body that counts towards the budget for as long as anybody has it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AccountedBytes {
    bytes: Bytes,
    _lease: Arc<MemoryLease>,
}

impl AccountedBytes {
    /// The same part of the budget, with other bytes that are no more.
    pub fn with(&self, bytes: Bytes) -> AccountedBytes {
        AccountedBytes { bytes, _lease: self._lease.clone() }
    }
}

impl Deref for AccountedBytes {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_until_the_last_holder_is_gone() {
        let budget = MemoryBudget::new(100, Gauge::default());
        let mut one = budget.lease();
        one.grow_to(60).unwrap();
        let mut two = budget.lease();
        assert_eq!(two.grow_to(50), Err(Refusal::BodyMemory { limit: 100 }));
        two.grow_to(40).unwrap();
        let held = one.holds("x");
        let copy = held.clone();
        drop(held);
        assert!(two.grow_to(41).is_err());
        drop(copy);
        two.grow_to(100).unwrap();
        drop(two);
        assert_eq!(budget.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_debt_counts_and_is_never_refused() {
        let budget = MemoryBudget::new(10, Gauge::default());
        let debt = budget.owe(50);
        assert!(budget.lease().grow_to(1).is_err());
        drop(debt);
        assert_eq!(budget.shown.get(), 0);
    }
}
