//! A JSON scanner that reports spans in one forward pass.
//!
//! The scanner checks the grammar and says where values are; it never builds a tree and never
//! decodes what nobody asks for. Unknown fields cost one skip. Accepts what `serde_json` accepts
//! as raw JSON (a property test holds the two against each other), up to [`MAX_DEPTH`].

use super::literal::{SHORT, closing_quote, escape_length, is_sound, plain_run};
use crate::edit::Span;
use std::borrow::Cow;

pub use super::literal::{decode, decode_escape, encode, encode_into};

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
    strings: Strings,
}

/// Whether what stands in strings is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strings {
    Unknown,
    /// A scanner has accepted them before.
    Accepted,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `at` of `text`.
    pub fn new(text: &'a str, at: usize) -> Scanner<'a> {
        Scanner { text, at, strings: Strings::Unknown }
    }

    /// Starts at byte `at` of a text that a scanner has accepted: strings are not checked again, only their ends are found.
    pub fn again(text: &'a str, at: usize) -> Scanner<'a> {
        Scanner { text, at, strings: Strings::Accepted }
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
        let inside = bytes.get(start + 1..).unwrap_or_default();
        // Keys and other short strings end here.
        let short = plain_run(inside.get(..SHORT).unwrap_or(inside));
        let end = match inside.get(short) {
            Some(b'"') => Some(short),
            _ => closing_quote(inside, short).filter(|&end| {
                self.strings == Strings::Accepted || is_sound(inside.get(short..end).unwrap_or_default())
            }),
        };
        match end {
            Some(end) => {
                self.at = start + 1 + end + 1;
                Ok(Span::new(start, self.at))
            }
            None => Err(self.fault_in_string(start)),
        }
    }

    /// What is wrong with the string at `start`.
    fn fault_in_string(&mut self, start: usize) -> JsonError {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            at += plain_run(bytes.get(at..).unwrap_or_default());
            match bytes.get(at) {
                Some(b'\\') => match escape_length(bytes.get(at..).unwrap_or_default()) {
                    Some(length) => at += length,
                    None => {
                        self.at = at;
                        return self.error("invalid escape sequence");
                    }
                },
                Some(b'"') | None => {
                    self.at = start;
                    return self.error("unterminated string");
                }
                Some(_) => {
                    self.at = at;
                    return self.error("unescaped control character in a string");
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
