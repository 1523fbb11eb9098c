//! Running sums over the whole store, kept in the transaction that changes them.

use crate::error::Fault;
use crate::original::Stats;
use crate::rows::whole;
use crate::sqlite::tenants;
use rusqlite::{Connection, params};

/// How a transaction changes the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) originals: i64,
    pub(super) size: i64,
    pub(super) footprint: i64,
    pub(super) tombstones: i64,
    /// Bytes of checkpoints.
    pub(super) checkpoint_bytes: i64,
}

impl Change {
    /// Writes the change down, if there is one: a put of known texts alone then writes nothing.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), Fault> {
        if *self == Change::default() {
            return Ok(());
        }
        connection.execute(
            "UPDATE totals SET originals = originals + ?1, size = size + ?2, footprint = footprint + ?3,
                               tombstones = tombstones + ?4, checkpoint_bytes = checkpoint_bytes + ?5",
            params![self.originals, self.size, self.footprint, self.tombstones, self.checkpoint_bytes],
        )?;
        Ok(())
    }
}

/// The sums, without the size of the file.
pub(crate) fn totals(connection: &Connection) -> Result<Stats, Fault> {
    let sql = "SELECT originals, size, footprint, tombstones FROM totals";
    let sums = connection.query_row(sql, [], |row| {
        let sum = |column| row.get::<_, i64>(column).map(whole);
        Ok(Stats { originals: sum(0)?, text_bytes: sum(1)?, stored_bytes: sum(2)?, tombstones: sum(3)?, file_bytes: 0 })
    })?;
    Ok(sums)
}

/// How often something was forgotten on request.
pub(crate) fn forgotten(connection: &Connection) -> Result<u64, Fault> {
    Ok(connection.query_row("SELECT forgotten FROM totals", [], |row| row.get(0).map(whole))?)
}

/// Counts again. Keeps a slip in the running sums, however it came about, from living for ever.
pub(super) fn recount(connection: &Connection) -> Result<(), Fault> {
    connection.execute(
        "UPDATE totals SET (originals, size, footprint) =
             (SELECT count(*), coalesce(sum(size), 0), coalesce(sum(footprint), 0) FROM originals),
             tombstones = (SELECT count(*) FROM tombstones),
             checkpoint_bytes = (SELECT coalesce(sum(length(bytes)), 0) FROM checkpoints)",
        [],
    )?;
    tenants::recount(connection)
}
