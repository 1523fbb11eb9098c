//! Rules: standing instructions of the user, kept word for word for as long as they hold.

use super::reply::has_question;
use super::{Entry, Gathering, Statement};
use crate::inserted::Section;

/// A longer sentence explains; a rule is short.
const LONGEST_RULE: usize = 300;
/// A rule with fewer words of some length says too little alone: the sentence before it gives it its object.
const FEWEST_WORDS: usize = 4;
/// A sentence that says what a rule is about is not longer.
const LONGEST_OBJECT: usize = 120;
/// The logarithm of the odds from which on it lays something down.
const LEAST_OBJECT: f32 = -0.4;
/// Rules come before everything else.
pub(super) const RULE_WORTH: f32 = 400.0;

impl Gathering<'_, '_> {
    /// Tells each rule once, in its newest wording.
    pub(super) fn close_rules(&mut self) {
        // Those of an earlier handoff stand already.
        let held = self.ledger.entries.iter().filter(|entry| entry.section == Section::Constraints);
        let mut told: Vec<String> =
            held.map(|entry| self.ledger.text(entry).trim_start_matches("- ").to_owned()).collect();
        let mut rules = Vec::new();
        for at in (0..self.ledger.entries.len()).rev() {
            let Some(entry) = self.ledger.entries.get(at) else {
                continue;
            };
            let text = self.ledger.text(entry);
            let message = entry.message as usize;
            let Some(&statement) = self.ledger.statement(entry) else {
                continue;
            };
            let least = if self.is_chat { LEAST_RULE_IN_CHAT } else { LEAST_RULE };
            let Statement { rule: odds, keep, .. } = statement;
            // Amid work most sentences that order something order it for now.
            let is_for_now = !self.is_chat && statement.sounds_once() > MOST_ONCE;
            let is_rule =
                odds > least && keep > LEAST_KEEP && !is_for_now || !self.is_chat && self.is_order(entry, &statement);
            if !is_rule
                || text.chars().count() > LONGEST_RULE
                || has_question(text)
                || told.iter().any(|known| known.contains(text))
            {
                continue;
            }
            let object =
                self.object_of(at).filter(|&before| is_bare(text) || self.is_chat && self.gives_object(before));
            let rule = match object.and_then(|at| self.ledger.entries.get(at)) {
                Some(object) => format!("{} {text}", self.ledger.text(object)),
                None => text.to_owned(),
            };
            // It is told once, unless it is all that was asked for: then it says what the work that followed was for.
            let is_told_once = self.is_chat || self.is_among_others(at);
            for told in [Some(at), object].into_iter().flatten().filter(|_| is_told_once) {
                if let Some(entry) = self.ledger.entries.get_mut(told) {
                    entry.statement = None;
                    entry.worth = 0.0;
                    entry.terms = super::Stretch::default();
                }
            }
            // The likeliest come first where there is no room for all.
            rules.push((message, format!("- {rule}"), RULE_WORTH + odds));
            told.push(rule);
        }
        // Those of one message stand in the order in which they were said.
        for (message, rule, worth) in rules.into_iter().rev() {
            self.fact(message, Section::Constraints, &rule, worth);
        }
    }

    /// Whether a sentence was said amid work and asked for none, so that it was said to be remembered.
    fn is_order(&self, entry: &Entry, statement: &Statement) -> bool {
        let group = entry.group.and_then(|group| self.ledger.groups.get(group as usize));
        let asks_for_nothing = || group.is_some_and(|group| !self.is_served(group.episode));
        (statement.sounds_like_rule() > RULE_BY_LETTERS || statement.sounds_kept() > KEPT_BY_LETTERS)
            && asks_for_nothing()
    }

    /// Whether more was said in the same message.
    fn is_among_others(&self, at: usize) -> bool {
        let group = |at: usize| self.ledger.entries.get(at).and_then(|entry| entry.group);
        let is_same =
            |other: Option<usize>| other.is_some_and(|other| group(other).is_some() && group(other) == group(at));
        is_same(at.checked_sub(1)) || is_same(Some(at + 1))
    }

    /// The sentence before one in the same message.
    fn object_of(&self, at: usize) -> Option<usize> {
        let entry = self.ledger.entries.get(at)?;
        let place = at.checked_sub(1)?;
        let before = self.ledger.entries.get(place)?;
        (before.group == entry.group && before.statement.is_some()).then_some(place)
    }

    /// Whether a sentence before a rule is likely what the rule is about: short, and laying something down itself.
    fn gives_object(&self, at: usize) -> bool {
        let entry = self.ledger.entries.get(at);
        entry.is_some_and(|entry| {
            let text = self.ledger.text(entry);
            text.chars().count() <= LONGEST_OBJECT
                && !has_question(text)
                && self.ledger.statement(entry).is_some_and(|statement| statement.keep > LEAST_OBJECT)
        })
    }
}

/// The logarithms of the odds from which on a sentence stands among the rules; what is less likely one is told where it
/// was said.
const LEAST_RULE: f32 = -1.0;
const LEAST_KEEP: f32 = -1.5;
/// Where nothing was done about a sentence, its letters alone make it a rule from here on, or something to be remembered.
const RULE_BY_LETTERS: f32 = 0.6;
const KEPT_BY_LETTERS: f32 = 1.2;
/// A sentence whose letters speak more than this for a request for now is none.
const MOST_ONCE: f32 = -1.0;
/// Who only talks tells many things that sound like rules.
const LEAST_RULE_IN_CHAT: f32 = -0.3;

/// Whether a sentence has too few words to be understood alone.
fn is_bare(sentence: &str) -> bool {
    sentence.split_whitespace().filter(|word| word.chars().count() >= 4).count() < FEWEST_WORDS && sentence.is_ascii()
}
