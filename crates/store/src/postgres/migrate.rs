//! The format of the database: numbered steps, each taken once, by one node while the others wait.

use super::sql::{all, change, first, int, values};
use crate::error::Fault;
use crate::opening::Absent;
use tokio_postgres::Transaction;

/// Step `n` leads from format `n - 1` to format `n`. Steps are added at the end and never changed. Each only adds, so that
/// nodes of the release before go on working while others are brought up to date.
const STEPS: &[&str] = &[
    include_str!("../../migrations/postgres/0001_store.sql"),
    include_str!("../../migrations/postgres/0002_client_keys.sql"),
    include_str!("../../migrations/postgres/0003_object_store.sql"),
];

/// The oldest format whose releases can work with the present one.
const READABLE_FROM: i64 = 1;

/// The oldest PostgreSQL that is known to have all that is used.
const LEAST_SERVER: i64 = 13;

/// The letters `Fold`: who takes this lock prepares the database.
const LOCK: i64 = 0x466f_6c64;

/// The format that this release writes.
fn latest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Brings a database to the latest format, inside a transaction. The lock goes with it, also behind a pooler.
pub(super) async fn migrate(transaction: &Transaction<'_>, absent: Absent) -> Result<(), Fault> {
    let version = first(transaction, "SELECT current_setting('server_version_num')::int8", values![]).await?;
    let server = version.as_ref().map(|row| int(row, 0)).transpose()?.unwrap_or(0) / 10_000;
    if server < LEAST_SERVER {
        return Err(Fault::TooOld { found: server, least: LEAST_SERVER });
    }
    if format(transaction).await? == Some(latest()) {
        return Ok(());
    }
    all(transaction, "SELECT pg_advisory_xact_lock($1)", values![LOCK => INT8]).await?;
    // Read again: another node may have been faster.
    let found = format(transaction).await?;
    let found = match (found, absent) {
        (None, Absent::Refuse) => return Err(Fault::Empty),
        (None, Absent::Create) => {
            transaction
                .batch_execute(
                    "CREATE SCHEMA IF NOT EXISTS foldline;
                     CREATE TABLE foldline.format (
                         one INTEGER PRIMARY KEY CHECK (one = 1), number BIGINT NOT NULL, readable_from BIGINT NOT NULL);
                     INSERT INTO foldline.format VALUES (1, 0, 0)",
                )
                .await?;
            0
        }
        (Some(found), _) => found,
    };
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.batch_execute(step).await?;
    }
    if found < latest() {
        let sql = "UPDATE foldline.format SET number = $1, readable_from = $2";
        change(transaction, sql, values![latest() => INT8, READABLE_FROM => INT8]).await?;
    }
    Ok(())
}

/// The format of a database; `None` where nobody has stored anything. Fails for those of later releases that this one
/// cannot work with.
async fn format(transaction: &Transaction<'_>) -> Result<Option<i64>, Fault> {
    // Not by `to_regclass`, which may remember from before the lock that there is none.
    let sql = "SELECT 1::int8 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                WHERE n.nspname = 'foldline' AND c.relname = 'format'";
    if first(transaction, sql, values![]).await?.is_none() {
        return Ok(None);
    }
    let row = first(transaction, "SELECT number, readable_from FROM foldline.format", values![]).await?;
    let Some(row) = row else { return Ok(None) };
    let (found, readable_from) = (int(&row, 0)?, int(&row, 1)?);
    if readable_from > latest() {
        return Err(Fault::Newer { found, known: latest() });
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of the release before work with what steps leave: so a step after the first readable format only adds.
    #[test]
    fn steps_only_add() {
        let steps = STEPS.iter().skip(usize::try_from(READABLE_FROM).unwrap());
        let words = steps.flat_map(|step| step.lines().filter(|line| !line.trim_start().starts_with("--")));
        for line in words {
            let line = line.to_uppercase();
            for taking in ["DROP ", "RENAME ", "TRUNCATE ", "DELETE ", "SET NOT NULL", " TYPE "] {
                assert!(!line.contains(taking), "{line}");
            }
            let adds_required = line.contains("ADD COLUMN") && line.contains("NOT NULL") && !line.contains("DEFAULT");
            assert!(!adds_required, "the release before does not fill it: {line}");
        }
    }
}
