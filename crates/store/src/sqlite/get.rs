//! Recalling: from digits to the one text that has them, checked against its digest.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::limits::Expiry;
use crate::original::{Candidate, Original, Recall};
use crate::pack::Unpacking;
use rusqlite::{Connection, Row, Transaction, params};

/// Texts under one address that are listed. More than two do not happen by chance.
const MOST_CANDIDATES: u32 = 16;

/// A text that has the digits asked for, or its tombstone.
struct Found {
    digest: Digest,
    state: State,
}

enum State {
    Kept { row: i64, tool: String, created_at: i64, used_at: i64, size: i64, sealed: bool },
    Gone { at: i64, why: Expiry },
}

/// Looks an address up in a namespace.
pub(crate) fn get(reader: &mut Connection, namespace: &str, address: &Address) -> Result<Recall, Fault> {
    // One snapshot: another process may let go of the text between two statements.
    let snapshot = reader.transaction()?;
    let mut found = find(&snapshot, namespace, address)?;
    match (found.pop(), found.is_empty()) {
        (None, _) => Ok(Recall::Unknown),
        (Some(Found { state: State::Gone { at, why }, .. }), true) => Ok(Recall::Expired { at, why }),
        (Some(only), true) => load(&snapshot, address, only),
        (Some(last), false) => {
            found.push(last);
            Ok(Recall::Ambiguous(candidates(found)))
        }
    }
}

/// The namespaces that know an address, in order.
pub(crate) fn namespaces(reader: &Connection, address: &Address) -> Result<Vec<String>, Fault> {
    let (low, high) = address.range();
    let mut statement = reader.prepare(
        "SELECT namespace FROM originals WHERE digest BETWEEN ?1 AND ?2
         UNION SELECT namespace FROM tombstones WHERE digest BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT ?3",
    )?;
    let rows = statement.query_map(params![low.as_bytes(), high.as_bytes(), MOST_CANDIDATES], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notes that an original was used.
pub(crate) fn note_use(writer: &Connection, now: i64, namespace: &str, digest: &Digest) -> Result<(), Fault> {
    writer.execute(
        "UPDATE originals SET used_at = max(used_at, ?1) WHERE namespace = ?2 AND digest = ?3",
        params![now, namespace, digest.as_bytes()],
    )?;
    Ok(())
}

/// Kept and gone texts alike: with both under one short handle, nobody can say which one was meant.
fn find(snapshot: &Transaction<'_>, namespace: &str, address: &Address) -> Result<Vec<Found>, Fault> {
    let (low, high) = address.range();
    let mut statement = snapshot.prepare(
        "SELECT digest, id, tool, created_at, used_at, size, sealed, NULL, NULL FROM originals
          WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3
         UNION ALL
         SELECT digest, NULL, NULL, NULL, NULL, NULL, NULL, expired_at, why FROM tombstones
          WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3
         ORDER BY digest LIMIT ?4",
    )?;
    let rows = statement.query_map(params![namespace, low.as_bytes(), high.as_bytes(), MOST_CANDIDATES], found)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let digest: Vec<u8> = row.get(0)?;
    let digest = Digest::from_bytes(&digest).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, 0))?;
    let state = match row.get::<_, Option<i64>>(1)? {
        Some(id) => State::Kept {
            row: id,
            tool: row.get(2)?,
            created_at: row.get(3)?,
            used_at: row.get(4)?,
            size: row.get(5)?,
            sealed: row.get::<_, i64>(6)? != 0,
        },
        None => {
            let name: String = row.get(8)?;
            let why = Expiry::ALL.into_iter().find(|why| why.name() == name).unwrap_or(Expiry::Size);
            State::Gone { at: row.get(7)?, why }
        }
    };
    Ok(Found { digest, state })
}

fn load(snapshot: &Transaction<'_>, address: &Address, found: Found) -> Result<Recall, Fault> {
    let State::Kept { row, tool, created_at, used_at, size, sealed } = found.state else {
        return Ok(Recall::Unknown);
    };
    if sealed {
        return Err(Fault::Sealed(*address));
    }
    let text = unpack(snapshot, row, size, address)?;
    // What is not byte for byte the text is not given out.
    if Digest::of(&text) != found.digest {
        return Err(Fault::Damaged(*address));
    }
    Ok(Recall::Found(Original { digest: found.digest, text, tool, created_at, used_at }))
}

pub(super) fn unpack(snapshot: &Connection, row: i64, size: i64, address: &Address) -> Result<String, Fault> {
    let damaged = |_| Fault::Damaged(*address);
    let size = usize::try_from(size).map_err(|_| Fault::Damaged(*address))?;
    let mut unpacking = Unpacking::of_size(size).map_err(damaged)?;
    let mut statement = snapshot.prepare("SELECT bytes FROM chunks WHERE original = ?1 ORDER BY part")?;
    let mut chunks = statement.query([row])?;
    while let Some(chunk) = chunks.next()? {
        let bytes = chunk.get_ref(0)?.as_blob().map_err(|_| Fault::Damaged(*address))?;
        unpacking.piece(bytes).map_err(damaged)?;
    }
    unpacking.finish().map_err(damaged)
}

fn candidates(found: Vec<Found>) -> Vec<Candidate> {
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
