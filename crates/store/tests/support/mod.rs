//! What the tests of the store share.

mod noise;

use foldline_core::recall::Handle;
use foldline_store::{NewOriginal, Original, Recall};
pub(crate) use noise::noise;

pub(crate) const DAY: i64 = 24 * 60 * 60 * 1000;
/// Any moment will do.
pub(crate) const NOW: i64 = 1_760_000_000_000;

pub(crate) fn new<'a>(text: &'a str, tool: &'a str) -> NewOriginal<'a> {
    NewOriginal { handle: Handle::of(text), text, tool }
}

pub(crate) fn found(recall: Recall) -> Original {
    match recall {
        Recall::Found(original) => original,
        other => panic!("not found: {other:?}"),
    }
}
