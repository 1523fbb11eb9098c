//! The policy: settings that the core decides by.
//!
//! - `table.rs` declares its sections; the mechanism is in [`crate::settings`].
//! - [`Budgets`] turns a policy and a model into tokens: the trigger, the tail, the low-water mark.

mod budgets;
mod choice;
mod curve;
mod table;

pub use crate::models::{CacheTtl, SignedReasoning};
pub use crate::settings::{AutoOr, Preset};
pub use budgets::{BudgetInputs, Budgets, TriggerCap};
pub use choice::{Basis, Dialect, Fidelity, PruneOrder, Tail};
pub use table::{CompressionPolicy, ModelPolicy, Policy, SummarizerPolicy};

#[cfg(test)]
mod tests;
