//! How a store is opened.

use crate::keys::Keyring;
use crate::limits::Limits;

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// How much is kept, and for how long.
    pub limits: Limits,
    /// What it is encrypted with; not at all when there are none.
    pub keys: Keyring,
}

impl From<Limits> for Opening {
    fn from(limits: Limits) -> Opening {
        Opening { limits, keys: Keyring::none() }
    }
}

/// What to do about a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Create,
    Refuse,
}
