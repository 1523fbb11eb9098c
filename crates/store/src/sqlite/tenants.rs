//! Equal shares of the space per namespace.
//!
//! Whoever takes less than an even share keeps all of it; the others are cut to the same level. So a namespace loses
//! something only to those that take less than it does, and one that is alone has all the room.

use crate::error::Fault;
use crate::limits::Limits;
use crate::sqlite::totals::{number, whole};
use rusqlite::{Connection, Transaction, params};

/// Checkpoints may take this share of all room: they are the shorter side of the same texts.
pub(super) const CHECKPOINTS: u64 = 4;
/// Sessions of one namespace may take this share of all room: they are counts.
const SESSIONS: u64 = 16;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// All that is kept.
    All,
    /// Checkpoints alone.
    Checkpoints,
}

/// A namespace that takes more than its share.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) namespace: String,
    /// What it may take.
    pub(super) level: u64,
    /// What it takes beyond that.
    pub(super) bytes: u64,
}

/// The namespaces that take more than their share, and by how much.
pub(super) fn excesses(connection: &Connection, limits: &Limits, what: What) -> Result<Vec<Excess>, Fault> {
    let (sql, room) = match what {
        What::All => ("SELECT namespace, originals + checkpoints + sessions FROM tenants", limits.max_bytes),
        What::Checkpoints => ("SELECT namespace, checkpoints FROM tenants", limits.max_bytes / CHECKPOINTS),
    };
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, whole(row.get(1)?))))?;
    let taken: Vec<(String, u64)> = rows.collect::<Result<_, _>>()?;
    let quota = match what {
        What::All => limits.max_bytes_per_namespace,
        What::Checkpoints => limits.max_bytes_per_namespace.map(|quota| quota / CHECKPOINTS),
    };
    let level = level(taken.iter().map(|(_, bytes)| *bytes).collect(), room).min(quota.unwrap_or(u64::MAX));
    let beyond = taken.into_iter().filter(|(_, bytes)| *bytes > level);
    Ok(beyond.map(|(namespace, bytes)| Excess { namespace, level, bytes: bytes - level }).collect())
}

/// The most that each may take so that all fit into the room.
fn level(mut taken: Vec<u64>, room: u64) -> u64 {
    taken.sort_unstable();
    let mut left = room;
    let mut others = taken.len() as u64;
    for bytes in taken {
        let even = left / others;
        if bytes > even {
            return even;
        }
        left -= bytes;
        others -= 1;
    }
    u64::MAX
}

/// Lets go of the oldest sessions of namespaces that have too many. Says what that freed.
pub(super) fn let_sessions_go(transaction: &Transaction<'_>, limits: &Limits) -> Result<(), Fault> {
    let most = limits.max_bytes.min(limits.max_bytes_per_namespace.unwrap_or(u64::MAX)) / SESSIONS;
    let crowded: Vec<(String, i64)> = {
        let mut statement = transaction.prepare("SELECT namespace, sessions FROM tenants WHERE sessions > ?1")?;
        let rows = statement.query_map([number(most)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (namespace, bytes) in crowded {
        // A tenth more than needed, so that the next one does not come at once.
        let_oldest_sessions_go(transaction, &namespace, bytes - number(most / 10 * 9))?;
    }
    Ok(())
}

/// Lets go of the oldest sessions of a namespace until so much is free.
pub(super) fn let_oldest_sessions_go(transaction: &Transaction<'_>, namespace: &str, bytes: i64) -> Result<i64, Fault> {
    let mut freed = 0;
    let mut oldest = transaction
        .prepare("SELECT id, length(record) + 256 FROM sessions WHERE namespace = ?1 ORDER BY last_at LIMIT 10000")?;
    let rows = oldest.query_map(params![namespace], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let mut remove = transaction.prepare("DELETE FROM sessions WHERE id = ?1")?;
    for row in rows.collect::<Result<Vec<_>, _>>()? {
        if freed >= bytes {
            break;
        }
        remove.execute([row.0])?;
        freed += row.1;
    }
    Ok(freed)
}

/// Counts again.
pub(super) fn recount(connection: &Connection) -> Result<(), Fault> {
    connection.execute_batch(
        "DELETE FROM tenants;
         INSERT INTO tenants (namespace, originals, checkpoints, sessions)
         SELECT namespace, sum(a), sum(b), sum(c) FROM (
             SELECT namespace, footprint AS a, 0 AS b, 0 AS c FROM originals
             UNION ALL SELECT namespace, 0, length(bytes) + 256, 0 FROM checkpoints
             UNION ALL SELECT namespace, 0, 0, length(record) + 256 FROM sessions
         ) GROUP BY namespace;",
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_less_than_an_even_share_keeps_it() {
        assert_eq!(level(vec![10, 20, 30], 60), u64::MAX);
        assert_eq!(level(vec![10, 20, 31], 60), 30);
        assert_eq!(level(vec![1, 500, 500], 101), 50);
        assert_eq!(level(vec![900], 100), 100);
        assert_eq!(level(vec![], 100), u64::MAX);
    }
}
