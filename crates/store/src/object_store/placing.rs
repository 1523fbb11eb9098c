//! Writing texts to objects ahead of the rows that will name them.

use super::objects::Objects;
use super::rows::{ObjectRows, Spot};
use super::writer::{Object, ObjectWriter};
use crate::address::Digest;
use crate::error::Fault;
use crate::object_name::ObjectName;
use crate::original::NewOriginal;
use crate::pack::pack;
use crate::rows::{digests_of, number};
use crate::seal::{Scope, Vault, What};
use crate::transfer::Record;
use std::collections::BTreeMap;

/// Texts that are in objects already and have no row yet, by what their row is found by. A row that is sealed otherwise,
/// because the key has changed since, does not find them; its text goes into the database then.
#[derive(Debug, Default)]
pub(crate) struct Placed(BTreeMap<Digest, Object>);

impl Placed {
    pub(crate) fn get(&self, place: &Digest) -> Option<&Object> {
        self.0.get(place)
    }

    /// The objects, whether they came to be used or not.
    pub(crate) fn names(&self) -> Vec<ObjectName> {
        self.0.values().map(|object| object.name).collect()
    }
}

/// Writes texts to objects that are large enough and not in the store yet.
pub(crate) fn place(
    objects: &Objects,
    rows: &dyn ObjectRows,
    vault: &Vault,
    namespace: &str,
    originals: &[NewOriginal<'_>],
) -> Result<Placed, Fault> {
    // Packed, a text may be longer than it was by some bytes, and is then hardly worth an object.
    let large: Vec<NewOriginal<'_>> =
        originals.iter().filter(|original| objects.take(original.text.len() as u64)).copied().collect();
    if large.is_empty() {
        return Ok(Placed::default());
    }
    let digests = digests_of(&large)?;
    let unknown = unknown(rows, vault, namespace, &digests)?;
    let store = rows.store_id()?;
    let writing = vault.writing(Scope::Namespace(namespace));
    let mut placed = Placed::default();
    let mut writer = ObjectWriter::of(objects, store);
    for ((original, digest), is_unknown) in large.iter().zip(&digests).zip(unknown) {
        let place = writing.digest(digest);
        if !is_unknown || placed.0.contains_key(&place) {
            continue;
        }
        let mut pieces = Vec::new();
        pack(original.text, |piece| {
            pieces.push(writing.bytes(What::Piece(&place, number(pieces.len() as u64)), piece)?.into_owned());
            Ok::<_, Fault>(())
        })?;
        let bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        if objects.take(bytes) {
            placed.0.insert(place, writer.add(pieces.iter().map(Vec::as_slice))?);
        }
    }
    writer.finish()?;
    Ok(placed)
}

/// Whether each of some texts is not in the store yet, however it may have been sealed.
fn unknown(rows: &dyn ObjectRows, vault: &Vault, namespace: &str, digests: &[Digest]) -> Result<Vec<bool>, Fault> {
    let seals = vault.all(Scope::Namespace(namespace));
    let spots: Vec<Spot<'_>> =
        digests.iter().flat_map(|digest| seals.iter().map(move |seal| (namespace, seal.digest(digest)))).collect();
    let stand = rows.stand(&spots)?;
    Ok(stand.chunks(seals.len().max(1)).map(|ways| !ways.contains(&true)).collect())
}

/// Writes the texts of records to objects that are large enough and not in the store yet; what it wrote, by record.
pub(crate) fn place_records(
    objects: &Objects,
    rows: &dyn ObjectRows,
    records: &[Record],
) -> Result<Vec<Option<ObjectName>>, Fault> {
    let mut placed = vec![None; records.len()];
    let mut wanted = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let Record::Original { namespace, digest, pieces, .. } = record else { continue };
        let bytes = pieces.iter().map(|piece| piece.0.len() as u64).sum();
        if let Some(digest) = Digest::from_bytes(&digest.0).filter(|_| objects.take(bytes)) {
            wanted.push((index, (namespace.as_str(), digest), pieces));
        }
    }
    if wanted.is_empty() {
        return Ok(placed);
    }
    let spots: Vec<Spot<'_>> = wanted.iter().map(|(_, spot, _)| *spot).collect();
    let stand = rows.stand(&spots)?;
    let mut writer = ObjectWriter::of(objects, rows.store_id()?);
    for ((index, _, pieces), stands) in wanted.into_iter().zip(stand) {
        if let Some(slot) = placed.get_mut(index).filter(|_| !stands) {
            *slot = Some(writer.add(pieces.iter().map(|piece| piece.0.as_slice()))?.name);
        }
    }
    writer.finish()?;
    Ok(placed)
}
