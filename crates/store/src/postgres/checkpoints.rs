//! Checkpoints: written once with everything that belongs to a fold, found by the root of a conversation.

use super::expire::{believed, excesses, let_sessions_go};
use super::originals::put;
use super::seals::use_key;
use super::sessions::{revised, write_session};
use super::sql::{all, bytes, change, digest, first, int, text as name_of, values};
use crate::conversation::{CheckpointEntry, Kept, Key, NewFold, Precedence, Revise};
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Limits, USE_GRAIN, millis};
use crate::object_store::Placed;
use crate::rows::{CheckpointColumns, damaged, digests_of, number, read_facts, read_text, whole};
use crate::seal::{Scope, Vault};
use crate::shares::What;
use tokio_postgres::{GenericClient, Transaction};

/// Keeps a fold, all or nothing.
pub(super) async fn keep_fold(
    transaction: &Transaction<'_>,
    (vault, limits, now): (&Vault, &Limits, i64),
    fold: &NewFold<'_>,
    revise: Option<Revise<'_>>,
    placed: &Placed,
) -> Result<Kept, Fault> {
    let NewFold { namespace, originals, checkpoint, precedence, session } = *fold;
    let digests = digests_of(originals)?;
    let columns = CheckpointColumns::of(&vault.writing(Scope::Namespace(namespace)), &checkpoint)?;
    let names = vault.writing(Scope::Sessions);
    let name = names.name(&session.id)?;

    let places: Vec<Vec<u8>> =
        vault.all(Scope::Namespace(namespace)).iter().map(|seal| seal.key(&checkpoint.key).0.to_vec()).collect();
    let known = "SELECT id FROM foldline.checkpoints WHERE namespace = $1 AND key = ANY($2)";
    let known = first(transaction, known, values![namespace.as_bytes() => BYTEA, places => BYTEA_ARRAY]).await?;
    if known.is_some() && precedence == Precedence::First {
        return Ok(Kept::Known);
    }
    use_key(transaction, vault).await?;
    // Before anything else is locked, as wherever a session is written, so that no two wait for each other.
    let session = revised(transaction, vault, session, revise).await?;
    if !originals.is_empty() {
        let (_, rows) = put(transaction, (vault, limits, now), namespace, (originals, &digests), placed).await?;
        let rows: Vec<i64> = rows.into_keys().collect();
        let sql = "INSERT INTO foldline.removals (session, original, sealed) SELECT $1, unnest($2::int8[]), $3
                       ON CONFLICT DO NOTHING";
        let link = values![name.as_bytes() => BYTEA, rows => INT8_ARRAY, names.number() => INT8];
        change(transaction, sql, link).await?;
    }
    if let Some(row) = &known {
        change(transaction, "DELETE FROM foldline.checkpoints WHERE id = $1", values![int(row, 0)? => INT8]).await?;
    }
    // Two nodes at once: the second waits here for the first, is told that the key is taken, and begins anew.
    change(
        transaction,
        "INSERT INTO foldline.checkpoints
             (namespace, key, root, position, record, size, bytes, created_at, used_at, sealed, session)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)",
        values![
            namespace.as_bytes() => BYTEA,
            columns.key.0.as_slice() => BYTEA,
            columns.root.0.as_slice() => BYTEA,
            number(checkpoint.position) => INT8,
            columns.record.as_bytes() => BYTEA,
            number(checkpoint.text.len() as u64) => INT8,
            columns.bytes.as_slice() => BYTEA,
            now => INT8,
            columns.seal => INT8,
            name.as_bytes() => BYTEA,
        ],
    )
    .await?;
    sweep(transaction, limits, now, columns.key).await?;
    write_session(transaction, vault, &session).await?;
    let_sessions_go(transaction, limits).await?;
    Ok(Kept::Written)
}

/// Lets go of checkpoints that nobody used for too long, and of the least recently used of namespaces that take more
/// than their share.
async fn sweep(transaction: &Transaction<'_>, limits: &Limits, now: i64, spared: Key) -> Result<(), Fault> {
    let before = believed(transaction, limits, now).await?.saturating_sub(millis(limits.max_age));
    let aged = "DELETE FROM foldline.checkpoints WHERE id IN (
             SELECT id FROM foldline.checkpoints WHERE used_at < $1 AND key <> $3 ORDER BY used_at, id LIMIT $2
                FOR UPDATE SKIP LOCKED)";
    let given = values![before => INT8, i64::from(CLEARED_PER_PUT) => INT8, spared.0.as_slice() => BYTEA];
    change(transaction, aged, given).await?;
    // Originals have made room for all but these: what is still too much is theirs.
    for what in [What::Checkpoints, What::All] {
        for excess in excesses(transaction, limits, what).await? {
            let oldest = "DELETE FROM foldline.checkpoints WHERE id IN (
                     SELECT id FROM (
                         SELECT id, sum(length(bytes)) OVER (ORDER BY used_at, id) - length(bytes) AS before
                           FROM foldline.checkpoints WHERE namespace = $1 AND key <> $2) AS oldest
                      WHERE before < $3::int8)";
            let given = values![
                excess.namespace.as_bytes() => BYTEA,
                spared.0.as_slice() => BYTEA,
                number(excess.bytes) => INT8,
            ];
            change(transaction, oldest, given).await?;
        }
    }
    Ok(())
}

/// All checkpoints of a conversation's root, the latest used first.
pub(super) async fn entries(
    client: &impl GenericClient,
    vault: &Vault,
    namespace: &str,
    root: &Key,
    most: usize,
) -> Result<Vec<CheckpointEntry>, Fault> {
    let seals = vault.all(Scope::Namespace(namespace));
    let roots: Vec<Vec<u8>> = seals.iter().map(|seal| seal.key(root).0.to_vec()).collect();
    let sql = "SELECT key, position, record, used_at, root, sealed FROM foldline.checkpoints
                WHERE namespace = $1 AND root = ANY($2) ORDER BY used_at DESC LIMIT $3";
    let given = values![namespace.as_bytes() => BYTEA, roots => BYTEA_ARRAY, number(most as u64) => INT8];
    let mut found = Vec::new();
    for row in all(client, sql, given).await? {
        let sealed = int(&row, 5)?;
        let Some(seal) = seals.iter().find(|seal| seal.number() == sealed) else { continue };
        let (place, root) = (Key(digest(&row, 0)?), Key(digest(&row, 4)?));
        // One that cannot be opened is none.
        if let Some((key, _, record)) = read_facts(seal, (&place, &root), name_of(&row, 2)?) {
            found.push(CheckpointEntry { key, position: whole(int(&row, 1)?), record });
        }
    }
    Ok(found)
}

/// What a checkpoint puts in place of its messages, and when it was last used.
pub(super) async fn text(
    client: &impl GenericClient,
    vault: &Vault,
    namespace: &str,
    key: &Key,
) -> Result<Option<(String, i64)>, Fault> {
    let seals = vault.all(Scope::Namespace(namespace));
    let places: Vec<Vec<u8>> = seals.iter().map(|seal| seal.key(key).0.to_vec()).collect();
    let sql = "SELECT size, bytes, used_at, sealed FROM foldline.checkpoints WHERE namespace = $1 AND key = ANY($2)";
    for row in all(client, sql, values![namespace.as_bytes() => BYTEA, places => BYTEA_ARRAY]).await? {
        let sealed = int(&row, 3)?;
        if let Some(seal) = seals.iter().find(|seal| seal.number() == sealed) {
            let text = read_text(seal, &seal.key(key), int(&row, 0)?, &bytes(&row, 1)?).ok_or_else(damaged)?;
            return Ok(Some((text, int(&row, 2)?)));
        }
    }
    Ok(None)
}

/// Notes that a checkpoint was used, once per hour.
pub(super) async fn note_use(
    client: &impl GenericClient,
    vault: &Vault,
    now: i64,
    namespace: &str,
    key: &Key,
    used_at: i64,
) -> Result<(), Fault> {
    if used_at >= now.saturating_sub(millis(USE_GRAIN)) {
        return Ok(());
    }
    let seals = vault.all(Scope::Namespace(namespace));
    let places: Vec<Vec<u8>> = seals.iter().map(|seal| seal.key(key).0.to_vec()).collect();
    let sql = "UPDATE foldline.checkpoints SET used_at = greatest(used_at, $1) WHERE namespace = $2 AND key = ANY($3)";
    change(client, sql, values![now => INT8, namespace.as_bytes() => BYTEA, places => BYTEA_ARRAY]).await.map(drop)
}
