//! `foldline serve` as a process.
#![allow(clippy::unwrap_used)]

mod disk;
mod journal;
mod kills;
mod process;
mod running;
mod silence;
mod tls;
