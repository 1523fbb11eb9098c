//! Decides what a line is, where a long one is cut, and how gaps and numbers are written.

use crate::wording::counted;
use std::borrow::Cow;

/// The longest line that stays whole. Longer ones are data or minified code, where the start says what they are.
pub(super) const LONGEST_LINE: usize = 400;

/// Lines of a text without their breaks, found by `memchr`.
pub struct Lines<'a> {
    text: &'a str,
    start: usize,
    breaks: memchr::Memchr<'a>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let end = match self.breaks.next() {
            Some(at) => at,
            None if self.start < self.text.len() => self.text.len(),
            None => return None,
        };
        let line = self.text.get(self.start..end).unwrap_or_default();
        self.start = end + 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

/// The lines of a text, without their ends.
pub fn lines(text: &str) -> Lines<'_> {
    Lines { text, start: 0, breaks: memchr::memchr_iter(b'\n', text.as_bytes()) }
}

pub(super) fn count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// What [`str::trim`] leaves. Most lines begin and end with a character of one byte, which is told without decoding.
#[inline]
pub(super) fn trim(line: &str) -> &str {
    let inside = line.trim_ascii();
    match (inside.as_bytes().first(), inside.as_bytes().last()) {
        (Some(b'!'..=b'~'), Some(b'!'..=b'~')) | (None, _) => inside,
        _ => inside.trim(),
    }
}

/// The largest prefix of at most `limit` bytes that ends between two characters.
pub(super) fn prefix(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

/// The largest suffix of at most `limit` bytes that starts between two characters.
pub(super) fn suffix(text: &str, limit: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(limit));
    text.get(start..).unwrap_or(text)
}

/// The line itself, or its first `limit` bytes and a mark.
pub(super) fn cut(line: &str, limit: usize) -> Cow<'_, str> {
    if line.len() <= limit {
        Cow::Borrowed(line)
    } else {
        Cow::Owned(format!("{}…", prefix(line, limit.saturating_sub(3))))
    }
}

pub(super) fn gap(lines: usize) -> String {
    format!("[… {} omitted]", counted(lines, "line"))
}

/// Appends a line to a body.
pub(super) fn push(body: &mut String, line: &str) {
    body.push_str(line);
    body.push('\n');
}

/// `label: a, b, c (+4)`, with as many items as `room` holds; nothing for no items.
pub(super) fn roll<'a>(label: &str, items: impl IntoIterator<Item = &'a str>, room: usize) -> Option<String> {
    let mut line = String::from(label);
    let mut left_out = 0usize;
    let mut shown = 0usize;
    for item in items {
        if shown > 0 && line.len() + item.len() + 2 > room {
            left_out += 1;
            continue;
        }
        line.push_str(if shown == 0 { " " } else { ", " });
        line.push_str(&cut(item, LONGEST_LINE));
        shown += 1;
    }
    if left_out > 0 {
        line.push_str(&format!(" (+{left_out})"));
    }
    (shown > 0).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_agree_with_the_standard_library() {
        for text in ["", "a", "a\n", "a\r\nb", "\n\n", "ä\nö\n\nü"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
            assert_eq!(count(text), text.lines().count(), "{text:?}");
        }
    }

    #[test]
    fn trimming_agrees_with_the_standard_library() {
        for text in ["", " a b ", "\u{a0}a\u{2003}", "\u{b}a\u{b}\n", "\tä ", " \u{85} "] {
            assert_eq!(trim(text), text.trim(), "{text:?}");
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut("ääää", 8), "ääää");
        assert_eq!(cut("äääää", 8), "ää…");
        assert_eq!(suffix("aää", 3), "ä");
    }

    #[test]
    fn a_roll_counts_what_it_leaves_out() {
        assert_eq!(roll("files:", ["a", "b", "c"], 12).as_deref(), Some("files: a, b (+1)"));
        assert_eq!(roll("files:", [], 12), None);
    }
}
