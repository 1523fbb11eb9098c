//! Originals as people and agents read them: turns with their words, calls and results, in bounded pages.
//!
//! An original is a stretch of messages as they stood in a document, or what one part of a message said. [`read`] finds out
//! which and makes lines of it, [`Choice`] says which of them are wanted, [`page`](page()) cuts them into pages, and [`Way`]
//! writes down how the reader asks for the next. Signatures, encrypted content and base64 are told by kind and size: no
//! reader needs them, and a fold holds more of them than of words.
//!
//! **Turns are counted from 1 within the original.** A stretch has no gaps, so message `m` of the document in which the
//! fold began at message `f` is turn `m - f + 1`. Like the handle, the number depends on the content alone: the index in
//! the conversation would differ from one request to the next, because a gateway puts a handoff in place of what it folded
//! before.
//!
//! **Lines are counted from 1 within a turn**, or within the text where there are no turns. The line that names the turn is
//! not counted; lines that are told by their size still count, so that numbers stay those of the text.

mod body;
mod choice;
mod entry;
mod findings;
mod page;
mod payload;
mod print;
mod raw;
mod stretch;
#[cfg(test)]
mod tests;
mod value;
mod way;

pub use choice::{Choice, ChoiceError, Find, Grep, Numbers, NumbersError, PAGE_SIZE, PAGE_SIZES};
pub use findings::{Findings, Fit, Hit, MOST_HITS};
pub use page::{Page, Passage, ShownLine, page};
pub use raw::raw_lines;
pub use way::{Reach, Site, Way};

use std::borrow::Cow;

/// An original, made readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// Whether it has turns.
    pub shape: Shape,
    /// The turns; of a text without turns there is one that holds all of it.
    pub turns: Vec<Turn<'a>>,
}

/// What an original turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Messages of a conversation.
    Turns,
    /// A single text: an output, arguments, a part that was cut.
    Text,
}

/// One message, item or line of a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn<'a> {
    /// Its place in the original, counted from 1.
    pub number: usize,
    /// Who speaks; empty in a text without turns.
    pub role: &'static str,
    /// How many lines it has, those included that are told as one.
    pub length: usize,
    /// What is said, called and answered.
    pub lines: Vec<Line<'a>>,
}

/// One line of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its place in the turn, counted from 1. Numbers are left out where several lines are told as one.
    pub number: usize,
    /// Whose line it is.
    pub kind: LineKind,
    /// The line, without its break.
    pub text: Cow<'a, str>,
}

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Ours: what follows, or what is not shown.
    Mark,
    /// The conversation's. Shown with an indent between turns, so that no words can pass for a mark.
    Words,
}

/// Makes an original readable. `tool` is the tool whose output or arguments it is, and empty for anything else: what a
/// tool printed is never taken for turns, however much it looks like some.
pub fn read<'a>(text: &'a str, tool: &str) -> Reading<'a> {
    if tool.is_empty()
        && let Some(turns) = stretch::turns(text)
    {
        return Reading { shape: Shape::Turns, turns };
    }
    let mut body = body::Body::default();
    body.text_or_json(Cow::Borrowed(text));
    Reading { shape: Shape::Text, turns: vec![body.turn(1, "")] }
}

impl Turn<'_> {
    /// The line that names it.
    pub fn heading(&self) -> String {
        format!("[{}] {}", self.number, self.role)
    }

    /// Whether it is a record of the client that says nothing to anybody; shown when it is asked for.
    pub fn is_record(&self) -> bool {
        self.role == stretch::RECORD
    }
}

/// Stands before words between turns.
const INDENT: &str = "  ";
