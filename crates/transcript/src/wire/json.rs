//! A JSON scanner that reports spans in one forward pass.
//!
//! The scanner checks the grammar and says where values are; it never builds a tree and never
//! decodes what nobody asks for. Unknown fields cost one skip. Accepts what `serde_json` accepts
//! as raw JSON (a property test holds the two against each other), up to [`MAX_DEPTH`].

use crate::edit::Span;
use std::borrow::Cow;

/// Deeper nesting is refused: no provider's request comes near it, and it bounds the scanner's memory.
pub const MAX_DEPTH: usize = 512;

/// What is wrong with a JSON text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset.
    pub offset: usize,
    /// What was found or expected.
    pub message: Cow<'static, str>,
    /// Which element of the conversation it happened in, if it did.
    pub element: Option<usize>,
}

/// The result of looking at JSON text.
pub type Result<T> = std::result::Result<T, JsonError>;

/// The type of the value that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A digit or `-`.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

impl JsonKind {
    /// How errors name a value.
    pub fn with_article(self) -> &'static str {
        match self {
            JsonKind::Object => "an object",
            JsonKind::Array => "an array",
            JsonKind::String => "a string",
            JsonKind::Number => "a number",
            JsonKind::Bool => "a boolean",
            JsonKind::Null => "null",
        }
    }
}

/// A forward reader over one JSON text.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `at` of `text`.
    pub fn new(text: &'a str, at: usize) -> Scanner<'a> {
        Scanner { text, at }
    }

    /// Where the scanner stands.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The whole text that is scanned.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Skips white space; `None` at the end of the text.
    pub fn next_byte(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                _ => return Some(byte),
            }
        }
        None
    }

    /// Skips white space and commas to the next of several values that stand side by side; `None` at the end.
    pub(crate) fn next_in_stretch(&mut self) -> Option<u8> {
        loop {
            match self.next_byte() {
                Some(b',') => self.at += 1,
                next => return next,
            }
        }
    }

    /// The type of the next value.
    pub fn peek(&mut self) -> Result<JsonKind> {
        match self.next_byte() {
            Some(b'{') => Ok(JsonKind::Object),
            Some(b'[') => Ok(JsonKind::Array),
            Some(b'"') => Ok(JsonKind::String),
            Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
            Some(b't' | b'f') => Ok(JsonKind::Bool),
            Some(b'n') => Ok(JsonKind::Null),
            Some(_) => Err(self.unexpected("a JSON value")),
            None => Err(self.error("unexpected end of input, expected a JSON value")),
        }
    }

    /// Reads an object; `field` must consume the value of each key.
    pub fn object(&mut self, mut field: impl FnMut(&mut Scanner<'a>, &str) -> Result<()>) -> Result<Span> {
        let start = self.open(b'{', "an object")?;
        if self.closes(b'}')? {
            return Ok(Span::new(start, self.at));
        }
        loop {
            if self.next_byte() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            if self.next_byte() != Some(b':') {
                return Err(self.unexpected("`:` after a key"));
            }
            self.at += 1;
            self.next_byte();
            field(self, &decode(key.inner().of(self.text)))?;
            if self.ends(b'}', "`,` or `}` in an object")? {
                return Ok(Span::new(start, self.at));
            }
        }
    }

    /// Reads an array; `element` must consume each value.
    pub fn array(&mut self, mut element: impl FnMut(&mut Scanner<'a>) -> Result<()>) -> Result<Span> {
        let start = self.open(b'[', "an array")?;
        if self.closes(b']')? {
            return Ok(Span::new(start, self.at));
        }
        loop {
            self.next_byte();
            element(self)?;
            if self.ends(b']', "`,` or `]` in an array")? {
                return Ok(Span::new(start, self.at));
            }
        }
    }

    /// Reads a string literal; the span includes the quotes.
    pub fn string(&mut self) -> Result<Span> {
        if self.next_byte() != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            at += plain_run(bytes.get(at..).unwrap_or_default());
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Span::new(start, self.at));
                }
                Some(b'\\') => at += self.escape(at)?,
                Some(_) => {
                    self.at = at;
                    return Err(self.error("unescaped control character in a string"));
                }
                None => {
                    self.at = start;
                    return Err(self.error("unterminated string"));
                }
            }
        }
    }

    /// Reads any value and says where it was.
    pub fn skip(&mut self) -> Result<Span> {
        match self.peek()? {
            JsonKind::Object | JsonKind::Array => self.skip_nested(),
            JsonKind::String => self.string(),
            JsonKind::Number => self.number(),
            JsonKind::Bool | JsonKind::Null => self.word(),
        }
    }

    /// An error at the scanner's position.
    pub fn error(&self, message: impl Into<Cow<'static, str>>) -> JsonError {
        JsonError { offset: self.at, message: message.into(), element: None }
    }

    fn unexpected(&self, expected: &str) -> JsonError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(c) => format!("found `{}`, expected {expected}", c.escape_debug()),
            None => format!("unexpected end of input, expected {expected}"),
        };
        self.error(found)
    }

    fn open(&mut self, bracket: u8, what: &str) -> Result<usize> {
        if self.next_byte() != Some(bracket) {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    fn closes(&mut self, bracket: u8) -> Result<bool> {
        let closed = self.next_byte() == Some(bracket);
        if closed {
            self.at += 1;
        }
        Ok(closed)
    }

    fn ends(&mut self, bracket: u8, expected: &str) -> Result<bool> {
        match self.next_byte() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Length of the escape sequence at `at`.
    fn escape(&mut self, at: usize) -> Result<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') if bytes.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) => Ok(6),
            _ => {
                self.at = at;
                Err(self.error("invalid escape sequence"))
            }
        }
    }

    fn number(&mut self) -> Result<Span> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = digits(at);
        let leading_zero = whole > 1 && bytes.get(at) == Some(&b'0');
        at += whole;
        let mut complete = whole > 0 && !leading_zero;
        if complete && bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            complete = fraction > 0;
            at += 1 + fraction;
        }
        if complete && matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at);
            complete = exponent > 0;
            at += exponent;
        }
        if !complete {
            return Err(self.error("incomplete number"));
        }
        self.at = at;
        Ok(Span::new(start, at))
    }

    fn word(&mut self) -> Result<Span> {
        for word in ["true", "false", "null"] {
            if self.text.as_bytes().get(self.at..self.at + word.len()) == Some(word.as_bytes()) {
                self.at += word.len();
                return Ok(Span::new(self.at - word.len(), self.at));
            }
        }
        Err(self.unexpected("a JSON value"))
    }

    /// Skips an object or array without recursion: one bit per open bracket.
    fn skip_nested(&mut self) -> Result<Span> {
        let start = self.at;
        let mut open = OpenBrackets::default();
        loop {
            match self.peek()? {
                JsonKind::Object => {
                    self.at += 1;
                    open.push(Bracket::Object).map_err(|message| self.error(message))?;
                    if !self.closes(b'}')? {
                        self.key()?;
                        continue;
                    }
                    open.pop();
                }
                JsonKind::Array => {
                    self.at += 1;
                    open.push(Bracket::Array).map_err(|message| self.error(message))?;
                    if !self.closes(b']')? {
                        continue;
                    }
                    open.pop();
                }
                JsonKind::String => drop(self.string()?),
                JsonKind::Number => drop(self.number()?),
                JsonKind::Bool | JsonKind::Null => drop(self.word()?),
            }
            // A value is complete: close what ends here, or go on to the next one.
            loop {
                let ended = match open.last() {
                    None => return Ok(Span::new(start, self.at)),
                    Some(Bracket::Object) => self.ends(b'}', "`,` or `}` in an object")?,
                    Some(Bracket::Array) => self.ends(b']', "`,` or `]` in an array")?,
                };
                if !ended {
                    break;
                }
                open.pop();
            }
            if open.last() == Some(Bracket::Object) {
                self.key()?;
            }
        }
    }

    fn key(&mut self) -> Result<()> {
        if self.next_byte() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        self.string()?;
        if self.next_byte() != Some(b':') {
            return Err(self.unexpected("`:` after a key"));
        }
        self.at += 1;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Object,
    Array,
}

/// A stack of bits: `1` is an object, `0` an array.
#[derive(Default)]
struct OpenBrackets {
    depth: usize,
    bits: [u64; MAX_DEPTH / 64],
}

impl OpenBrackets {
    fn push(&mut self, bracket: Bracket) -> std::result::Result<(), String> {
        let word =
            self.bits.get_mut(self.depth / 64).ok_or_else(|| format!("nested deeper than {MAX_DEPTH} levels"))?;
        let mask = 1u64 << (self.depth % 64);
        match bracket {
            Bracket::Object => *word |= mask,
            Bracket::Array => *word &= !mask,
        }
        self.depth += 1;
        Ok(())
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn last(&self) -> Option<Bracket> {
        let top = self.depth.checked_sub(1)?;
        let word = self.bits.get(top / 64)?;
        Some(if word >> (top % 64) & 1 == 1 { Bracket::Object } else { Bracket::Array })
    }
}

/// How many bytes from the start of `bytes` need no attention inside a string: no quote, no
/// backslash, no control character. Eight at a time: strings are most of every transcript.
fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut chunks = bytes.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        let mut eight = [0u8; 8];
        eight.copy_from_slice(chunk);
        let word = u64::from_le_bytes(eight);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // The classic "has a zero byte" test, and "has a byte below 0x20"; both may only
        // report too much above the first hit, and only the first hit is used.
        let special = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let special = special & HIGH;
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + chunks.remainder().iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count()
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
