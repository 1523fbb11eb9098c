//! What stands in the place of a secret.

use crate::Finding;
use crate::rule::Reveal;
use std::borrow::Cow;

/// Characters kept of a long token: enough to tell which key it was.
const KEPT_START: usize = 6;
const KEPT_END: usize = 4;
const MASKED: usize = KEPT_START + 3 + KEPT_END;
/// What stands for a secret that keeps nothing.
const HIDDEN: &str = "***";
/// From this length on, what is hidden is too long to be guessed.
const LONG: usize = 18;

/// Masks one secret: a long one keeps its first six and last four characters, a short one nothing.
///
/// The kept characters are letters, digits and the signs of base64 only, so a mask never cuts an escape sequence in two
/// and never changes the structure around it.
///
/// ```
/// use foldline_redact::mask;
/// assert_eq!(mask("abcdefghijklmnopqrst"), "abcdef...qrst");
/// assert_eq!(mask("swordfish"), "***");
/// ```
pub fn mask(secret: &str) -> String {
    let ends = (secret.get(..KEPT_START), secret.get(secret.len().saturating_sub(KEPT_END)..));
    match ends {
        (Some(head), Some(tail))
            if secret.chars().count() >= LONG && head.bytes().chain(tail.bytes()).all(is_harmless) =>
        {
            format!("{head}...{tail}")
        }
        _ => HIDDEN.to_owned(),
    }
}

fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-')
}

/// Whether a value is what [`mask`] writes.
pub(crate) fn is_masked(value: &[u8]) -> bool {
    let ends = || value.get(KEPT_START..KEPT_START + 3) == Some(b"...") && value.iter().copied().all(is_harmless);
    value == HIDDEN.as_bytes() || (value.len() == MASKED && ends())
}

/// The text in the place of a secret of which this much is revealed.
pub(crate) fn replacement(reveal: Reveal, secret: &[u8]) -> Cow<'static, str> {
    match reveal {
        Reveal::Ends => std::str::from_utf8(secret).map_or(Cow::Borrowed(HIDDEN), |secret| mask(secret).into()),
        Reveal::Nothing => Cow::Borrowed(HIDDEN),
        Reveal::Label(label) => Cow::Borrowed(label),
    }
}

/// Bytes with masks in them.
pub(crate) struct Spliced {
    pub(crate) bytes: Vec<u8>,
    /// Where masks stand that may lead to more.
    pub(crate) places: Vec<usize>,
    masks: Vec<Mask>,
}

/// A mask, and the secret that it stands for.
struct Mask {
    start: usize,
    end: usize,
    secret: (usize, usize),
}

impl Spliced {
    /// Where a byte stands now; one of a secret, where its mask begins.
    pub(crate) fn forward(&self, index: usize) -> usize {
        let next = self.masks.partition_point(|mask| mask.secret.0 < index);
        match next.checked_sub(1).and_then(|last| self.masks.get(last)) {
            Some(mask) if index < mask.secret.1 => mask.start,
            Some(mask) => mask.end + (index - mask.secret.1),
            None => index,
        }
    }

    /// Where a byte stood before; one of a mask, where its secret began.
    pub(crate) fn back(&self, index: usize) -> usize {
        let next = self.masks.partition_point(|mask| mask.start <= index);
        match next.checked_sub(1).and_then(|last| self.masks.get(last)) {
            Some(mask) if index < mask.end => mask.secret.0,
            Some(mask) => mask.secret.1 + (index - mask.end),
            None => index,
        }
    }
}

/// The bytes with every finding replaced by its mask.
pub(crate) fn splice(bytes: &[u8], findings: &[Finding]) -> Spliced {
    let mut out = Vec::with_capacity(bytes.len());
    let mut places = Vec::with_capacity(findings.len());
    let mut masks = Vec::with_capacity(findings.len());
    let mut from = 0;
    for finding in findings {
        let secret = bytes.get(finding.start..finding.end).unwrap_or_default();
        out.extend_from_slice(bytes.get(from..finding.start).unwrap_or_default());
        let mask = replacement(finding.reveal, secret);
        if mask != HIDDEN || !finding.settled {
            places.push(out.len());
        }
        let start = out.len();
        out.extend_from_slice(mask.as_bytes());
        masks.push(Mask { start, end: out.len(), secret: (finding.start, finding.end) });
        from = finding.end;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Spliced { bytes: out, places, masks }
}

fn continues_character(bytes: &[u8], index: usize) -> bool {
    bytes.get(index).is_some_and(|byte| (0x80..0xC0).contains(byte))
}

/// The start of the character that `index` is in.
pub(crate) fn boundary_before(bytes: &[u8], mut index: usize) -> usize {
    while index > 0 && continues_character(bytes, index) {
        index -= 1;
    }
    index
}

/// The end of the character that `index` is in.
pub(crate) fn boundary_after(bytes: &[u8], mut index: usize) -> usize {
    while continues_character(bytes, index) {
        index += 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_token_keeps_six_and_four_characters() {
        assert_eq!(mask("abcdefghijklmnopqrst"), "abcdef...qrst");
        assert_eq!(mask(&"x".repeat(18)), "xxxxxx...xxxx");
        assert!(is_masked(mask("abcdefghijklmnopqrst").as_bytes()));
    }

    #[test]
    fn a_short_token_keeps_nothing() {
        assert_eq!(mask(&"x".repeat(17)), "***");
        assert_eq!(mask(""), "***");
        assert!(is_masked(b"***") && !is_masked(b"****"));
    }

    #[test]
    fn ends_that_could_break_the_structure_around_are_not_kept() {
        for odd in [
            "abcde\\nabcdefghijklmnop",
            "äöüßéèabcdefghijklmnop",
            "abcdefghijklmnopqrs\"tu",
            "a b c d e f g h i j k l m",
        ] {
            assert_eq!(mask(odd), "***", "{odd}");
        }
    }

    #[test]
    fn characters_are_not_split() {
        let text = "aé…b".as_bytes();
        assert_eq!((boundary_before(text, 2), boundary_after(text, 2)), (1, 3));
        assert_eq!((boundary_before(text, 5), boundary_after(text, 4)), (3, 6));
    }
}
