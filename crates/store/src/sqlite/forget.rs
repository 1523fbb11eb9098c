//! Deletion on request, of everything that belongs together, without tombstones.

use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Forgotten, Gone};
use crate::rows::whole;
use crate::seal::{Scope, Vault};
use crate::search::Whose;
use crate::sqlite::clean::clean;
use crate::sqlite::totals::recount;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

/// Rows that go in one transaction, so that others get their turn in between.
const PER_TURN: i64 = 256;

/// Counts what would go.
pub(crate) fn count(worker: &mut Connection, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    prepare(worker)?;
    // One moment for all of it.
    let moment = worker.transaction()?;
    let gone = mark(&moment, vault, forget)?;
    moment.commit()?;
    Ok(gone)
}

/// Deletes it. When it returns, the bytes are gone from the file and its log.
pub(crate) fn forget(
    worker: &mut Connection,
    vault: &Vault,
    forget: &Forget<'_>,
    cleaning: Cleaning,
) -> Result<Gone, Fault> {
    let mut all = count(worker, vault, forget)?;
    for table in TABLES {
        while delete_some(worker, table)? {}
    }
    // What came meanwhile goes in one step with the note that something was forgotten: who still holds a copy in memory
    // finds the note before it writes the copy down.
    let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let late = mark(&transaction, vault, forget)?;
    for table in TABLES {
        delete(&transaction, table, i64::MAX)?;
    }
    all.originals += late.originals;
    all.text_bytes += late.text_bytes;
    all.checkpoints += late.checkpoints;
    all.events += late.events;
    tombstones(&transaction, forget)?;
    transaction.execute("UPDATE totals SET forgotten = forgotten + 1", [])?;
    recount(&transaction)?;
    transaction.commit()?;
    clean(worker, cleaning)?;
    Ok(all)
}

/// Tables of this connection for what is to go.
fn prepare(worker: &Connection) -> Result<(), Fault> {
    worker.execute_batch(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP TABLE IF NOT EXISTS gone_originals (id INTEGER PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_checkpoints (id INTEGER PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_sessions (id TEXT PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS gone_events (id INTEGER PRIMARY KEY);",
    )?;
    Ok(())
}

/// Writes down, in tables of this connection, which rows are to go.
fn mark(moment: &Connection, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    moment.execute_batch(
        "DELETE FROM gone_originals; DELETE FROM gone_checkpoints; DELETE FROM gone_sessions; DELETE FROM gone_events;",
    )?;
    let namespace = match forget.whose {
        Whose::Namespace(name) => Some(name),
        Whose::Everybody => None,
    };
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
    Ok(moment.query_row(
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
    )?)
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

/// Tables that rows go from. Sessions go last: until then it is known what belongs to them.
const TABLES: [&str; 4] = ["originals", "checkpoints", "events", "sessions"];

/// Deletes some of the rows that were written down; false when none is left.
fn delete_some(worker: &mut Connection, table: &str) -> Result<bool, Fault> {
    let transaction = worker.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let rows = delete(&transaction, table, PER_TURN)?;
    transaction.commit()?;
    Ok(rows > 0)
}

fn delete(transaction: &Transaction<'_>, table: &str, most: i64) -> Result<usize, Fault> {
    if table == "sessions" {
        // What else a session removed stays with the others that removed it, but not the memory of this one.
        let links = "DELETE FROM removals WHERE session IN (SELECT id FROM gone_sessions ORDER BY id LIMIT ?1)";
        transaction.execute(links, [most])?;
    }
    let some = format!("(SELECT id FROM gone_{table} ORDER BY id LIMIT ?1)");
    transaction.execute(&format!("DELETE FROM main.{table} WHERE id IN {some}"), [most])?;
    Ok(transaction.execute(&format!("DELETE FROM gone_{table} WHERE id IN {some}"), [most])?)
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
