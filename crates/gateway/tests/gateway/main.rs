//! The gateway as clients and providers meet it: real sockets on both sides, a provider that follows a script.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod browsers;
mod connections;
mod crowds;
mod desk;
mod faults;
mod forgetting;
mod frames;
mod hostile;
mod identity;
mod lending;
mod limits;
mod loops;
mod memory;
mod operations;
mod originals;
mod passing;
mod recovery;
mod reloads;
mod streams;
mod summaries;
mod tenants;
mod undoing;
mod uploads;
mod vendors;
