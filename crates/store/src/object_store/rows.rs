//! What the database knows about objects.

use crate::address::Digest;
use crate::error::Fault;
use crate::object_name::{ObjectName, StoreId};
use std::collections::BTreeSet;

/// Where an original stands: its namespace, and what it is found by there.
pub(crate) type Spot<'s> = (&'s str, Digest);

pub(crate) trait ObjectRows {
    /// What keeps the objects of this store apart from those of others.
    fn store_id(&self) -> Result<StoreId, Fault>;
    /// Whether the text of any original is in an object.
    fn has_objects(&self) -> Result<bool, Fault>;
    /// Whether an original stands at each of some spots.
    fn stand(&self, spots: &[Spot<'_>]) -> Result<Vec<bool>, Fault>;
    /// Which of these objects a row names.
    fn named(&self, objects: &[ObjectName]) -> Result<BTreeSet<ObjectName>, Fault>;
    /// Notes objects that were written for nothing: those of them that no row names can be deleted.
    fn unlink(&self, objects: &[ObjectName]) -> Result<(), Fault>;
    /// Objects that no row names any more.
    fn unlinked(&self, most: u32) -> Result<Vec<ObjectName>, Fault>;
    /// Notes that objects are deleted.
    fn deleted(&self, objects: &[ObjectName]) -> Result<(), Fault>;
}
