//! The objects of an open store, if it has any.

use super::bucket::{Bucket, Listed};
use super::files::Files;
use super::frame;
use super::location::{Location, ObjectPlace};
use crate::address::Address;
use crate::error::Fault;
use crate::object_name::{ObjectName, StoreId};
use crate::rows::{Packed, unpacked};
use crate::seal::Seal;
use std::collections::BTreeMap;
use std::time::Duration;

/// Where texts are that are too large for the database; nowhere, unless a place was given.
#[derive(Debug, Default)]
pub(crate) struct Objects(Option<Open>);

#[derive(Debug)]
struct Open {
    bucket: Box<dyn Bucket>,
    min_bytes: u64,
}

/// Packed pieces of texts, by object. Those that are not there are missing.
#[derive(Debug, Default)]
pub(crate) struct Fetched(BTreeMap<ObjectName, Vec<u8>>);

impl Objects {
    /// Nothing is connected or written yet.
    pub(crate) fn open(place: Option<&ObjectPlace>, wait: Duration) -> Result<Objects, Fault> {
        let Some(place) = place else { return Ok(Objects::default()) };
        let bucket = match place.location()? {
            Location::Files(folder) => Box::new(Files { folder, place: place.url.clone() }),
            Location::S3 { bucket, prefix } => s3(&bucket, &prefix, wait)?,
        };
        Ok(Objects(Some(Open { bucket, min_bytes: place.min_bytes })))
    }

    /// Whether a place was given.
    pub(crate) fn are_open(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a text of so many bytes, packed or at most, is kept in an object.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.0.as_ref().is_some_and(|open| bytes >= open.min_bytes)
    }

    /// Writes texts, each as its packed pieces; when it returns they are durable.
    pub(crate) fn put(&self, objects: Vec<(ObjectName, Vec<u8>)>) -> Result<(), Fault> {
        if objects.is_empty() { Ok(()) } else { self.bucket()?.put(objects) }
    }

    /// Reads the objects that texts are in, all at once.
    pub(crate) fn fetch<'t>(&self, texts: impl IntoIterator<Item = &'t Packed>) -> Result<Fetched, Fault> {
        self.fetch_all(texts.into_iter().filter_map(|text| text.object))
    }

    /// Reads objects, all at once.
    pub(crate) fn fetch_all(&self, names: impl IntoIterator<Item = ObjectName>) -> Result<Fetched, Fault> {
        let names: Vec<ObjectName> = names.into_iter().collect();
        if names.is_empty() {
            return Ok(Fetched::default());
        }
        let found = self.bucket()?.get(&names)?;
        Ok(Fetched(names.into_iter().zip(found).filter_map(|(name, bytes)| Some((name, bytes?))).collect()))
    }

    pub(super) fn delete(&self, names: &[ObjectName]) -> Result<(), Fault> {
        if names.is_empty() { Ok(()) } else { self.bucket()?.delete(names) }
    }

    pub(super) fn list(&self, store: &StoreId, first: u8) -> Result<Vec<Listed>, Fault> {
        self.bucket()?.list(store, first)
    }

    /// The time by the clock of the place. Also shows whether it can be written.
    pub(crate) fn clock(&self, store: &StoreId) -> Result<i64, Fault> {
        self.bucket()?.clock(store)
    }

    fn bucket(&self) -> Result<&dyn Bucket, Fault> {
        self.0.as_ref().map(|open| &*open.bucket).ok_or(Fault::NoObjects)
    }
}

impl Fetched {
    /// The pieces of a text that is in an object, in order; `None` when it is not there, or is none of ours.
    pub(crate) fn pieces_of(&self, object: &ObjectName) -> Option<Vec<Vec<u8>>> {
        frame::pieces(self.0.get(object)?)
    }

    /// A text that is in an object.
    pub(crate) fn text(
        &self,
        seal: &Seal,
        text: &Packed,
        object: &ObjectName,
        address: &Address,
    ) -> Result<String, Fault> {
        if !self.holds(object) {
            return Err(Fault::MissingObject(*address));
        }
        let pieces = self.pieces_of(object).ok_or(Fault::Damaged(*address))?;
        unpacked(seal, text, address, (0..).zip(pieces))
    }

    /// Whether the object of a text is there.
    pub(crate) fn holds(&self, object: &ObjectName) -> bool {
        self.0.contains_key(object)
    }
}

/// Pieces of a text as an object.
pub(super) fn framed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Result<Vec<u8>, Fault> {
    frame::framed(pieces).ok_or_else(|| Fault::Other("a piece of a text is too long".into()))
}

#[cfg(feature = "object-store")]
fn s3(bucket: &str, prefix: &str, wait: Duration) -> Result<Box<dyn Bucket>, Fault> {
    Ok(Box::new(super::s3::S3::open(bucket, prefix, wait)?))
}

#[cfg(not(feature = "object-store"))]
fn s3(_: &str, _: &str, _: Duration) -> Result<Box<dyn Bucket>, Fault> {
    Err(Fault::ObjectUrl("this build has no S3".into()))
}
