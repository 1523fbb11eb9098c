//! How a store is opened.

use crate::keys::Keyring;
use crate::limits::Limits;
use crate::object_store::ObjectPlace;

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// How much is kept, and for how long.
    pub limits: Limits,
    /// What it is encrypted with; not at all when there are none.
    pub keys: Keyring,
    /// Where texts of originals are; in the database when nowhere else.
    pub originals: Option<ObjectPlace>,
}

impl From<Limits> for Opening {
    fn from(limits: Limits) -> Opening {
        Opening { limits, ..Opening::default() }
    }
}

/// What to do about a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Create,
    Refuse,
}
