//! Sessions and events: written in batches, read for people.

use crate::conversation::{EventRow, Revise, SessionRow};
use crate::error::Fault;
use crate::limits::{Limits, millis};
use crate::rows::number;
use crate::seal::{Scope, Vault, What};
use crate::sqlite::clock::believed;
use crate::sqlite::lock;
use crate::sqlite::seals::use_key;
use crate::sqlite::tenants::let_sessions_go;
use crate::sqlite::totals::forgotten;
use rusqlite::{Connection, Row, TransactionBehavior, params};
use std::sync::Mutex;

/// Events that are kept: some weeks of a busy gateway, some 30 MB.
const MOST_EVENTS: i64 = 200_000;

/// Writes sessions and events, all or none. Where `known` says how often something was forgotten on request when they were
/// taken down, and it has been since, nothing is written: they may be copies of what was forgotten. Says whether it was.
pub(crate) fn write(
    writer: &Mutex<Connection>,
    vault: &Vault,
    limits: &Limits,
    now: i64,
    (sessions, events): (&[SessionRow], &[EventRow]),
    known: Option<u64>,
) -> Result<bool, Fault> {
    if sessions.is_empty() && events.is_empty() {
        return Ok(true);
    }
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let Some(known) = known
        && forgotten(&transaction)? != known
    {
        return Ok(false);
    }
    use_key(&transaction, vault)?;
    for session in sessions {
        write_session(&transaction, vault, session)?;
    }
    {
        let seal = vault.writing(Scope::Sessions);
        let mut add =
            transaction.prepare_cached("INSERT INTO events (session, at, record, sealed) VALUES (?1, ?2, ?3, ?4)")?;
        for event in events {
            let name = seal.name(&event.session)?;
            let record = seal.text(What::Event(&name), &event.record)?;
            add.execute(params![name, event.at, record, seal.number()])?;
        }
    }
    let before = believed(&transaction, limits, now)?.saturating_sub(millis(limits.max_age));
    transaction.execute("DELETE FROM sessions WHERE last_at < ?1", [before])?;
    transaction.execute("DELETE FROM events WHERE at < ?1", [before])?;
    transaction.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?1", [MOST_EVENTS])?;
    let_sessions_go(&transaction, limits)?;
    transaction.commit()?;
    Ok(true)
}

/// Writes a session, revised if one is there. Says what was written; nothing if something was forgotten on request.
pub(crate) fn revise_session(
    writer: &Mutex<Connection>,
    vault: &Vault,
    limits: &Limits,
    now: i64,
    (session, revise): (&SessionRow, Revise<'_>),
    known: u64,
) -> Result<Option<SessionRow>, Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if forgotten(&transaction)? != known {
        return Ok(None);
    }
    use_key(&transaction, vault)?;
    believed(&transaction, limits, now)?;
    let revised = revised(&transaction, vault, session, Some(revise))?;
    write_session(&transaction, vault, &revised)?;
    let_sessions_go(&transaction, limits)?;
    transaction.commit()?;
    Ok(Some(revised))
}

/// A session as it is to be written, given what is there.
pub(super) fn revised(
    connection: &Connection,
    vault: &Vault,
    fresh: &SessionRow,
    revise: Option<Revise<'_>>,
) -> Result<SessionRow, Fault> {
    let Some(revise) = revise else { return Ok(fresh.clone()) };
    Ok(session(connection, vault, &fresh.id)?.map_or_else(|| fresh.clone(), |there| revise(&there)))
}

/// Writes one session inside a transaction.
pub(super) fn write_session(connection: &Connection, vault: &Vault, session: &SessionRow) -> Result<(), Fault> {
    let names = vault.all(Scope::Sessions);
    let mut replace = connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?;
    // Under an earlier key it has another name.
    for seal in names.iter().skip(1) {
        replace.execute([seal.name(&session.id)?])?;
    }
    let name = vault.writing(Scope::Sessions).name(&session.id)?;
    let seal = vault.writing(Scope::Namespace(&session.namespace));
    let record = seal.text(What::Session(&name), &session.record)?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions (id, namespace, last_at, record, sealed) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET last_at = excluded.last_at, record = excluded.record",
    )?;
    statement.execute(params![name, session.namespace, session.last_at, record, seal.number()])?;
    Ok(())
}

/// One session.
pub(crate) fn session(reader: &Connection, vault: &Vault, id: &str) -> Result<Option<SessionRow>, Fault> {
    let mut statement = reader.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
    for seal in vault.all(Scope::Sessions) {
        let mut rows = statement.query([seal.name(id)?])?;
        if let Some(row) = rows.next()? {
            return session_row(row, vault);
        }
    }
    Ok(None)
}

/// The latest sessions, newest first.
pub(crate) fn sessions(
    reader: &Connection,
    vault: &Vault,
    namespace: Option<&str>,
    most: usize,
) -> Result<Vec<SessionRow>, Fault> {
    let whose = if namespace.is_some() { "namespace = ?1" } else { "?1 IS NULL" };
    let mut statement = reader.prepare_cached(&format!("{COLUMNS} WHERE {whose} ORDER BY last_at DESC LIMIT ?2"))?;
    let mut rows = statement.query(params![namespace, number(most as u64)])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.extend(session_row(row, vault)?);
    }
    Ok(sessions)
}

/// The latest events of a session, newest first.
pub(crate) fn events(reader: &Connection, vault: &Vault, session: &str, most: usize) -> Result<Vec<EventRow>, Fault> {
    let mut statement =
        reader.prepare_cached("SELECT id, at, record FROM events WHERE session = ?1 ORDER BY id DESC LIMIT ?2")?;
    let mut found = Vec::new();
    for seal in vault.all(Scope::Sessions) {
        let name = seal.name(session)?;
        let rows = statement.query_map(params![name, number(most as u64)], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })?;
        for row in rows {
            let (id, at, record) = row?;
            if let Some(record) = seal.open_text(What::Event(&name), record) {
                found.push((id, EventRow { session: session.to_owned(), at, record }));
            }
        }
    }
    found.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    found.truncate(most);
    Ok(found.into_iter().map(|(_, event)| event).collect())
}

const COLUMNS: &str = "SELECT id, namespace, last_at, record, sealed FROM sessions";

/// A session as it was given; `None` when it cannot be opened, which is as good as none: the next turn writes it anew.
pub(super) fn session_row(row: &Row<'_>, vault: &Vault) -> Result<Option<SessionRow>, Fault> {
    let (name, namespace, sealed): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(4)?);
    let record = vault.of_row(sealed, Scope::Namespace(&namespace)).zip(Some(row.get(3)?));
    let record = record.and_then(|(seal, record)| seal.open_text(What::Session(&name), record));
    let id = vault.of_row(sealed, Scope::Sessions).and_then(|seal| seal.open_name(name));
    let last_at = row.get(2)?;
    Ok(id.zip(record).map(|(id, record)| SessionRow { id, namespace, last_at, record }))
}
