//! Sessions and events: written in batches, read for people.

use crate::conversation::{EventRow, SessionRow};
use crate::error::Fault;
use crate::limits::{Limits, millis};
use crate::sqlite::clock::believed;
use crate::sqlite::tenants::let_sessions_go;
use crate::sqlite::totals::number;
use crate::store::lock;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use std::sync::Mutex;

/// Events that are kept: some weeks of a busy gateway, some 30 MB.
const MOST_EVENTS: i64 = 200_000;

/// Writes sessions and events, all or none.
pub(crate) fn write(
    writer: &Mutex<Connection>,
    limits: &Limits,
    now: i64,
    sessions: &[SessionRow],
    events: &[EventRow],
) -> Result<(), Fault> {
    if sessions.is_empty() && events.is_empty() {
        return Ok(());
    }
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for session in sessions {
        write_session(&transaction, session)?;
    }
    {
        let mut add = transaction.prepare("INSERT INTO events (session, at, record) VALUES (?1, ?2, ?3)")?;
        for event in events {
            add.execute(params![event.session, event.at, event.record])?;
        }
    }
    let before = believed(&transaction, limits, now)?.saturating_sub(millis(limits.max_age));
    transaction.execute("DELETE FROM sessions WHERE last_at < ?1", [before])?;
    transaction.execute("DELETE FROM events WHERE at < ?1", [before])?;
    transaction.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?1", [MOST_EVENTS])?;
    let_sessions_go(&transaction, limits)?;
    transaction.commit()?;
    Ok(())
}

/// Writes one session inside a transaction.
pub(super) fn write_session(connection: &Connection, session: &SessionRow) -> Result<(), Fault> {
    let mut statement = connection.prepare(
        "INSERT INTO sessions (id, namespace, last_at, record) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET last_at = excluded.last_at, record = excluded.record",
    )?;
    statement.execute(params![session.id, session.namespace, session.last_at, session.record])?;
    Ok(())
}

/// One session.
pub(crate) fn session(reader: &Connection, id: &str) -> Result<Option<SessionRow>, Fault> {
    let mut statement = reader.prepare("SELECT id, namespace, last_at, record FROM sessions WHERE id = ?1")?;
    Ok(statement.query_row([id], session_row).optional()?)
}

/// The latest sessions, newest first.
pub(crate) fn sessions(reader: &Connection, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, Fault> {
    let most = number(most as u64);
    let sql = match namespace {
        Some(_) => {
            "SELECT id, namespace, last_at, record FROM sessions WHERE namespace = ?1 ORDER BY last_at DESC LIMIT ?2"
        }
        None => "SELECT id, namespace, last_at, record FROM sessions WHERE ?1 IS NULL ORDER BY last_at DESC LIMIT ?2",
    };
    let mut statement = reader.prepare(sql)?;
    let rows = statement.query_map(params![namespace, most], session_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The latest events of a session, newest first.
pub(crate) fn events(reader: &Connection, session: &str, most: usize) -> Result<Vec<EventRow>, Fault> {
    let mut statement =
        reader.prepare("SELECT session, at, record FROM events WHERE session = ?1 ORDER BY id DESC LIMIT ?2")?;
    let rows = statement.query_map(params![session, number(most as u64)], |row| {
        Ok(EventRow { session: row.get(0)?, at: row.get(1)?, record: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow { id: row.get(0)?, namespace: row.get(1)?, last_at: row.get(2)?, record: row.get(3)? })
}
