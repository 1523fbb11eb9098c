//! What the tests of the store share.

mod noise;

use foldline_store::{NewOriginal, Original, Recall};
use foldline_transcript::recall::Handle;
pub(crate) use noise::noise;

pub(crate) const DAY: i64 = 24 * 60 * 60 * 1000;
/// Any moment will do.
pub(crate) const NOW: i64 = 1_760_000_000_000;

pub(crate) fn new<'a>(text: &'a str, tool: &'a str) -> NewOriginal<'a> {
    NewOriginal { handle: Handle::of(text), text, tool }
}

#[allow(dead_code)] // Not every test recalls.
pub(crate) fn found(recall: Recall) -> Original {
    match recall {
        Recall::Found(original) => original,
        other => panic!("not found: {other:?}"),
    }
}

/// A store in a folder, with all its files.
#[allow(dead_code)] // Not every test looks into files.
pub(crate) fn bytes_of(folder: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.flat_map(|file| std::fs::read(file).unwrap()).collect()
}

/// Whether bytes stand in others.
#[allow(dead_code)]
pub(crate) fn holds(bytes: &[u8], wanted: impl AsRef<[u8]>) -> bool {
    memchr::memmem::find(bytes, wanted.as_ref()).is_some()
}
