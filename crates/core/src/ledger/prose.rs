//! Decisions: sentences in which the assistant says what it chose, and why.

use super::phrases::Phrases;
use super::{Gathering, Voice, asks::sentences};
use crate::handoff::Section;

/// Words that announce a decision or its reason.
static REASONS: Phrases = Phrases::new(|| {
    Phrases::finder(&[
        "because",
        "instead of",
        "decided",
        "rather than",
        "the reason",
        "the issue is",
        "the problem is",
        "root cause",
        "turns out",
        "so that",
        "trade-off",
        "chose ",
        "i'll use",
        "we should use",
    ])
});
/// A decision outweighs a handful of names.
const DECISION_WORTH: f32 = 14.0;
/// Longer sentences are explanations, not decisions.
const LONGEST_DECISION: usize = 320;

impl Gathering<'_, '_> {
    /// Gathers the decisions in words of the assistant.
    pub(super) fn decisions(&mut self, index: usize, words: &str) {
        // Few texts give reasons; the others are not taken apart.
        if !REASONS.are_in(words) {
            return;
        }
        for sentence in sentences(words) {
            if sentence.len() <= LONGEST_DECISION && REASONS.are_in(sentence) && !announces(sentence) {
                self.entry(index, Section::KeyDecisions, format!("- {sentence}"), DECISION_WORTH, Voice::Assistant);
            }
        }
    }
}

/// What only says that something comes: it would not stand here.
fn announces(sentence: &str) -> bool {
    sentence.ends_with(':') || ["Let me ", "Now let me ", "Let's see"].iter().any(|start| sentence.starts_with(start))
}
