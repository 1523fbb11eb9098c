//! Whether the keys that were given open what a database holds.

use crate::error::Fault;
use crate::keys::{KeyId, Keyring};

/// A key that a database knows.
pub(crate) struct Known {
    pub(crate) number: i64,
    pub(crate) id: KeyId,
    /// Whether something may be sealed with it.
    pub(crate) in_use: bool,
}

/// Refuses when something is sealed with a key that is not among those given.
pub(crate) fn check(found: &[Known], keys: &Keyring) -> Result<(), Fault> {
    let given = keys.ids();
    let missing = found.iter().rev().find(|known| known.in_use && !given.contains(&known.id));
    match missing {
        None => Ok(()),
        Some(missing) if given.is_empty() => Err(Fault::NoKey(missing.id)),
        Some(missing) => {
            let given = given.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(Fault::WrongKey { wanted: missing.id, given })
        }
    }
}
