//! Originals in SQLite.

mod connection;
mod expire;
mod get;
mod migrate;
mod put;
mod totals;

pub(crate) use connection::{Absent, file_bytes, open};
pub(crate) use expire::prune;
pub(crate) use get::{get, note_use};
pub(crate) use put::put;
pub(crate) use totals::totals;

// Earlier releases can corrupt a file when a writer resets the write-ahead log while another process
// checkpoints it.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

#[cfg(test)]
mod tests;
