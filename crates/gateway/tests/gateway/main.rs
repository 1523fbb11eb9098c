//! The gateway as clients and providers meet it: real sockets on both sides, a provider that follows a script.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod browsers;
mod client_keys;
mod compactions;
mod connection_limits;
mod connections;
mod dashboard;
mod faults;
mod forgetting;
mod frames;
mod harness;
mod hostile;
mod identity;
mod limits;
mod loops;
mod mapped_keys;
mod memory;
#[cfg(unix)]
mod nodes;
mod operations;
mod originals;
mod outputs;
mod pass_through;
mod recovery;
mod reloads;
mod streams;
mod summaries;
mod telemetry;
mod tenants;
mod tools;
mod undo;
mod uploads;
mod vendors;
