//! Storing: one transaction for all texts of a put.

use crate::address::Digest;
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Limits, ROW_BYTES, USE_GRAIN, millis};
use crate::object_store::Placed;
use crate::original::{NewOriginal, Stored};
use crate::pack::pack;
use crate::rows::{digests_of, label, number, whole};
use crate::seal::{Scope, Seal, Vault, What as Sealed};
use crate::shares::What;
use crate::sqlite::expire::sweep;
use crate::sqlite::lock;
use crate::sqlite::object_rows::unlink_unused;
use crate::sqlite::seals::use_key;
use crate::sqlite::tenants::excesses;
use crate::sqlite::totals::Change;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Rows of one put and what they take: an original of this put is never let go by it.
pub(super) type Batch = BTreeMap<i64, u64>;

/// Stores texts, all or none; durable on return.
pub(crate) fn put(
    writer: &Mutex<Connection>,
    (vault, limits): (&Vault, &Limits),
    now: i64,
    namespace: &str,
    originals: &[NewOriginal<'_>],
    placed: &Placed,
) -> Result<Stored, Fault> {
    // Before the lock: others may write while we count digests.
    let digests = digests_of(originals)?;
    if originals.is_empty() {
        return Ok(Stored::default());
    }
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (stored, _) = put_in(&transaction, (vault, limits), now, namespace, (originals, &digests), placed)?;
    unlink_unused(&transaction, &placed.names())?;
    transaction.commit()?;
    Ok(stored)
}

/// Stores texts inside a transaction. Says which rows they have.
pub(super) fn put_in(
    transaction: &Transaction<'_>,
    (vault, limits): (&Vault, &Limits),
    now: i64,
    namespace: &str,
    (originals, digests): (&[NewOriginal<'_>], &[Digest]),
    placed: &Placed,
) -> Result<(Stored, Batch), Fault> {
    let mut stored = Stored::default();
    let mut change = Change::default();
    let mut batch = Batch::new();
    use_key(transaction, vault)?;
    {
        let mut shelf = Shelf::of(transaction, vault, namespace, now, placed)?;
        for (original, digest) in originals.iter().zip(digests) {
            let (row, footprint) = match shelf.find(digest)? {
                Some(known) => {
                    stored.known += 1;
                    known
                }
                None => {
                    let added = shelf.add(original, digest, &mut change)?;
                    stored.added += 1;
                    stored.added_bytes += added.1;
                    added
                }
            };
            batch.insert(row, footprint);
        }
    }
    change.apply(transaction)?;
    // What is put is never let go by the same put, and must not take others' room.
    let needed = batch.values().sum();
    let excesses = excesses(transaction, limits, What::All)?;
    let mine = excesses.iter().find(|excess| excess.namespace == namespace);
    let level = mine.map_or(limits.max_bytes, |excess| excess.level);
    if needed > level {
        return Err(Fault::TooLarge { needed, limit: level });
    }
    let swept = sweep(transaction, limits, now, &batch, CLEARED_PER_PUT)?;
    stored.expired = swept.aged + swept.oversized;
    Ok((stored, batch))
}

/// The statements of a put, prepared once for all its texts.
struct Shelf<'t> {
    namespace: &'t str,
    now: i64,
    /// Texts that are in objects.
    placed: &'t Placed,
    /// How texts may have been sealed, the present way first.
    seals: Vec<Seal>,
    writing: Seal,
    find: CachedStatement<'t>,
    touch: CachedStatement<'t>,
    add: CachedStatement<'t>,
    add_chunk: CachedStatement<'t>,
    measure: CachedStatement<'t>,
    revive: CachedStatement<'t>,
}

impl<'t> Shelf<'t> {
    fn of(
        transaction: &'t Transaction<'_>,
        vault: &Vault,
        namespace: &'t str,
        now: i64,
        placed: &'t Placed,
    ) -> Result<Shelf<'t>, Fault> {
        let prepare = |sql| transaction.prepare_cached(sql);
        Ok(Shelf {
            namespace,
            now,
            placed,
            seals: vault.all(Scope::Namespace(namespace)),
            writing: vault.writing(Scope::Namespace(namespace)),
            find: prepare("SELECT id, footprint, used_at FROM originals WHERE namespace = ?1 AND digest = ?2")?,
            touch: prepare("UPDATE originals SET used_at = ?2 WHERE id = ?1")?,
            add: prepare(
                "INSERT INTO originals (namespace, digest, tool, created_at, used_at, size, footprint, sealed, object)
                 VALUES (?1, ?2, ?3, ?4, ?4, ?5, 0, ?6, ?7)",
            )?,
            add_chunk: prepare("INSERT INTO chunks (original, part, bytes) VALUES (?1, ?2, ?3)")?,
            measure: prepare("UPDATE originals SET footprint = ?2 WHERE id = ?1")?,
            revive: prepare("DELETE FROM tombstones WHERE namespace = ?1 AND digest = ?2")?,
        })
    }

    /// The row of a text that is there, and what it takes. Notes that it was used.
    fn find(&mut self, digest: &Digest) -> Result<Option<(i64, u64)>, Fault> {
        let mut found: Option<(i64, i64, i64)> = None;
        for seal in &self.seals {
            let digest = seal.digest(digest);
            let known = params![self.namespace, digest.as_bytes()];
            found = self.find.query_row(known, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
            if found.is_some() {
                break;
            }
        }
        let Some((row, footprint, used_at)) = found else { return Ok(None) };
        if used_at < self.now.saturating_sub(millis(USE_GRAIN)) {
            self.touch.execute(params![row, self.now])?;
        }
        Ok(Some((row, whole(footprint))))
    }

    fn add(&mut self, original: &NewOriginal<'_>, digest: &Digest, change: &mut Change) -> Result<(i64, u64), Fault> {
        let size = i64::try_from(original.text.len()).unwrap_or(i64::MAX);
        let place = self.writing.digest(digest);
        let label = label(&self.writing, digest, &place, original.tool)?;
        let sealed = self.writing.number();
        let placed = self.placed.get(&place);
        let object = placed.map(|placed| placed.name.0);
        let row = self.add.insert(params![self.namespace, place.as_bytes(), label, self.now, size, sealed, object])?;
        let footprint = match placed {
            Some(placed) => placed.footprint,
            None => self.add_chunks(row, original.text, &place)?,
        };
        self.measure.execute(params![row, number(footprint)])?;
        let mut revived = 0;
        for seal in &self.seals {
            revived += self.revive.execute(params![self.namespace, seal.digest(digest).as_bytes()])?;
        }
        change.originals += 1;
        change.size += size;
        change.footprint += number(footprint);
        change.tombstones -= i64::try_from(revived).unwrap_or(0);
        Ok((row, footprint))
    }

    /// Puts a text into the file and says what it takes.
    fn add_chunks(&mut self, row: i64, text: &str, place: &Digest) -> Result<u64, Fault> {
        let mut footprint = ROW_BYTES;
        let mut part = 0_i64;
        pack(text, |bytes| {
            let bytes = self.writing.bytes(Sealed::Piece(place, part), bytes)?;
            footprint += bytes.len() as u64;
            self.add_chunk.execute(params![row, part, bytes.as_ref()])?;
            part += 1;
            Ok::<_, Fault>(())
        })?;
        Ok(footprint)
    }
}
