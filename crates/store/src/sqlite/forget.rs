//! Forgetting on request: what belongs together goes together, and leaves no memory of having been there.

use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Forgotten, Gone};
use crate::seal::{Scope, Vault};
use crate::search::Whose;
use crate::sqlite::clean::clean;
use crate::sqlite::totals::{recount, whole};
use rusqlite::{Connection, TransactionBehavior, params};

/// Rows that go in one transaction, so that others get their turn in between.
const PER_TURN: i64 = 256;

/// Counts what would go.
pub(crate) fn count(worker: &mut Connection, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    mark(worker, vault, forget)
}

/// Deletes it. When it returns, the bytes are gone from the file and its log.
pub(crate) fn forget(
    worker: &mut Connection,
    vault: &Vault,
    forget: &Forget<'_>,
    cleaning: Cleaning,
) -> Result<Gone, Fault> {
    let mut all = Gone::default();
    loop {
        // Once more until nothing is found: the session may have gone on meanwhile.
        let gone = mark(worker, vault, forget)?;
        if gone.is_nothing() {
            break;
        }
        let is_endless = all.originals > 0 && forget.what == Forgotten::All;
        all.sessions = all.sessions.max(gone.sessions);
        all.originals += gone.originals;
        all.text_bytes += gone.text_bytes;
        all.checkpoints += gone.checkpoints;
        all.events += gone.events;
        for table in ["originals", "checkpoints", "events"] {
            delete(worker, table, None)?;
        }
        delete(worker, "sessions", Some(LINKS))?;
        // Somebody who stores as fast as we delete is not waited for.
        if is_endless {
            break;
        }
    }
    let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tombstones(&transaction, forget)?;
    transaction.execute("UPDATE totals SET forgotten = forgotten + 1", [])?;
    recount(&transaction)?;
    transaction.commit()?;
    clean(worker, cleaning)?;
    Ok(all)
}

/// Writes down, in tables of this connection, which rows are to go.
fn mark(worker: &mut Connection, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    worker.execute_batch(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP TABLE IF NOT EXISTS gone_originals (id INTEGER PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_checkpoints (id INTEGER PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_sessions (id TEXT PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_events (id INTEGER PRIMARY KEY);
         DELETE FROM gone_originals; DELETE FROM gone_checkpoints; DELETE FROM gone_sessions; DELETE FROM gone_events;",
    )?;
    let namespace = match forget.whose {
        Whose::Namespace(name) => Some(name),
        Whose::Everybody => None,
    };
    // One moment for all of them.
    let moment = worker.transaction()?;
    match forget.what {
        Forgotten::Session(id) => {
            let names: Result<Vec<String>, Fault> =
                vault.all(Scope::Sessions).iter().map(|seal| seal.name(id)).collect();
            let given = params![serde_json::json!(names?).to_string(), namespace];
            for sql in SESSION {
                moment.execute(sql, given)?;
            }
        }
        Forgotten::Before(time) => {
            for sql in BEFORE {
                moment.execute(sql, params![time, namespace])?;
            }
        }
        Forgotten::All => {
            for sql in BEFORE {
                moment.execute(sql, params![i64::MAX, namespace])?;
            }
        }
    }
    let gone = moment.query_row(
        "SELECT (SELECT count(*) FROM gone_sessions), (SELECT count(*) FROM gone_originals),
                (SELECT coalesce(sum(size), 0) FROM originals WHERE id IN gone_originals),
                (SELECT count(*) FROM gone_checkpoints), (SELECT count(*) FROM gone_events)",
        [],
        |row| {
            let sum = |column| row.get::<_, i64>(column).map(whole);
            Ok(Gone {
                sessions: sum(0)?,
                originals: sum(1)?,
                text_bytes: sum(2)?,
                checkpoints: sum(3)?,
                events: sum(4)?,
            })
        },
    )?;
    moment.commit()?;
    Ok(gone)
}

/// What belongs to a session, under any of its names. Somebody else's session is none.
const SESSION: [&str; 4] = [
    "INSERT INTO gone_sessions SELECT id FROM sessions
      WHERE id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR namespace = ?2)",
    "INSERT INTO gone_originals SELECT id FROM originals
      WHERE id IN (SELECT original FROM removals WHERE session IN (SELECT value FROM json_each(?1)))
        AND NOT EXISTS (SELECT 1 FROM removals WHERE original = originals.id
                           AND session NOT IN (SELECT value FROM json_each(?1)))
        AND (?2 IS NULL OR namespace = ?2)",
    "INSERT INTO gone_checkpoints SELECT id FROM checkpoints
      WHERE session IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR namespace = ?2)",
    "INSERT INTO gone_events SELECT id FROM events WHERE session IN (SELECT value FROM json_each(?1))
        AND (?2 IS NULL OR session IN gone_sessions)",
];

/// What is older than a time and belongs to no session that went on after it.
const BEFORE: [&str; 4] = [
    "INSERT INTO gone_sessions SELECT id FROM sessions WHERE last_at < ?1 AND (?2 IS NULL OR namespace = ?2)",
    "INSERT INTO gone_originals SELECT id FROM originals
      WHERE created_at < ?1 AND (?2 IS NULL OR namespace = ?2)
        AND NOT EXISTS (SELECT 1 FROM removals JOIN sessions ON sessions.id = removals.session
                         WHERE original = originals.id AND last_at >= ?1)",
    "INSERT INTO gone_checkpoints SELECT id FROM checkpoints
      WHERE created_at < ?1 AND (?2 IS NULL OR namespace = ?2)
        AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = checkpoints.session AND last_at >= ?1)",
    "INSERT INTO gone_events SELECT id FROM events
      WHERE at < ?1 AND CASE WHEN ?2 IS NULL
            THEN NOT EXISTS (SELECT 1 FROM sessions WHERE id = events.session AND last_at >= ?1)
            ELSE session IN gone_sessions END",
];

/// What else a session removed stays with the others that removed it, but not the memory of this one.
const LINKS: &str = "DELETE FROM removals WHERE session IN (SELECT id FROM gone_sessions ORDER BY id LIMIT ?1)";

/// Deletes the rows of a table that were written down, and what hangs on them.
fn delete(worker: &mut Connection, table: &str, links: Option<&str>) -> Result<(), Fault> {
    let rows = format!("DELETE FROM main.{table} WHERE id IN (SELECT id FROM gone_{table} ORDER BY id LIMIT ?1)");
    let marks = format!("DELETE FROM gone_{table} WHERE id IN (SELECT id FROM gone_{table} ORDER BY id LIMIT ?1)");
    loop {
        let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(links) = links {
            transaction.execute(links, [PER_TURN])?;
        }
        transaction.execute(&rows, [PER_TURN])?;
        let done = transaction.execute(&marks, [PER_TURN])? == 0;
        transaction.commit()?;
        if done {
            return Ok(());
        }
    }
}

/// Memories of what expired; and where all is forgotten, of who was there.
fn tombstones(connection: &Connection, forget: &Forget<'_>) -> Result<(), Fault> {
    let before = match forget.what {
        Forgotten::Session(_) => return Ok(()),
        Forgotten::Before(time) => time,
        Forgotten::All => i64::MAX,
    };
    let namespace = match forget.whose {
        Whose::Namespace(name) => Some(name),
        Whose::Everybody => None,
    };
    let sql = "DELETE FROM tombstones WHERE expired_at < ?1 AND (?2 IS NULL OR namespace = ?2)";
    connection.execute(sql, params![before, namespace])?;
    Ok(())
}
