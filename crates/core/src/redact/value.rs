//! Where a value begins and where it ends, in the notation that surrounds it.

use crate::redact::alphabet::{DASH, INSIDE, WORD};
use crate::redact::judge::JUDGED;
use crate::redact::key::MAX_KEY;
use crate::redact::scan::{Run, Scan};

/// The byte range of a value, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) quoting: Quoting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Bare,
    Quoted,
}

/// A quotation mark with the backslashes before it: `"`, `\"` in a string, `\\\"` in a string in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    mark: u8,
    escapes: usize,
}

/// Three levels of strings in strings; deeper ones do not occur.
const MAX_ESCAPES: usize = 7;

impl Quote {
    /// The quotation mark at `from`, and where it ends.
    pub(crate) fn read(scan: &Scan<'_>, from: usize) -> Option<(Self, usize)> {
        let escapes = (0..=MAX_ESCAPES).take_while(|&offset| scan.at(from + offset) == b'\\').count();
        let mark = scan.at(from + escapes);
        let whole = matches!(mark, b'"' | b'\'' | b'`') && matches!(escapes, 0 | 1 | 3 | 7);
        whole.then_some((Self { mark, escapes }, from + escapes + 1))
    }

    /// Where the string that starts at `from` ends: before its closing quote, or at the end of the line.
    fn close(self, scan: &Scan<'_>, from: usize) -> usize {
        let mut backslashes = 0;
        let mut index = from;
        loop {
            match scan.at(index) {
                b'\\' => backslashes += 1,
                b'\n' | b'\r' | 0 => return index,
                byte if byte == self.mark => {
                    if let Some(own) = self.closed_after(backslashes) {
                        return index - own;
                    }
                    backslashes = 0;
                }
                b'"' if ends_document_string(scan, index + 1) => return index - own_backslashes(backslashes),
                _ => backslashes = 0,
            }
            index += 1;
        }
    }

    /// Whether a mark after that many backslashes closes a string of this level; how many of them belong to the mark.
    ///
    /// Each level of quoting doubles the backslashes of the level inside and adds one for the mark; undoing the levels
    /// leaves an even number (a plain mark) or an odd one (a mark that belongs to the value). A mark with fewer
    /// backslashes than this level needs closes an outer string, and this one with it.
    fn closed_after(self, backslashes: usize) -> Option<usize> {
        let (mut found, mut level, mut own) = (backslashes, self.escapes, 0);
        while level > 0 && !found.is_multiple_of(2) {
            found = (found - 1) / 2;
            level = (level - 1) / 2;
            own = own * 2 + 1;
        }
        found.is_multiple_of(2).then_some(own)
    }
}

/// Whether a double quote inside other quotes closes the JSON string that holds them: a member, an element or a line
/// ends.
fn ends_document_string(scan: &Scan<'_>, next: usize) -> bool {
    let next = scan.skip_blanks(next);
    match scan.at(next) {
        b',' | b':' | b'}' | b']' | b'\n' | b'\r' | 0 => true,
        b'\\' => matches!(scan.at(next + 1), b'n' | b'r' | b'\\'),
        _ => false,
    }
}

/// How many of the backslashes before a quote belong to it: those that the deepest possible level of quoting needs.
fn own_backslashes(mut backslashes: usize) -> usize {
    let mut own = 0;
    while !backslashes.is_multiple_of(2) {
        backslashes /= 2;
        own = own * 2 + 1;
    }
    own
}

impl Value {
    /// Reads a value at `from`: a string in quotes, with its prefix if it has one (`b"…"`), or a bare word.
    pub(crate) fn read(scan: &Scan<'_>, from: usize) -> Self {
        let prefixed =
            matches!(scan.at(from), b'b' | b'r' | b'f' | b'u' | b'@') && matches!(scan.at(from + 1), b'"' | b'\'');
        let from = if prefixed { from + 1 } else { from };
        match Quote::read(scan, from) {
            Some((quote, start)) => Self { start, end: quote.close(scan, start), quoting: Quoting::Quoted },
            None => Self { start: from, end: bare_end(scan, from), quoting: Quoting::Bare },
        }
    }

    /// As much of the value as judgement needs; rejecting a long value must not cost more than a short one.
    pub(crate) fn judged<'t>(&self, scan: &Scan<'t>) -> &'t [u8] {
        scan.slice(self.start, self.end.min(self.start + JUDGED))
    }

    /// Whether the next thing on the line is another setting, as in YAML whose lines were joined: `password: … host: db`.
    pub(crate) fn precedes_setting(&self, scan: &Scan<'_>) -> bool {
        let next = scan.skip_blanks(self.end);
        let name_end = scan.run(next, &DASH, MAX_KEY);
        next > self.end
            && name_end > next
            && scan.at(name_end) == b':'
            && (name_end + 1 >= scan.len() || matches!(scan.at(name_end + 1), b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Whether nothing but a comment, punctuation or a closing quote follows on the line.
    pub(crate) fn ends_line(&self, scan: &Scan<'_>) -> bool {
        let next = scan.skip_blanks(self.end);
        let byte = scan.at(next);
        let escape = byte == b'\\';
        let closing = matches!(byte, b'"' | b'\'' | b'`' | b'#' | b')' | b'}' | b']' | b'<' | b'|');
        let list = matches!(byte, b',' | b';') && !matches!(scan.at(next + 1), b' ' | b'A'..=b'Z' | b'a'..=b'z');
        next >= scan.len() || matches!(byte, b'\n' | b'\r') || escape || closing || list
    }
}

/// End of a bare value. Blanks, quotes and markup always end it; punctuation that a password may contain ends it only
/// where it cannot be meant as part of one: before a blank, before other punctuation, or before the next pair of a
/// list.
///
/// The end does not depend on where in the run a value begins. It is remembered, because the names in a run like
/// `token=token=token=…` all ask for it.
pub(crate) fn bare_end(scan: &Scan<'_>, from: usize) -> usize {
    let known = scan.bare_run.get();
    if known.contains(from) {
        return known.end;
    }
    let end = find_bare_end(scan, from);
    scan.bare_run.set(Run { start: from, end });
    end
}

fn find_bare_end(scan: &Scan<'_>, from: usize) -> usize {
    let mut index = from;
    loop {
        // Most bytes of a value end nothing.
        index = scan.run(index, &INSIDE, usize::MAX);
        let byte = scan.at(index);
        let ends = match byte {
            0..=b' ' | 0x7f | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b'&' => true,
            b'\\' => matches!(scan.at(index + 1), b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u' | b'x' | 0),
            b',' | b';' | b')' | b']' | b'}' => ends_item(scan, index + 1),
            b'-' => scan.starts_with(index, "-----BEGIN"),
            _ => false,
        };
        if ends {
            return index;
        }
        index += 1;
    }
}

/// Whether what follows a punctuation mark shows that the value before it is over.
fn ends_item(scan: &Scan<'_>, next: usize) -> bool {
    /// Names of pairs are short; this also bounds the look-ahead.
    const MAX_NAME: usize = 32;
    match scan.at(next) {
        0..=b' '
        | b'"'
        | b'\''
        | b'`'
        | b'\\'
        | b','
        | b';'
        | b')'
        | b']'
        | b'}'
        | b'<'
        | b'|'
        | b'&'
        | b':'
        | b'.' => true,
        byte if WORD.has(byte) => matches!(scan.at(scan.run(next, &WORD, MAX_NAME)), b'=' | b':'),
        _ => false,
    }
}
