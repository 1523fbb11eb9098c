//! Texts that are not in the database: written before their rows, read after them, deleted when these are gone.

use super::Store;
use crate::address::Address;
use crate::error::{Fault, StoreError};
use crate::object_store::Looked;
use crate::object_store::{Placed, delete_unlinked, place, place_records, sweep};
use crate::original::{NewOriginal, Recall};
use crate::transfer::{Bytes, Cursor, Record};

/// How often a row is read again whose object is gone: somebody may have let go of both, or encrypted them anew.
const LOOKS: u32 = 3;

/// Objects that are deleted beside other work.
const SOME: u64 = 1_000;

impl Store {
    /// Writes texts that do not go into the database; they are durable when it returns.
    pub(super) fn placed(&self, namespace: &str, originals: &[NewOriginal<'_>]) -> Result<Placed, StoreError> {
        let vault = self.backend.vault();
        self.told(place(&self.objects, &*self.backend, &vault, namespace, originals))
    }

    /// Lets go of objects whose rows were refused: nobody will name them. After other faults the rows may be there all the
    /// same; then it is for a sweep to find out.
    pub(super) fn unlink_refused<T>(&self, done: Result<T, Fault>, placed: &Placed) -> Result<T, Fault> {
        if let Err(Fault::TooLarge { .. }) = &done {
            let _swept_later = self.backend.unlink(&placed.names());
        }
        done
    }

    /// Looks an address up. What is in an object is read without holding anything of the database.
    pub(super) fn recall(&self, namespace: &str, address: &Address) -> Result<Recall, Fault> {
        let mut looked = 0;
        loop {
            looked += 1;
            let found = match self.backend.get(namespace, address)? {
                Looked::Here(recall) => return Ok(recall),
                Looked::Elsewhere(found) => found,
            };
            match found.read(&self.objects, address) {
                Err(Fault::MissingObject(_)) if looked < LOOKS => {}
                read => return read.map(Recall::Found),
            }
        }
    }

    /// The records after a cursor, with their texts, and those that have lost theirs.
    pub(super) fn filled_page(&self, after: &mut Cursor) -> Result<(Vec<Record>, Vec<Record>), Fault> {
        let before = after.clone();
        let mut looked = 0;
        loop {
            looked += 1;
            *after = before.clone();
            let page = self.backend.page(after)?;
            let fetched = self.objects.fetch_all(page.iter().filter_map(|(_, object)| *object))?;
            let is_there = |object: &Option<_>| object.as_ref().is_none_or(|object| fetched.holds(object));
            if looked < LOOKS && !page.iter().all(|(_, object)| is_there(object)) {
                continue;
            }
            let (mut records, mut lost) = (Vec::new(), Vec::new());
            for (mut record, object) in page {
                if !is_there(&object) {
                    lost.push(record);
                    continue;
                }
                if let (Record::Original { pieces, .. }, Some(object)) = (&mut record, object) {
                    // What is no object of ours has no pieces, and is then found to be damaged.
                    let found = fetched.pieces_of(&object).unwrap_or_default();
                    *pieces = found.into_iter().map(Bytes).collect();
                }
                records.push(record);
            }
            return Ok((records, lost));
        }
    }

    pub(super) fn add_placed(&self, records: &[Record]) -> Result<u64, Fault> {
        let placed = place_records(&self.objects, &*self.backend, records)?;
        self.backend.add(records, &placed)
    }

    /// Whether objects can be written.
    pub(super) fn probe_objects(&self) -> Result<(), Fault> {
        if !self.objects.are_open() {
            return Ok(());
        }
        self.objects.clock(&self.backend.store_id()?).map(drop)
    }

    /// Deletes some of the objects whose rows are gone.
    pub(super) fn delete_some_unlinked(&self) -> Result<(), Fault> {
        if !self.objects.are_open() {
            return Ok(());
        }
        delete_unlinked(&self.objects, &*self.backend, SOME).map(drop)
    }

    /// Deletes the objects whose rows are gone.
    pub(super) fn delete_unlinked(&self) -> Result<(), Fault> {
        if !self.objects.are_open() {
            return Ok(());
        }
        let deleted = delete_unlinked(&self.objects, &*self.backend, u64::MAX);
        deleted.map(drop).map_err(|fault| Fault::ObjectsLeft(Box::new(fault)))
    }

    /// Deletes the objects that no row names, whether it is gone or never came.
    pub(super) fn sweep(&self) -> Result<u64, Fault> {
        if !self.objects.are_open() {
            return Ok(0);
        }
        let unlinked = delete_unlinked(&self.objects, &*self.backend, u64::MAX)?;
        Ok(unlinked + sweep(&self.objects, &*self.backend)?)
    }
}
