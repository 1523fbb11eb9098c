//! Recall: from a digest prefix to the text, verified by its digest.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::limits::Expiry;
use crate::object_store::{Elsewhere, Fetched, Looked, ObjectName};
use crate::original::{Original, Recall};
use crate::pack::Unpacking;
use crate::rows::{Found, MOST_CANDIDATES, Packed, State, candidates, read_label};
use crate::seal::{Scope, Seal, Vault, What};
use crate::sqlite::seals::lacks_key;
use rusqlite::{Connection, Row, Transaction, params};

/// Looks an address up in a namespace.
pub(crate) fn get(reader: &mut Connection, vault: &Vault, namespace: &str, address: &Address) -> Result<Looked, Fault> {
    // One snapshot: another process may let go of the text between two statements.
    let snapshot = reader.transaction()?;
    let mut found = Vec::new();
    for seal in vault.all(Scope::Namespace(namespace)) {
        let here = find(&snapshot, &seal, namespace, address)?;
        found.extend(here.into_iter().map(|found| (found, seal.number())));
    }
    found.sort_by_key(|(found, _)| found.digest);
    let recall = match (found.pop(), found.is_empty()) {
        (None, _) if lacks_key(&snapshot, vault)? => return Err(Fault::Sealed(*address)),
        (None, _) => Recall::Unknown,
        (Some((Found { state: State::Gone { at, why }, .. }, _)), true) => Recall::Expired { at, why },
        (Some((only, number)), true) => {
            return match vault.of_row(number, Scope::Namespace(namespace)) {
                Some(seal) => load(&snapshot, seal, address, only),
                None => Err(Fault::Sealed(*address)),
            };
        }
        (Some(last), false) => {
            found.push(last);
            Recall::Ambiguous(candidates(found.into_iter().map(|(found, _)| found).collect()))
        }
    };
    Ok(Looked::Here(recall))
}

/// The namespaces that know an address, in order.
pub(crate) fn namespaces(reader: &Connection, vault: &Vault, address: &Address) -> Result<Vec<String>, Fault> {
    let mut all =
        reader.prepare_cached("SELECT namespace FROM tenants UNION SELECT namespace FROM tombstones ORDER BY 1")?;
    let all: Vec<String> = all.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut knowing = Vec::new();
    for namespace in all {
        for seal in vault.all(Scope::Namespace(&namespace)) {
            if !find(reader, &seal, &namespace, address)?.is_empty() {
                knowing.push(namespace);
                break;
            }
        }
    }
    Ok(knowing)
}

/// The digests of a namespace that have an address.
pub(super) fn alike(
    reader: &Connection,
    vault: &Vault,
    namespace: &str,
    address: &Address,
) -> Result<Vec<Digest>, Fault> {
    let mut digests = Vec::new();
    for seal in vault.all(Scope::Namespace(namespace)) {
        let found = find(reader, &seal, namespace, address)?;
        let kept = found.iter().filter(|found| matches!(found.state, State::Kept { .. }));
        digests.extend(kept.map(|found| found.digest));
    }
    Ok(digests)
}

/// Notes that an original was used.
pub(crate) fn note_use(
    writer: &Connection,
    vault: &Vault,
    now: i64,
    namespace: &str,
    digest: &Digest,
) -> Result<(), Fault> {
    for seal in vault.all(Scope::Namespace(namespace)) {
        writer.execute(
            "UPDATE originals SET used_at = max(used_at, ?1) WHERE namespace = ?2 AND digest = ?3",
            params![now, namespace, seal.digest(digest).as_bytes()],
        )?;
    }
    Ok(())
}

/// Kept and gone texts alike: with both under one short handle, nobody can say which one was meant.
fn find(snapshot: &Connection, seal: &Seal, namespace: &str, address: &Address) -> Result<Vec<Found>, Fault> {
    let (low, high) = seal.range(address);
    let mut statement = snapshot.prepare_cached(
        "SELECT digest, tool, id, created_at, used_at, size, NULL, NULL, object FROM originals
          WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3 AND sealed = ?4
         UNION ALL
         SELECT digest, label, NULL, NULL, NULL, NULL, expired_at, why, NULL FROM tombstones
          WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3 AND sealed = ?4
         ORDER BY digest",
    )?;
    let known = params![namespace, low.as_bytes(), high.as_bytes(), seal.number()];
    let mut rows = statement.query(known)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        // More texts can stand in the range than have the digits asked for.
        let found = found(row, seal)?;
        if all.len() < MOST_CANDIDATES && address.covers(&found.digest) {
            all.push(found);
        }
    }
    Ok(all)
}

fn found(row: &Row<'_>, seal: &Seal) -> Result<Found, Fault> {
    let damaged = || Fault::Corrupt("an original does not match its digest".into());
    let place: Vec<u8> = row.get(0)?;
    let place = Digest::from_bytes(&place).ok_or_else(damaged)?;
    let (digest, tool) = read_label(seal, &place, row.get(1)?).ok_or_else(damaged)?;
    let state = match row.get::<_, Option<i64>>(2)? {
        Some(id) => State::Kept {
            text: Packed { row: id, place, size: row.get(5)?, object: object(row, 8)? },
            tool,
            created_at: row.get(3)?,
            used_at: row.get(4)?,
        },
        None => {
            let name: String = row.get(7)?;
            let why = Expiry::ALL.into_iter().find(|why| why.name() == name).unwrap_or(Expiry::Size);
            State::Gone { at: row.get(6)?, why }
        }
    };
    Ok(Found { digest, state })
}

fn load(snapshot: &Transaction<'_>, seal: Seal, address: &Address, found: Found) -> Result<Looked, Fault> {
    let digest = found.digest;
    let State::Kept { text, tool, created_at, used_at } = found.state else {
        return Ok(Looked::Here(Recall::Unknown));
    };
    if let Some(object) = text.object {
        return Ok(Looked::Elsewhere(Elsewhere { seal, digest, text, object, tool, created_at, used_at }));
    }
    let text = unpack(snapshot, &seal, &text, &Fetched::default(), address)?;
    // What is not byte for byte the text is not given out.
    if Digest::of(&text) != digest {
        return Err(Fault::Damaged(*address));
    }
    Ok(Looked::Here(Recall::Found(Original { digest, text, tool, created_at, used_at })))
}

/// The object that a row names.
pub(super) fn object(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ObjectName>> {
    Ok(row.get::<_, Option<[u8; 32]>>(column)?.map(ObjectName))
}

/// The text of an original, from the file or from what was fetched.
pub(super) fn unpack(
    snapshot: &Connection,
    seal: &Seal,
    text: &Packed,
    fetched: &Fetched,
    address: &Address,
) -> Result<String, Fault> {
    if let Some(object) = &text.object {
        return fetched.text(seal, text, object, address);
    }
    let damaged = |_| Fault::Damaged(*address);
    let size = usize::try_from(text.size).map_err(|_| Fault::Damaged(*address))?;
    let mut unpacking = Unpacking::of_size(size);
    let mut statement = snapshot.prepare_cached("SELECT part, bytes FROM chunks WHERE original = ?1 ORDER BY part")?;
    let mut chunks = statement.query([text.row])?;
    while let Some(chunk) = chunks.next()? {
        let bytes = chunk.get_ref(1)?.as_blob().map_err(|_| Fault::Damaged(*address))?;
        let bytes = seal.open_bytes(What::Piece(&text.place, chunk.get(0)?), bytes);
        unpacking.piece(bytes.ok_or(Fault::Damaged(*address))?.as_ref()).map_err(damaged)?;
    }
    unpacking.finish().map_err(damaged)
}
