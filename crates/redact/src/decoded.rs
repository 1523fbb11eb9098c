//! The text as rules see it: what was escaped, coloured or hidden in it stands as if it had been written plainly.
//!
//! Rules are written for plain text. The same text arrives inside JSON, inside JSON inside JSON, inside a URL, with
//! terminal colours or with characters that nobody sees. A view undoes that in one pass and remembers where each byte
//! came from, so that what is found in it is masked in the original.
//!
//! What ends a value depends on how deep it is quoted: in `"a\"b"` the inner quote belongs to the value, in
//! `{\"a\":\"b\"}` it ends it. The view therefore does not turn every quote into `"`, but writes one byte for each depth;
//! patterns read them as characters of their own. The same holds for the signs of a URL inside a URL.

use crate::decoder::{self, Mark};
use std::borrow::Cow;

/// A text with its disguises taken off.
pub(crate) struct Decoded<'t> {
    bytes: Cow<'t, [u8]>,
    marks: Vec<Mark>,
}

impl<'t> Decoded<'t> {
    pub(crate) fn of(raw: &'t [u8]) -> Self {
        match decoder::decode(raw) {
            Some((bytes, marks)) => Self { bytes: Cow::Owned(bytes), marks },
            None => Self { bytes: Cow::Borrowed(raw), marks: Vec::new() },
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the byte at `index` of the view begins in the original.
    pub(crate) fn raw_start(&self, index: usize) -> usize {
        let next = self.marks.partition_point(|mark| mark.view <= index);
        match next.checked_sub(1).and_then(|last| self.marks.get(last)) {
            Some(mark) => mark.raw + (index - mark.view),
            None => index,
        }
    }

    /// Where the byte before `index` of the view ends in the original.
    pub(crate) fn raw_end(&self, index: usize) -> usize {
        let at = self.marks.partition_point(|mark| mark.view < index);
        match (self.marks.get(at), index.checked_sub(1)) {
            (Some(mark), _) if mark.view == index && mark.replaced => mark.raw,
            (_, Some(last)) => self.raw_start(last) + 1,
            (_, None) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(raw: &str) -> String {
        Decoded::of(raw.as_bytes()).bytes().iter().map(|&byte| char::from(byte)).collect()
    }

    #[test]
    fn disguises_come_off() {
        for (raw, expected) in [
            ("nothing here", "nothing here"),
            ("a\\u003db\\u0026c", "a=b&c"),
            ("a\\\\u003db", "a=b"),
            ("x\\ny\\tz\\/", "x\u{b}y\tz/"),
            ("\u{1b}[1;31mtoken\u{1b}[0m=x", "token=x"),
            ("\\u001b[31mtoken\\x1b[0m\\033[1m\\e[0m", "token"),
            ("gh\u{200b}p_\u{feff}\u{ad}x", "ghp_x"),
            ("pass\u{ff1a}\u{201c}a\u{201d}", "pass:\u{17}a\u{17}"),
            ("a%3Db%26c%253D", "a\u{16}b\u{15}c\u{16}"),
            ("&quot;a&quot;&amp;b", "\u{17}a\u{17}&b"),
            ("docker run \\\n  -e A", "docker run   -e A"),
            ("100% of 5%", "100% of 5%"),
            ("\\d+\\s", "\\d+\\s"),
        ] {
            assert_eq!(plain(raw), expected, "{raw}");
        }
    }

    #[test]
    fn quotes_tell_how_deep_they_are() {
        assert_eq!(plain(r#""a""#), "\"a\"");
        assert_eq!(plain(r#"\"a\""#), "\u{11}a\u{11}");
        assert_eq!(plain(r#"\\\"a\\\""#), "\u{12}a\u{12}");
        assert_eq!(plain(r#"\\\\\\\"a"#), "\u{13}a");
        // A path that ends with a backslash, and its closing quote.
        assert_eq!(plain(r#"C:\\""#), "C:\\\\\"");
    }

    #[test]
    fn places_lead_back_to_the_original() {
        let raw = "é\\u003d\u{1b}[1mab\u{200b}c\\n";
        let view = Decoded::of(raw.as_bytes());
        let text = view.bytes().to_vec();
        let at = |byte: u8| text.iter().position(|&found| found == byte).unwrap();
        let span = |from: usize, to: usize| &raw[view.raw_start(from)..view.raw_end(to)];
        assert_eq!(span(at(b'='), at(b'=') + 1), "\\u003d");
        assert_eq!(span(at(b'a'), at(b'b') + 1), "ab");
        assert_eq!(span(at(b'a'), at(b'c') + 1), "ab\u{200b}c");
        assert_eq!(view.raw_end(text.len()), raw.len());
        assert_eq!(view.raw_start(0), 0);
    }
}
