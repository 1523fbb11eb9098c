//! Where a value begins and where it ends, in the notation that surrounds it.

use std::cell::Cell;

use crate::disguise::{
    APOSTROPHE, BREAK_1, CODED_QUOTE, QUOTE_1, QUOTE_2, QUOTE_3, URL_AND, URL_BLANK, URL_EQUALS, URL_QUOTE, is_break,
};

/// Remembers the last bare word that was measured.
///
/// Where a bare word ends does not depend on where in it one begins to read, and the names in a run like
/// `token=token=token=…` all ask for it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    last: Cell<(usize, usize)>,
    /// The same for tokens, which have fewer signs.
    token: Cell<(usize, usize)>,
}

impl Memory {
    /// The end of the run of token characters that `from` is in.
    pub(crate) fn run_end(&self, from: usize, measure: impl Fn() -> usize) -> usize {
        let (start, end) = self.token.get();
        if (start..end).contains(&from) {
            return end;
        }
        let end = measure();
        self.token.set((from, end));
        end
    }

    fn bare_end(&self, text: &[u8], from: usize) -> usize {
        let (start, end) = self.last.get();
        if (start..end).contains(&from) {
            return end.min(from + LONGEST_VALUE);
        }
        let end = bare_end(text, from);
        self.last.set((from, end));
        end.min(from + LONGEST_VALUE)
    }
}

/// The place of a value, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// No secret is longer, apart from private keys, which have a rule of their own.
pub(crate) const LONGEST_VALUE: usize = 16 * 1024;

pub(crate) fn at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or(0)
}

pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | QUOTE_1 | QUOTE_2 | QUOTE_3 | APOSTROPHE | CODED_QUOTE | URL_QUOTE)
}

impl Value {
    /// Reads a value: a string in quotes, with its prefix if it has one (`b"…"`), or a bare word.
    pub(crate) fn read(text: &[u8], from: usize, memory: &Memory) -> Self {
        let prefix = text.get(from..).unwrap_or_default().iter().take(2);
        let prefix = prefix
            .take_while(|byte| matches!(byte, b'b' | b'r' | b'f' | b'u' | b'B' | b'N' | b'L' | b'@' | b'$' | b'\\'))
            .count();
        let opening = from + prefix;
        match is_quote(at(text, opening)) {
            true => Self::quoted(text, opening),
            false => Self { start: from, end: memory.bare_end(text, from), quoting: Quoting::Bare },
        }
    }

    /// Reads the string whose opening quote stands at `opening`.
    pub(crate) fn quoted(text: &[u8], opening: usize) -> Self {
        Self::quoted_within(text, opening, LONGEST_VALUE)
    }

    /// The same, but no more than so many bytes of it.
    pub(crate) fn quoted_within(text: &[u8], opening: usize, most: usize) -> Self {
        let quote = at(text, opening);
        let tripled = at(text, opening + 1) == quote && at(text, opening + 2) == quote;
        let start = opening + if tripled { 3 } else { 1 };
        // The text between tripled quotes may begin on the next line.
        let start = start + usize::from(tripled && is_break(at(text, start)));
        Self { start, end: closing(text, start, quote, most), quoting: Quoting::Quoted }
    }

    /// Reads an argument of a command: up to a blank, or to the closing quote if one was opened before it.
    pub(crate) fn argument(text: &[u8], from: usize, memory: &Memory) -> Self {
        match opening_quote(text, from) {
            Some(quote) => {
                Self { start: from, end: closing(text, from, quote, LONGEST_VALUE), quoting: Quoting::Quoted }
            }
            _ if is_quote(at(text, from)) => Self::quoted(text, from),
            _ => Self { start: from, end: memory.bare_end(text, from), quoting: Quoting::Bare },
        }
    }

    /// After an empty value at the end of a string, the closing quote looks like an opening one: `{"a": "token=", "b": …`.
    pub(crate) fn is_between_strings(&self, text: &[u8]) -> bool {
        self.quoting == Quoting::Quoted && matches!(at(text, self.start), b',' | b':' | b'}' | b']')
    }

    pub(crate) fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// The quote before the word that `from` is in: the `"` of `"user:password"`, seen from the password.
fn opening_quote(text: &[u8], from: usize) -> Option<u8> {
    const LONGEST_WORD: usize = 72;
    let before = text.get(from.saturating_sub(LONGEST_WORD)..from)?;
    let edge = before.iter().rposition(|&byte| byte <= b' ' || is_quote(byte) || matches!(byte, b'(' | b',' | b'='))?;
    let quote = at(before, edge);
    let opened = edge.checked_sub(1).is_none_or(|index| {
        matches!(at(before, index), b' ' | b'\t' | b',' | b'(' | b'=' | b'[') || edge + 1 == before.len()
    });
    (is_quote(quote) && opened).then_some(quote)
}

/// Where the string ends that starts at `start`: before its closing quote, or at the end of the line.
///
/// A quote that is escaped less often ends an outer string, and this one with it.
fn closing(text: &[u8], start: usize, quote: u8, most: usize) -> usize {
    let window = text.get(start..).unwrap_or_default();
    let window = window.get(..most).unwrap_or(window);
    let ends = |(offset, &byte): (usize, &u8)| match quote {
        QUOTE_1 => matches!(byte, b'"' | QUOTE_1 | b'\n' | b'\r' | BREAK_1),
        QUOTE_2 => matches!(byte, b'"' | QUOTE_1 | QUOTE_2) || is_break(byte),
        QUOTE_3 => matches!(byte, b'"' | QUOTE_1 | QUOTE_2 | QUOTE_3) || is_break(byte),
        URL_QUOTE => {
            byte == URL_QUOTE || byte <= b' ' && !matches!(byte, QUOTE_1..=URL_QUOTE) || matches!(byte, b'"' | b'&')
        }
        // SQL doubles a quote that belongs to the string.
        b'\'' if byte == b'\'' && at(text, start + offset + 1) == b'\'' => {
            !at(text, start + offset + 2).is_ascii_alphanumeric()
        }
        b'\'' if byte == b'\'' && offset > 0 && at(text, start + offset - 1) == b'\'' => {
            !at(text, start + offset + 1).is_ascii_alphanumeric()
        }
        _ => byte == quote || is_break(byte) || byte == b'"' && ends_outer(text, start + offset + 1),
    };
    let end = match quote {
        b'"' => memchr::memchr3(b'"', b'\n', b'\r', window),
        _ => window.iter().enumerate().position(ends),
    };
    start + end.unwrap_or(window.len())
}

/// Whether a double quote inside other quotes closes the string that holds them: a member, an element or a line ends.
fn ends_outer(text: &[u8], next: usize) -> bool {
    let blanks = text.get(next..).unwrap_or_default().iter().take(8).take_while(|&&byte| byte == b' ').count();
    let byte = at(text, next + blanks);
    matches!(byte, b',' | b':' | b'}' | b']' | 0) || is_break(byte)
}

/// End of a bare value. Blanks always end it; punctuation that a password may contain ends it only where it cannot be
/// meant as part of one: before a blank, before other punctuation, or before the next pair of a list.
fn bare_end(text: &[u8], from: usize) -> usize {
    let encoded = matches!(from.checked_sub(1).map(|before| at(text, before)), Some(URL_EQUALS));
    let mut index = from;
    while index < text.len() {
        let byte = at(text, index);
        let ends = match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'_'
            | b'.'
            | b'/'
            | b'+'
            | b'='
            | b':'
            | b'@'
            | b'!'
            | 0x80.. => false,
            0..=b' ' | 0x7f => match byte {
                QUOTE_1 | QUOTE_2 | QUOTE_3 | APOSTROPHE | CODED_QUOTE => {
                    !at(text, index + 1).is_ascii_alphanumeric() || index == from
                }
                URL_AND => encoded || begins_pair(text, index + 1),
                URL_BLANK | URL_EQUALS | URL_QUOTE => false,
                _ => true,
            },
            b'"' | b'\'' | b'`' => !at(text, index + 1).is_ascii_alphanumeric() || index == from,
            b'<' => matches!(at(text, index + 1), b'/' | b'!' | b'b' | b'<' | b' '),
            b'>' | b'|' => !at(text, index + 1).is_ascii_alphanumeric() || index == from,
            b'&' => begins_pair(text, index + 1) || !at(text, index + 1).is_ascii_alphanumeric(),
            b',' | b';' | b')' | b']' | b'}' => ends_item(text, index + 1),
            b'-' => text.get(index..).unwrap_or_default().starts_with(b"-----BEGIN"),
            _ => false,
        };
        if ends {
            return index;
        }
        index += 1;
    }
    index
}

/// Whether `name=` follows.
fn begins_pair(text: &[u8], from: usize) -> bool {
    /// Names of parameters are short; this also bounds the look-ahead.
    const LONGEST: usize = 40;
    let name = text.get(from..).unwrap_or_default().iter().take(LONGEST);
    let length = name
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'[' | b']' | b'%'))
        .count();
    length > 0 && matches!(at(text, from + length), b'=' | URL_EQUALS | b':')
}

/// Whether what follows a punctuation mark shows that the value before it is over.
fn ends_item(text: &[u8], next: usize) -> bool {
    match at(text, next) {
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
        _ => begins_pair(text, next),
    }
}

/// Past blanks on the same line. Formats align values, but not by more than a screen's width.
pub(crate) fn skip_blanks(text: &[u8], from: usize) -> usize {
    const MOST: usize = 80;
    let blanks = text.get(from..).unwrap_or_default().iter().take(MOST);
    from + blanks.take_while(|&&byte| matches!(byte, b' ' | b'\t' | URL_BLANK)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::Decoded;

    fn value(raw: &str) -> String {
        let view = Decoded::of(raw.as_bytes());
        let value = Value::read(view.bytes(), 0, &Memory::default());
        raw[view.raw_start(value.start)..view.raw_end(value.end)].to_owned()
    }

    #[test]
    fn values_end_where_their_notation_says() {
        for (raw, expected) in [
            ("abc def", "abc"),
            ("\"abc def\" x", "abc def"),
            ("\"ab\\\"cd\", 1", "ab\\\"cd"),
            ("\\\"abc\\\"}\"", "abc"),
            ("\\\\\\\"abc\\\\\\\"", "abc"),
            ("'ab\"cd'", "ab\"cd"),
            ("'abc\", \"b\": 1", "abc"),
            ("abc, user=bob", "abc"),
            ("abc,user=bob", "abc"),
            ("a,b;c)d", "a,b;c)d"),
            ("abc&user=bob", "abc"),
            ("ab&cd", "ab&cd"),
            ("abc</password>", "abc"),
            ("abc\\nNEXT=1", "abc"),
            ("\"abc\\ndef\"", "abc\\ndef"),
            ("b'abc'", "abc"),
            ("\"\"\"abc\"\"\"", "abc"),
            ("pa'ss\"word", "pa'ss\"word"),
        ] {
            assert_eq!(value(raw), expected, "{raw}");
        }
    }
}
