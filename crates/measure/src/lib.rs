//! Measurements.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cache;
pub mod replay;
pub mod retention;
pub mod trajectory;
