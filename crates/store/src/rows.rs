//! How what is kept is written in columns and read back, whichever database it is.

use crate::address::{Address, Digest};
use crate::conversation::{Key, NewCheckpoint};
use crate::error::Fault;
use crate::limits::Expiry;
use crate::object_name::ObjectName;
use crate::original::{Candidate, NewOriginal};
use crate::pack::{Unpacking, pack};
use crate::seal::{Seal, What as Sealed};

/// The digests of texts, each held against its handle.
pub(crate) fn digests_of(originals: &[NewOriginal<'_>]) -> Result<Vec<Digest>, Fault> {
    originals.iter().map(digest_of).collect()
}

fn digest_of(original: &NewOriginal<'_>) -> Result<Digest, Fault> {
    let digest = Digest::of(original.text);
    if Address::from(original.handle).covers(&digest) { Ok(digest) } else { Err(Fault::Mismatch(original.handle)) }
}

/// What is written beside a text: its tool, and, where the row does not show it, its digest.
pub(crate) fn label(seal: &Seal, digest: &Digest, place: &Digest, tool: &str) -> Result<String, Fault> {
    match seal {
        Seal::Open => Ok(tool.to_owned()),
        Seal::Closed(_) => Ok(seal.text(Sealed::Label(place), &format!("{digest}{tool}"))?.into_owned()),
    }
}

/// The digest and the tool behind a label; `None` when it is not what was written there.
pub(crate) fn read_label(seal: &Seal, place: &Digest, label: String) -> Option<(Digest, String)> {
    match seal {
        Seal::Open => Some((*place, label)),
        Seal::Closed(_) => {
            let label = seal.open_text(Sealed::Label(place), label)?;
            let (digest, tool) = label.split_at_checked(Address::MOST)?;
            Some((Digest::from_hex(digest)?, tool.to_owned()))
        }
    }
}

/// A checkpoint as it is written: packed and sealed.
pub(crate) struct CheckpointColumns {
    pub(crate) key: Key,
    pub(crate) root: Key,
    pub(crate) bytes: Vec<u8>,
    pub(crate) record: String,
    pub(crate) seal: i64,
}

impl CheckpointColumns {
    pub(crate) fn of(seal: &Seal, checkpoint: &NewCheckpoint<'_>) -> Result<CheckpointColumns, Fault> {
        let mut packed = Vec::new();
        pack(checkpoint.text, |piece| {
            packed.extend_from_slice(piece);
            Ok::<_, Fault>(())
        })?;
        let (key, root) = (seal.key(&checkpoint.key), seal.key(&checkpoint.root));
        Ok(CheckpointColumns {
            key,
            root,
            bytes: seal.bytes(Sealed::Text(&key), &packed)?.into_owned(),
            record: facts(seal, &key, (&checkpoint.key, &checkpoint.root), checkpoint.record)?,
            seal: seal.number(),
        })
    }
}

/// Facts as they are written: with key and root, where the row does not show them.
pub(crate) fn facts(seal: &Seal, place: &Key, (key, root): (&Key, &Key), record: &str) -> Result<String, Fault> {
    match seal {
        Seal::Open => Ok(record.to_owned()),
        Seal::Closed(_) => {
            let [key, root] = [key, root].map(|key| Digest::from_array(key.0));
            Ok(seal.text(Sealed::Facts(place), &format!("{key}{root}{record}"))?.into_owned())
        }
    }
}

/// The key, the root and the facts of a checkpoint, given the first two as they stand in its row; `None` when they are
/// not what was written there.
pub(crate) fn read_facts(seal: &Seal, (key, root): (&Key, &Key), record: String) -> Option<(Key, Key, String)> {
    match seal {
        Seal::Open => Some((*key, *root, record)),
        Seal::Closed(_) => {
            let record = seal.open_text(Sealed::Facts(key), record)?;
            let (key, rest) = record.split_at_checked(Address::MOST)?;
            let (root, record) = rest.split_at_checked(Address::MOST)?;
            let key_of = |digits| Some(Key(Digest::from_hex(digits)?.into_array()));
            Some((key_of(key)?, key_of(root)?, record.to_owned()))
        }
    }
}

/// The text of a checkpoint; `None` when it is not what was written there.
pub(crate) fn read_text(seal: &Seal, place: &Key, size: i64, bytes: &[u8]) -> Option<String> {
    let mut unpacking = Unpacking::of_size(usize::try_from(size).ok()?);
    unpacking.piece(seal.open_bytes(Sealed::Text(place), bytes)?.as_ref()).ok()?;
    unpacking.finish().ok()
}

pub(crate) fn damaged() -> Fault {
    Fault::Corrupt("a checkpoint does not match its digest".into())
}

/// Texts under one address that are listed. More than two do not happen by chance.
pub(crate) const MOST_CANDIDATES: usize = 16;

/// A text that has the digits asked for, or its tombstone.
pub(crate) struct Found {
    pub(crate) digest: Digest,
    pub(crate) state: State,
}

pub(crate) enum State {
    Kept { text: Packed, tool: String, created_at: i64, used_at: i64 },
    Gone { at: i64, why: Expiry },
}

/// Where the text of an original is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) row: i64,
    /// What it is found by, to which its pieces are bound.
    pub(crate) place: Digest,
    /// Bytes, unpacked.
    pub(crate) size: i64,
    /// The object that it is in; none where it is in the database.
    pub(crate) object: Option<ObjectName>,
}

/// The text of an original from its pieces, with their numbers.
pub(crate) fn unpacked(
    seal: &Seal,
    text: &Packed,
    address: &Address,
    pieces: impl IntoIterator<Item = (i64, Vec<u8>)>,
) -> Result<String, Fault> {
    let damaged = |_| Fault::Damaged(*address);
    let size = usize::try_from(text.size).map_err(|_| Fault::Damaged(*address))?;
    let mut unpacking = Unpacking::of_size(size);
    for (part, sealed) in pieces {
        let piece = seal.open_bytes(Sealed::Piece(&text.place, part), &sealed);
        unpacking.piece(piece.ok_or(Fault::Damaged(*address))?.as_ref()).map_err(damaged)?;
    }
    unpacking.finish().map_err(damaged)
}

pub(crate) fn candidates(found: Vec<Found>) -> Vec<Candidate> {
    let digests: Vec<Digest> = found.iter().map(|found| found.digest).collect();
    found
        .into_iter()
        .map(|found| Candidate {
            address: Address::distinguishing(&found.digest, &digests),
            tool: match found.state {
                State::Kept { tool, .. } => Some(tool),
                State::Gone { .. } => None,
            },
        })
        .collect()
}

/// The index takes about one byte for so many of the text that is read (measured on recorded sessions: 7 to 8 %, and three
/// times as much where it holds digests, which have nothing in common with their neighbours).
pub(crate) fn bytes_per_index_byte(seal: &Seal) -> usize {
    match seal {
        Seal::Open => 12,
        Seal::Closed(_) => 4,
    }
}

/// A number of a database as a count.
pub(crate) fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A count as a number of a database.
pub(crate) fn number(whole: u64) -> i64 {
    i64::try_from(whole).unwrap_or(i64::MAX)
}
