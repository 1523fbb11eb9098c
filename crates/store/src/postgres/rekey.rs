//! Encrypting what is there with the key that writes now, in steps: others read and write in between.

use super::object_rows::{object, store_id};
use super::seals::use_key;
use super::sessions::session_row;
use super::sql::{all, bytes, change, digest, first, int, text, values};
use crate::address::Digest;
use crate::conversation::Key;
use crate::error::Fault;
use crate::forget::Rekeyed;
use crate::limits::ROW_BYTES;
use crate::object_store::{ObjectName, ObjectWriter, Objects};
use crate::rows::{facts, label, number, read_facts, read_label};
use crate::seal::{Scope, Seal, Vault, What};
use tokio_postgres::{GenericClient, Transaction};

/// Rows that one transaction changes.
const PER_TURN: i64 = 64;

/// What is encrypted anew, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Originals,
    Checkpoints,
    Sessions,
    Events,
    Removals,
    Tombstones,
}

impl Step {
    pub(super) const ALL: [Step; 6] =
        [Step::Originals, Step::Checkpoints, Step::Sessions, Step::Events, Step::Removals, Step::Tombstones];
}

/// The last row that was looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct After {
    row: i64,
    name: Vec<u8>,
}

/// Rows that are sealed otherwise.
pub(super) async fn outdated(client: &impl GenericClient, vault: &Vault) -> Result<u64, Fault> {
    let sql = "SELECT (SELECT count(*) FROM foldline.originals WHERE sealed <> $1)
                    + (SELECT count(*) FROM foldline.checkpoints WHERE sealed <> $1)
                    + (SELECT count(*) FROM foldline.sessions WHERE sealed <> $1)
                    + (SELECT count(*) FROM foldline.events WHERE sealed <> $1)
                    + (SELECT count(*) FROM foldline.removals WHERE sealed <> $1)
                    + (SELECT count(*) FROM foldline.tombstones WHERE sealed <> $1)";
    let row = first(client, sql, values![vault.number() => INT8]).await?;
    row.map_or(Ok(0), |row| Ok(int(&row, 0)?.unsigned_abs()))
}

/// Changes some rows and says how many it looked at; none when the step is through.
pub(super) async fn turn(
    transaction: &Transaction<'_>,
    (vault, objects): (&Vault, &Objects),
    step: Step,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    use_key(transaction, vault).await?;
    match step {
        Step::Originals => originals(transaction, (vault, objects), after, done).await,
        Step::Checkpoints => checkpoints(transaction, vault, after, done).await,
        Step::Sessions => sessions(transaction, vault, after, done).await,
        Step::Events => events(transaction, vault, after, done).await,
        Step::Removals => removals(transaction, vault, after, done).await,
        Step::Tombstones => tombstones(transaction, vault, after, done).await,
    }
}

async fn originals(
    transaction: &Transaction<'_>,
    (vault, objects): (&Vault, &Objects),
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT id, namespace, digest, label, sealed, object FROM foldline.originals
                WHERE sealed <> $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.row => INT8, PER_TURN => INT8]).await?;
    let named: Result<Vec<_>, Fault> = rows.iter().map(|row| object(row, 5)).collect();
    let fetched = objects.fetch_all(named?.into_iter().flatten())?;
    let mut writer = ObjectWriter::of(objects, store_id(transaction).await?);
    for row in &rows {
        let (id, namespace, from) = (int(row, 0)?, text(row, 1)?, Digest::from_array(digest(row, 2)?));
        after.row = id;
        let old = vault.of_row(int(row, 4)?, Scope::Namespace(&namespace));
        let written = text(row, 3)?;
        let known = old.as_ref().and_then(|seal| read_label(seal, &from, written));
        let (Some(old), Some((plain, tool))) = (old, known) else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(&namespace));
        let to = new.digest(&plain);
        let twin = "SELECT id FROM foldline.originals WHERE namespace = $1 AND digest = $2 AND id <> $3";
        let given = values![namespace.as_bytes() => BYTEA, to.as_bytes() => BYTEA, id => INT8];
        if let Some(twin) = first(transaction, twin, given).await? {
            // Somebody without the old key has stored it once more.
            let sql = "INSERT INTO foldline.removals (session, original, sealed)
                       SELECT session, $1, sealed FROM foldline.removals WHERE original = $2 ON CONFLICT DO NOTHING";
            change(transaction, sql, values![int(&twin, 0)? => INT8, id => INT8]).await?;
            change(transaction, "DELETE FROM foldline.originals WHERE id = $1", values![id => INT8]).await?;
            continue;
        }
        let resealed = match object(row, 5)? {
            Some(object) => {
                let written = writer.reseal(&fetched, &object, (&old, &from), (&new, &to))?;
                written.map(|object| (object.footprint, Some(object.name)))
            }
            None => pieces(transaction, id, (&old, &from), (&new, &to)).await?.map(|footprint| (footprint, None)),
        };
        let Some((footprint, object)) = resealed else {
            done.damaged += 1;
            continue;
        };
        change(transaction, "DELETE FROM foldline.words WHERE original = $1", values![id => INT8]).await?;
        let sql = "UPDATE foldline.originals SET digest = $2, label = $3, sealed = $4, footprint = $5, parts = NULL,
                                                 object = $6
                    WHERE id = $1";
        let label = label(&new, &plain, &to, &tool)?;
        let given = values![
            id => INT8,
            to.as_bytes() => BYTEA,
            label.as_bytes() => BYTEA,
            new.number() => INT8,
            number(footprint) => INT8,
            object.map(|object: ObjectName| object.0.to_vec()) => BYTEA,
        ];
        change(transaction, sql, given).await?;
        done.originals += 1;
    }
    // Before the rows that name them are committed.
    writer.finish()?;
    Ok(rows.len() as u64)
}

/// Seals the pieces of a text anew and says what it takes; `None` when one cannot be opened, and then none is changed.
async fn pieces(
    transaction: &Transaction<'_>,
    original: i64,
    (old, from): (&Seal, &Digest),
    (new, to): (&Seal, &Digest),
) -> Result<Option<u64>, Fault> {
    let sql = "SELECT part::int8, bytes FROM foldline.chunks WHERE original = $1 ORDER BY part";
    let mut pieces = Vec::new();
    for row in all(transaction, sql, values![original => INT8]).await? {
        let part = int(&row, 0)?;
        let sealed = bytes(&row, 1)?;
        let Some(opened) = old.open_bytes(What::Piece(from, part), &sealed) else { return Ok(None) };
        pieces.push(new.bytes(What::Piece(to, part), &opened)?.into_owned());
    }
    let footprint = ROW_BYTES + pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
    let sql = "UPDATE foldline.chunks SET bytes = piece
                 FROM unnest($2::bytea[]) WITH ORDINALITY AS given (piece, place)
                WHERE original = $1 AND part = place - 1";
    change(transaction, sql, values![original => INT8, pieces => BYTEA_ARRAY]).await?;
    Ok(Some(footprint))
}

async fn checkpoints(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT id, namespace, key, root, record, bytes, sealed, session FROM foldline.checkpoints
                WHERE sealed <> $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.row => INT8, PER_TURN => INT8]).await?;
    for row in &rows {
        let (id, namespace, sealed) = (int(row, 0)?, text(row, 1)?, int(row, 6)?);
        after.row = id;
        let (place, root) = (Key(digest(row, 2)?), Key(digest(row, 3)?));
        let old = vault.of_row(sealed, Scope::Namespace(&namespace));
        let (record, packed) = (text(row, 4)?, bytes(row, 5)?);
        let known = old.as_ref().and_then(|old| read_facts(old, (&place, &root), record));
        let opened = old.as_ref().and_then(|old| old.open_bytes(What::Text(&place), &packed));
        let (Some((key, root, record)), Some(opened)) = (known, opened) else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(&namespace));
        let to = new.key(&key);
        let name = renamed(vault, sealed, text(row, 7)?)?.unwrap_or_default();
        // One that was made meanwhile with the new key is in use.
        let sql = "DELETE FROM foldline.checkpoints WHERE namespace = $1 AND key = $2 AND id <> $3";
        let given = values![namespace.as_bytes() => BYTEA, to.0.as_slice() => BYTEA, id => INT8];
        change(transaction, sql, given).await?;
        let sql = "UPDATE foldline.checkpoints
                      SET key = $2, root = $3, record = $4, bytes = $5, sealed = $6, session = $7 WHERE id = $1";
        let (facts, text) = (facts(&new, &to, (&key, &root), &record)?, new.bytes(What::Text(&to), &opened)?);
        let root = new.key(&root);
        let given = values![
            id => INT8,
            to.0.as_slice() => BYTEA,
            root.0.as_slice() => BYTEA,
            facts.as_bytes() => BYTEA,
            text.as_ref() => BYTEA,
            new.number() => INT8,
            name.as_bytes() => BYTEA,
        ];
        change(transaction, sql, given).await?;
        done.checkpoints += 1;
    }
    Ok(rows.len() as u64)
}

/// The name of a session as it is sealed now; `None` when the old one cannot be opened.
fn renamed(vault: &Vault, sealed: i64, name: String) -> Result<Option<String>, Fault> {
    let plain = vault.of_row(sealed, Scope::Sessions).and_then(|seal| seal.open_name(name));
    plain.map(|name| vault.writing(Scope::Sessions).name(&name)).transpose()
}

async fn sessions(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT id, namespace, last_at, record, sealed FROM foldline.sessions
                WHERE sealed <> $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.name => BYTEA, PER_TURN => INT8]).await?;
    for row in &rows {
        after.name = bytes(row, 0)?;
        match session_row(row, vault)? {
            // Writes it under its new name and takes the old one away.
            Some(session) => {
                let sql = "DELETE FROM foldline.sessions WHERE id = $1";
                change(transaction, sql, values![after.name => BYTEA]).await?;
                super::sessions::write_session(transaction, vault, &session).await?;
                done.sessions += 1;
            }
            None => done.damaged += 1,
        }
    }
    Ok(rows.len() as u64)
}

async fn events(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT id, session, record, sealed FROM foldline.events
                WHERE sealed <> $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.row => INT8, PER_TURN => INT8]).await?;
    let new = vault.writing(Scope::Sessions);
    for row in &rows {
        after.row = int(row, 0)?;
        let (name, sealed) = (text(row, 1)?, int(row, 3)?);
        let record = text(row, 2)?;
        let record = vault.of_row(sealed, Scope::Sessions).and_then(|old| old.open_text(What::Event(&name), record));
        let (Some(name), Some(record)) = (renamed(vault, sealed, name)?, record) else {
            done.damaged += 1;
            continue;
        };
        let sql = "UPDATE foldline.events SET session = $2, record = $3, sealed = $4 WHERE id = $1";
        let record = new.text(What::Event(&name), &record)?;
        let given = values![
            after.row => INT8,
            name.as_bytes() => BYTEA,
            record.as_bytes() => BYTEA,
            new.number() => INT8,
        ];
        change(transaction, sql, given).await?;
    }
    Ok(rows.len() as u64)
}

async fn removals(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT DISTINCT session, sealed FROM foldline.removals
                WHERE sealed <> $1 AND session > $2 ORDER BY session LIMIT $3";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.name => BYTEA, PER_TURN => INT8]).await?;
    for row in &rows {
        after.name = bytes(row, 0)?;
        let Some(new) = renamed(vault, int(row, 1)?, text(row, 0)?)? else {
            done.damaged += 1;
            continue;
        };
        let sql = "WITH old AS (DELETE FROM foldline.removals WHERE session = $1 RETURNING original)
                   INSERT INTO foldline.removals (session, original, sealed) SELECT $2, original, $3 FROM old
                       ON CONFLICT DO NOTHING";
        let given = values![after.name => BYTEA, new.as_bytes() => BYTEA, vault.number() => INT8];
        change(transaction, sql, given).await?;
    }
    Ok(rows.len() as u64)
}

async fn tombstones(
    transaction: &Transaction<'_>,
    vault: &Vault,
    after: &mut After,
    done: &mut Rekeyed,
) -> Result<u64, Fault> {
    let sql = "SELECT id, namespace, digest, label, sealed FROM foldline.tombstones
                WHERE sealed <> $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE";
    let rows = all(transaction, sql, values![vault.number() => INT8, after.row => INT8, PER_TURN => INT8]).await?;
    for row in &rows {
        after.row = int(row, 0)?;
        let (namespace, from, written) = (text(row, 1)?, Digest::from_array(digest(row, 2)?), text(row, 3)?);
        let old = vault.of_row(int(row, 4)?, Scope::Namespace(&namespace));
        let Some((plain, tool)) = old.and_then(|old| read_label(&old, &from, written)) else {
            done.damaged += 1;
            continue;
        };
        let new = vault.writing(Scope::Namespace(&namespace));
        let to = new.digest(&plain);
        let sql = "DELETE FROM foldline.tombstones WHERE namespace = $1 AND digest = $2 AND id <> $3";
        let given = values![namespace.as_bytes() => BYTEA, to.as_bytes() => BYTEA, after.row => INT8];
        change(transaction, sql, given).await?;
        let sql = "UPDATE foldline.tombstones SET digest = $2, label = $3, sealed = $4 WHERE id = $1";
        let label = label(&new, &plain, &to, &tool)?;
        let given = values![
            after.row => INT8,
            to.as_bytes() => BYTEA,
            label.as_bytes() => BYTEA,
            new.number() => INT8,
        ];
        change(transaction, sql, given).await?;
    }
    Ok(rows.len() as u64)
}
