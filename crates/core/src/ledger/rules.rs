//! Rules: standing instructions of the user, kept word for word for as long as they hold.

use super::episodes::has_question;
use super::{Entry, Gathering, statement};
use crate::handoff::Section;

/// A longer sentence explains; a rule is short.
const LONGEST_RULE: usize = 300;
/// A rule with fewer words of some length says too little alone: the sentence before it gives it its object.
const FEWEST_WORDS: usize = 4;
/// Rules come before everything else.
pub(super) const RULE_WORTH: f32 = 400.0;

impl Gathering<'_, '_> {
    /// Tells each rule once, in its newest wording.
    pub(super) fn close_rules(&mut self) {
        let mut told: Vec<String> = Vec::new();
        for at in (0..self.ledger.entries.len()).rev() {
            let Some(entry) = self.ledger.entries.get(at) else {
                continue;
            };
            let text = self.ledger.text(entry);
            let message = entry.message as usize;
            let is_rule = entry.form.is_some_and(|form| form > LEAST_FORM) && is_lasting(text);
            if !is_rule || told.iter().any(|known| known == text) {
                continue;
            }
            let rule = match self.object_of(at).filter(|_| is_bare(text)) {
                Some(object) => format!("- {} {text}", self.ledger.text(&object)),
                None => format!("- {text}"),
            };
            told.push(text.to_owned());
            // In work a rule is understood by where it was said; in a chat it can stand alone.
            if let Some(entry) = self.ledger.entries.get_mut(at).filter(|_| self.is_chat) {
                entry.form = None;
                entry.worth = 0.0;
                entry.terms = super::Stretch::default();
            }
            self.fact(message, Section::Constraints, &rule, RULE_WORTH);
        }
    }

    /// The sentence before one in the same message.
    fn object_of(&self, at: usize) -> Option<Entry> {
        let entry = self.ledger.entries.get(at)?;
        let before = *self.ledger.entries.get(at.checked_sub(1)?)?;
        (before.group == entry.group && before.form.is_some()).then_some(before)
    }
}

/// A sentence whose form alone makes a reaction likelier than a statement is no rule, whatever its words.
const LEAST_FORM: f32 = 0.0;

fn is_lasting(sentence: &str) -> bool {
    sentence.len() <= LONGEST_RULE && !has_question(sentence) && statement::is_meant_to_last(sentence)
}

/// Whether a sentence has too few words to be understood alone.
fn is_bare(sentence: &str) -> bool {
    sentence.split_whitespace().filter(|word| word.chars().count() >= 4).count() < FEWEST_WORDS && sentence.is_ascii()
}
