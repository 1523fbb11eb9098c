//! Cleans the file after a deletion: index, free pages, log.

use crate::error::Fault;
use crate::forget::Cleaning;
use rusqlite::Connection;
use std::time::Duration;

/// Pages of the index that are rewritten in one transaction.
const PAGES_PER_TURN: i64 = 500;
/// How often the log is tried to be cut while others read.
const TRIES: u32 = 50;
const STEP: Duration = Duration::from_millis(20);

/// Leaves nothing of deleted rows in the file and its log.
pub(crate) fn clean(connection: &Connection, cleaning: Cleaning) -> Result<(), Fault> {
    purge_index(connection)?;
    match cleaning {
        Cleaning::Thorough => connection.execute_batch("VACUUM")?,
        Cleaning::Gentle => give_back(connection)?,
    }
    cut_log(connection)
}

/// What was deleted is only marked in the index; this takes it out, in steps.
fn purge_index(connection: &Connection) -> Result<(), Fault> {
    let changes = || connection.query_row("SELECT total_changes()", [], |row| row.get::<_, i64>(0));
    loop {
        let before = changes()?;
        connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?1)", [-PAGES_PER_TURN])?;
        // The statement itself counts as one.
        if changes()? - before < 2 {
            return Ok(());
        }
    }
}

/// Gives free pages back to the disk.
pub(super) fn give_back(connection: &Connection) -> Result<(), Fault> {
    // Each step of this statement frees one page.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = vacuum.query([])?;
    while freed.next()?.is_some() {}
    Ok(())
}

/// Empties the log, which holds pages as they were before. Readers elsewhere are waited for, for a second.
fn cut_log(connection: &Connection) -> Result<(), Fault> {
    for _ in 0..TRIES {
        let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        match is_busy.map_err(Fault::from) {
            Ok(false) => return Ok(()),
            Ok(true) | Err(Fault::Locked(_)) => std::thread::sleep(STEP),
            Err(fault) => return Err(fault),
        }
    }
    Err(Fault::Locked(Duration::ZERO))
}
