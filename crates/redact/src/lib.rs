//! Finds and masks secrets in any text.
//!
//! ```
//! use foldline_redact::{Mode, redact};
//! let text = format!("export SERVICE_PASSWORD={}", "swordfish-42");
//! assert_eq!(redact(&text, Mode::Text), "export SERVICE_PASSWORD=***");
//! assert_eq!(redact("MAX_TOKENS=4096", Mode::Text), "MAX_TOKENS=4096");
//! ```
//!
//! # A tour
//!
//! A text is read three times, each time less of it:
//!
//! 1. `view.rs` takes disguises off: escapes of JSON, URLs and terminals, invisible characters. Each byte remembers where
//!    it came from.
//! 2. `gate.rs` finds keywords, all of them in one pass.
//! 3. Where a keyword stands, its rules are tried on a bounded piece of text. Most rules are a row in a table with a
//!    pattern, under `rules/`; [`RULES`] lists them all.
//!
//! Secrets without a form of their own are known by the name beside them: `pair.rs` reads a name (`name.rs`), what binds
//! it (`binding.rs`) and the value (`value.rs`), and decides (`judge.rs`, `verdict.rs`, `surroundings.rs`) with the words of
//! `words.rs`. Private keys, cookies, commands, sentences, tables, inserts and manifests have readers of their own.
//!
//! ```
//! use foldline_redact::{Mode, find};
//! let text = format!("{{\"client_secret\": \"{}\"}}", "k7Lm2Xp9Rt4VwQ");
//! let finding = find(&text, Mode::Text)[0];
//! assert_eq!(finding.rule, "secret-field");
//! assert_eq!(&text[finding.start..finding.end], "k7Lm2Xp9Rt4VwQ");
//! ```
//!
//! Time is linear in the length of the text, whatever the text; masked text holds nothing that is found again.
//! [`Stream`] masks what arrives in pieces, [`Known`] hides values that were found elsewhere.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binding;
mod block;
mod command;
mod cookies;
mod gate;
mod gibberish;
mod insert;
mod judge;
mod key;
mod known;
mod manifest;
mod mask;
mod name;
mod pair;
mod parts;
mod repeat;
mod rule;
mod rules;
mod scan;
mod sentence;
mod shape;
mod stream;
mod surroundings;
mod table;
mod value;
mod verdict;
mod view;
mod words;
mod wrap;

#[cfg(any(test, feature = "made"))]
pub mod hostile;
#[cfg(any(test, feature = "made"))]
pub mod made;
#[cfg(test)]
mod tests;

use mask::Spliced;
use std::borrow::Cow;
use std::ops::Range;

pub use known::Known;
pub use mask::mask;
pub use rule::{Check, Class, Confidence, Reads, Reveal, Rule, Shape};
pub use rules::RULES;
pub use stream::Stream;

/// What kind of text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Output, logs, configuration, prose: a value beside a secret's name is taken for a secret.
    Text,
    /// Source code: constants and fixtures stay; a value beside a secret's name has to look generated.
    Code,
}

/// The place of one secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule in [`RULES`].
    pub rule: &'static str,
    /// First byte of the secret itself, without its name and quotes.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    reveal: Reveal,
    /// Whether a mask that shows nothing can, in its place, lead to nothing new.
    settled: bool,
}

impl Finding {
    /// What stands in the place of the secret when the text it was found in is masked.
    pub fn masked(&self, text: &str) -> String {
        mask::replacement(self.reveal, text.as_bytes().get(self.start..self.end).unwrap_or_default()).into_owned()
    }
}

/// All secrets of a text, in order and without overlaps.
pub fn find(text: &str, mode: Mode) -> Vec<Finding> {
    scan::find(text.as_bytes(), mode)
}

/// The text with every secret masked.
pub fn redact(text: &str, mode: Mode) -> Cow<'_, str> {
    let findings = find(text, mode);
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    // Nothing reaches beyond the whole.
    let masked = mask_all(text.as_bytes(), 0..text.len(), &findings, mode, Across::Clip).unwrap_or_default();
    Cow::Owned(
        String::from_utf8(masked).unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned()),
    )
}

/// A mask that shows ends of a secret can, in contrived texts, make a new match together with what stands beside it.
/// Rounds end when nothing is found; each one leaves less to find, and ordinary texts need one.
const MOST_ROUNDS: usize = 8;
/// How far around a mask a new match could stand.
const NEIGHBOURHOOD: usize = 4 * 1024;

/// What to do about a secret that reaches beyond the range that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Across {
    /// Say where it begins.
    Tell,
    /// Mask what of it stands inside.
    Clip,
}

/// The bytes of a range with all findings masked, and nothing left that a second call would find. What stands around the
/// range is masked as well, and serves as context.
///
/// A secret that shows only when others are masked can reach beyond the range. With [`Across::Tell`] that is an error: a
/// range that ends there has none.
fn mask_all(
    bytes: &[u8],
    range: Range<usize>,
    findings: &[Finding],
    mode: Mode,
    across: Across,
) -> Result<Vec<u8>, usize> {
    let mut range = range;
    let mut rounds: Vec<Spliced> = Vec::new();
    let mut findings = findings.to_vec();
    while !findings.is_empty() && rounds.len() < MOST_ROUNDS {
        let beyond = findings.iter_mut().find(|finding| finding.start < range.end && range.end < finding.end);
        match (beyond, across) {
            (Some(beyond), Across::Tell) => {
                return Err(rounds.iter().rev().fold(beyond.start, |place, round| round.back(place)));
            }
            (Some(beyond), Across::Clip) => beyond.end = range.end,
            (None, _) => {}
        }
        // What came before was decided already.
        for finding in findings.iter_mut().filter(|finding| finding.start < range.start && range.start < finding.end) {
            finding.start = range.start;
        }
        let current = rounds.last().map_or(bytes, |round| &round.bytes);
        let round = mask::splice(current, &findings);
        range = round.forward(range.start)..round.forward(range.end);
        findings = find_near(&round.bytes, &round.places, mode);
        rounds.push(round);
    }
    let masked = rounds.last().map_or(bytes, |round| &round.bytes);
    Ok(masked.get(range).unwrap_or_default().to_vec())
}

/// What is found near the given places. Far from them nothing has changed.
fn find_near(bytes: &[u8], places: &[usize], mode: Mode) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut places = places.iter().peekable();
    while let Some(&place) = places.next() {
        let start = place.saturating_sub(NEIGHBOURHOOD);
        let mut last = place;
        while let Some(&next) = places.next_if(|&&next| next <= last + 2 * NEIGHBOURHOOD) {
            last = next;
        }
        let end = bytes.len().min(last + NEIGHBOURHOOD);
        let part = bytes.get(start..end).unwrap_or_default();
        // At a cut a secret may seem to begin or to end; those that masks have brought about stand further inside.
        let clear = |at: usize| {
            (at >= NEIGHBOURHOOD / 4 || start == 0) && (at + NEIGHBOURHOOD / 4 <= part.len() || end == bytes.len())
        };
        let moved = |finding: Finding| Finding { start: finding.start + start, end: finding.end + start, ..finding };
        found.extend(
            scan::find(part, mode).into_iter().filter(|finding| clear(finding.start) && clear(finding.end)).map(moved),
        );
    }
    found
}
