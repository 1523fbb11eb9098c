//! A long text is searched in parts that fit into the processor's cache; so is one that arrives in pieces.
//!
//! A part begins with some text that was decided already, as context, and ends with some that is decided by the next part,
//! as a margin. Between them no secret is cut in two.

use crate::Finding;
use memchr::{memrchr, memrchr2};

/// How much is searched at a time, and how much of it again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Large parts make the repeated look at margin and context cheap.
    pub(crate) batch: usize,
    /// Undecided at the end of a part: no rule looks further ahead.
    pub(crate) margin: usize,
    /// Known before a part: no rule looks further back.
    pub(crate) context: usize,
}

pub(crate) const SIZES: Sizes = Sizes { batch: 256 * 1024, margin: 16 * 1024, context: 8 * 1024 };

/// Where to cut `text`: after `from` and before `limit`, at an end of a line with no secret across it, else at a blank,
/// else between two characters. `None` if a secret reaches from one to the other.
pub(crate) fn cut(text: &[u8], from: usize, limit: usize, findings: &[Finding]) -> Option<usize> {
    cut_after(text, from, limit, findings, |part| memrchr(b'\n', part))
        .or_else(|| cut_after(text, from, limit, findings, |part| memrchr2(b' ', b',', part)))
        .or_else(|| cut_after(text, from, limit, findings, |part| part.iter().rposition(u8::is_ascii_alphanumeric)))
        .or_else(|| cut_after(text, from, limit, findings, last_whole_character))
}

/// The last byte of the last character but one, which is whole in any case.
fn last_whole_character(part: &[u8]) -> Option<usize> {
    part.iter().rposition(|byte| !(0x80..0xC0).contains(byte))?.checked_sub(1)
}

fn cut_after(
    text: &[u8],
    from: usize,
    limit: usize,
    findings: &[Finding],
    last: impl Fn(&[u8]) -> Option<usize>,
) -> Option<usize> {
    let mut limit = limit;
    loop {
        let cut = from + last(text.get(from..limit)?)? + 1;
        let next = findings.partition_point(|finding| finding.end <= cut);
        match findings.get(next).filter(|finding| finding.start < cut) {
            Some(across) => limit = across.start,
            None => return Some(cut),
        }
    }
}
