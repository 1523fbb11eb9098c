//! Checkpoints: written once with everything that belongs to a fold, found by the root of a conversation.

use crate::conversation::{CheckpointEntry, Kept, Key, NewFold, Precedence, Revise};
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Limits, USE_GRAIN, millis};
use crate::object_store::Placed;
use crate::rows::{CheckpointColumns, damaged, digests_of, number, read_facts, read_text, whole};
use crate::seal::{Scope, Vault};
use crate::shares::What;
use crate::sqlite::clock::believed;
use crate::sqlite::lock;
use crate::sqlite::object_rows::unlink_unused;
use crate::sqlite::put::put_in;
use crate::sqlite::seals::use_key;
use crate::sqlite::sessions::{revised, write_session};
use crate::sqlite::tenants::{excesses, let_sessions_go};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::sync::Mutex;

/// Keeps a fold, all or nothing; durable on return.
pub(crate) fn keep_fold(
    writer: &Mutex<Connection>,
    (vault, limits): (&Vault, &Limits),
    now: i64,
    fold: &NewFold<'_>,
    revise: Option<Revise<'_>>,
    placed: &Placed,
) -> Result<Kept, Fault> {
    let NewFold { namespace, originals, checkpoint, precedence, session } = *fold;
    let digests = digests_of(originals)?;
    let columns = CheckpointColumns::of(&vault.writing(Scope::Namespace(namespace)), &checkpoint)?;
    let names = vault.writing(Scope::Sessions);
    let name = names.name(&session.id)?;
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = known(&transaction, vault, namespace, &checkpoint.key)?;
    if known.is_some() && precedence == Precedence::First {
        unlink_unused(&transaction, &placed.names())?;
        transaction.commit()?;
        return Ok(Kept::Known);
    }
    use_key(&transaction, vault)?;
    if !originals.is_empty() {
        let (_, rows) = put_in(&transaction, (vault, limits), now, namespace, (originals, &digests), placed)?;
        unlink_unused(&transaction, &placed.names())?;
        let mut link = transaction
            .prepare_cached("INSERT OR IGNORE INTO removals (session, original, sealed) VALUES (?1, ?2, ?3)")?;
        for row in rows.keys() {
            link.execute(params![name, row, names.number()])?;
        }
    }
    if let Some((id, _)) = known {
        transaction.execute("DELETE FROM checkpoints WHERE id = ?1", [id])?;
    }
    transaction.execute(
        "INSERT INTO checkpoints (namespace, key, root, position, record, size, bytes, created_at, used_at,
                                  sealed, session)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10)",
        params![
            namespace,
            columns.key.0,
            columns.root.0,
            number(checkpoint.position),
            columns.record,
            number(checkpoint.text.len() as u64),
            columns.bytes,
            now,
            columns.seal,
            name,
        ],
    )?;
    let grown = number(columns.bytes.len() as u64) - known.map_or(0, |(_, bytes)| bytes);
    transaction.execute("UPDATE totals SET checkpoint_bytes = checkpoint_bytes + ?1", [grown])?;
    sweep(&transaction, limits, now, columns.key)?;
    write_session(&transaction, vault, &revised(&transaction, vault, session, revise)?)?;
    let_sessions_go(&transaction, limits)?;
    transaction.commit()?;
    Ok(Kept::Written)
}

/// The row of a checkpoint and the bytes of its text, whatever key it was sealed with.
fn known(
    transaction: &Transaction<'_>,
    vault: &Vault,
    namespace: &str,
    key: &Key,
) -> Result<Option<(i64, i64)>, Fault> {
    let mut statement =
        transaction.prepare_cached("SELECT id, length(bytes) FROM checkpoints WHERE namespace = ?1 AND key = ?2")?;
    for seal in vault.all(Scope::Namespace(namespace)) {
        let parameters = params![namespace, seal.key(key).0];
        let found = statement.query_row(parameters, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// All checkpoints of a conversation's root, the latest used first.
pub(crate) fn entries(
    reader: &Connection,
    vault: &Vault,
    namespace: &str,
    root: &Key,
    most: usize,
) -> Result<Vec<CheckpointEntry>, Fault> {
    let mut statement = reader.prepare_cached(
        "SELECT key, position, record, used_at FROM checkpoints
          WHERE namespace = ?1 AND root = ?2 AND sealed = ?3 ORDER BY used_at DESC LIMIT ?4",
    )?;
    let mut found = Vec::new();
    for seal in vault.all(Scope::Namespace(namespace)) {
        let found_by = seal.key(root);
        let parameters = params![namespace, found_by.0, seal.number(), number(most as u64)];
        let rows = statement
            .query_map(parameters, |row| Ok((Key(row.get(0)?), whole(row.get(1)?), row.get(2)?, row.get(3)?)))?;
        for row in rows {
            let (place, position, record, used_at): (Key, u64, String, i64) = row?;
            // One that cannot be opened is none.
            if let Some((key, _, record)) = read_facts(&seal, (&place, &found_by), record) {
                found.push((used_at, CheckpointEntry { key, position, record }));
            }
        }
    }
    found.sort_by_key(|(used_at, _)| std::cmp::Reverse(*used_at));
    found.truncate(most);
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

/// What a checkpoint puts in place of its messages, and when it was last used.
pub(crate) fn text(
    reader: &Connection,
    vault: &Vault,
    namespace: &str,
    key: &Key,
) -> Result<Option<(String, i64)>, Fault> {
    let mut statement = reader.prepare_cached(
        "SELECT size, bytes, used_at FROM checkpoints WHERE namespace = ?1 AND key = ?2 AND sealed = ?3",
    )?;
    for seal in vault.all(Scope::Namespace(namespace)) {
        let place = seal.key(key);
        let mut rows = statement.query(params![namespace, place.0, seal.number()])?;
        if let Some(row) = rows.next()? {
            let packed = row.get_ref(1)?.as_blob().map_err(|error| Fault::Corrupt(error.to_string()))?;
            let text = read_text(&seal, &place, row.get(0)?, packed).ok_or_else(damaged)?;
            return Ok(Some((text, row.get(2)?)));
        }
    }
    Ok(None)
}

/// Notes that a checkpoint was used, once per hour.
pub(crate) fn note_use(
    writer: &Mutex<Connection>,
    vault: &Vault,
    now: i64,
    namespace: &str,
    key: &Key,
    used_at: i64,
) -> Result<(), Fault> {
    if used_at < now.saturating_sub(millis(USE_GRAIN)) {
        for seal in vault.all(Scope::Namespace(namespace)) {
            lock(writer).execute(
                "UPDATE checkpoints SET used_at = max(used_at, ?1) WHERE namespace = ?2 AND key = ?3",
                params![now, namespace, seal.key(key).0],
            )?;
        }
    }
    Ok(())
}

/// Lets go of checkpoints that nobody used for too long, and of the least recently used of namespaces that take more
/// than their share.
fn sweep(transaction: &Transaction<'_>, limits: &Limits, now: i64, spared: Key) -> Result<(), Fault> {
    let before = believed(transaction, limits, now)?.saturating_sub(millis(limits.max_age));
    let aged = "SELECT id, key, length(bytes) FROM checkpoints WHERE used_at < ?1 ORDER BY used_at, id LIMIT ?2";
    let mut freed = let_go(transaction, aged, params![before, CLEARED_PER_PUT], spared, i64::MAX)?;
    // Originals have made room for all but these: what is still too much is theirs.
    let crowded = excesses(transaction, limits, What::Checkpoints)?.into_iter();
    for excess in crowded.chain(excesses(transaction, limits, What::All)?) {
        let oldest = "SELECT id, key, length(bytes) FROM checkpoints WHERE namespace = ?1 ORDER BY used_at, id";
        freed += let_go(transaction, oldest, params![excess.namespace], spared, number(excess.bytes))?;
    }
    if freed > 0 {
        transaction.execute("UPDATE totals SET checkpoint_bytes = checkpoint_bytes - ?1", [freed])?;
    }
    Ok(())
}

/// Lets go of the checkpoints that a query finds until so much is free. Says how much that is.
fn let_go(
    transaction: &Transaction<'_>,
    query: &str,
    parameters: impl rusqlite::Params,
    spared: Key,
    wanted: i64,
) -> Result<i64, Fault> {
    let mut found = transaction.prepare_cached(query)?;
    let mut rows = found.query(parameters)?;
    let mut victims = Vec::new();
    let mut freed = 0;
    while let Some(row) = rows.next()? {
        if freed >= wanted {
            break;
        }
        let (id, key, bytes): (i64, [u8; 32], i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if Key(key) != spared {
            victims.push(id);
            freed += bytes;
        }
    }
    let mut remove = transaction.prepare_cached("DELETE FROM checkpoints WHERE id = ?1")?;
    for id in victims {
        remove.execute([id])?;
    }
    Ok(freed)
}
