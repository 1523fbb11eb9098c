//! Expiry by age, then by size, least recently used first.

use crate::error::Fault;
use crate::limits::{Expiry, Limits, MAX_TOMBSTONES, TOMBSTONE_AGE, millis};
use crate::original::Pruned;
use crate::rows::{number, whole};
use crate::shares::{Excess, What};
use crate::sqlite::clean::give_back;
use crate::sqlite::clock::believed;
use crate::sqlite::lock;
use crate::sqlite::put::Batch;
use crate::sqlite::tenants::excesses;
use crate::sqlite::totals::{Change, recount, totals};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::sync::Mutex;

/// Originals that a prune lets go in one transaction, so that others get their turn in between.
const CLEARED_PER_TURN: u32 = 1_000;

/// An original about to be let go.
struct Victim {
    row: i64,
    size: i64,
    footprint: i64,
}

/// Clears everything above the limits, counts again, and gives free pages back to the disk.
pub(crate) fn prune(writer: &Mutex<Connection>, limits: &Limits, now: i64) -> Result<Pruned, Fault> {
    let mut pruned = Pruned::default();
    loop {
        let mut writer = lock(writer);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let turn = sweep(&transaction, limits, now, &Batch::new(), CLEARED_PER_TURN)?;
        let done = turn.aged == 0 && turn.forgotten == 0;
        if done {
            recount(&transaction)?;
        }
        transaction.commit()?;
        pruned.aged += turn.aged;
        pruned.oversized += turn.oversized;
        pruned.freed_bytes += turn.freed_bytes;
        pruned.forgotten += turn.forgotten;
        if done {
            if pruned.aged + pruned.oversized > 0 {
                // What was let go is only marked in the index; this takes it out.
                writer.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
            }
            give_back(&writer)?;
            // A reader elsewhere may keep the log from being cut; the next checkpoint does it then.
            writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            return Ok(pruned);
        }
    }
}

/// Clears what is too old, up to `most` originals and tombstones, and what is too much, all of it.
pub(super) fn sweep(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: i64,
    batch: &Batch,
    most: u32,
) -> Result<Pruned, Fault> {
    let mut swept = Pruned::default();
    let mut change = Change::default();

    let believed = believed(transaction, limits, now)?;
    let aged = aged(transaction, believed.saturating_sub(millis(limits.max_age)), batch, most)?;
    swept.aged = let_go(transaction, &aged, now, Expiry::Age, &mut change)?;

    for excess in excesses(transaction, limits, What::All)? {
        let surplus = surplus(transaction, &excess, batch)?;
        swept.oversized += let_go(transaction, &surplus, now, Expiry::Size, &mut change)?;
    }
    swept.freed_bytes = whole(-change.footprint);
    swept.forgotten = forget(transaction, believed, &mut change, most)?;
    change.apply(transaction)?;
    Ok(swept)
}

fn aged(transaction: &Transaction<'_>, before: i64, batch: &Batch, most: u32) -> Result<Vec<Victim>, Fault> {
    let mut oldest = transaction
        .prepare_cached("SELECT id, size, footprint FROM originals WHERE used_at < ?1 ORDER BY used_at, id LIMIT ?2")?;
    let victims = oldest.query_map(params![before, most], victim)?;
    Ok(victims.collect::<Result<Vec<_>, _>>()?.into_iter().filter(|v| !batch.contains_key(&v.row)).collect())
}

/// The least recently used originals of a namespace that together take at least what it takes too much.
fn surplus(transaction: &Transaction<'_>, excess: &Excess, batch: &Batch) -> Result<Vec<Victim>, Fault> {
    let mut oldest = transaction
        .prepare_cached("SELECT id, size, footprint FROM originals WHERE namespace = ?1 ORDER BY used_at, id")?;
    let mut victims = Vec::new();
    let mut left = number(excess.bytes);
    for next in oldest.query_map([&excess.namespace], victim)? {
        let next = next?;
        if left <= 0 {
            break;
        }
        if !batch.contains_key(&next.row) {
            left -= next.footprint;
            victims.push(next);
        }
    }
    Ok(victims)
}

fn victim(row: &rusqlite::Row<'_>) -> rusqlite::Result<Victim> {
    Ok(Victim { row: row.get(0)?, size: row.get(1)?, footprint: row.get(2)? })
}

/// Removes originals and leaves tombstones.
fn let_go(
    transaction: &Transaction<'_>,
    victims: &[Victim],
    now: i64,
    why: Expiry,
    change: &mut Change,
) -> Result<u64, Fault> {
    let mut mark = transaction.prepare_cached(
        "INSERT OR REPLACE INTO tombstones (namespace, digest, expired_at, why, sealed, label)
         SELECT namespace, digest, ?2, ?3, sealed, CASE WHEN sealed = 0 THEN '' ELSE tool END
           FROM originals WHERE id = ?1",
    )?;
    let mut remove = transaction.prepare_cached("DELETE FROM originals WHERE id = ?1")?;
    for victim in victims {
        mark.execute(params![victim.row, now, why.name()])?;
        remove.execute([victim.row])?;
        change.originals -= 1;
        change.size -= victim.size;
        change.footprint -= victim.footprint;
        change.tombstones += 1;
    }
    Ok(victims.len() as u64)
}

/// Removes tombstones that are old, or too many; the oldest first, up to `most`.
fn forget(transaction: &Transaction<'_>, now: i64, change: &mut Change, most: u32) -> Result<u64, Fault> {
    let kept = number(totals(transaction)?.tombstones).saturating_add(change.tombstones);
    let surplus = (kept - MAX_TOMBSTONES).clamp(0, i64::from(most).max(change.tombstones));
    let before = now.saturating_sub(millis(TOMBSTONE_AGE));
    let forgotten = transaction.execute(
        "DELETE FROM tombstones WHERE id IN (
             SELECT id FROM tombstones WHERE expired_at < ?1 ORDER BY expired_at LIMIT ?2)",
        params![before, most],
    )?;
    let surplus = surplus - number(forgotten as u64);
    let crowded = if surplus > 0 {
        transaction.execute(
            "DELETE FROM tombstones WHERE id IN (SELECT id FROM tombstones ORDER BY expired_at LIMIT ?1)",
            [surplus],
        )?
    } else {
        0
    };
    let all = (forgotten + crowded) as u64;
    change.tombstones -= number(all);
    Ok(all)
}
