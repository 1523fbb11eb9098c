//! What goes into the store and what comes out of it.

use crate::address::{Address, Digest};
use crate::limits::Expiry;
use foldline_transcript::recall::Handle;

/// A text to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOriginal<'a> {
    /// The handle that stands in the transcript. It must be the handle of `text`.
    pub handle: Handle,
    /// The text.
    pub text: &'a str,
    /// The tool whose output it was; empty for anything else.
    pub tool: &'a str,
}

/// What a put did. Everything it was given is durable, whether it was added or already there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Texts that were not there before.
    pub added: u64,
    /// Texts that were.
    pub known: u64,
    /// Bytes that the added ones take, packed.
    pub added_bytes: u64,
    /// Originals that were let go for age or size.
    pub expired: u64,
}

/// A kept text.
#[derive(Clone, PartialEq, Eq)]
pub struct Original {
    /// Its full digest.
    pub digest: Digest,
    /// The text, byte for byte.
    pub text: String,
    /// The tool whose output it was; empty for anything else.
    pub tool: String,
    /// When it was first stored.
    pub created_at: i64,
    /// When it was last stored or recalled before this time, to the hour.
    pub used_at: i64,
}

/// The answer to a recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recall {
    /// Here it is.
    Found(Original),
    /// It was here.
    Expired {
        /// When it was let go.
        at: i64,
        /// Why.
        why: Expiry,
    },
    /// Several texts have these digits; each candidate has an address of its own.
    Ambiguous(Vec<Candidate>),
    /// Never seen in this namespace, or gone for so long that nothing is known of it.
    Unknown,
}

/// One of several texts under one short handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Enough digits to tell it from the others.
    pub address: Address,
    /// The tool whose output it was, if it is still kept.
    pub tool: Option<String>,
}

/// What a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Originals, of all namespaces.
    pub originals: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Bytes they take, packed, with the index of their words; what [`crate::Limits::max_bytes`] limits.
    pub stored_bytes: u64,
    /// Originals that are gone and still remembered.
    pub tombstones: u64,
    /// Bytes on the disk, with free pages and the write-ahead log.
    pub file_bytes: u64,
}

/// What a prune did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Originals let go for age.
    pub aged: u64,
    /// Originals let go for size.
    pub oversized: u64,
    /// Bytes they took, packed.
    pub freed_bytes: u64,
    /// Tombstones that were forgotten.
    pub forgotten: u64,
}

impl std::fmt::Debug for Original {
    /// Says everything but the text, so that a log line can never carry it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Original")
            .field("digest", &self.digest)
            .field("size", &self.text.len())
            .field("tool", &self.tool)
            .field("created_at", &self.created_at)
            .field("used_at", &self.used_at)
            .finish_non_exhaustive()
    }
}
