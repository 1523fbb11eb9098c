//! String literals: where they end, whether they are sound, what they say, and how to write them.

use std::borrow::Cow;

/// Strings up to this length are read word by word; for longer ones it pays to search for what ends them.
pub(super) const SHORT: usize = 32;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start of `bytes` need no attention inside a string: no quote, no
/// backslash, no control character. Eight at a time.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // The classic "has a zero byte" test, and "has a byte below 0x20"; both may only
        // report too much above the first hit, and only the first hit is used.
        let special = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let special = special & HIGH;
        if special != 0 {
            return at * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    words.len() * 8 + rest.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count()
}

/// Where the first quote stands from `from` on that no backslash takes away; no escape is cut in two at `from`.
pub(super) fn closing_quote(inside: &[u8], from: usize) -> Option<usize> {
    let rest = inside.get(from..)?;
    memchr::memchr_iter(b'"', rest).map(|at| from + at).find(|&quote| {
        let before = inside.get(from..quote).unwrap_or_default();
        before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0
    })
}

/// Whether the inside of a string literal has no control character, and no escape that JSON does not know.
pub(super) fn is_sound(inside: &[u8]) -> bool {
    is_evidently_sound(inside) || (!has_control(inside) && has_known_escapes(inside))
}

/// The same for nearly all strings, without a branch: no control character, and behind each backslash the letter of a
/// common escape. Strings with `\\d` or `\u0041` have to be looked at from escape to escape.
fn is_evidently_sound(inside: &[u8]) -> bool {
    let behind = inside.get(1..).unwrap_or_default();
    let is_odd = inside.iter().zip(behind).fold(false, |is_odd, (&byte, &next)| {
        let is_common = (next == b'n') | (next == b'"') | (next == b't') | (next == b'\\') | (next == b'r');
        is_odd | (byte < 0x20) | ((byte == b'\\') & !is_common)
    });
    !is_odd && inside.last().is_none_or(|&byte| byte >= 0x20)
}

fn has_known_escapes(inside: &[u8]) -> bool {
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(at..).unwrap_or_default();
        let Some(length) = escape_length(escape) else { return false };
        rest = escape.get(length..).unwrap_or_default();
    }
    true
}

/// Whether there is a byte below 0x20. As in [`plain_run`] what is reported above a hit does not matter.
fn has_control(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let found = words.iter().fold(0, |found, word| {
        let word = u64::from_le_bytes(*word);
        found | (word.wrapping_sub(ONES * 0x20) & !word)
    });
    found & HIGH != 0 || rest.iter().any(|&byte| byte < 0x20)
}

/// Length of the escape sequence that `bytes` begin with; `None` if it is none.
pub(super) fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' if bytes.get(2..6)?.iter().all(u8::is_ascii_hexdigit) => Some(6),
        _ => None,
    }
}

/// What the inside of a string literal says. Half of a surrogate pair becomes `U+FFFD`.
pub fn decode(raw: &str) -> Cow<'_, str> {
    let Some(first) = next_escape(raw) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut at = Some(first);
    while let Some(escape) = at {
        let (plain, tail) = rest.split_at(escape);
        out.push_str(plain);
        let (decoded, length) = decode_escape(tail.as_bytes());
        out.push(decoded);
        rest = tail.get(length..).unwrap_or_default();
        at = next_escape(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn next_escape(raw: &str) -> Option<usize> {
    memchr::memchr(b'\\', raw.as_bytes())
}

/// The character that an escape at the start of `tail` stands for, and the escape's length. What is no escape of JSON
/// stands for what follows the backslash, a backslash at the end for itself.
#[inline]
pub fn decode_escape(tail: &[u8]) -> (char, usize) {
    match tail.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => decode_unicode(tail),
        Some(&other) if other.is_ascii() => (char::from(other), 2),
        _ => ('\\', 1),
    }
}

fn decode_unicode(tail: &[u8]) -> (char, usize) {
    let Some(first) = code_unit(tail) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = tail.get(6..).and_then(code_unit)
        && (0xdc00..0xe000).contains(&second)
    {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// The number that `\uXXXX` at the start of `tail` names.
fn code_unit(tail: &[u8]) -> Option<u32> {
    let digits = tail.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

/// `text` as a JSON string literal, quotes included.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    out.push('"');
    encode_into(text, &mut out);
    out.push('"');
    out
}

/// Appends `text`, escaped for the inside of a string literal.
pub fn encode_into(text: &str, out: &mut String) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => CONTROL.get(byte as usize).copied().unwrap_or_default(),
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        out.push_str(escape);
        plain = at + 1;
    }
    out.push_str(text.get(plain..).unwrap_or_default());
}

/// The long escapes of the control characters.
const CONTROL: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\u0008", "\\u0009",
    "\\u000a", "\\u000b", "\\u000c", "\\u000d", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d",
    "\\u001e", "\\u001f",
];
