//! What a database answers of a text that it does not hold itself.

use super::Objects;
use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::object_name::ObjectName;
use crate::original::{Original, Recall};
use crate::rows::Packed;
use crate::seal::Seal;

/// The answer to a recall, as far as the database has it.
pub(crate) enum Looked {
    Here(Recall),
    Elsewhere(Elsewhere),
}

/// An original whose text is in an object.
pub(crate) struct Elsewhere {
    pub(crate) seal: Seal,
    pub(crate) digest: Digest,
    pub(crate) text: Packed,
    pub(crate) object: ObjectName,
    pub(crate) tool: String,
    pub(crate) created_at: i64,
    pub(crate) used_at: i64,
}

impl Elsewhere {
    /// Reads the text.
    pub(crate) fn read(self, objects: &Objects, address: &Address) -> Result<Original, Fault> {
        let Elsewhere { seal, digest, text, object, tool, created_at, used_at } = self;
        let text = objects.fetch([&text])?.text(&seal, &text, &object, address)?;
        // What is not byte for byte the text is not given out.
        if Digest::of(&text) != digest {
            return Err(Fault::Damaged(*address));
        }
        Ok(Original { digest, text, tool, created_at, used_at })
    }
}
