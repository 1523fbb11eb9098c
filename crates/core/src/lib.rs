//! Foldline's engine.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod apply;
pub mod cache;
pub mod context;
pub mod engine;
pub mod event;
pub mod explain;
pub mod handoff;
mod inserted;
pub mod inspect;
pub mod ledger;
pub mod models;
pub mod plan;
pub mod planner;
pub mod policy;
pub mod prune;
pub mod reading;
pub mod report;
pub mod setting;
pub mod settings;
pub mod state;
pub mod summary;
pub mod tokens;
pub mod zone;

pub use context::{ContextEngine, Foldline};
pub use engine::{Compaction, EngineError, Job, compact};
pub use foldline_transcript::{Format, Transcript};
pub use planner::{Request, Trigger};
pub use policy::Policy;
pub use report::Report;
pub use setting::Setting;
pub use state::SessionState;
