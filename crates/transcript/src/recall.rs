//! Originals: removed texts and their handles.

use crate::edit::Span;
use crate::transcript::{Content, Part, PartKind, Transcript};
use crate::wire::json;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

/// The short address of an original: a function of its content alone, so that the same text has
/// the same handle in every process and on every day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle([u8; Handle::BYTES]);

impl Handle {
    /// Six bytes, twelve digits: short enough to be read aloud, and among a million originals the
    /// chance of two alike is one in 500.
    const BYTES: usize = 6;
    /// How handles begin.
    pub const PREFIX: &'static str = "fl-";

    /// The handle of a text.
    pub fn of(text: &str) -> Handle {
        let digest = blake3::hash(text.as_bytes());
        let mut bytes = [0; Handle::BYTES];
        bytes.iter_mut().zip(digest.as_bytes()).for_each(|(to, from)| *to = *from);
        Handle(bytes)
    }

    /// Reads a handle, with or without its prefix.
    pub fn parse(text: &str) -> Option<Handle> {
        let digits = text.strip_prefix(Handle::PREFIX).unwrap_or(text);
        if digits.len() != 2 * Handle::BYTES || !digits.is_ascii() {
            return None;
        }
        let mut bytes = [0; Handle::BYTES];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Handle(bytes))
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Handle::PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Handle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where an original stands in the document it was removed from. Nothing is copied until it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its address.
    pub handle: Handle,
    /// Where it is.
    pub source: OriginalSource,
    /// The tool whose output it was; empty for anything else.
    pub tool: String,
}

/// How to get an original's text out of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginalSource {
    /// A stretch of the document as it is.
    Raw(Span),
    /// The insides of string literals, decoded, one after the other on lines of their own.
    Texts(Vec<Span>),
}

impl Original {
    /// The original of what a part says, which `words` repeats.
    pub fn of_part(transcript: &Transcript<'_>, part_index: usize, words: &str) -> Original {
        let Some(part) = transcript.parts.get(part_index) else {
            return Original::of_span(transcript, Span::default());
        };
        let tool = transcript.tool_of(part_index).to_owned();
        let source = match &part.content {
            Content::Text(span) => OriginalSource::Texts(vec![span.inner()]),
            Content::Json(span) => OriginalSource::Raw(*span),
            Content::Absent => OriginalSource::Raw(part.span),
            Content::Blocks { span, .. } => {
                let blocks = transcript.inner_of(part);
                // What is not all text is kept as it is: an image has no words.
                if blocks.iter().any(|block| block.kind != PartKind::Text) {
                    return Original { tool, ..Original::of_span(transcript, *span) };
                }
                OriginalSource::Texts(blocks.iter().map(|block| block.content.span().inner()).collect())
            }
        };
        Original { handle: Handle::of(words), source, tool }
    }

    /// The original of a stretch of the document.
    pub fn of_span(transcript: &Transcript<'_>, span: Span) -> Original {
        Original { handle: Handle::of(transcript.raw(span)), source: OriginalSource::Raw(span), tool: String::new() }
    }

    /// Its text, byte for byte what its handle stands for, out of the document it was removed from.
    pub fn text<'a>(&self, document: &'a str) -> Cow<'a, str> {
        match &self.source {
            OriginalSource::Raw(span) => Cow::Borrowed(span.of(document)),
            OriginalSource::Texts(spans) => match spans.as_slice() {
                [only] => json::decode(only.of(document)),
                spans => {
                    let texts: Vec<_> = spans.iter().map(|span| json::decode(span.of(document))).collect();
                    Cow::Owned(texts.join("\n"))
                }
            },
        }
    }
}

/// What a part says as far as it can be recalled: words, or the JSON of what has none.
pub fn content<'a>(transcript: &Transcript<'a>, part: &Part) -> Cow<'a, str> {
    match part.content {
        Content::Absent => Cow::Borrowed(transcript.raw(part.span)),
        _ => transcript.words(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_reads_back() {
        let handle = Handle::of("some output");
        assert_eq!(Handle::parse(&handle.to_string()), Some(handle));
        assert_eq!(Handle::parse("fl-xyz"), None);
        assert_eq!(Handle::parse("fl-"), None);
    }

    #[test]
    fn handles_depend_on_content_alone() {
        assert_eq!(Handle::of("a"), Handle::of("a"));
        assert_ne!(Handle::of("a"), Handle::of("b"));
    }
}
