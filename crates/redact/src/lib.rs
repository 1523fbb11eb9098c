//! Finds and masks secrets.
mod binding; mod block; mod command; mod cookies; mod gate; mod insert; mod key; mod manifest; mod mask; mod name; mod pair; mod rule; mod rules; mod scan; mod sentence; mod shape; mod surroundings; mod value; mod verdict; mod view; mod words; mod wrap;
use std::borrow::Cow;
pub use mask::mask;
pub use rule::{Check, Class, Confidence, Reveal, Rule, Shape};
pub use rules::RULES;

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
    scan::find(text.as_bytes(), mode)
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
const MOST_ROUNDS: usize = 8;
fn mask_all(bytes: &[u8], findings: &[Finding], mode: Mode) -> Vec<u8> {
    let mut out = mask::splice(bytes, findings);
    for _ in 1..MOST_ROUNDS {
        let more = scan::find(&out, mode);
        if more.is_empty() {
            break;
        }
        out = mask::splice(&out, &more);
    }
    out
}
#[cfg(any(test, feature = "shapes"))]
pub mod shapes;
#[cfg(test)]
mod tests;
