//! The store of originals: every text that Foldline removes from a transcript is kept here under its
//! handle and comes back byte for byte.
//!
//! ```
//! use foldline_transcript::recall::Handle;
//! use foldline_store::{Limits, NewOriginal, Recall, Store};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("originals.db");
//! let store = Store::open(&path, Limits::default())?;
//! let text = "a long tool output";
//! let handle = Handle::of(text);
//! let now_ms = 1_760_000_000_000;
//! store.put(now_ms, "", &[NewOriginal { handle, text, tool: "bash" }])?;
//! let Recall::Found(original) = store.get(now_ms, "", handle)? else { panic!("it was just stored") };
//! assert_eq!(original.text, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Store::search`] finds originals by their words. The index follows the originals: [`Store::index`] puts into it what
//! is not there yet, and a search does so first.
//!
//! The same file holds what the gateway knows about conversations: checkpoints, sessions, events. Large texts may be in an
//! object store beside it ([`Opening::originals`]).
//!
//! - What [`Store::put`] returned from is on the disk: a crash right after loses nothing.
//! - Many processes may have one file open. Writers wait for each other; readers never wait for writers.
//! - A namespace sees its own originals only, and finds only these.
//! - The store has no clock: times are milliseconds since 1970, given by the caller.
//! - Errors, sizes and counts never repeat a text.
#![forbid(unsafe_code)]

mod address;
mod backend;
mod check;
mod client_keys;
mod conversation;
mod error;
mod folders;
mod forget;
mod keys;
mod known_keys;
mod limits;
mod location;
#[cfg(test)]
#[path = "../tests/support/noise.rs"]
mod noise;
mod object_name;
mod object_store;
mod opening;
mod original;
mod pack;
#[cfg(feature = "postgres")]
mod postgres;
mod rows;
mod seal;
mod search;
mod settings;
mod shares;
mod sqlite;
mod store;
mod transfer;
mod url;
#[cfg(any(feature = "postgres", feature = "object-store"))]
mod wait;
mod wanted;

pub use address::{Address, AddressError, Digest};
pub use client_keys::{
    ClientKey, KeyDay, KeyEvent, KeyEventKind, KeyRefused, KeyScope, KeyTerms, KeyUsage, new_client_key,
};
pub use conversation::{
    CheckpointEntry, EventRow, FoldClaim, Kept, Key, NewCheckpoint, NewFold, Precedence, Revise, SessionRow, WindowRow,
};
pub use error::{Fault, StoreError};
pub use forget::{Cleaning, Forget, Forgotten, Gone, Rekeyed};
pub use keys::{KeyError, KeyId, Keyring, random_id};
pub use limits::{Expiry, Limits};
pub use location::default_path;
pub use object_store::ObjectPlace;
pub use opening::Opening;
pub use original::{Candidate, NewOriginal, Original, Pruned, Recall, Stats, Stored};
pub use search::{Query, QueryError, Search, Whose};
pub use settings::StoreSettings;
pub use store::Store;
pub use transfer::{Bytes, Cursor, Kind, ReadError, Record, Removal};
pub use url::{is_url, shown};
pub use wanted::{Wanted, tell};
