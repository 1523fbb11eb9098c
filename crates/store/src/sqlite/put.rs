//! Storing: one transaction for all texts of a put.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::limits::{CLEARED_PER_PUT, Limits, ROW_BYTES, USE_GRAIN, millis};
use crate::original::{NewOriginal, Stored};
use crate::pack::pack;
use crate::sqlite::expire::sweep;
use crate::sqlite::totals::{Change, number, whole};
use crate::store::lock;
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Rows of one put and what they take: an original of this put is never let go by it.
pub(super) type Batch = BTreeMap<i64, u64>;

/// Stores texts, all or none; durable on return.
pub(crate) fn put(
    writer: &Mutex<Connection>,
    limits: &Limits,
    now: i64,
    namespace: &str,
    originals: &[NewOriginal<'_>],
) -> Result<Stored, Fault> {
    // Before the lock: others may write while we count digests.
    let digests = digests_of(originals)?;
    if originals.is_empty() {
        return Ok(Stored::default());
    }
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (stored, _) = put_in(&transaction, limits, now, namespace, originals, &digests)?;
    transaction.commit()?;
    Ok(stored)
}

/// The digests of texts, each held against its handle.
pub(super) fn digests_of(originals: &[NewOriginal<'_>]) -> Result<Vec<Digest>, Fault> {
    originals.iter().map(digest_of).collect()
}

/// Stores texts inside a transaction. Says which rows they have.
pub(super) fn put_in(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: i64,
    namespace: &str,
    originals: &[NewOriginal<'_>],
    digests: &[Digest],
) -> Result<(Stored, Batch), Fault> {
    let mut stored = Stored::default();
    let mut change = Change::default();
    let mut batch = Batch::new();
    {
        let mut shelf = Shelf::of(transaction, namespace, now)?;
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
    let needed = batch.values().sum();
    if needed > limits.max_bytes {
        return Err(Fault::TooLarge { needed, limit: limits.max_bytes });
    }
    let swept = sweep(transaction, limits, now, &batch, CLEARED_PER_PUT)?;
    stored.expired = swept.aged + swept.oversized;
    Ok((stored, batch))
}

fn digest_of(original: &NewOriginal<'_>) -> Result<Digest, Fault> {
    let digest = Digest::of(original.text);
    if Address::from(original.handle).covers(&digest) { Ok(digest) } else { Err(Fault::Mismatch(original.handle)) }
}

/// The statements of a put, prepared once for all its texts.
struct Shelf<'t> {
    namespace: &'t str,
    now: i64,
    find: Statement<'t>,
    touch: Statement<'t>,
    add: Statement<'t>,
    add_chunk: Statement<'t>,
    measure: Statement<'t>,
    revive: Statement<'t>,
}

impl<'t> Shelf<'t> {
    fn of(transaction: &'t Transaction<'_>, namespace: &'t str, now: i64) -> Result<Shelf<'t>, Fault> {
        let prepare = |sql| transaction.prepare(sql);
        Ok(Shelf {
            namespace,
            now,
            find: prepare("SELECT id, footprint, used_at FROM originals WHERE namespace = ?1 AND digest = ?2")?,
            touch: prepare("UPDATE originals SET used_at = ?2 WHERE id = ?1")?,
            add: prepare(
                "INSERT INTO originals (namespace, digest, tool, created_at, used_at, size, footprint)
                 VALUES (?1, ?2, ?3, ?4, ?4, ?5, 0)",
            )?,
            add_chunk: prepare("INSERT INTO chunks (original, part, bytes) VALUES (?1, ?2, ?3)")?,
            measure: prepare("UPDATE originals SET footprint = ?2 WHERE id = ?1")?,
            revive: prepare("DELETE FROM tombstones WHERE namespace = ?1 AND digest = ?2")?,
        })
    }

    /// The row of a text that is there, and what it takes. Notes that it was used.
    fn find(&mut self, digest: &Digest) -> Result<Option<(i64, u64)>, Fault> {
        let found = self
            .find
            .query_row(params![self.namespace, digest.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((row, footprint, used_at)): Option<(i64, i64, i64)> = found else { return Ok(None) };
        if used_at < self.now.saturating_sub(millis(USE_GRAIN)) {
            self.touch.execute(params![row, self.now])?;
        }
        Ok(Some((row, whole(footprint))))
    }

    fn add(&mut self, original: &NewOriginal<'_>, digest: &Digest, change: &mut Change) -> Result<(i64, u64), Fault> {
        let size = i64::try_from(original.text.len()).unwrap_or(i64::MAX);
        let digest = digest.as_bytes();
        let row = self.add.insert(params![self.namespace, digest, original.tool, self.now, size])?;
        let mut footprint = ROW_BYTES;
        let mut part = 0_i64;
        pack(original.text, |bytes| {
            footprint += bytes.len() as u64;
            self.add_chunk.execute(params![row, part, bytes])?;
            part += 1;
            Ok::<_, Fault>(())
        })?;
        self.measure.execute(params![row, number(footprint)])?;
        let revived = self.revive.execute(params![self.namespace, digest])?;
        change.originals += 1;
        change.size += size;
        change.footprint += number(footprint);
        change.tombstones -= i64::try_from(revived).unwrap_or(0);
        Ok((row, footprint))
    }
}
