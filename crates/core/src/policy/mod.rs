//! Policy decides nothing about a transcript: it says what the rest of the core may decide with.
//!
//! Every knob stands once, in `table.rs`. Defaults, presets, ranges, error messages, the documentation,
//! the JSON Schema and the [`Policy`] struct that the engine reads all come from that table, so a knob
//! cannot be documented but not checked, or checked but not read.
//!
//! - [`resolve`] lays sources over each other (default, preset, file, environment, flag) and remembers
//!   for each key where its value came from.
//! - [`Budgets`] turns a policy and a model into tokens: the trigger, the tail, the low-water mark.

mod budgets;
pub(crate) mod choice;
mod curve;
mod docs;
mod error;
pub(crate) mod field;
mod kind;
mod knob;
mod layer;
mod schema;
mod table;

pub use budgets::{BudgetInputs, Budgets, TriggerCap};
pub use choice::{Basis, CacheTtl, Dialect, Fidelity, Outlines, Preset, PruneOrder, SignedReasoning};
pub use docs::markdown;
pub use error::{PolicyError, Problem};
pub use field::{AutoOr, Tail};
pub use kind::{Fault, Kind, Unit};
pub use knob::{Knob, knob, knobs, nearest_key};
pub use layer::{Given, Layer, Origin, Resolved, Setting, resolve};
pub use schema::json_schema;
pub use table::{CompressionPolicy, GatewayPolicy, ModelPolicy, Policy, StorePolicy, SummarizerPolicy};

#[cfg(test)]
mod tests;
