//! Which keys the database knows: each has a number, and is needed for as long as something may be sealed with it.

use super::sql::{all, bytes, change, first, int, values};
use crate::error::Fault;
use crate::keys::{KeyId, Keyring};
use crate::known_keys::{Known, check};
use crate::seal::Vault;
use tokio_postgres::{GenericClient, Transaction};

/// Finds the numbers of keys, and gives numbers to those that have none. Refuses when something is sealed with a key that
/// is not among them.
pub(super) async fn enter(transaction: &Transaction<'_>, keys: &Keyring) -> Result<Vault, Fault> {
    let mut found = known(transaction).await?;
    check(&found, keys)?;
    if keys.ids().iter().any(|id| !found.iter().any(|known| known.id == *id)) {
        for id in keys.ids() {
            let sql = "INSERT INTO foldline.seals (key) VALUES ($1) ON CONFLICT DO NOTHING";
            change(transaction, sql, values![id.0.as_slice() => BYTEA]).await?;
        }
        found = known(transaction).await?;
        check(&found, keys)?;
    }
    let number = |id: KeyId| found.iter().find(|known| known.id == id).map(|known| known.number);
    Ok(Vault::new(keys.iter().filter_map(|key| Some((number(key.id())?, key.clone()))).collect()))
}

async fn known(client: &impl GenericClient) -> Result<Vec<Known>, Fault> {
    let rows = all(client, "SELECT id, key, in_use FROM foldline.seals ORDER BY id", values![]).await?;
    rows.iter()
        .map(|row| {
            let id = bytes(row, 1)?.try_into().map_err(|_| Fault::Corrupt("the name of a key is damaged".into()))?;
            Ok(Known { number: int(row, 0)?, id: KeyId(id), in_use: row.try_get(2)? })
        })
        .collect()
}

/// To be called before something is written in a transaction. Notes that the key that writes is needed from now on;
/// refuses to write in the clear what others encrypt.
pub(super) async fn use_key(transaction: &Transaction<'_>, vault: &Vault) -> Result<(), Fault> {
    match vault.number() {
        0 => {
            let sql = "SELECT key FROM foldline.seals WHERE in_use ORDER BY id DESC LIMIT 1";
            match first(transaction, sql, values![]).await? {
                None => Ok(()),
                Some(row) => Err(Fault::NoKey(KeyId(bytes(&row, 0)?.try_into().unwrap_or_default()))),
            }
        }
        number => {
            let sql = "UPDATE foldline.seals SET in_use = true WHERE id = $1 AND NOT in_use";
            change(transaction, sql, values![number => INT8]).await.map(drop)
        }
    }
}

/// Whether something may be sealed with a key that is not there: then nobody can tell what is unknown.
pub(super) async fn lacks_key(client: &impl GenericClient, vault: &Vault) -> Result<bool, Fault> {
    Ok(known(client).await?.iter().any(|known| known.in_use && !vault.ids().contains(&known.id)))
}

/// Notes which keys are needed no more. Says how many are.
pub(super) async fn retire(transaction: &Transaction<'_>) -> Result<u64, Fault> {
    let sql = "UPDATE foldline.seals SET in_use = false WHERE in_use AND id NOT IN (
         SELECT sealed FROM foldline.originals UNION SELECT sealed FROM foldline.tombstones
         UNION SELECT sealed FROM foldline.checkpoints UNION SELECT sealed FROM foldline.sessions
         UNION SELECT sealed FROM foldline.events UNION SELECT sealed FROM foldline.removals)";
    change(transaction, sql, values![]).await
}
