//! Letting go: by age, then by size, the least recently used first; and forgetting that it was ever here.

use super::originals::Batch;
use super::sql::{all, bytes, change, first, int, maybe_int, text, values};
use crate::error::Fault;
use crate::limits::{Expiry, Limits, MAX_TOMBSTONES, TOMBSTONE_AGE, millis};
use crate::original::{Pruned, Stats};
use crate::rows::{number, whole};
use crate::shares::{Excess, What, beyond, room_for_sessions};
use tokio_postgres::{GenericClient, Transaction};

/// How much the time must differ to be written down again.
const GRAIN: i64 = 60_000;

/// The time to count age by, given what the clock says. Nodes have clocks of their own; one that leaps ahead is not
/// believed before it has stood there for a while.
pub(super) async fn believed(transaction: &Transaction<'_>, limits: &Limits, now: i64) -> Result<i64, Fault> {
    let Some(leap) = limits.leap.map(millis) else { return Ok(now) };
    let row = first(transaction, "SELECT seen_at, leapt_at FROM foldline.totals", values![]).await?;
    let (seen, leapt) = match &row {
        Some(row) => (maybe_int(row, 0)?, maybe_int(row, 1)?),
        None => (None, None),
    };
    let note = async |seen: i64, leapt: Option<i64>| {
        let sql = "UPDATE foldline.totals SET seen_at = $1, leapt_at = $2";
        change(transaction, sql, values![seen => INT8, leapt => INT8]).await
    };
    let Some(seen) = seen else {
        note(now, None).await?;
        return Ok(now);
    };
    let is_leap = now > seen.saturating_add(leap);
    match leapt {
        // It stayed where it leapt to: time has passed, or somebody set it right.
        Some(leapt) if is_leap && now >= leapt.saturating_add(leap) => {
            note(now, None).await?;
            Ok(now)
        }
        Some(leapt) if is_leap && now >= leapt => Ok(seen),
        _ if is_leap => {
            note(seen, Some(now)).await?;
            Ok(seen)
        }
        _ => {
            if leapt.is_some() || now > seen + GRAIN {
                note(seen.max(now), None).await?;
            }
            Ok(now)
        }
    }
}

/// The namespaces that take more than their share, and by how much.
pub(super) async fn excesses(client: &impl GenericClient, limits: &Limits, what: What) -> Result<Vec<Excess>, Fault> {
    let sql = match what {
        What::All => "SELECT namespace, originals + checkpoints + sessions FROM foldline.tenants",
        What::Checkpoints => "SELECT namespace, checkpoints FROM foldline.tenants",
    };
    let rows = all(client, sql, values![]).await?;
    let taken: Result<Vec<_>, Fault> = rows.iter().map(|row| Ok((text(row, 0)?, whole(int(row, 1)?)))).collect();
    Ok(beyond(taken?, limits, what))
}

/// An original about to be let go.
struct Victim {
    row: i64,
    footprint: i64,
}

/// Clears what is too old, up to `most` originals and tombstones, and what is too much, all of it.
pub(super) async fn sweep(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: i64,
    batch: &Batch,
    most: u32,
) -> Result<Pruned, Fault> {
    let mut swept = Pruned::default();
    let believed = believed(transaction, limits, now).await?;
    let before = believed.saturating_sub(millis(limits.max_age));
    // Another node that clears at the same time takes other rows.
    let sql = "SELECT id, footprint FROM foldline.originals WHERE used_at < $1
                ORDER BY used_at, id LIMIT $2 FOR UPDATE SKIP LOCKED";
    let rows = all(transaction, sql, values![before => INT8, i64::from(most) => INT8]).await?;
    let aged: Result<Vec<_>, Fault> =
        rows.iter().map(|row| Ok(Victim { row: int(row, 0)?, footprint: int(row, 1)? })).collect();
    let aged: Vec<Victim> = aged?.into_iter().filter(|victim| !batch.contains_key(&victim.row)).collect();
    swept.aged = let_go(transaction, &aged, now, Expiry::Age, &mut swept.freed_bytes).await?;
    for excess in excesses(transaction, limits, What::All).await? {
        let surplus = surplus(transaction, &excess, batch).await?;
        swept.oversized += let_go(transaction, &surplus, now, Expiry::Size, &mut swept.freed_bytes).await?;
    }
    swept.forgotten = forget_tombstones(transaction, believed, most).await?;
    Ok(swept)
}

/// The least recently used originals of a namespace that together take at least what it takes too much.
async fn surplus(transaction: &Transaction<'_>, excess: &Excess, batch: &Batch) -> Result<Vec<Victim>, Fault> {
    let spared: Vec<i64> = batch.keys().copied().collect();
    let sql = "SELECT id, footprint FROM (
                   SELECT id, footprint, sum(footprint) OVER (ORDER BY used_at, id) - footprint AS before
                     FROM foldline.originals WHERE namespace = $1 AND id <> ALL($2)) AS oldest
                WHERE before < $3";
    let given = values![
        excess.namespace.as_bytes() => BYTEA, spared => INT8_ARRAY, number(excess.bytes) => INT8
    ];
    let sql = sql.replace("before < $3", "before < $3::int8");
    let rows = all(transaction, &sql, given).await?;
    rows.iter().map(|row| Ok(Victim { row: int(row, 0)?, footprint: int(row, 1)? })).collect()
}

/// Removes originals and leaves tombstones.
async fn let_go(
    transaction: &Transaction<'_>,
    victims: &[Victim],
    now: i64,
    why: Expiry,
    freed: &mut u64,
) -> Result<u64, Fault> {
    if victims.is_empty() {
        return Ok(0);
    }
    let rows: Vec<i64> = victims.iter().map(|victim| victim.row).collect();
    let sql = "WITH gone AS (
                   DELETE FROM foldline.originals WHERE id = ANY($1) RETURNING namespace, digest, label, sealed)
               INSERT INTO foldline.tombstones (namespace, digest, expired_at, why, sealed, label)
               SELECT namespace, digest, $2, $3, sealed, CASE WHEN sealed = 0 THEN ''::bytea ELSE label END FROM gone
                   ON CONFLICT (namespace, digest) DO UPDATE SET expired_at = excluded.expired_at, why = excluded.why";
    let gone = change(transaction, sql, values![rows => INT8_ARRAY, now => INT8, why.name() => TEXT]).await?;
    *freed += victims.iter().map(|victim| whole(victim.footprint)).sum::<u64>();
    Ok(gone)
}

/// Removes tombstones that are old, or too many; the oldest first.
async fn forget_tombstones(transaction: &Transaction<'_>, now: i64, most: u32) -> Result<u64, Fault> {
    let before = now.saturating_sub(millis(TOMBSTONE_AGE));
    let aged = "DELETE FROM foldline.tombstones WHERE id IN (
             SELECT id FROM foldline.tombstones WHERE expired_at < $1 ORDER BY expired_at LIMIT $2
                FOR UPDATE SKIP LOCKED)";
    let forgotten = change(transaction, aged, values![before => INT8, i64::from(most) => INT8]).await?;
    let sum = first(transaction, "SELECT coalesce(sum(tombstones), 0)::int8 FROM foldline.tenants", values![]).await?;
    let kept = sum.as_ref().map(|row| int(row, 0)).transpose()?.unwrap_or(0);
    let surplus = kept - MAX_TOMBSTONES;
    if surplus <= 0 {
        return Ok(forgotten);
    }
    let sql = "DELETE FROM foldline.tombstones WHERE id IN (
             SELECT id FROM foldline.tombstones ORDER BY expired_at LIMIT $1 FOR UPDATE SKIP LOCKED)";
    Ok(forgotten + change(transaction, sql, values![surplus => INT8]).await?)
}

/// Lets go of the oldest sessions of namespaces that have too many.
pub(super) async fn let_sessions_go(transaction: &Transaction<'_>, limits: &Limits) -> Result<(), Fault> {
    let most = room_for_sessions(limits);
    let sql = "SELECT namespace, sessions FROM foldline.tenants WHERE sessions > $1";
    for row in all(transaction, sql, values![number(most) => INT8]).await? {
        // A tenth more than needed, so that the next one does not come at once.
        let surplus = int(&row, 1)? - number(most / 10 * 9);
        let sql = "DELETE FROM foldline.sessions WHERE id IN (
                 SELECT id FROM (
                     SELECT id, sum(length(record) + 256) OVER (ORDER BY last_at, id) - length(record) - 256 AS before
                       FROM foldline.sessions WHERE namespace = $1) AS oldest
                  WHERE before < $2::int8)";
        change(transaction, sql, values![bytes(&row, 0)? => BYTEA, surplus => INT8]).await?;
    }
    Ok(())
}

/// What is there, without a scan of it.
pub(super) async fn stats(client: &impl GenericClient) -> Result<Stats, Fault> {
    let sql = "SELECT coalesce(sum(count), 0)::int8, coalesce(sum(size), 0)::int8, coalesce(sum(originals), 0)::int8,
                      coalesce(sum(tombstones), 0)::int8,
                      (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class
                        WHERE relkind = 'r' AND relnamespace = 'foldline'::regnamespace)
                 FROM foldline.tenants";
    let row = first(client, sql, values![]).await?;
    let Some(row) = row else { return Ok(Stats::default()) };
    let sum = |column| int(&row, column).map(whole);
    Ok(Stats {
        originals: sum(0)?,
        text_bytes: sum(1)?,
        stored_bytes: sum(2)?,
        tombstones: sum(3)?,
        file_bytes: sum(4)?,
    })
}

/// Counts again. Keeps a slip in the running sums, however it came about, from living for ever.
pub(super) async fn recount(transaction: &Transaction<'_>) -> Result<(), Fault> {
    // Nobody changes a sum meanwhile.
    transaction.batch_execute("LOCK TABLE foldline.tenants IN EXCLUSIVE MODE").await?;
    let sql = "WITH counted AS (
             SELECT namespace, sum(a) AS a, sum(b) AS b, sum(c) AS c, sum(d) AS d, sum(e) AS e, sum(f) AS f, sum(g) AS g
               FROM (
                 SELECT namespace, 1::int8 AS a, size AS b, footprint AS c, coalesce(parts, 0)::int8 AS d, 0::int8 AS e,
                        0::int8 AS f, 0::int8 AS g FROM foldline.originals
                 UNION ALL SELECT namespace, 0, 0, 0, 0, length(bytes) + 256, 0, 0 FROM foldline.checkpoints
                 UNION ALL SELECT namespace, 0, 0, 0, 0, 0, length(record) + 256, 0 FROM foldline.sessions
                 UNION ALL SELECT namespace, 0, 0, 0, 0, 0, 0, 1 FROM foldline.tombstones
               ) AS rows GROUP BY namespace),
         gone AS (DELETE FROM foldline.tenants WHERE namespace NOT IN (SELECT namespace FROM counted))
         INSERT INTO foldline.tenants (namespace, count, size, originals, parts, checkpoints, sessions, tombstones)
         SELECT namespace, a, b, c, d, e, f, g FROM counted
             ON CONFLICT (namespace) DO UPDATE SET count = excluded.count, size = excluded.size,
                originals = excluded.originals, parts = excluded.parts, checkpoints = excluded.checkpoints,
                sessions = excluded.sessions, tombstones = excluded.tombstones";
    change(transaction, sql, values![]).await.map(drop)
}
