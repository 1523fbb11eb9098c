//! Finds and masks secrets in any text, in one pass.
//!
//! A gate finds the few places where a rule has something to check; at each of them a small matcher verifies the shape
//! and reports the range of the value. A match is skipped, a mismatch costs a bounded amount of work: the whole is
//! linear in the length of the text, whatever the text. Masked text contains nothing that matches again.
//!
//! ```
//! use foldline_core::redact::{Mode, redact};
//! let text = format!("export SERVICE_PASSWORD={}", "swordfish-42");
//! assert_eq!(redact(&text, Mode::Text), "export SERVICE_PASSWORD=***");
//! assert_eq!(redact("MAX_TOKENS=4096", Mode::Text), "MAX_TOKENS=4096");
//! ```

mod alphabet;
mod command;
mod fields;
mod gate;
mod header;
mod judge;
mod key;
mod known;
mod mask;
mod pair;
mod pem;
mod rules;
mod scan;
mod stream;
mod structured;
mod token;
mod url;
mod value;
mod vendors;
mod verdict;
mod vocabulary;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use known::Known;
pub use mask::mask;
pub use rules::{Anchors, Confidence, RULES, Reveal, Rule};
pub use stream::Stream;

use scan::Scan;

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
}

impl Finding {
    /// What stands in the place of the secret when the text it was found in is masked.
    pub fn masked(&self, text: &str) -> String {
        mask::replacement(self.reveal, text.as_bytes().get(self.start..self.end).unwrap_or_default())
    }
}

/// All secrets of a text, in order and without overlaps.
pub fn find(text: &str, mode: Mode) -> Vec<Finding> {
    find_in(text.as_bytes(), mode)
}

/// The text with every secret masked.
pub fn redact(text: &str, mode: Mode) -> Cow<'_, str> {
    let findings = find(text, mode);
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    let masked = mask_all(text.as_bytes(), &findings, mode);
    Cow::Owned(
        String::from_utf8(masked).unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned()),
    )
}

fn find_in(bytes: &[u8], mode: Mode) -> Vec<Finding> {
    scan(bytes, mode).into_findings()
}

fn scan(bytes: &[u8], mode: Mode) -> Scan<'_> {
    let gate = &*gate::GATE;
    let mut scan = Scan::new(bytes, mode);
    let mut cursor = 0;
    while let Some(at) = gate.next(bytes, cursor) {
        let resume = gate.rules_at(bytes, at).find_map(|rule| rule.check(&mut scan, at));
        cursor = resume.map_or(at + 1, |resume| resume.max(at + 1));
    }
    scan
}

/// A mask can, in contrived texts, bring together what makes a new match. Rounds end when nothing is found; each one
/// leaves less to find, and ordinary texts need one.
const MOST_ROUNDS: usize = 8;

/// The bytes with all findings masked, and nothing left that a second call would find.
fn mask_all(bytes: &[u8], findings: &[Finding], mode: Mode) -> Vec<u8> {
    let mut out = splice(bytes, findings);
    for _ in 1..MOST_ROUNDS {
        let more = find_in(&out, mode);
        if more.is_empty() {
            break;
        }
        out = splice(&out, &more);
    }
    out
}

/// The bytes with every finding replaced by its mask.
fn splice(bytes: &[u8], findings: &[Finding]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for finding in findings {
        let secret = bytes.get(finding.start..finding.end).unwrap_or_default();
        out.extend_from_slice(bytes.get(from..finding.start).unwrap_or_default());
        out.extend_from_slice(mask::replacement(finding.reveal, secret).as_bytes());
        from = finding.end;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out
}
