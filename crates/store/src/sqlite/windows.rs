//! Learnt window sizes of models.

use crate::conversation::WindowRow;
use crate::error::Fault;
use crate::limits::{Limits, millis};
use crate::sqlite::clock::believed;
use crate::sqlite::lock;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::sync::Mutex;

/// Rows that are kept; clients may make up names of models.
const MOST: i64 = 4_096;

/// Writes rows down, in the place of earlier ones; a row without a record is forgotten.
pub(crate) fn write_windows(
    writer: &Mutex<Connection>,
    limits: &Limits,
    now: i64,
    rows: &[WindowRow],
) -> Result<(), Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for WindowRow { namespace, model, record } in rows {
        match record {
            Some(record) => transaction.execute(
                "INSERT OR REPLACE INTO windows (namespace, model, record, learnt_at) VALUES (?1, ?2, ?3, ?4)",
                params![namespace, model, record, now],
            )?,
            None => transaction
                .execute("DELETE FROM windows WHERE namespace = ?1 AND model = ?2", params![namespace, model])?,
        };
    }
    let before = believed(&transaction, limits, now)?.saturating_sub(millis(limits.max_age));
    transaction.execute("DELETE FROM windows WHERE learnt_at < ?1", [before])?;
    transaction.execute(
        "DELETE FROM windows WHERE learnt_at < (SELECT learnt_at FROM windows ORDER BY learnt_at DESC LIMIT 1 OFFSET ?1)",
        [MOST],
    )?;
    transaction.commit()?;
    Ok(())
}

/// What is known about a model, for one namespace.
pub(crate) fn window(reader: &Connection, namespace: &str, model: &str) -> Result<Option<String>, Fault> {
    let mut statement = reader.prepare_cached("SELECT record FROM windows WHERE namespace = ?1 AND model = ?2")?;
    Ok(statement.query_row([namespace, model], |row| row.get(0)).optional()?)
}
