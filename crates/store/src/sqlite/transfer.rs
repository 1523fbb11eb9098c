//! Rows as records, and records as rows.

use crate::backend::Paged;
use crate::error::Fault;
use crate::limits::ROW_BYTES;
use crate::object_store::ObjectName;
use crate::rows::number;
use crate::sqlite::get::object;
use crate::sqlite::object_rows::unlink_unused;
use crate::sqlite::totals::Change;
use crate::sqlite::transfer_keys;
use crate::transfer::{Bytes, Cursor, Kind, Record, Removal};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

/// Records that are read at once, where they are small.
pub(super) const PER_PAGE: i64 = 1_000;
/// Originals and checkpoints that are read at once.
const TEXTS_PER_PAGE: i64 = 64;

const KEY: &str = "(SELECT key FROM seals WHERE seals.id = sealed)";

/// The records after a cursor; none when all are through.
pub(crate) fn page(reader: &mut Connection, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
    if after.row == i64::MAX {
        return Ok(Vec::new());
    }
    let snapshot = reader.transaction()?;
    loop {
        let records = match after.kind {
            Kind::Originals => {
                let records = originals(&snapshot, after)?;
                if !records.is_empty() || !after.next_kind() {
                    return Ok(records);
                }
                continue;
            }
            Kind::Tombstones => by_row(
                &snapshot,
                after,
                &format!(
                    "SELECT id, namespace, digest, label, expired_at, why, {KEY} FROM tombstones
                      WHERE id > ?1 ORDER BY id LIMIT {PER_PAGE}"
                ),
                |row| {
                    let (namespace, digest, label) = (row.get(1)?, Bytes(row.get(2)?), row.get(3)?);
                    Ok(Record::Tombstone {
                        namespace,
                        digest,
                        label,
                        expired_at: row.get(4)?,
                        why: row.get(5)?,
                        key: key(row, 6)?,
                    })
                },
            )?,
            Kind::Checkpoints => by_row(
                &snapshot,
                after,
                &format!(
                    "SELECT id, namespace, key, root, position, record, size, bytes, created_at, used_at, session, {KEY}
                       FROM checkpoints WHERE id > ?1 ORDER BY id LIMIT {TEXTS_PER_PAGE}"
                ),
                |row| {
                    Ok(Record::Checkpoint {
                        namespace: row.get(1)?,
                        id: Bytes(row.get(2)?),
                        root: Bytes(row.get(3)?),
                        position: row.get(4)?,
                        record: row.get(5)?,
                        size: row.get(6)?,
                        bytes: Bytes(row.get(7)?),
                        created_at: row.get(8)?,
                        used_at: row.get(9)?,
                        session: row.get(10)?,
                        key: key(row, 11)?,
                    })
                },
            )?,
            Kind::Events => by_row(
                &snapshot,
                after,
                &format!(
                    "SELECT id, session, at, record, {KEY} FROM events WHERE id > ?1 ORDER BY id LIMIT {PER_PAGE}"
                ),
                |row| {
                    let (session, at, record) = (row.get(1)?, row.get(2)?, row.get(3)?);
                    Ok(Record::Event { session, at, record, key: key(row, 4)? })
                },
            )?,
            Kind::Sessions => sessions(&snapshot, after)?,
            Kind::Windows => windows(&snapshot, after)?,
            Kind::Objects => objects(&snapshot, after)?,
            Kind::ClientKeys => transfer_keys::keys(&snapshot, after)?,
            Kind::KeyUsage => transfer_keys::usage(&snapshot, after)?,
            Kind::KeyEvents => transfer_keys::events(&snapshot, after)?,
        };
        if !records.is_empty() || !after.next_kind() {
            return Ok(records.into_iter().map(|record| (record, None)).collect());
        }
    }
}

fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Bytes>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.map(Bytes))
}

fn by_row(
    snapshot: &Transaction<'_>,
    after: &mut Cursor,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Record>,
) -> Result<Vec<Record>, Fault> {
    let mut statement = snapshot.prepare(sql)?;
    let mut rows = statement.query([after.row])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        after.row = row.get(0)?;
        records.push(read(row)?);
    }
    Ok(records)
}

fn originals(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
    let mut pieces = snapshot.prepare("SELECT bytes FROM chunks WHERE original = ?1 ORDER BY part")?;
    let mut removals =
        snapshot.prepare(&format!("SELECT session, {KEY} FROM removals WHERE original = ?1 ORDER BY session"))?;
    let sql = format!(
        "SELECT id, namespace, digest, tool, created_at, used_at, size, {KEY}, object FROM originals
          WHERE id > ?1 ORDER BY id LIMIT {TEXTS_PER_PAGE}"
    );
    let mut ids = Vec::new();
    let mut records = {
        let mut statement = snapshot.prepare(&sql)?;
        let mut rows = statement.query([after.row])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            after.row = row.get(0)?;
            ids.push(after.row);
            let record = Record::Original {
                namespace: row.get(1)?,
                digest: Bytes(row.get(2)?),
                label: row.get(3)?,
                created_at: row.get(4)?,
                used_at: row.get(5)?,
                size: row.get(6)?,
                key: key(row, 7)?,
                pieces: Vec::new(),
                sessions: Vec::new(),
            };
            records.push((record, object(row, 8)?));
        }
        records
    };
    for (id, (record, _)) in ids.into_iter().zip(&mut records) {
        let Record::Original { pieces: into, sessions, .. } = record else { continue };
        *into = pieces.query_map([id], |row| row.get(0).map(Bytes))?.collect::<Result<_, _>>()?;
        let found = removals.query_map([id], |row| Ok(Removal { session: row.get(0)?, key: key(row, 1)? }))?;
        *sessions = found.collect::<Result<_, _>>()?;
    }
    Ok(records)
}

fn sessions(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!(
        "SELECT id, namespace, last_at, record, {KEY} FROM sessions
          WHERE CAST(id AS BLOB) > ?1 ORDER BY CAST(id AS BLOB) LIMIT {PER_PAGE}"
    );
    let mut statement = snapshot.prepare(&sql)?;
    let rows = statement.query_map([&after.name], |row| {
        let (id, namespace, last_at, record) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(Record::Session { id, namespace, last_at, record, key: key(row, 4)? })
    })?;
    let records: Vec<Record> = rows.collect::<Result<_, _>>()?;
    if let Some(Record::Session { id, .. }) = records.last() {
        after.name = id.clone().into_bytes();
    }
    Ok(records)
}

/// All at once: there are never many.
fn windows(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    if after.row > 0 {
        return Ok(Vec::new());
    }
    after.row = 1;
    let mut statement = snapshot.prepare("SELECT namespace, model, record, learnt_at FROM windows")?;
    let rows = statement.query_map([], |row| {
        Ok(Record::Window { namespace: row.get(0)?, model: row.get(1)?, record: row.get(2)?, learnt_at: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn objects(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!("SELECT key, namespace, made_at FROM objects WHERE key > ?1 ORDER BY key LIMIT {PER_PAGE}");
    let mut statement = snapshot.prepare(&sql)?;
    let rows = statement.query_map([&after.name], |row| {
        Ok(Record::Object { id: Bytes(row.get(0)?), namespace: row.get(1)?, made_at: row.get(2)? })
    })?;
    let records: Vec<Record> = rows.collect::<Result<_, _>>()?;
    if let Some(Record::Object { id, .. }) = records.last() {
        after.name.clone_from(&id.0);
    }
    Ok(records)
}

/// Adds records, all or none; what is there stays. Says how many were not there before.
pub(crate) fn add(worker: &mut Connection, records: &[Record], placed: &[Option<ObjectName>]) -> Result<u64, Fault> {
    let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut added = 0;
    let mut change = Change::default();
    for (index, record) in records.iter().enumerate() {
        let object = placed.get(index).copied().flatten();
        added += add_one(&transaction, record, object, &mut change)? as u64;
    }
    change.apply(&transaction)?;
    let placed: Vec<ObjectName> = placed.iter().flatten().copied().collect();
    unlink_unused(&transaction, &placed)?;
    transaction.commit()?;
    Ok(added)
}

/// The number of a key, which is in use from now on.
fn seal(transaction: &Transaction<'_>, key: Option<&Bytes>) -> Result<i64, Fault> {
    let Some(Bytes(key)) = key else { return Ok(0) };
    transaction.execute(
        "INSERT INTO seals (key, in_use) VALUES (?1, 1) ON CONFLICT (key) DO UPDATE SET in_use = 1 WHERE NOT in_use",
        [key],
    )?;
    Ok(transaction.query_row("SELECT id FROM seals WHERE key = ?1", [key], |row| row.get(0))?)
}

/// Runs a statement that is used again and again.
pub(super) fn run(transaction: &Transaction<'_>, sql: &str, values: impl rusqlite::Params) -> Result<usize, Fault> {
    Ok(transaction.prepare_cached(sql)?.execute(values)?)
}

fn add_one(
    transaction: &Transaction<'_>,
    record: &Record,
    object: Option<ObjectName>,
    change: &mut Change,
) -> Result<usize, Fault> {
    Ok(match record {
        Record::Original { namespace, digest, label, created_at, used_at, size, key, pieces, sessions } => {
            let sealed = seal(transaction, key.as_ref())?;
            let packed: usize = pieces.iter().map(|piece| piece.0.len()).sum();
            let footprint = number(ROW_BYTES + packed as u64);
            let row: Option<i64> = transaction
                .prepare_cached(
                    "INSERT INTO originals (namespace, digest, tool, created_at, used_at, size, footprint, sealed, object)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                         ON CONFLICT (namespace, digest) DO NOTHING RETURNING id",
                )?
                .query_row(
                    params![
                        namespace,
                        digest.0,
                        label,
                        created_at,
                        used_at,
                        size,
                        footprint,
                        sealed,
                        object.map(|object| object.0)
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            let Some(row) = row else { return Ok(0) };
            // What is in an object is not here as well.
            let here = if object.is_some() { &[] } else { pieces.as_slice() };
            for (part, piece) in here.iter().enumerate() {
                let given = params![row, number(part as u64), piece.0];
                run(transaction, "INSERT INTO chunks (original, part, bytes) VALUES (?1, ?2, ?3)", given)?;
            }
            for removal in sessions {
                let given = params![removal.session, row, seal(transaction, removal.key.as_ref())?];
                let sql = "INSERT OR IGNORE INTO removals (session, original, sealed) VALUES (?1, ?2, ?3)";
                run(transaction, sql, given)?;
            }
            let gone = params![namespace, digest.0];
            let revived = run(transaction, "DELETE FROM tombstones WHERE namespace = ?1 AND digest = ?2", gone)?;
            change.originals += 1;
            change.size += size;
            change.footprint += footprint;
            change.tombstones -= number(revived as u64);
            1
        }
        Record::Tombstone { namespace, digest, label, expired_at, why, key } => {
            let added = run(
                transaction,
                "INSERT OR IGNORE INTO tombstones (namespace, digest, label, expired_at, why, sealed)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6
                  WHERE NOT EXISTS (SELECT 1 FROM originals WHERE namespace = ?1 AND digest = ?2)",
                params![namespace, digest.0, label, expired_at, why, seal(transaction, key.as_ref())?],
            )?;
            change.tombstones += number(added as u64);
            added
        }
        Record::Checkpoint {
            namespace,
            id,
            root,
            position,
            record,
            size,
            bytes,
            created_at,
            used_at,
            session,
            key,
        } => {
            let added = run(
                transaction,
                "INSERT OR IGNORE INTO checkpoints (namespace, key, root, position, record, size, bytes, created_at,
                                                    used_at, session, sealed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    namespace,
                    id.0,
                    root.0,
                    position,
                    record,
                    size,
                    bytes.0,
                    created_at,
                    used_at,
                    session,
                    seal(transaction, key.as_ref())?
                ],
            )?;
            change.checkpoint_bytes += number((added * bytes.0.len()) as u64);
            added
        }
        Record::Session { id, namespace, last_at, record, key } => run(
            transaction,
            "INSERT OR IGNORE INTO sessions (id, namespace, last_at, record, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id, namespace, last_at, record, seal(transaction, key.as_ref())?],
        )?,
        // Events have no name, so the same one is known by all of it.
        Record::Event { session, at, record, key } => run(
            transaction,
            "INSERT INTO events (session, at, record, sealed) SELECT ?1, ?2, ?3, ?4
              WHERE NOT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND at = ?2 AND record = ?3)",
            params![session, at, record, seal(transaction, key.as_ref())?],
        )?,
        Record::Window { namespace, model, record, learnt_at } => run(
            transaction,
            "INSERT OR IGNORE INTO windows (namespace, model, record, learnt_at) VALUES (?1, ?2, ?3, ?4)",
            params![namespace, model, record, learnt_at],
        )?,
        Record::Object { id, namespace, made_at } => run(
            transaction,
            "INSERT OR IGNORE INTO objects (key, namespace, made_at) VALUES (?1, ?2, ?3)",
            params![id.0, namespace, made_at],
        )?,
        Record::ClientKey { .. } | Record::KeyUsage { .. } | Record::KeyEvent { .. } => {
            transfer_keys::add(transaction, record)?
        }
    })
}
