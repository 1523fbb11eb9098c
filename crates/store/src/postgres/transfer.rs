//! Rows as records, and records as rows.

use super::object_rows::{object, unlink_unused};
use super::sql::{all, bytes, change, first, int, text, values};
use super::transfer_keys;
use crate::backend::Paged;
use crate::error::Fault;
use crate::limits::ROW_BYTES;
use crate::object_store::ObjectName;
use crate::rows::number;
use crate::transfer::{Bytes, Cursor, Kind, Record, Removal};
use futures_util::{StreamExt, TryStreamExt, stream};
use std::{future, iter};
use tokio_postgres::{GenericClient, Row, Transaction};

/// Records that are read at once, where they are small.
pub(super) const PER_PAGE: i64 = 1_000;
/// Originals and checkpoints that are read at once.
const TEXTS_PER_PAGE: i64 = 64;
/// Records whose statements are sent before the answers to earlier ones have come: most of the time would be round trips.
const UNDER_WAY: usize = 64;

const KEY: &str = "(SELECT key FROM foldline.seals WHERE seals.id = sealed)";

/// The records after a cursor; none when all are through.
pub(super) async fn page(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
    if after.row == i64::MAX {
        return Ok(Vec::new());
    }
    loop {
        let records = match after.kind {
            Kind::Originals => originals(snapshot, after).await?,
            _ => some(snapshot, after).await?.into_iter().map(|record| (record, None)).collect(),
        };
        if !records.is_empty() || !after.next_kind() {
            return Ok(records);
        }
    }
}

async fn originals(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
    let sql = format!(
        "SELECT id, {KEY}, namespace, digest, label, created_at, used_at, size, object FROM foldline.originals
          WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let mut records = Vec::new();
    for row in all(snapshot, &sql, values![after.row => INT8, TEXTS_PER_PAGE => INT8]).await? {
        after.row = int(&row, 0)?;
        let record = Record::Original {
            namespace: text(&row, 2)?,
            digest: Bytes(bytes(&row, 3)?),
            label: text(&row, 4)?,
            created_at: int(&row, 5)?,
            used_at: int(&row, 6)?,
            size: int(&row, 7)?,
            key: key(&row, 1)?,
            pieces: pieces(snapshot, after.row).await?,
            sessions: removals(snapshot, after.row).await?,
        };
        records.push((record, object(&row, 8)?));
    }
    Ok(records)
}

async fn some(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let (table, columns, most) = match after.kind {
        Kind::Tombstones => ("tombstones", "namespace, digest, label, expired_at, why", PER_PAGE),
        Kind::Checkpoints => (
            "checkpoints",
            "namespace, key, root, position, record, size, bytes, created_at, used_at, session",
            TEXTS_PER_PAGE,
        ),
        Kind::Originals | Kind::Events => ("events", "session, at, record", PER_PAGE),
        Kind::Sessions => return sessions(snapshot, after).await,
        Kind::Windows => return windows(snapshot, after).await,
        Kind::Objects => return objects(snapshot, after).await,
        Kind::ClientKeys => return transfer_keys::keys(snapshot, after).await,
        Kind::KeyUsage => return transfer_keys::usage(snapshot, after).await,
        Kind::KeyEvents => return transfer_keys::events(snapshot, after).await,
    };
    let sql = format!("SELECT id, {KEY}, {columns} FROM foldline.{table} WHERE id > $1 ORDER BY id LIMIT $2");
    let rows = all(snapshot, &sql, values![after.row => INT8, most => INT8]).await?;
    let mut records = Vec::new();
    for row in &rows {
        after.row = int(row, 0)?;
        let key = key(row, 1)?;
        records.push(match after.kind {
            Kind::Tombstones => Record::Tombstone {
                namespace: text(row, 2)?,
                digest: Bytes(bytes(row, 3)?),
                label: text(row, 4)?,
                expired_at: int(row, 5)?,
                why: row.try_get(6)?,
                key,
            },
            Kind::Checkpoints => Record::Checkpoint {
                namespace: text(row, 2)?,
                id: Bytes(bytes(row, 3)?),
                root: Bytes(bytes(row, 4)?),
                position: int(row, 5)?,
                record: text(row, 6)?,
                size: int(row, 7)?,
                bytes: Bytes(bytes(row, 8)?),
                created_at: int(row, 9)?,
                used_at: int(row, 10)?,
                session: text(row, 11)?,
                key,
            },
            _ => Record::Event { session: text(row, 2)?, at: int(row, 3)?, record: text(row, 4)?, key },
        });
    }
    Ok(records)
}

fn key(row: &Row, column: usize) -> Result<Option<Bytes>, Fault> {
    Ok(row.try_get::<_, Option<Vec<u8>>>(column)?.map(Bytes))
}

async fn pieces(client: &impl GenericClient, original: i64) -> Result<Vec<Bytes>, Fault> {
    let sql = "SELECT bytes FROM foldline.chunks WHERE original = $1 ORDER BY part";
    let rows = all(client, sql, values![original => INT8]).await?;
    rows.iter().map(|row| bytes(row, 0).map(Bytes)).collect()
}

async fn removals(client: &impl GenericClient, original: i64) -> Result<Vec<Removal>, Fault> {
    let sql = format!("SELECT session, {KEY} FROM foldline.removals WHERE original = $1 ORDER BY session");
    let rows = all(client, &sql, values![original => INT8]).await?;
    rows.iter().map(|row| Ok(Removal { session: text(row, 0)?, key: key(row, 1)? })).collect()
}

async fn sessions(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!(
        "SELECT id, namespace, last_at, record, {KEY} FROM foldline.sessions WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let mut records = Vec::new();
    for row in all(snapshot, &sql, values![after.name => BYTEA, PER_PAGE => INT8]).await? {
        after.name = bytes(&row, 0)?;
        records.push(Record::Session {
            id: text(&row, 0)?,
            namespace: text(&row, 1)?,
            last_at: int(&row, 2)?,
            record: text(&row, 3)?,
            key: key(&row, 4)?,
        });
    }
    Ok(records)
}

/// All at once: there are never many.
async fn windows(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    if after.row > 0 {
        return Ok(Vec::new());
    }
    after.row = 1;
    let rows = all(snapshot, "SELECT namespace, model, record, learnt_at FROM foldline.windows", values![]).await?;
    rows.iter()
        .map(|row| {
            Ok(Record::Window {
                namespace: text(row, 0)?,
                model: text(row, 1)?,
                record: text(row, 2)?,
                learnt_at: int(row, 3)?,
            })
        })
        .collect()
}

async fn objects(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = "SELECT key, namespace, made_at FROM foldline.objects WHERE key > $1 ORDER BY key LIMIT $2";
    let mut records = Vec::new();
    for row in all(snapshot, sql, values![after.name => BYTEA, PER_PAGE => INT8]).await? {
        after.name = bytes(&row, 0)?;
        records.push(Record::Object { id: Bytes(bytes(&row, 0)?), namespace: text(&row, 1)?, made_at: int(&row, 2)? });
    }
    Ok(records)
}

/// Adds records; what is there stays. Says how many were not there before.
pub(super) async fn add(
    transaction: &Transaction<'_>,
    records: &[Record],
    placed: &[Option<ObjectName>],
) -> Result<u64, Fault> {
    let objects = placed.iter().copied().chain(iter::repeat(None));
    let adding = stream::iter(records.iter().zip(objects)).map(|(record, object)| add_one(transaction, record, object));
    let added = adding.buffered(UNDER_WAY).try_fold(0, |sum, added| future::ready(Ok(sum + added))).await?;
    let placed: Vec<ObjectName> = placed.iter().flatten().copied().collect();
    unlink_unused(transaction, &placed).await?;
    Ok(added)
}

/// The number of a key, which is in use from now on.
async fn seal(transaction: &Transaction<'_>, key: Option<&Bytes>) -> Result<i64, Fault> {
    let Some(Bytes(key)) = key else { return Ok(0) };
    let sql = "INSERT INTO foldline.seals AS s (key, in_use) VALUES ($1, true)
               ON CONFLICT (key) DO UPDATE SET in_use = true WHERE NOT s.in_use";
    change(transaction, sql, values![key => BYTEA]).await?;
    let row = first(transaction, "SELECT id FROM foldline.seals WHERE key = $1", values![key => BYTEA]).await?;
    row.map_or(Ok(0), |row| int(&row, 0))
}

async fn add_one(transaction: &Transaction<'_>, record: &Record, object: Option<ObjectName>) -> Result<u64, Fault> {
    match record {
        Record::Original { namespace, digest, label, created_at, used_at, size, key, pieces, sessions } => {
            let sealed = seal(transaction, key.as_ref()).await?;
            let packed: usize = pieces.iter().map(|piece| piece.0.len()).sum();
            // What is in an object is not here as well.
            let here = if object.is_some() { &[] } else { pieces.as_slice() };
            let pieces: Vec<&[u8]> = here.iter().map(|piece| piece.0.as_slice()).collect();
            let sql = "WITH original AS (
                     INSERT INTO foldline.originals
                         (namespace, digest, label, created_at, used_at, size, footprint, sealed, object)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $10)
                         ON CONFLICT (namespace, digest) DO NOTHING RETURNING id),
                 pieces AS (
                     INSERT INTO foldline.chunks (original, part, bytes)
                     SELECT original.id, place - 1, piece
                       FROM original, unnest($9::bytea[]) WITH ORDINALITY AS given (piece, place))
                 SELECT id FROM original";
            let given = values![
                namespace.as_bytes() => BYTEA,
                digest.0 => BYTEA,
                label.as_bytes() => BYTEA,
                *created_at => INT8,
                *used_at => INT8,
                *size => INT8,
                number(ROW_BYTES + packed as u64) => INT8,
                sealed => INT8,
                pieces => BYTEA_ARRAY,
                object.map(|object| object.0.to_vec()) => BYTEA,
            ];
            let Some(row) = first(transaction, sql, given).await? else { return Ok(0) };
            let id = int(&row, 0)?;
            for removal in sessions {
                let sealed = seal(transaction, removal.key.as_ref()).await?;
                let sql = "INSERT INTO foldline.removals (session, original, sealed) VALUES ($1, $2, $3)
                               ON CONFLICT DO NOTHING";
                let given = values![removal.session.as_bytes() => BYTEA, id => INT8, sealed => INT8];
                change(transaction, sql, given).await?;
            }
            let sql = "DELETE FROM foldline.tombstones WHERE namespace = $1 AND digest = $2";
            change(transaction, sql, values![namespace.as_bytes() => BYTEA, digest.0 => BYTEA]).await?;
            Ok(1)
        }
        Record::Tombstone { namespace, digest, label, expired_at, why, key } => {
            let sql = "INSERT INTO foldline.tombstones (namespace, digest, label, expired_at, why, sealed)
                 SELECT $1, $2, $3, $4, $5, $6
                  WHERE NOT EXISTS (SELECT 1 FROM foldline.originals WHERE namespace = $1 AND digest = $2)
                     ON CONFLICT DO NOTHING";
            let given = values![
                namespace.as_bytes() => BYTEA,
                digest.0 => BYTEA,
                label.as_bytes() => BYTEA,
                *expired_at => INT8,
                why => TEXT,
                seal(transaction, key.as_ref()).await? => INT8,
            ];
            change(transaction, sql, given).await
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
            let sql = "INSERT INTO foldline.checkpoints
                     (namespace, key, root, position, record, size, bytes, created_at, used_at, session, sealed)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
            let given = values![
                namespace.as_bytes() => BYTEA,
                id.0 => BYTEA,
                root.0 => BYTEA,
                *position => INT8,
                record.as_bytes() => BYTEA,
                *size => INT8,
                bytes.0 => BYTEA,
                *created_at => INT8,
                *used_at => INT8,
                session.as_bytes() => BYTEA,
                seal(transaction, key.as_ref()).await? => INT8,
            ];
            change(transaction, sql, given).await
        }
        Record::Session { id, namespace, last_at, record, key } => {
            let sql = "INSERT INTO foldline.sessions (id, namespace, last_at, record, sealed)
                       VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
            let given = values![
                id.as_bytes() => BYTEA,
                namespace.as_bytes() => BYTEA,
                *last_at => INT8,
                record.as_bytes() => BYTEA,
                seal(transaction, key.as_ref()).await? => INT8,
            ];
            change(transaction, sql, given).await
        }
        // Events have no name, so the same one is known by all of it.
        Record::Event { session, at, record, key } => {
            let sql = "INSERT INTO foldline.events (session, at, record, sealed) SELECT $1, $2, $3, $4
                        WHERE NOT EXISTS (
                            SELECT 1 FROM foldline.events WHERE session = $1 AND at = $2 AND record = $3)";
            let given = values![
                session.as_bytes() => BYTEA,
                *at => INT8,
                record.as_bytes() => BYTEA,
                seal(transaction, key.as_ref()).await? => INT8,
            ];
            change(transaction, sql, given).await
        }
        Record::Window { namespace, model, record, learnt_at } => {
            let sql = "INSERT INTO foldline.windows (namespace, model, record, learnt_at) VALUES ($1, $2, $3, $4)
                           ON CONFLICT DO NOTHING";
            let given = values![
                namespace.as_bytes() => BYTEA,
                model.as_bytes() => BYTEA,
                record.as_bytes() => BYTEA,
                *learnt_at => INT8,
            ];
            change(transaction, sql, given).await
        }
        Record::Object { id, namespace, made_at } => {
            let sql = "INSERT INTO foldline.objects (key, namespace, made_at) VALUES ($1, $2, $3)
                           ON CONFLICT DO NOTHING";
            let given = values![id.0 => BYTEA, namespace.as_bytes() => BYTEA, *made_at => INT8];
            change(transaction, sql, given).await
        }
        Record::ClientKey { .. } | Record::KeyUsage { .. } | Record::KeyEvent { .. } => {
            transfer_keys::add(transaction, record).await
        }
    }
}
