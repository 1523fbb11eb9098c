//! What each namespace takes of the room.

use crate::error::Fault;
use crate::limits::Limits;
use crate::rows::{number, whole};
use crate::shares::{Excess, What, beyond, room_for_sessions};
use rusqlite::{Connection, Transaction, params};

/// The namespaces that take more than their share, and by how much.
pub(super) fn excesses(connection: &Connection, limits: &Limits, what: What) -> Result<Vec<Excess>, Fault> {
    let sql = match what {
        What::All => "SELECT namespace, originals + checkpoints + sessions FROM tenants",
        What::Checkpoints => "SELECT namespace, checkpoints FROM tenants",
    };
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, whole(row.get(1)?))))?;
    Ok(beyond(rows.collect::<Result<_, _>>()?, limits, what))
}

/// Lets go of the oldest sessions of namespaces that have too many. Says what that freed.
pub(super) fn let_sessions_go(transaction: &Transaction<'_>, limits: &Limits) -> Result<(), Fault> {
    let most = room_for_sessions(limits);
    let crowded: Vec<(String, i64)> = {
        let mut statement =
            transaction.prepare_cached("SELECT namespace, sessions FROM tenants WHERE sessions > ?1")?;
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
    let mut oldest = transaction.prepare_cached(
        "SELECT id, length(record) + 256 FROM sessions WHERE namespace = ?1 ORDER BY last_at LIMIT 10000",
    )?;
    let rows = oldest.query_map(params![namespace], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let mut remove = transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?;
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
         INSERT INTO tenants (namespace, originals, checkpoints, sessions, parts)
         SELECT namespace, sum(a), sum(b), sum(c), sum(d) FROM (
             SELECT namespace, footprint AS a, 0 AS b, 0 AS c, coalesce(parts, 0) AS d FROM originals
             UNION ALL SELECT namespace, 0, length(bytes) + 256, 0, 0 FROM checkpoints
             UNION ALL SELECT namespace, 0, 0, length(record) + 256, 0 FROM sessions
         ) GROUP BY namespace;",
    )?;
    Ok(())
}
