//! The gateway as clients and providers meet it: real sockets on both sides, a provider that follows a script.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod crowds;
mod desk;
mod faults;
mod frames;
mod hostile;
mod limits;
mod loops;
mod operations;
mod originals;
mod passing;
mod recovery;
mod streams;
mod summaries;
