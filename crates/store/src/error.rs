//! Errors of the store: which file, what happened, what to do.

use crate::address::Address;
use crate::keys::KeyId;
use foldline_transcript::recall::Handle;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("store {}: {fault}", .place.display())]
pub struct StoreError {
    /// The file, or the URL without its password.
    pub place: PathBuf,
    /// What is the matter.
    pub fault: Fault,
}

/// What is the matter with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Asked to read a store that nobody made.
    #[error("file not found; nothing has been stored there, or another --store was meant")]
    Missing,
    /// The file system refuses.
    #[error(
        "cannot be opened or created: {0}; check the permissions of the file and its folder, or choose another --store"
    )]
    Denied(io::Error),
    /// The place is a link.
    #[error("is a symbolic link; name the file itself")]
    Link,
    /// Others can read the file, and that cannot be changed.
    #[error(
        "is readable by other users (mode {0:o}), and its permissions cannot be changed; run chmod 600 on it, or \
         choose another --store"
    )]
    Exposed(u32),
    /// Others can put another file into its place.
    #[error("is in a world-writable folder (mode {0:o}); run chmod o-w on the folder, or choose another --store")]
    OpenFolder(u32),
    /// The file or its folder cannot be written.
    #[error("is read-only; make the file and its folder writable, or choose another --store")]
    ReadOnly,
    /// Others write for longer than we wait.
    #[error("is locked: another process has been writing for more than {} s; try again later", .0.as_secs_f32())]
    Locked(Duration),
    /// Some other kind of file.
    #[error("is not a database; choose another --store (the file was not changed)")]
    NotADatabase,
    /// Somebody else's database.
    #[error("is a database of another program; choose another --store (the file was not changed)")]
    Foreign,
    /// Written by a later release.
    #[error(
        "has format {found}, this release reads up to {known}; use the release that wrote it, or choose another --store"
    )]
    Newer {
        /// The format of the file.
        found: i64,
        /// The latest that is known here.
        known: i64,
    },
    /// Damaged as a whole.
    #[error("is damaged ({0}); move it away and the next run creates a new one")]
    Corrupt(String),
    /// One original is damaged.
    #[error("{0} is damaged: its content does not match its digest; restore or replace the file")]
    Damaged(Address),
    /// One original is encrypted with a key that is not there.
    #[error("{0} is encrypted with a key that was not given; add that key")]
    Sealed(Address),
    /// The text of one original is in an object that is not there.
    #[error(
        "the text of {0} is missing from the object store; restore it there, or set store.originals to the place where it is"
    )]
    MissingObject(Address),
    /// Texts are in an object store, and none was given.
    #[error("keeps texts in an object store, and none was given; set store.originals to its URL")]
    NoObjects,
    /// The URL of the object store cannot be used. It is not repeated.
    #[error("store.originals cannot be used: {0}; expected file:///FOLDER or s3://BUCKET/PREFIX")]
    ObjectUrl(String),
    /// The object store does not answer.
    #[error("the object store {place} cannot be reached: {why}; check the network and AWS_ENDPOINT_URL")]
    ObjectsUnreachable {
        /// Where it is.
        place: String,
        /// What happened.
        why: String,
    },
    /// The object store does not let us do what is needed.
    #[error("the object store {place} refuses: {why}; check its keys and that they may read, write, list and delete")]
    ObjectsRefused {
        /// Where it is.
        place: String,
        /// What it says.
        why: String,
    },
    /// Anything else that an object store says.
    #[error("the object store {place} failed: {why}")]
    Objects {
        /// Where it is.
        place: String,
        /// What it says.
        why: String,
    },
    /// Rows are gone, but objects are not yet.
    #[error("rows are gone, but the texts in the object store are not yet: {0}; `foldline store vacuum` tries again")]
    ObjectsLeft(Box<Fault>),
    /// What is kept is encrypted, and no key was given.
    #[error(
        "is encrypted, and no key was given; set store.key_file, store.key_command or FOLDLINE_STORE_KEY to key {0}, or \
         choose another --store"
    )]
    NoKey(KeyId),
    /// What is kept is encrypted with a key that is not among those given.
    #[error(
        "needs key {wanted}, but the keys given are {given}; add it after the first one and run `foldline store rekey`"
    )]
    WrongKey {
        /// The key that is needed.
        wanted: KeyId,
        /// The keys that were given.
        given: String,
    },
    /// The database does not answer.
    #[error("cannot be reached: {0}; check that the database runs and that host, port and TLS are right")]
    Unreachable(String),
    /// The URL cannot be used.
    #[error("is no URL of a database: {0}; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require")]
    BadUrl(String),
    /// The database does not let us in.
    #[error("refuses the login: {0}; check user and password, which may also be in PGPASSWORD")]
    Login(String),
    /// The server has no such database.
    #[error("there is no such database; make it with `createdb`, or name another one")]
    NoDatabase,
    /// The database has nothing of ours.
    #[error("nothing has been stored there; `foldline store migrate` prepares it, or another --store was meant")]
    Empty,
    /// The user may not do what is needed.
    #[error("{0}; the user needs CREATE on the database, or a schema `foldline` of its own")]
    Rights(String),
    /// The server is too old.
    #[error("is PostgreSQL {found}; {least} or later is needed")]
    TooOld {
        /// Its major version.
        found: i64,
        /// The oldest that will do.
        least: i64,
    },
    /// No room on the disk.
    #[error("the disk is full; free some space, or lower store.max_bytes")]
    DiskFull,
    /// One put is more than the whole store may hold.
    #[error("storing {needed} bytes exceeds store.max_bytes ({limit}); raise it")]
    TooLarge {
        /// Bytes, packed.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// A caller mixed up texts.
    #[error("{0} is not the handle of the given text")]
    Mismatch(Handle),
    /// The disk or the system failed.
    #[error("I/O error: {0}; check the disk and its free space")]
    Io(#[from] io::Error),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Other(String),
}

impl StoreError {
    /// Whether the same call may succeed a little later.
    pub fn is_retryable(&self) -> bool {
        matches!(self.fault, Fault::Locked(_) | Fault::Unreachable(_) | Fault::ObjectsUnreachable { .. })
    }
}

impl Fault {
    /// The fault of a store at a place.
    pub(crate) fn at(self, place: &Path, wait: Duration) -> StoreError {
        // Only the store knows how long its connections wait.
        let fault = if let Fault::Locked(_) = self { Fault::Locked(wait) } else { self };
        StoreError { place: place.to_owned(), fault }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        let words = match &error {
            rusqlite::Error::SqliteFailure(failure, words) => words.clone().unwrap_or(failure.to_string()),
            other => other.to_string(),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Locked(Duration::ZERO),
            Some(ErrorCode::DatabaseCorrupt) => Fault::Corrupt(words),
            Some(ErrorCode::NotADatabase) => Fault::NotADatabase,
            Some(ErrorCode::DiskFull) => Fault::DiskFull,
            Some(ErrorCode::ReadOnly) => Fault::ReadOnly,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Fault::Denied(io::Error::other(words)),
            Some(ErrorCode::SystemIoFailure) => Fault::Io(io::Error::other(words)),
            _ => Fault::Other(words),
        }
    }
}
