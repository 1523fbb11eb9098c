//! Foldline's engine.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod apply;
pub mod cache;
pub mod context;
pub mod edit;
pub mod engine;
pub mod event;
pub mod explain;
pub mod handoff;
pub mod identity;
mod inserted;
pub mod inspect;
pub mod ledger;
pub mod models;
pub mod plan;
pub mod planner;
pub mod policy;
pub mod prune;
pub mod reading;
pub mod reasoning;
pub mod recall;
pub mod reduce;
pub mod repair;
pub mod replay;
pub mod report;
pub mod retention;
pub mod rewrite;
pub mod setting;
pub mod settings;
mod signature;
pub mod state;
pub mod summary;
pub mod tokens;
pub mod trajectory;
pub mod transcript;
pub mod validate;
pub mod wire;
pub mod wording;
pub mod zone;

pub use context::{ContextEngine, Foldline};
/// Secrets: found and masked; a crate of its own, because every program that passes text on needs it.
pub use foldline_redact as redact;

pub use engine::{Compaction, EngineError, Job, compact};
pub use planner::{Request, Trigger};
pub use policy::Policy;
pub use report::Report;
pub use setting::Setting;
pub use state::SessionState;
pub use transcript::{Format, Transcript};
