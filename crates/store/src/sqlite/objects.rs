//! Owners of objects at providers.

use crate::conversation::Key;
use crate::error::Fault;
use crate::limits::{Limits, millis};
use crate::sqlite::clock::believed;
use crate::sqlite::lock;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::sync::Mutex;

/// Takes note of whose an object is. The first one who made it did.
pub(crate) fn claim(
    writer: &Mutex<Connection>,
    limits: &Limits,
    now: i64,
    namespace: &str,
    key: &Key,
) -> Result<(), Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(
        "INSERT OR IGNORE INTO objects (key, namespace, made_at) VALUES (?1, ?2, ?3)",
        params![key.0, namespace, now],
    )?;
    let before = believed(&transaction, limits, now)?.saturating_sub(millis(limits.max_age));
    transaction.execute("DELETE FROM objects WHERE made_at < ?1", [before])?;
    transaction.commit()?;
    Ok(())
}

/// Whose an object is.
pub(crate) fn owner(reader: &Connection, key: &Key) -> Result<Option<String>, Fault> {
    let mut statement = reader.prepare("SELECT namespace FROM objects WHERE key = ?1")?;
    Ok(statement.query_row([key.0], |row| row.get(0)).optional()?)
}
