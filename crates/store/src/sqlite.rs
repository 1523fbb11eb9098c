//! Originals and conversations in SQLite.

mod check;
mod checkpoints;
mod claims;
mod clean;
mod client_keys;
mod clock;
mod connection;
mod expire;
mod file_identity;
mod find;
mod forget;
mod get;
mod index;
mod migrate;
mod object_rows;
mod objects;
mod put;
mod rekey;
mod seals;
mod sessions;
mod store;
mod tenants;
mod totals;
mod transfer;
mod transfer_keys;
mod windows;

pub(crate) use check::check;
pub(crate) use checkpoints::{entries, keep_fold, note_use as note_checkpoint_use, text};
pub(crate) use claims::{claim_fold, release_fold};
pub(crate) use clean::clean;
pub(crate) use connection::{Opened, enter, file_bytes, lock, open, open_reader, open_worker, probe};
pub(crate) use expire::prune;
pub(crate) use find::find;
pub(crate) use forget::{count as count_forgotten, forget};
pub(crate) use get::{get, namespaces, note_use};
pub(crate) use index::{index_some, waiting};
pub(crate) use objects::{claim, owner};
pub(crate) use put::put;
pub(crate) use rekey::{outdated, rekey};
pub(crate) use sessions::{events, revise_session, session, sessions, write};
pub(crate) use store::SqliteStore;
pub(crate) use totals::{forgotten, totals};
pub(crate) use transfer::{add, page};
pub(crate) use windows::{window, write_windows};

// Earlier releases can corrupt a file when a writer resets the write-ahead log while another process
// checkpoints it.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

#[cfg(test)]
mod tests;
