//! Foldline's engine.
#![forbid(unsafe_code)]

pub mod edit;
pub mod rewrite;
pub mod transcript;
pub mod wire;

pub use transcript::{Format, Transcript};
