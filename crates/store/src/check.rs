//! Whether what is kept is what was put there: every text unpacked and held against its digest.

use crate::address::Digest;
use crate::conversation::Key;
use crate::keys::KeyId;
use crate::pack::Unpacking;
use crate::rows::{read_facts, read_label, read_text};
use crate::seal::{Scope, Seal, Vault, What};
use crate::transfer::{Bytes, Record};

/// What is wrong with a record; nothing when it cannot be opened for want of a key.
pub(crate) fn wrong_with(record: &Record, vault: &Vault) -> Option<String> {
    match record {
        Record::Original { namespace, digest, label, size, key, pieces, .. } => {
            let seal = seal(vault, key.as_ref(), namespace)?;
            let place = Digest::from_bytes(&digest.0);
            let is_sound = place.is_some_and(|place| {
                let known = read_label(&seal, &place, label.clone());
                known.is_some_and(|(digest, _)| unpacked(&seal, &place, *size, pieces).as_ref() == Some(&digest))
            });
            (!is_sound).then(|| format!("original {} is damaged", hex(&digest.0)))
        }
        Record::Checkpoint { namespace, id, root, record, size, bytes, key, .. } => {
            let seal = seal(vault, key.as_ref(), namespace)?;
            let keys = (key_of(id), key_of(root));
            let is_sound = matches!(keys, (Some(id), Some(root))
                if read_facts(&seal, (&id, &root), record.clone()).is_some()
                    && read_text(&seal, &id, *size, &bytes.0).is_some());
            (!is_sound).then(|| format!("checkpoint {} is damaged", hex(&id.0)))
        }
        Record::Session { id, namespace, record, key, .. } => {
            let seal = seal(vault, key.as_ref(), namespace)?;
            let opened = seal.open_text(What::Session(id), record.clone());
            opened.is_none().then(|| format!("session {id} is damaged"))
        }
        _ => None,
    }
}

/// What is wrong with a record whose text is in an object that is not there.
pub(crate) fn missing_text(record: &Record) -> String {
    let digest = if let Record::Original { digest, .. } = record { hex(&digest.0) } else { String::new() };
    format!("original {digest} has lost its text: its object is missing from the object store")
}

/// The key that a record needs and that is not there.
pub(crate) fn missing_key(record: &Record, vault: &Vault) -> Option<KeyId> {
    let (Record::Original { key, .. }
    | Record::Checkpoint { key, .. }
    | Record::Session { key, .. }
    | Record::Tombstone { key, .. }
    | Record::Event { key, .. }) = record
    else {
        return None;
    };
    let id = KeyId(key.as_ref()?.0.as_slice().try_into().ok()?);
    (!vault.ids().contains(&id)).then_some(id)
}

fn seal(vault: &Vault, key: Option<&Bytes>, namespace: &str) -> Option<Seal> {
    let scope = Scope::Namespace(namespace);
    match key {
        None => Some(Seal::Open),
        Some(key) => vault.of_key(&KeyId(key.0.as_slice().try_into().ok()?), scope),
    }
}

fn unpacked(seal: &Seal, place: &Digest, size: i64, pieces: &[Bytes]) -> Option<Digest> {
    let mut unpacking = Unpacking::of_size(usize::try_from(size).ok()?);
    for (part, piece) in (0..).zip(pieces) {
        unpacking.piece(seal.open_bytes(What::Piece(place, part), &piece.0)?.as_ref()).ok()?;
    }
    Some(Digest::of(&unpacking.finish().ok()?))
}

fn key_of(bytes: &Bytes) -> Option<Key> {
    bytes.0.as_slice().try_into().ok().map(Key)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
