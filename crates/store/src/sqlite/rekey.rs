//! Re-encrypts rows with the current key, in steps that let others read and write in between.

use crate::address::Digest;
use crate::conversation::Key;
use crate::error::Fault;
use crate::forget::Rekeyed;
use crate::limits::ROW_BYTES;
use crate::object_store::{ObjectName, ObjectWriter, Objects, StoreId};
use crate::rows::{facts, label, number, read_facts, read_label};
use crate::seal::{Scope, Seal, Vault, What};
use crate::sqlite::get::object;
use crate::sqlite::seals::{retire, use_key};
use crate::sqlite::totals::recount;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// Rows that one transaction changes, where they are small.
const PER_TURN: i64 = 256;
/// Originals and checkpoints that one transaction changes.
const TEXTS_PER_TURN: i64 = 16;

/// Seals everything with the key that writes.
pub(crate) fn rekey(
    worker: &mut Connection,
    vault: &Vault,
    objects: &Objects,
    tell: &mut dyn FnMut(u64),
) -> Result<Rekeyed, Fault> {
    let mut done = Rekeyed::default();
    let texts = |transaction: &Transaction<'_>, vault: &Vault, after: &mut Cursor, done: &mut Rekeyed| {
        originals(transaction, vault, objects, after, done)
    };
    let steps: [&Step<'_>; 6] = [&texts, &checkpoints, &sessions, &events, &removals, &tombstones];
    for step in steps {
        let mut after = Cursor::default();
        loop {
            let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
            use_key(&transaction, vault)?;
            let rows = step(&transaction, vault, &mut after, &mut done)?;
            transaction.commit()?;
            if rows == 0 {
                break;
            }
            tell(rows);
        }
    }
    let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
    recount(&transaction)?;
    done.retired = retire(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Rows that are sealed otherwise.
pub(crate) fn outdated(connection: &Connection, vault: &Vault) -> Result<u64, Fault> {
    let sql = "SELECT (SELECT count(*) FROM originals WHERE sealed != ?1)
                    + (SELECT count(*) FROM checkpoints WHERE sealed != ?1)
                    + (SELECT count(*) FROM sessions WHERE sealed != ?1)
                    + (SELECT count(*) FROM events WHERE sealed != ?1)
                    + (SELECT count(*) FROM removals WHERE sealed != ?1)
                    + (SELECT count(*) FROM tombstones WHERE sealed != ?1)";
    Ok(connection.query_row(sql, [vault.number()], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// Changes some rows of a table and says how many it looked at; none when it is through.
type Step<'s> = dyn Fn(&Transaction<'_>, &Vault, &mut Cursor, &mut Rekeyed) -> Result<u64, Fault> + 's;

/// The last row that was looked at.
#[derive(Default)]
struct Cursor {
    row: i64,
    name: String,
}

fn originals(
    transaction: &Transaction<'_>,
    vault: &Vault,
    objects: &Objects,
    after: &mut Cursor,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT id, namespace, digest, tool, sealed, coalesce(parts, 0), object FROM originals
          WHERE sealed != ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![vault.number(), after.row, TEXTS_PER_TURN], |row| {
        Ok(Text {
            id: row.get(0)?,
            namespace: row.get(1)?,
            digest: row.get(2)?,
            label: row.get(3)?,
            sealed: row.get(4)?,
            parts: row.get(5)?,
            object: object(row, 6)?,
        })
    })?;
    let rows: Vec<Text> = rows.collect::<Result<_, _>>()?;
    let fetched = objects.fetch_all(rows.iter().filter_map(|row| row.object))?;
    let mut writer = ObjectWriter::of(objects, store_id(transaction)?);
    for Text { id, namespace, digest, label: written, sealed, parts, object } in &rows {
        after.row = *id;
        let old = vault.of_row(*sealed, Scope::Namespace(namespace));
        let from = Digest::from_array(*digest);
        let known = old.as_ref().and_then(|seal| read_label(seal, &from, written.clone()));
        let (Some(old), Some((digest, tool))) = (old, known) else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(namespace));
        let to = new.digest(&digest);
        if *parts > 0 {
            let (first, last) = (id * 1_048_576, id * 1_048_576 + 1_048_575);
            transaction.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
        }
        if let Some(twin) = twin(transaction, namespace, &to)? {
            // Somebody without the old key has stored it once more.
            transaction.execute("UPDATE OR IGNORE removals SET original = ?1 WHERE original = ?2", [twin, *id])?;
            transaction.execute("UPDATE originals SET parts = 0 WHERE id = ?1", [*id])?;
            transaction.execute("DELETE FROM originals WHERE id = ?1", [*id])?;
            continue;
        }
        let resealed = match object {
            Some(object) => {
                let written = writer.reseal(&fetched, object, (&old, &from), (&new, &to))?;
                written.map(|object| (number(object.footprint), Some(object.name.0)))
            }
            None => {
                let taken = pieces(transaction, *id, (&old, &from), (&new, &to))?;
                taken.map(|bytes| (number(ROW_BYTES) + bytes, None))
            }
        };
        let Some((footprint, object)) = resealed else {
            done.damaged += 1;
            continue;
        };
        transaction.execute(
            "UPDATE originals SET digest = ?2, tool = ?3, sealed = ?4, footprint = ?5, parts = NULL, object = ?6
              WHERE id = ?1",
            params![id, to.as_bytes(), label(&new, &digest, &to, &tool)?, new.number(), footprint, object],
        )?;
        done.originals += 1;
    }
    // Before the rows that name them are committed.
    writer.finish()?;
    Ok(rows.len() as u64)
}

/// An original as it stands in the file.
struct Text {
    id: i64,
    namespace: String,
    digest: [u8; 32],
    label: String,
    sealed: i64,
    parts: i64,
    object: Option<ObjectName>,
}

fn store_id(transaction: &Transaction<'_>) -> Result<StoreId, Fault> {
    Ok(transaction.query_row("SELECT id FROM store_id", [], |row| row.get(0).map(StoreId))?)
}

fn twin(transaction: &Transaction<'_>, namespace: &str, digest: &Digest) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM originals WHERE namespace = ?1 AND digest = ?2";
    Ok(transaction.query_row(sql, params![namespace, digest.as_bytes()], |row| row.get(0)).optional()?)
}

/// Seals the pieces of a text anew and says what they take; `None` when one cannot be opened, and then none is changed.
fn pieces(
    transaction: &Transaction<'_>,
    original: i64,
    (old, from): (&Seal, &Digest),
    (new, to): (&Seal, &Digest),
) -> Result<Option<i64>, Fault> {
    let mut statement = transaction.prepare("SELECT part, bytes FROM chunks WHERE original = ?1 ORDER BY part")?;
    let rows = statement.query_map([original], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut opened = Vec::new();
    for row in rows {
        let (part, bytes): (i64, Vec<u8>) = row?;
        let Some(bytes) = old.open_bytes(What::Piece(from, part), &bytes) else { return Ok(None) };
        opened.push((part, bytes.into_owned()));
    }
    let mut replace = transaction.prepare("UPDATE chunks SET bytes = ?3 WHERE original = ?1 AND part = ?2")?;
    let mut taken = 0;
    for (part, bytes) in opened {
        let bytes = new.bytes(What::Piece(to, part), &bytes)?;
        taken += number(bytes.len() as u64);
        replace.execute(params![original, part, bytes.as_ref()])?;
    }
    Ok(Some(taken))
}

fn checkpoints(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut Cursor,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT id, namespace, key, root, record, bytes, sealed, session FROM checkpoints
          WHERE sealed != ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![vault.number(), after.row, TEXTS_PER_TURN], |row| {
        Ok(Checkpoint {
            id: row.get(0)?,
            namespace: row.get(1)?,
            key: Key(row.get(2)?),
            root: Key(row.get(3)?),
            record: row.get(4)?,
            bytes: row.get(5)?,
            sealed: row.get(6)?,
            session: row.get(7)?,
        })
    })?;
    let rows: Vec<Checkpoint> = rows.collect::<Result<_, _>>()?;
    let mut replace = transaction.prepare(
        "UPDATE OR REPLACE checkpoints SET key = ?2, root = ?3, record = ?4, bytes = ?5, sealed = ?6, session = ?7
          WHERE id = ?1",
    )?;
    let seen = rows.len() as u64;
    for row in rows {
        after.row = row.id;
        let old = vault.of_row(row.sealed, Scope::Namespace(&row.namespace));
        let known = old.as_ref().and_then(|old| read_facts(old, (&row.key, &row.root), row.record));
        let text = old.as_ref().and_then(|old| old.open_bytes(What::Text(&row.key), &row.bytes));
        let (Some((key, root, record)), Some(text)) = (known, text) else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(&row.namespace));
        let to = new.key(&key);
        let record = facts(&new, &to, (&key, &root), &record)?;
        let bytes = new.bytes(What::Text(&to), &text)?;
        // One that was made before sessions were written down has none.
        let session = renamed(vault, row.sealed, row.session)?.unwrap_or_default();
        replace.execute(params![row.id, to.0, new.key(&root).0, record, bytes.as_ref(), new.number(), session])?;
        done.checkpoints += 1;
    }
    Ok(seen)
}

/// A checkpoint as it stands in the file.
struct Checkpoint {
    id: i64,
    namespace: String,
    key: Key,
    root: Key,
    record: String,
    bytes: Vec<u8>,
    sealed: i64,
    session: String,
}

/// The name of a session as it is sealed now; `None` when the old one cannot be opened.
fn renamed(vault: &Vault, sealed: i64, name: String) -> Result<Option<String>, Fault> {
    let plain = vault.of_row(sealed, Scope::Sessions).and_then(|seal| seal.open_name(name));
    plain.map(|name| vault.writing(Scope::Sessions).name(&name)).transpose()
}

fn sessions(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut Cursor,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT id, namespace, last_at, record, sealed FROM sessions
          WHERE sealed != ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let mut rows = statement.query(params![vault.number(), after.name, PER_TURN])?;
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        seen += 1;
        after.name = row.get(0)?;
        match super::sessions::session_row(row, vault)? {
            Some(session) => found.push(session),
            None => done.damaged += 1,
        }
    }
    drop(rows);
    for session in &found {
        // Writes it under its new name and takes the old one away.
        super::sessions::write_session(transaction, vault, session)?;
        done.sessions += 1;
    }
    Ok(seen)
}

fn events(transaction: &Transaction<'_>, vault: &Vault, after: &mut Cursor, done: &mut Rekeyed) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT id, session, record, sealed FROM events WHERE sealed != ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![vault.number(), after.row, PER_TURN], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let rows: Vec<(i64, String, String, i64)> = rows.collect::<Result<_, _>>()?;
    let new = vault.writing(Scope::Sessions);
    let mut replace = transaction.prepare("UPDATE events SET session = ?2, record = ?3, sealed = ?4 WHERE id = ?1")?;
    for (id, name, record, sealed) in &rows {
        after.row = *id;
        let old = vault.of_row(*sealed, Scope::Sessions);
        let record = old.and_then(|old| old.open_text(What::Event(name), record.clone()));
        let (Some(name), Some(record)) = (renamed(vault, *sealed, name.clone())?, record) else {
            done.damaged += 1;
            continue;
        };
        replace.execute(params![id, name, new.text(What::Event(&name), &record)?, new.number()])?;
    }
    Ok(rows.len() as u64)
}

fn removals(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut Cursor,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT DISTINCT session, sealed FROM removals WHERE sealed != ?1 AND session > ?2 ORDER BY session LIMIT ?3",
    )?;
    let rows = statement
        .query_map(params![vault.number(), after.name, PER_TURN], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, i64)>, _>>()?;
    for (name, sealed) in &rows {
        after.name.clone_from(name);
        let Some(new) = renamed(vault, *sealed, name.clone())? else {
            done.damaged += 1;
            continue;
        };
        let sql = "UPDATE OR REPLACE removals SET session = ?2, sealed = ?3 WHERE session = ?1";
        transaction.execute(sql, params![name, new, vault.number()])?;
    }
    Ok(rows.len() as u64)
}

fn tombstones(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut Cursor,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let mut statement = transaction.prepare(
        "SELECT id, namespace, digest, label, sealed FROM tombstones
          WHERE sealed != ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![vault.number(), after.row, PER_TURN], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    let rows: Vec<(i64, String, [u8; 32], String, i64)> = rows.collect::<Result<_, _>>()?;
    for (id, namespace, digest, written, sealed) in &rows {
        after.row = *id;
        let old = vault.of_row(*sealed, Scope::Namespace(namespace));
        let Some((digest, tool)) = old.and_then(|old| read_label(&old, &Digest::from_array(*digest), written.clone()))
        else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(namespace));
        let to = new.digest(&digest);
        transaction.execute(
            "UPDATE OR REPLACE tombstones SET digest = ?2, label = ?3, sealed = ?4 WHERE id = ?1",
            params![id, to.as_bytes(), label(&new, &digest, &to, &tool)?, new.number()],
        )?;
    }
    Ok(rows.len() as u64)
}
