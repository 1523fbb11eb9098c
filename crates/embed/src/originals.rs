//! What a session removed, and reading it again.

use crate::error::Error;
use foldline_core::Compaction;
use foldline_core::reading::{self, Choice, Grep, Numbers, PAGE_SIZE, Reach, Way};
use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A text that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Its address.
    pub handle: String,
    /// The tool whose output it was; empty for anything else.
    pub tool: String,
    /// The text, byte for byte.
    #[serde(with = "shared")]
    pub text: Arc<str>,
}

/// What of an original is wanted, read from JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// Only these turns: `12`, `12:20`, `12:` or `:20`.
    pub turn: Option<String>,
    /// Only these lines of the turn, or of a text without turns.
    pub lines: Option<String>,
    /// Only lines that match this regular expression.
    pub grep: Option<String>,
    /// Lines around each match.
    pub context: usize,
    /// Which page, counted from 1.
    pub page: usize,
    /// Characters of a page.
    pub page_size: usize,
}

impl Default for Look {
    fn default() -> Look {
        Look { turn: None, lines: None, grep: None, context: 0, page: 1, page_size: PAGE_SIZE }
    }
}

impl Look {
    /// Reads what is wanted. Unknown names are errors.
    pub fn read(json: &str) -> Result<Look, Error> {
        serde_json::from_str(json).map_err(|error| Error::Options(error.to_string()))
    }
}

/// Everything that a compaction removed.
pub(crate) fn removed(done: &Compaction<'_>) -> Vec<Removed> {
    let originals = done.plan.originals.iter().map(|original| Removed {
        handle: original.handle.to_string(),
        tool: original.tool.clone(),
        text: Arc::from(&*original.text(&done.source)),
    });
    originals.collect()
}

/// A page of an original, ending with the way to the next one by the tool of this name.
pub(crate) fn page(original: &Removed, look: &Look, tool: &str) -> Result<String, Error> {
    let refused = |error: &dyn std::fmt::Display| Error::Recall(error.to_string());
    let numbers = |given: &Option<String>| {
        given.as_deref().map(str::parse::<Numbers>).transpose().map_err(|error| refused(&error))
    };
    // A pattern comes from a model: its program stays small.
    let pattern = look.grep.as_deref().map(|pattern| RegexBuilder::new(pattern).size_limit(1 << 20).build());
    let pattern = pattern.transpose().map_err(|error| refused(&format!("grep: {error}")))?;
    let find = |line: &str| pattern.as_ref()?.find(line).map(|found| found.range());
    let choice = Choice {
        turns: numbers(&look.turn)?,
        lines: numbers(&look.lines)?,
        grep: look.grep.as_deref().map(|pattern| Grep { pattern, find: &find }),
        context: look.context,
        page: look.page,
        page_size: look.page_size,
    };
    let way = Way::of(Reach::Tool(tool.to_owned()));
    let reading = reading::read(&original.text, &original.tool);
    reading::page(&reading, &choice, &way, &original.handle)
        .map(|page| page.to_string())
        .map_err(|error| refused(&error))
}

/// A shared text is written as a string.
mod shared {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }
}
