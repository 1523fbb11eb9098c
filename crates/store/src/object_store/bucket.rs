//! What a place of objects has to do.

use crate::error::Fault;
use crate::object_name::{ObjectName, StoreId};
use std::fmt;

/// An object that is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) name: ObjectName,
    /// When it was written, in milliseconds, by the clock of the place.
    pub(super) written_at: i64,
}

/// A place of objects.
pub(super) trait Bucket: fmt::Debug + Send + Sync {
    /// Writes objects; when it returns they are durable. When it fails, some may be there.
    fn put(&self, objects: Vec<(ObjectName, Vec<u8>)>) -> Result<(), Fault>;
    /// Reads objects, in the order of their names; `None` for one that is not there.
    fn get(&self, names: &[ObjectName]) -> Result<Vec<Option<Vec<u8>>>, Fault>;
    /// Deletes objects. One that is not there is no fault.
    fn delete(&self, names: &[ObjectName]) -> Result<(), Fault>;
    /// The objects of a store whose random bytes begin with `first`.
    fn list(&self, store: &StoreId, first: u8) -> Result<Vec<Listed>, Fault>;
    /// The time by the clock of the place, found by writing something.
    fn clock(&self, store: &StoreId) -> Result<i64, Fault>;
}

/// What the clock is read from.
pub(super) const CLOCK: &str = "clock";
