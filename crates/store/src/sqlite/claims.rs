//! Who is folding which conversation.

use crate::conversation::FoldClaim;
use crate::error::Fault;
use crate::sqlite::lock;
use rusqlite::{Connection, TransactionBehavior, params};
use std::sync::Mutex;

/// Takes the right to fold, unless somebody else has it.
pub(crate) fn claim_fold(writer: &Mutex<Connection>, now: i64, claim: &FoldClaim<'_>) -> Result<bool, Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("DELETE FROM claims WHERE until <= ?1", [now])?;
    let taken = transaction.execute(
        "INSERT INTO claims (namespace, root, holder, until) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (namespace, root) DO UPDATE SET until = excluded.until WHERE holder = excluded.holder",
        params![claim.namespace, claim.root.0, claim.holder, claim.until],
    )?;
    transaction.commit()?;
    Ok(taken == 1)
}

/// Gives it back.
pub(crate) fn release_fold(writer: &Mutex<Connection>, claim: &FoldClaim<'_>) -> Result<(), Fault> {
    lock(writer).execute(
        "DELETE FROM claims WHERE namespace = ?1 AND root = ?2 AND holder = ?3",
        params![claim.namespace, claim.root.0, claim.holder],
    )?;
    Ok(())
}
