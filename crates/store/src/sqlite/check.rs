//! Whether the file is sound as SQLite sees it.

use crate::error::Fault;
use rusqlite::Connection;

/// What is wrong with the file, one line each.
pub(crate) fn check(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut wrong = Vec::new();
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    for row in rows {
        wrong.extend(Some(row?).filter(|line| line != "ok"));
    }
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?)))?;
    for row in rows {
        let (table, parent) = row?;
        wrong.push(format!("a row of {table} belongs to one of {parent} that is not there"));
    }
    Ok(wrong)
}
