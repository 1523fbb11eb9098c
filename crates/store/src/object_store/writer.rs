//! Writing several objects at once.

use super::objects::{Fetched, Objects, framed};
use crate::address::Digest;
use crate::error::Fault;
use crate::limits::ROW_BYTES;
use crate::object_name::{ObjectName, StoreId};
use crate::seal::{Seal, What};

/// Bytes of packed texts that are held in memory to be written at once.
const AT_ONCE: usize = 32 << 20;

/// A text in an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) name: ObjectName,
    /// What the row says that the text takes.
    pub(crate) footprint: u64,
}

/// Objects that are about to be written. They are there after [`ObjectWriter::finish`].
pub(crate) struct ObjectWriter<'o> {
    objects: &'o Objects,
    store: StoreId,
    waiting: Vec<(ObjectName, Vec<u8>)>,
    bytes: usize,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn of(objects: &'o Objects, store: StoreId) -> ObjectWriter<'o> {
        ObjectWriter { objects, store, waiting: Vec::new(), bytes: 0 }
    }

    /// A text as its packed pieces, under a name of its own.
    pub(crate) fn add<'p>(&mut self, pieces: impl IntoIterator<Item = &'p [u8]>) -> Result<Object, Fault> {
        let name = ObjectName::new(&self.store)?;
        let mut footprint = ROW_BYTES;
        let bytes = framed(pieces.into_iter().inspect(|piece| footprint += piece.len() as u64))?;
        self.bytes += bytes.len();
        self.waiting.push((name, bytes));
        if self.bytes > AT_ONCE {
            self.write()?;
        }
        Ok(Object { name, footprint })
    }

    /// A text that was sealed otherwise and stood elsewhere; `None` when it cannot be opened.
    pub(crate) fn reseal(
        &mut self,
        fetched: &Fetched,
        object: &ObjectName,
        (old, from): (&Seal, &Digest),
        (new, to): (&Seal, &Digest),
    ) -> Result<Option<Object>, Fault> {
        let mut pieces = Vec::new();
        for (part, piece) in (0..).zip(fetched.pieces_of(object).unwrap_or_default()) {
            let Some(opened) = old.open_bytes(What::Piece(from, part), &piece) else { return Ok(None) };
            pieces.push(new.bytes(What::Piece(to, part), &opened)?.into_owned());
        }
        // Even an empty text has a piece: this one is missing, or is none of ours.
        if pieces.is_empty() {
            return Ok(None);
        }
        self.add(pieces.iter().map(Vec::as_slice)).map(Some)
    }

    /// Writes what is left; all of it is durable then.
    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        self.write()
    }

    fn write(&mut self) -> Result<(), Fault> {
        self.bytes = 0;
        self.objects.put(std::mem::take(&mut self.waiting))
    }
}
