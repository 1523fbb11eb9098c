//! What the database knows about objects of the object store.

use super::sql::{all, bytes, change, first, values};
use super::{PostgresStore, Sees};
use crate::error::Fault;
use crate::object_store::{ObjectName, ObjectRows, Spot, StoreId};
use std::collections::BTreeSet;
use tokio_postgres::{GenericClient, Row, Transaction};

impl ObjectRows for PostgresStore {
    fn store_id(&self) -> Result<StoreId, Fault> {
        self.read(async |client| store_id(client).await)
    }

    fn has_objects(&self) -> Result<bool, Fault> {
        let sql = "SELECT EXISTS (SELECT 1 FROM foldline.originals WHERE object IS NOT NULL)";
        self.read(async |client| {
            let row = first(client, sql, values![]).await?;
            row.map_or(Ok(false), |row| Ok(row.try_get(0)?))
        })
    }

    fn stand(&self, spots: &[Spot<'_>]) -> Result<Vec<bool>, Fault> {
        let names: Vec<&[u8]> = spots.iter().map(|(namespace, _)| namespace.as_bytes()).collect();
        let digests: Vec<&[u8]> = spots.iter().map(|(_, digest)| digest.as_bytes()).collect();
        let sql = "SELECT EXISTS (SELECT 1 FROM foldline.originals AS o
                                   WHERE o.namespace = spot.namespace AND o.digest = spot.digest)
                     FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS spot (namespace, digest, place)
                    ORDER BY place";
        self.read(async |client| {
            let rows = all(client, sql, values![names => BYTEA_ARRAY, digests => BYTEA_ARRAY]).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    fn named(&self, objects: &[ObjectName]) -> Result<BTreeSet<ObjectName>, Fault> {
        let names = names(objects);
        let sql = "SELECT object FROM foldline.originals WHERE object = ANY($1)";
        self.read(async |client| {
            let rows = all(client, sql, values![names => BYTEA_ARRAY]).await?;
            rows.iter().filter_map(|row| object(row, 0).transpose()).collect()
        })
    }

    fn unlink(&self, objects: &[ObjectName]) -> Result<(), Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| unlink_unused(transaction, objects).await)
    }

    fn unlinked(&self, most: u32) -> Result<Vec<ObjectName>, Fault> {
        // Beside the rows, too: what is named is not deleted, whatever else is written there.
        let sql = "SELECT object FROM foldline.unlinked AS u
                    WHERE NOT EXISTS (SELECT 1 FROM foldline.originals AS o WHERE o.object = u.object) LIMIT $1";
        self.read(async |client| {
            let rows = all(client, sql, values![i64::from(most) => INT8]).await?;
            rows.iter().filter_map(|row| object(row, 0).transpose()).collect()
        })
    }

    fn deleted(&self, objects: &[ObjectName]) -> Result<(), Fault> {
        let names = names(objects);
        let sql = "DELETE FROM foldline.unlinked WHERE object = ANY($1)";
        self.read(async |client| change(client, sql, values![names => BYTEA_ARRAY]).await.map(drop))
    }
}

pub(super) async fn store_id(client: &impl GenericClient) -> Result<StoreId, Fault> {
    let row = first(client, "SELECT id FROM foldline.store_id", values![]).await?;
    let id = row.map(|row| bytes(&row, 0)).transpose()?.and_then(|id| id.try_into().ok());
    id.map(StoreId).ok_or_else(|| Fault::Corrupt("the store has no id".into()))
}

/// The object that a row names.
pub(super) fn object(row: &Row, column: usize) -> Result<Option<ObjectName>, Fault> {
    Ok(row.try_get::<_, Option<Vec<u8>>>(column)?.and_then(|name| ObjectName::from_bytes(&name)))
}

/// Notes those of some objects that no row names, at the end of the transaction that might have.
pub(super) async fn unlink_unused(transaction: &Transaction<'_>, objects: &[ObjectName]) -> Result<(), Fault> {
    if objects.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO foldline.unlinked (object)
               SELECT object FROM unnest($1::bytea[]) AS given (object)
                WHERE NOT EXISTS (SELECT 1 FROM foldline.originals AS o WHERE o.object = given.object)
                   ON CONFLICT DO NOTHING";
    change(transaction, sql, values![names(objects) => BYTEA_ARRAY]).await.map(drop)
}

fn names(objects: &[ObjectName]) -> Vec<&[u8]> {
    objects.iter().map(|object| object.0.as_slice()).collect()
}
