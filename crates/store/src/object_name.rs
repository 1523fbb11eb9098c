//! Names of objects.

use crate::keys::random;
use std::io;

const HALF: usize = 16;

/// What keeps the objects of one store apart from those of others in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId(pub(crate) [u8; HALF]);

/// The name of an object: the store that it belongs to, then random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectName(pub(crate) [u8; 2 * HALF]);

impl StoreId {
    /// The folder of its objects.
    pub(crate) fn folder(&self) -> String {
        hex(&self.0)
    }

    /// The folder of those whose random bytes begin with `first`: lists stay short, and so do folders.
    pub(crate) fn shard(&self, first: u8) -> String {
        format!("{}/{first:02x}", self.folder())
    }
}

impl ObjectName {
    /// A name that nobody has used.
    pub(crate) fn new(store: &StoreId) -> io::Result<ObjectName> {
        let mut name = [0; 2 * HALF];
        let (own, fresh) = name.split_at_mut(HALF);
        own.copy_from_slice(&store.0);
        random(fresh)?;
        Ok(ObjectName(name))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<ObjectName> {
        bytes.try_into().ok().map(ObjectName)
    }

    /// Where it is below the place of all objects.
    pub(crate) fn path(&self) -> String {
        let (store, fresh) = self.0.split_at(HALF);
        let shard = fresh.first().copied().unwrap_or(0);
        format!("{}/{shard:02x}/{}", hex(store), hex(fresh))
    }

    /// The name of what stands under a file name in a folder of a store; `None` when that is none of ours.
    pub(crate) fn of_file(store: &StoreId, first: u8, file: &str) -> Option<ObjectName> {
        let mut name = [0; 2 * HALF];
        let (own, fresh) = name.split_at_mut(HALF);
        own.copy_from_slice(&store.0);
        let digits = file.as_bytes();
        if digits.len() != 2 * HALF {
            return None;
        }
        for (byte, pair) in fresh.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        (fresh.first() == Some(&first)).then_some(ObjectName(name))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_from_its_path() {
        let store = StoreId([7; HALF]);
        let name = ObjectName::new(&store).unwrap();
        assert_ne!(name, ObjectName::new(&store).unwrap());
        let path = name.path();
        let (folder, file) = path.rsplit_once('/').unwrap();
        let first = (0..=255).find(|first| store.shard(*first) == folder).unwrap();
        assert_eq!(ObjectName::of_file(&store, first, file), Some(name));
        assert_eq!(ObjectName::of_file(&store, !first, file), None, "in a folder where it does not belong");
        for other in ["", "clock", "00", &"g".repeat(32), &"é".repeat(16)] {
            assert_eq!(ObjectName::of_file(&store, first, other), None, "{other}");
        }
    }
}
