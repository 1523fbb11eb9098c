//! What the file knows about objects of the object store.

use crate::error::Fault;
use crate::object_store::{ObjectName, ObjectRows, Spot, StoreId};
use crate::sqlite::{SqliteStore, lock};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::collections::BTreeSet;

impl ObjectRows for SqliteStore {
    fn store_id(&self) -> Result<StoreId, Fault> {
        Ok(self.reader()?.query_row("SELECT id FROM store_id", [], |row| row.get(0).map(StoreId))?)
    }

    fn has_objects(&self) -> Result<bool, Fault> {
        let sql = "SELECT EXISTS (SELECT 1 FROM originals WHERE object IS NOT NULL)";
        Ok(self.reader()?.query_row(sql, [], |row| row.get(0))?)
    }

    fn stand(&self, spots: &[Spot<'_>]) -> Result<Vec<bool>, Fault> {
        let reader = self.reader()?;
        let mut stands =
            reader.prepare_cached("SELECT EXISTS (SELECT 1 FROM originals WHERE namespace = ?1 AND digest = ?2)")?;
        let found = spots
            .iter()
            .map(|(namespace, digest)| Ok(stands.query_row(params![namespace, digest.as_bytes()], |row| row.get(0))?));
        found.collect()
    }

    fn named(&self, objects: &[ObjectName]) -> Result<BTreeSet<ObjectName>, Fault> {
        let reader = self.reader()?;
        let mut named = BTreeSet::new();
        for object in objects {
            if is_named(&reader, object)? {
                named.insert(*object);
            }
        }
        Ok(named)
    }

    fn unlink(&self, objects: &[ObjectName]) -> Result<(), Fault> {
        let mut writer = lock(self.writer()?);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        unlink_unused(&transaction, objects)?;
        Ok(transaction.commit()?)
    }

    fn unlinked(&self, most: u32) -> Result<Vec<ObjectName>, Fault> {
        let reader = self.reader()?;
        // Beside the rows, too: what is named is not deleted, whatever else is written there.
        let mut statement = reader.prepare_cached(
            "SELECT object FROM unlinked
              WHERE NOT EXISTS (SELECT 1 FROM originals WHERE originals.object = unlinked.object) LIMIT ?1",
        )?;
        let names = statement.query_map([most], |row| row.get(0).map(ObjectName))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    fn deleted(&self, objects: &[ObjectName]) -> Result<(), Fault> {
        let mut writer = lock(self.writer()?);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut delete = transaction.prepare_cached("DELETE FROM unlinked WHERE object = ?1")?;
            for object in objects {
                delete.execute([object.0])?;
            }
        }
        Ok(transaction.commit()?)
    }
}

fn is_named(connection: &Connection, object: &ObjectName) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM originals WHERE object = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([object.0], |row| row.get(0))?)
}

/// Notes those of some objects that no row names, at the end of the transaction that might have.
pub(super) fn unlink_unused(transaction: &Transaction<'_>, objects: &[ObjectName]) -> Result<(), Fault> {
    if objects.is_empty() {
        return Ok(());
    }
    let mut unlink = transaction.prepare_cached(
        "INSERT OR IGNORE INTO unlinked (object)
         SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM originals WHERE object = ?1)",
    )?;
    for object in objects {
        unlink.execute([object.0])?;
    }
    Ok(())
}
