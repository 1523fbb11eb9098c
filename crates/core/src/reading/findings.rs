//! What a search found, and how it is told.

use super::choice::{Choice, Numbers};
use super::way::Way;
use foldline_reduce::wording::counted;
use serde::Serialize;
use std::fmt::Write as _;

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// What was asked for.
    pub words: String,
    /// The best places, best first.
    pub hits: Vec<Hit>,
    /// How well they fit.
    pub fit: Fit,
    /// Places that fit, shown or not. Of very many only the newest are counted.
    pub places: usize,
    /// Originals that are not in the index yet and were not searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: u64,
}

/// How well places fit what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// They hold all words.
    #[default]
    All,
    /// No place holds all words; these hold some.
    Some,
}

/// A place in an original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The original.
    pub handle: String,
    /// The turn, where there are turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// Who speaks in it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub role: &'static str,
    /// The line in the turn, or in the text.
    pub line: usize,
    /// Lines that the turn or text has.
    pub lines: usize,
    /// The tool whose output it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What stands there, in short.
    pub text: String,
    /// When it was removed, in milliseconds since 1970.
    pub removed_at: i64,
    /// Sessions that it was removed from, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// How to read it.
    pub show: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A turn or text that is longer than this is shown from around the line, not from its start.
const SHORT: usize = 60;
/// Lines around the one that was found.
const AROUND: usize = 15;

impl Hit {
    /// How to read the place.
    pub fn way(&self, way: &Way) -> String {
        let around = Numbers { first: self.line.saturating_sub(AROUND).max(1), last: Some(self.line + AROUND) };
        let choice = Choice {
            turns: self.turn.map(Numbers::only),
            lines: (self.lines > SHORT).then_some(around),
            ..Choice::default()
        };
        way.recall(&self.handle, &choice)
    }

    fn place(&self) -> String {
        let mut place = match (self.turn, self.tool.as_str()) {
            (Some(turn), _) => format!("turn {turn}, {}", self.role),
            (None, "") => "a text".to_owned(),
            (None, tool) => format!("of {tool}"),
        };
        let _ = write!(place, ", line {}", self.line);
        if let Some(session) = self.sessions.first() {
            let _ = write!(place, ", session {session}");
        }
        place
    }
}

impl Findings {
    /// The answer for people and agents: each place with its words and the way to read it. `limit` is how many were
    /// asked for, `again` how the search is repeated with another limit.
    pub fn told(&self, again: impl FnOnce(usize) -> String) -> String {
        let mut out = String::new();
        if self.fit == Fit::Some {
            out.push_str("[no place holds all of these words; these hold some]\n\n");
        }
        for hit in &self.hits {
            // Writing to a string does not fail.
            let _ = write!(out, "{} {}\n  {}\n  → {}\n\n", hit.handle, hit.place(), hit.text, hit.show);
        }
        let mut notes = Vec::new();
        if self.places > self.hits.len() {
            let more = again((2 * self.hits.len()).min(MOST_HITS));
            let of = counted(self.places, "place");
            notes.push(match self.hits.len() < MOST_HITS {
                true => format!("{} of {of} · more: {more}", self.hits.len()),
                false => format!("{} of {of} · more words find less", self.hits.len()),
            });
        }
        if self.waiting > 0 {
            notes.push(format!(
                "{} not searched yet: the index is still being made; search again",
                counted(usize::try_from(self.waiting).unwrap_or(usize::MAX), "older original")
            ));
        }
        match notes.is_empty() {
            true => out.truncate(out.trim_end().len() + 1),
            false => drop(writeln!(out, "[{}]", notes.join(" · "))),
        }
        out
    }
}

/// Places that one search shows at most.
pub const MOST_HITS: usize = 100;
