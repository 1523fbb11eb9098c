//! Migrations: numbered steps, applied once, in one transaction.

use crate::error::Fault;
use rusqlite::{Connection, TransactionBehavior};

/// Step `n` leads from format `n - 1` to format `n`. Steps are added at the end and never changed.
pub(super) const STEPS: &[&str] = &[
    include_str!("../../migrations/0001_originals.sql"),
    include_str!("../../migrations/0002_conversations.sql"),
    include_str!("../../migrations/0003_search.sql"),
    include_str!("../../migrations/0004_objects.sql"),
    include_str!("../../migrations/0005_tenants.sql"),
    include_str!("../../migrations/0006_clock.sql"),
    include_str!("../../migrations/0007_windows.sql"),
    include_str!("../../migrations/0008_seals.sql"),
    include_str!("../../migrations/0009_claims.sql"),
    include_str!("../../migrations/0010_client_keys.sql"),
    include_str!("../../migrations/0011_indexed_parts.sql"),
    include_str!("../../migrations/0012_object_store.sql"),
];

/// Marks a file as ours: the letters `Fold`. Without it a mistaken path could put our tables into
/// somebody else's database.
pub(super) const APPLICATION_ID: i64 = 0x466f_6c64;

/// The format that this release writes.
fn latest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Brings a file to the latest format.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    if format(connection)? == latest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again: another process may have been faster.
    let found = format(&transaction)?;
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", latest())?;
    transaction.commit()?;
    Ok(())
}

/// The format of a file; 0 for an empty one. Fails for files of others and of later releases.
pub(super) fn format(connection: &Connection) -> Result<i64, Fault> {
    // All answers from one moment: another process may be making the file just now.
    let _moment = match connection.is_autocommit() {
        true => Some(connection.unchecked_transaction()?),
        false => None,
    };
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let known = latest();
    match (pragma("application_id")?, pragma("user_version")?) {
        (APPLICATION_ID, found) if found > known => Err(Fault::Newer { found, known }),
        (APPLICATION_ID, found) => Ok(found),
        (0, 0) if is_empty(connection)? => Ok(0),
        _ => Err(Fault::Foreign),
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}
