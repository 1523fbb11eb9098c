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
//! 1. `decoded.rs` decodes escapes (JSON, URLs, HTML, terminal colours) and drops invisible characters (`decoder.rs` writes the
//!    result). Every byte remembers where it stood in the original.
//! 2. `keywords.rs` finds the keywords of all rules in one pass, by the bytes of them that are rarest (`grams.rs`).
//! 3. `scan.rs` tries the rules of a keyword on a bounded piece of text around it. Most rules are a row in a table under
//!    `rules/`, with a pattern, checks, examples and counterexamples; [`RULES`] lists them all.
//!
//! ```
//! use foldline_redact::RULES;
//! let rule = RULES.iter().find(|rule| rule.name == "sshpass").unwrap();
//! assert_eq!(rule.keywords, ["sshpass"]);
//! ```
//!
//! Secrets without a form of their own are recognised by the name beside them. `name_value.rs` reads the name (`name.rs`),
//! the notation that binds it (`binding.rs`) and the value (`value.rs`); `named_value.rs` decides whether the value is a secret,
//! with the help of `placeholder.rs` (variables, types, words that stand for a value), `string_stats.rs` (letters, digits,
//! randomness), `gibberish.rs` (letters in an order that no language has) and `code_context.rs` (is this source code?).
//! The lists of words are in `words.rs`.
//!
//! ```
//! use foldline_redact::{Mode, find};
//! let text = format!("{{\"client_secret\": \"{}\"}}", "k7Lm2Xp9Rt4VwQ");
//! let finding = find(&text, Mode::Text)[0];
//! assert_eq!(finding.rule, "secret-field");
//! assert_eq!(&text[finding.start..finding.end], "k7Lm2Xp9Rt4VwQ");
//! ```
//!
//! Tokens that neither a name nor a form gives away are found by `random_token.rs`: long strings that only a generator makes.
//!
//! These notations have readers of their own: `private_key.rs`, `cookies.rs`, `command.rs`, `sentence.rs`, `table.rs`,
//! `multiline.rs` (YAML blocks, here-documents), `sql_insert.rs`, `kubernetes.rs`, `entries.rs` (maps of secrets), `wrapped.rs` (tokens cut by line breaks).
//!
//! Findings are masked (`mask.rs`), and the result is searched again until nothing more is found (`masking.rs`), so that
//! masking twice changes nothing. Long texts are masked in parts (`parts.rs`), texts that arrive in pieces by [`Stream`], and
//! [`Known`] hides values that were found elsewhere. Time is linear in the length of the text, whatever the text.
//!
//! ```
//! use foldline_redact::{Mode, redact};
//! let once = redact("curl -u bob:sunshine-7 https://example.org", Mode::Text).into_owned();
//! assert_eq!(once, "curl -u bob:*** https://example.org");
//! assert_eq!(redact(&once, Mode::Text), once);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binding;
mod code_context;
mod command;
mod cookies;
mod decoded;
mod decoder;
mod disguise;
mod entries;
mod gibberish;
mod grams;
mod keywords;
mod known;
mod kubernetes;
mod mask;
mod masking;
mod multiline;
mod name;
mod name_value;
mod named_value;
mod parts;
mod placeholder;
mod prepared;
mod private_key;
mod random_token;
mod repeat;
mod rule;
mod rules;
mod scan;
mod sentence;
mod sql_insert;
mod stream;
mod string_stats;
mod table;
mod value;
mod words;
mod wrapped;

#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
#[cfg(any(test, feature = "fixtures"))]
pub mod hostile;
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
