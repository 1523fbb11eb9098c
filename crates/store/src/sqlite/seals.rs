//! The keys that a file needs.

use crate::error::Fault;
use crate::keys::{KeyId, Keyring};
use crate::known_keys::{Known, check};
use crate::seal::Vault;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// Finds the numbers of keys in the file, and gives numbers to those that have none. Refuses when something is sealed
/// with a key that is not among them.
pub(super) fn enter(writer: &mut Connection, keys: &Keyring) -> Result<Vault, Fault> {
    let mut found = known(writer)?;
    check(&found, keys)?;
    if keys.ids().iter().any(|id| !found.iter().any(|known| known.id == *id)) {
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for id in keys.ids() {
            transaction.execute("INSERT OR IGNORE INTO seals (key) VALUES (?1)", [id.0])?;
        }
        found = known(&transaction)?;
        // Another process may have begun to use a key meanwhile.
        check(&found, keys)?;
        transaction.commit()?;
    }
    let number = |id: KeyId| found.iter().find(|known| known.id == id).map(|known| known.number);
    Ok(Vault::new(keys.iter().filter_map(|key| Some((number(key.id())?, key.clone()))).collect()))
}

fn known(connection: &Connection) -> Result<Vec<Known>, Fault> {
    let mut statement = connection.prepare_cached("SELECT id, key, in_use FROM seals ORDER BY id")?;
    let rows = statement
        .query_map([], |row| Ok(Known { number: row.get(0)?, id: KeyId(row.get(1)?), in_use: row.get(2)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// To be called before something is written in a transaction. Notes that the key that writes is needed from now on; refuses
/// to write in the clear what others encrypt.
pub(super) fn use_key(transaction: &Transaction<'_>, vault: &Vault) -> Result<(), Fault> {
    match vault.number() {
        0 => {
            let sql = "SELECT key FROM seals WHERE in_use ORDER BY id DESC LIMIT 1";
            let key = transaction.prepare_cached(sql)?.query_row([], |row| row.get(0).map(KeyId)).optional()?;
            key.map_or(Ok(()), |id| Err(Fault::NoKey(id)))
        }
        number => {
            transaction.execute("UPDATE seals SET in_use = 1 WHERE id = ?1 AND NOT in_use", [number])?;
            Ok(())
        }
    }
}

/// Whether something may be sealed with a key that is not there: then nobody can tell what is unknown.
pub(super) fn lacks_key(connection: &Connection, vault: &Vault) -> Result<bool, Fault> {
    Ok(known(connection)?.iter().any(|known| known.in_use && !vault.ids().contains(&known.id)))
}

/// Notes which keys are needed no more. Says how many are.
pub(super) fn retire(transaction: &Transaction<'_>) -> Result<u64, Fault> {
    let retired = transaction.execute(
        "UPDATE seals SET in_use = 0 WHERE in_use AND id NOT IN (
             SELECT sealed FROM originals UNION SELECT sealed FROM tombstones UNION SELECT sealed FROM checkpoints
             UNION SELECT sealed FROM sessions UNION SELECT sealed FROM events UNION SELECT sealed FROM removals)",
        params![],
    )?;
    Ok(retired as u64)
}
