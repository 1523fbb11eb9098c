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
mod masking;
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

use std::borrow::Cow;

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
    match masking::masked(text.as_bytes(), mode) {
        None => Cow::Borrowed(text),
        Some(masked) => Cow::Owned(
            String::from_utf8(masked).unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned()),
        ),
    }
}
