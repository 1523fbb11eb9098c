//! Checkpoints: written once with everything that belongs to a fold, found by the root of a conversation.

use crate::conversation::{CheckpointEntry, Kept, Key, NewFold, Precedence};
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Limits, USE_GRAIN, millis};
use crate::pack::{Unpacking, pack};
use crate::sqlite::put::{digests_of, put_in};
use crate::sqlite::sessions::write_session;
use crate::sqlite::totals::{number, whole};
use crate::store::lock;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::sync::Mutex;

/// Checkpoints may take this share of what originals may: they are the shorter side of the same texts.
const SHARE: u64 = 4;

/// Keeps a fold, all or nothing; durable on return.
pub(crate) fn keep_fold(
    writer: &Mutex<Connection>,
    limits: &Limits,
    now: i64,
    fold: &NewFold<'_>,
) -> Result<Kept, Fault> {
    let NewFold { namespace, originals, checkpoint, precedence, session } = *fold;
    let digests = digests_of(originals)?;
    let mut packed = Vec::new();
    pack(checkpoint.text, |piece| {
        packed.extend_from_slice(piece);
        Ok::<_, Fault>(())
    })?;
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known: Option<i64> = transaction
        .query_row(
            "SELECT length(bytes) FROM checkpoints WHERE namespace = ?1 AND key = ?2",
            params![namespace, checkpoint.key.0],
            |row| row.get(0),
        )
        .optional()?;
    if known.is_some() && precedence == Precedence::First {
        return Ok(Kept::Known);
    }
    if !originals.is_empty() {
        let (_, rows) = put_in(&transaction, limits, now, namespace, originals, &digests)?;
        let mut link = transaction.prepare("INSERT OR IGNORE INTO removals (session, original) VALUES (?1, ?2)")?;
        for row in rows.keys() {
            link.execute(params![session.id, row])?;
        }
    }
    transaction.execute(
        "INSERT OR REPLACE INTO checkpoints
             (namespace, key, root, position, record, size, bytes, created_at, used_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
        params![
            namespace,
            checkpoint.key.0,
            checkpoint.root.0,
            number(checkpoint.position),
            checkpoint.record,
            number(checkpoint.text.len() as u64),
            packed,
            now,
        ],
    )?;
    let grown = number(packed.len() as u64) - known.unwrap_or(0);
    transaction.execute("UPDATE totals SET checkpoint_bytes = checkpoint_bytes + ?1", [grown])?;
    sweep(&transaction, limits, now, checkpoint.key)?;
    write_session(&transaction, session)?;
    transaction.commit()?;
    Ok(Kept::Written)
}

/// All checkpoints of a conversation's root, the latest used first.
pub(crate) fn entries(
    reader: &Connection,
    namespace: &str,
    root: &Key,
    most: usize,
) -> Result<Vec<CheckpointEntry>, Fault> {
    let mut statement = reader.prepare(
        "SELECT key, position, record FROM checkpoints
          WHERE namespace = ?1 AND root = ?2 ORDER BY used_at DESC LIMIT ?3",
    )?;
    let rows = statement.query_map(params![namespace, root.0, number(most as u64)], |row| {
        Ok(CheckpointEntry { key: Key(row.get(0)?), position: whole(row.get(1)?), record: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What a checkpoint puts in place of its messages, and when it was last used.
pub(crate) fn text(reader: &Connection, namespace: &str, key: &Key) -> Result<Option<(String, i64)>, Fault> {
    let mut statement =
        reader.prepare("SELECT size, bytes, used_at FROM checkpoints WHERE namespace = ?1 AND key = ?2")?;
    let mut rows = statement.query(params![namespace, key.0])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let damaged = |_| Fault::Corrupt("a checkpoint is not what was stored".into());
    let size = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
    let mut unpacking = Unpacking::of_size(size).map_err(damaged)?;
    let packed = row.get_ref(1)?.as_blob().map_err(|error| Fault::Corrupt(error.to_string()))?;
    unpacking.piece(packed).map_err(damaged)?;
    Ok(Some((unpacking.finish().map_err(damaged)?, row.get(2)?)))
}

/// Notes that a checkpoint was used, once per hour.
pub(crate) fn note_use(
    writer: &Mutex<Connection>,
    now: i64,
    namespace: &str,
    key: &Key,
    used_at: i64,
) -> Result<(), Fault> {
    if used_at < now.saturating_sub(millis(USE_GRAIN)) {
        lock(writer).execute(
            "UPDATE checkpoints SET used_at = max(used_at, ?1) WHERE namespace = ?2 AND key = ?3",
            params![now, namespace, key.0],
        )?;
    }
    Ok(())
}

/// Lets go of checkpoints that nobody used for too long, and of the least recently used beyond their share.
fn sweep(transaction: &Transaction<'_>, limits: &Limits, now: i64, spared: Key) -> Result<(), Fault> {
    let mut freed: i64 = 0;
    let mut remove = transaction.prepare("DELETE FROM checkpoints WHERE id = ?1")?;
    let before = now.saturating_sub(millis(limits.max_age));
    let room = number(limits.max_bytes / SHARE);
    let mut taken: i64 = transaction.query_row("SELECT checkpoint_bytes FROM totals", [], |row| row.get(0))?;
    let mut oldest =
        transaction.prepare("SELECT id, key, length(bytes), used_at FROM checkpoints ORDER BY used_at, id LIMIT ?1")?;
    let mut rows = oldest.query([CLEARED_PER_PUT])?;
    while let Some(row) = rows.next()? {
        let (id, key, bytes, used_at): (i64, [u8; 32], i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        if used_at >= before && taken <= room {
            break;
        }
        if Key(key) != spared {
            remove.execute([id])?;
            taken -= bytes;
            freed += bytes;
        }
    }
    if freed > 0 {
        transaction.execute("UPDATE totals SET checkpoint_bytes = checkpoint_bytes - ?1", [freed])?;
    }
    Ok(())
}
