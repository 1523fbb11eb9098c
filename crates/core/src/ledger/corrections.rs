//! What a user said is replaced by what they said later about the same thing.

use super::{Entry, Gathering, Source, Stretch};
use crate::inserted::Section;

/// A later sentence with this share of an earlier one's weight is about the same thing.
const SAME_SUBJECT: f32 = 0.6;
/// With this share it is, too, if each has a number that the other lacks: a value was changed.
const SAME_VALUE: f32 = 0.4;
/// So many words in common make it likely that a value was changed.
const FEWEST_SHARED: usize = 2;
/// How much likelier that makes it that the later sentence lays something down.
const CHANGED_VALUE: f32 = 0.5;
/// What is added to a rule with such a value.
const OUTDATED: &str = " (a value was changed later)";
/// A sentence with more numbers is a table or a plan, and no value of it is told from the others.
const MOST_VALUES: usize = 4;
/// An old value and the new one stand at most so many words apart, and what they are about so many aside.
const CLOSE: usize = 8;
const ASIDE: usize = 3;
/// So many of the latest sentences are compared with each other.
const MOST_COMPARED: usize = 600;

/// What a later sentence is to an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Later {
    /// It says the same thing anew.
    Replaces,
    /// It may give a new value for the same thing.
    MayChange,
    /// It names a value of the earlier one and gives another.
    NamesOldValue,
    /// It is about something else.
    Other,
}

impl Gathering<'_, '_> {
    /// Drops what was replaced, and holds on to what replaced it.
    pub(super) fn drop_replaced(&mut self) {
        // A request is not taken back by a similar one; only what was laid down is.
        let is_held = |entry: &Entry| match entry.source {
            Some(source) => source == Source::User && self.is_chat,
            None => entry.section == Section::Constraints,
        };
        let entries = || self.ledger.entries.iter().enumerate();
        let said: Vec<usize> = entries().filter(|(_, entry)| is_held(entry)).map(|(at, _)| at).collect();
        let said = said.get(said.len().saturating_sub(MOST_COMPARED)..).unwrap_or_default();
        let said: Vec<(usize, Words<'_>)> = said.iter().map(|&at| (at, self.words_of(at))).collect();
        let mut replaced = Vec::new();
        let mut outdated = Vec::new();
        let mut changes = Vec::new();
        for (place, earlier) in said.iter().enumerate() {
            for later in said.iter().skip(place + 1) {
                match self.compare(earlier, later) {
                    Later::Replaces => replaced.push(earlier.0),
                    Later::NamesOldValue => outdated.push(earlier.0),
                    Later::MayChange => {}
                    Later::Other => continue,
                }
                changes.push(later.0);
            }
        }
        changes.sort_unstable();
        changes.dedup();
        for at in changes {
            if let Some(entry) = self.ledger.entries.get_mut(at).filter(|entry| entry.source.is_some()) {
                let length = entry.text.range().len() as f32;
                entry.worth += self.weights.statement * CHANGED_VALUE * length.sqrt() * length.sqrt().sqrt();
            }
        }
        outdated.extend(self.outdated_rules());
        self.mark_outdated(outdated);
        for at in replaced {
            if let Some(entry) = self.ledger.entries.get_mut(at) {
                entry.terms = Stretch::default();
                entry.worth = 0.0;
            }
        }
    }

    /// Rules with a value that the user named later, in whatever they asked for, and changed.
    fn outdated_rules(&self) -> Vec<usize> {
        let entries = || self.ledger.entries.iter().enumerate();
        let said: Vec<(usize, &Entry)> = entries().filter(|(_, entry)| entry.source == Some(Source::User)).collect();
        let said = said.get(said.len().saturating_sub(MOST_COMPARED)..).unwrap_or_default();
        let said: Vec<(&Entry, Words<'_>)> = said.iter().map(|&(at, entry)| (entry, self.words_of(at))).collect();
        let is_changed = |at: usize, rule: &Entry| {
            let own = self.words_of(at);
            said.iter().any(|(entry, later)| entry.message > rule.message && self.names_old_value(rule, &own, later))
        };
        let rules = entries().filter(|(_, entry)| entry.source.is_none() && entry.section == Section::Constraints);
        rules.filter(|&(at, rule)| is_changed(at, rule)).map(|(at, _)| at).collect()
    }

    fn words_of(&self, at: usize) -> Words<'_> {
        Words::of(self.ledger.entries.get(at).map_or("", |entry| self.ledger.text(entry)))
    }

    /// Says of rules that a value in them is no longer the current one.
    fn mark_outdated(&mut self, mut rules: Vec<usize>) {
        rules.sort_unstable();
        rules.dedup();
        for at in rules {
            let Some(text) = self.ledger.entries.get(at).map(|entry| self.ledger.text(entry).to_owned()) else {
                continue;
            };
            if text.ends_with(OUTDATED) {
                continue;
            }
            let text = self.ledger.store(&format!("{text}{OUTDATED}"));
            self.ledger.entries.get_mut(at).into_iter().for_each(|entry| entry.text = text);
        }
    }

    /// Whether a later sentence names a number of an earlier one and close to it another, about the same thing.
    fn names_old_value(&self, entry: &Entry, own: &Words<'_>, later: &Words<'_>) -> bool {
        if own.numbers.is_empty() || own.numbers.len() > MOST_VALUES || later.numbers.len() < 2 {
            return false;
        }
        let is_own = |number: &str| own.numbers.iter().any(|(_, own)| *own == number);
        let (old, new): (Vec<_>, Vec<_>) = later.numbers.iter().partition(|(_, number)| is_own(number));
        let words = &later.all;
        let terms = self.ledger.terms(entry);
        let is_about_it = |from: usize, to: usize| {
            let around = words.get(from.saturating_sub(ASIDE)..(to + ASIDE + 1).min(words.len())).unwrap_or_default();
            let mut known = Vec::new();
            self.terms.known(&around.join(" "), &mut known);
            let is_telling = |term: &&u32| !self.terms.is_common(**term) && !self.terms.is_number(**term);
            known.iter().filter(is_telling).any(|term| terms.binary_search(term).is_ok())
        };
        old.iter().any(|&(one, _)| {
            let near = new.iter().map(|&(other, _)| (one.min(other), one.max(other)));
            near.filter(|(from, to)| to - from <= CLOSE).any(|(from, to)| is_about_it(from, to))
        })
    }

    /// Compares a sentence with one that was said later. Rules and other sentences stand apart.
    fn compare(&self, (at, words): &(usize, Words<'_>), (later, next_words): &(usize, Words<'_>)) -> Later {
        let (Some(entry), Some(next)) = (self.ledger.entries.get(*at), self.ledger.entries.get(*later)) else {
            return Later::Other;
        };
        let (own, others) = (self.ledger.terms(entry), self.ledger.terms(next));
        if next.message <= entry.message || next.source != entry.source || own.len() <= 2 {
            return Later::Other;
        }
        let value = |term: u32| self.ledger.values.get(term as usize).copied().unwrap_or_default();
        let weight = |terms: &mut dyn Iterator<Item = u32>| terms.map(value).sum::<f32>();
        let is_shared = |term: &u32| others.binary_search(term).is_ok();
        let shared = weight(&mut own.iter().copied().filter(is_shared));
        if shared > weight(&mut own.iter().copied()) * SAME_SUBJECT {
            return Later::Replaces;
        }
        let is_number = |term: &u32| self.terms.is_number(*term);
        let changes_value = own.iter().any(|term| is_number(term) && !is_shared(term))
            && others.iter().any(|term| is_number(term) && own.binary_search(term).is_err());
        if entry.source.is_none() && self.names_old_value(entry, words, next_words) {
            return Later::NamesOldValue;
        }
        if !self.is_chat || !changes_value {
            return Later::Other;
        }
        let words = own.iter().copied().filter(|term| !is_number(term));
        let telling = words.clone().filter(|term| is_shared(term) && !self.terms.is_common(*term)).count();
        match telling >= FEWEST_SHARED {
            true if shared > weight(&mut words.into_iter()) * SAME_VALUE => Later::Replaces,
            true => Later::MayChange,
            false => Later::Other,
        }
    }
}

/// A sentence word by word.
struct Words<'t> {
    all: Vec<&'t str>,
    /// Those that are numbers, each with its place.
    numbers: Vec<(usize, &'t str)>,
}

impl Words<'_> {
    fn of(sentence: &str) -> Words<'_> {
        let all: Vec<&str> = sentence.split_whitespace().collect();
        let numbers = all.iter().enumerate().filter_map(|(at, word)| Some((at, number(word)?))).collect();
        Words { all, numbers }
    }
}

/// The number that a word is, without what surrounds it.
fn number(word: &str) -> Option<&str> {
    let number = word.trim_matches(|c: char| !c.is_alphanumeric());
    (!number.is_empty() && !number.contains(char::is_alphabetic)).then_some(number)
}
