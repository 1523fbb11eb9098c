//! Makes a tool output much shorter and keeps what an agent needs next.
//!
//! Text in, shorter text out, or nothing. Every kind of output has a reducer of its own: a build log keeps its errors, a
//! test report its failures, a table its shape, source code its definitions.
//!
//! ```
//! use foldline_reduce::{Source, reduce};
//!
//! let mut log = String::from("$ make all\n");
//! (0..400).for_each(|part| log.push_str(&format!("cc -O2 -c src/part_{part}.c -o build/part_{part}.o\n")));
//! log.push_str("src/last.c:17:5: error: unknown type name 'size'\nmake: *** [build/last.o] Error 1\n");
//!
//! let source = Source { tool: "bash", ..Source::default() };
//! let shorter = reduce(&source, &log).expect("much of it can go");
//! assert!(shorter.text.len() < log.len() / 4);
//! assert!(shorter.text.contains("error: unknown type name 'size'"));
//!
//! assert!(reduce(&source, "ok\n").is_none(), "nothing to gain");
//! ```
//!
//! # A tour
//!
//! - [`detect()`] says which [`Kind`] of output a text is; [`reduce`] detects and reduces.
//! - [`reduce_in_context`] also knows the conversation around an output, as a [`ConversationNames`]: what it speaks of stays.
//! - [`wording`] writes counts for people and models.
//!
//! A reducer knows no budget, zone or store. Its allowance is a function of the input's size alone, so the same
//! output is reduced to the same bytes wherever it appears.
//!
//! Invariants: a result is valid UTF-8, made of whole lines (a very long line is cut with `…`), never
//! longer than `WORTHWHILE` of its input, and not reduced any further by a second pass. Work is linear
//! in the input, whatever the input holds.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod alarm;
mod block;
mod build;
mod clean;
mod code;
mod command;
mod compare;
mod conversation_names;
mod definitions;
mod detect;
mod diff;
mod envelope;
mod focus;
mod index;
mod json;
mod key_value;
mod lexicon;
mod lines;
mod listing;
mod log;
mod mentioned;
mod names;
mod pick;
mod prose;
mod room;
mod search;
mod stack_trace;
mod table;
mod test_report;
mod web;
pub mod wording;
mod words;

#[cfg(test)]
mod tests;

use crate::wording::counted;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

pub use alarm::{Severity, each as each_trouble};
pub use clean::visible;
pub use compare::difference;
pub use conversation_names::ConversationNames;
pub use definitions::defines;
use detect::Origin;
pub use detect::detect;
pub use envelope::printed;
use focus::Focus;
use index::Index;
pub use lines::lines;
use names::Which;
use room::Room;
pub use test_report::failed_tests;
pub use words::is_common;

/// The largest share of the input that a result may keep: 80 %. Above it the caller's header and handle
/// eat the saving.
const WORTHWHILE: (usize, usize) = (4, 5);

/// A result below this many bytes may start like one of ours and is then left alone. Anything larger is no
/// result of ours, whatever its first line says.
const LARGEST_RESULT: usize = 128 * 1024;

/// What is known about an output beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// Name of the tool that produced the output.
    pub tool: &'a str,
    /// The call's key argument: command, path, pattern or address. May be empty.
    pub argument: &'a str,
    /// Lower-case words of the current task. May be empty.
    pub focus: &'a [&'a str],
}

/// What an output is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Results of a test run.
    TestReport,
    /// Diagnostics of compilers and linters.
    Build,
    /// Timestamped or levelled log lines.
    Log,
    /// Matching lines of a search, with their files.
    Search,
    /// Names of files and folders.
    Listing,
    /// Rows and columns: CSV, aligned, Markdown.
    Table,
    /// JSON documents and JSON lines.
    Json,
    /// Source code, with or without line numbers.
    Code,
    /// Unified diffs.
    Diff,
    /// Exceptions and panics with their frames.
    StackTrace,
    /// Web pages.
    Web,
    /// Configuration: keys and values.
    KeyValue,
    /// Any other output of a command.
    Command,
    /// Text for people.
    Prose,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 14] = [
        Kind::TestReport,
        Kind::Build,
        Kind::Log,
        Kind::Search,
        Kind::Listing,
        Kind::Table,
        Kind::Json,
        Kind::Code,
        Kind::Diff,
        Kind::StackTrace,
        Kind::Web,
        Kind::KeyValue,
        Kind::Command,
        Kind::Prose,
    ];

    /// Kinds whose lines are quoted from elsewhere, so that a word of trouble in them need not be one.
    const fn holds_foreign_text(self) -> bool {
        matches!(self, Kind::Search | Kind::Code | Kind::Diff | Kind::KeyValue | Kind::Prose | Kind::Web | Kind::Json)
    }

    /// Kinds whose reducers choose among all lines by the names on them.
    const fn is_chosen_by_name(self) -> bool {
        matches!(self, Kind::Search | Kind::Code | Kind::Diff | Kind::Web | Kind::Prose)
    }

    /// The names by which lines are told apart. In code plain words add next to nothing: of the names that agents needed
    /// later a third of a percent, for a fifth of the time.
    const fn names(self) -> Which {
        match self {
            Kind::Code | Kind::Diff => Which::Coined,
            _ => Which::All,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::TestReport => "test-report",
            Kind::Build => "build",
            Kind::Log => "log",
            Kind::Search => "search",
            Kind::Listing => "listing",
            Kind::Table => "table",
            Kind::Json => "json",
            Kind::Code => "code",
            Kind::Diff => "diff",
            Kind::StackTrace => "stack-trace",
            Kind::Web => "web",
            Kind::KeyValue => "key-value",
            Kind::Command => "command",
            Kind::Prose => "prose",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A shorter text and the kind that it was reduced as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The kind whose reducer wrote the text.
    pub kind: Kind,
    /// The shorter text; the caller puts its own header in front.
    pub text: String,
}

/// What a reducer works on: a cleaned text and what it may spend.
#[derive(Clone, Copy)]
struct Output<'a> {
    text: &'a str,
    focus: &'a Focus<'a>,
    names: &'a Index<'a>,
    room: Room,
}

/// What a reducer writes: counts for the first line, then the lines that stay.
#[derive(Debug, Default)]
struct Body {
    note: String,
    text: String,
}

/// Reduces `text`, or returns `None` when nothing worth it would be saved.
#[must_use]
pub fn reduce(source: &Source<'_>, text: &str) -> Option<Reduced> {
    reduced(source, None, text)
}

/// The same amid a conversation: names that it speaks of stay first.
#[must_use]
pub fn reduce_in_context(source: &Source<'_>, conversation: &ConversationNames, text: &str) -> Option<Reduced> {
    reduced(source, Some(conversation), text)
}

fn reduced(source: &Source<'_>, conversation: Option<&ConversationNames>, text: &str) -> Option<Reduced> {
    if is_reduced(text) {
        return None;
    }
    let envelope = envelope::opened(text);
    let clean = clean::clean(envelope.as_ref().map_or(text, |envelope| &envelope.printed));
    let focus = Focus::new(source.focus, conversation);
    let origin = Origin::of(source);
    let named = detect::by_name(origin, source);
    // Code keeps its numbers: a copy without them would be for nothing.
    let plain = match named {
        Some(Kind::Code) => Cow::Borrowed(&*clean),
        _ => code::without_numbers(&clean),
    };
    let detected = named.unwrap_or_else(|| detect::kind_of(origin, source, &plain));
    let text_of_kind = if detected == Kind::Code { &clean } else { &plain };
    let names = Index::of(text_of_kind, detected.names());
    let output = Output { text: text_of_kind, focus: &focus, names: &names, room: Room::of(detected, clean.len()) };
    let (kind, mut body) = body_of(detected, &output);
    if origin == Origin::Shell && kind.holds_foreign_text() {
        let announced = alarm::Distinct::announced(output.text);
        for line in announced.write(output.room.percent(50), &body.text) {
            lines::push(&mut body.text, &line);
        }
    }
    // What was chosen by name heeds the conversation already.
    if !kind.is_chosen_by_name() {
        mentioned::add(&output, kind, &mut body.text);
    }
    let text_len = text.len();
    let mut reduced = String::with_capacity(body.text.len() + body.note.len() + 64);
    let _ = write!(reduced, "[{kind}: {}", counted(lines::count(&clean), "line"));
    if !body.note.is_empty() {
        reduced.push_str("; ");
        reduced.push_str(&body.note);
    }
    reduced.push_str("]\n");
    if let Some(envelope) = envelope.filter(|envelope| !envelope.label.is_empty()) {
        lines::push(&mut reduced, &envelope.label);
    }
    reduced.push_str(body.text.trim_end());
    (reduced.len().saturating_mul(WORTHWHILE.1) <= text_len.saturating_mul(WORTHWHILE.0))
        .then_some(Reduced { kind, text: reduced })
}

/// Runs the reducer of `kind`; one that finds the text to be something else hands over to the general one.
fn body_of(kind: Kind, output: &Output<'_>) -> (Kind, Body) {
    let body = match kind {
        Kind::TestReport => test_report::reduce(output),
        Kind::Build => build::reduce(output),
        Kind::Log => log::reduce(output),
        Kind::Search => search::reduce(output),
        Kind::Listing => listing::reduce(output),
        Kind::Table => table::reduce(output),
        Kind::Json => json::reduce(output),
        Kind::Code => code::reduce(output),
        Kind::Diff => diff::reduce(output),
        Kind::StackTrace => stack_trace::reduce(output),
        Kind::Web => web::reduce(output),
        Kind::KeyValue => key_value::reduce(output),
        Kind::Command => None,
        Kind::Prose => prose::reduce(output),
    };
    match body {
        Some(body) => (kind, body),
        None => {
            let room = Room::of(Kind::Command, output.text.len());
            (Kind::Command, command::reduce(&Output { room, ..*output }))
        }
    }
}

/// True when one of the first lines is the first line of a result: the caller may have put a header above it.
pub fn is_reduced(text: &str) -> bool {
    text.len() <= LARGEST_RESULT
        && lines::lines(text).take(4).any(|line| {
            line.strip_prefix('[').and_then(|rest| rest.split_once(": ")).is_some_and(|(name, rest)| {
                Kind::ALL.iter().any(|kind| kind.name() == name)
                    && rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" line")
            })
        })
}
