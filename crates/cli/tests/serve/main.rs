//! `foldline serve` as a process.
#![allow(clippy::unwrap_used)]

mod disk;
mod kills;
mod log_lines;
mod process;
mod running;
mod silence;
mod tls;
mod undo;
