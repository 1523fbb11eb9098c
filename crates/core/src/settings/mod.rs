//! Settings as tables: what users may write, how values are checked, layered and documented.
//!
//! Every setting stands once, as a row of the [`section!`](crate::section) of the crate that reads it. Defaults, presets,
//! ranges, error messages, the documentation, the JSON Schema and the type with the values all come from that row, so a
//! setting cannot be documented but not checked, or checked but not read. A program composes the sections of its crates
//! as [`Sections`] and lays its sources over each other with [`Sections::resolve`].

mod choice;
mod docs;
mod error;
mod field;
mod kind;
mod knob;
mod layer;
mod nearest;
mod schema;
mod section;
mod sections;

pub use choice::Preset;
pub(crate) use choice::choice;
pub use error::{PolicyError, Problem};
pub use field::{AutoOr, Field};
pub use kind::{Fault, Unit, ValueKind, bytes, choice as one_of, count, fraction, tokens};
pub use knob::Knob;
pub use layer::{Given, Layer, Origin, Setting};
pub use sections::{Order, Relation, Resolved, Section, Sections, Table};
#[doc(hidden)]
pub use serde_json::Value;
