//! `foldline serve` as a process.
#![allow(clippy::unwrap_used)]

mod process;
mod running;
