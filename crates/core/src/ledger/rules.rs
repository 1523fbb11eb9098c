//! Rules: standing instructions of the user, kept word for word for as long as they hold.

use super::paragraphs::{ItemMark, item_number};
use super::reply::has_question;
use super::{Entry, Gathering, Statement};
use crate::inserted::Section;

/// A longer sentence explains; a rule is short.
const LONGEST_RULE: usize = 300;
/// A rule with fewer words of some length says too little alone: the sentence before it gives it its object.
const FEWEST_WORDS: usize = 4;
/// A reply of at most so many bytes names what was offered.
const LONGEST_REPLY: usize = 20;
/// A sentence that says what a rule is about is not longer.
const LONGEST_OBJECT: usize = 120;
/// The logarithm of the odds from which on it lays something down.
const LEAST_OBJECT: f32 = -0.4;
/// Rules come before everything else.
pub(super) const RULE_WORTH: f32 = 400.0;

/// A rule on its way to its section.
struct Rule {
    message: usize,
    text: String,
    worth: f32,
    /// The entry that announces the list it stands in.
    heading: Option<usize>,
}

impl Gathering<'_, '_> {
    /// Tells each rule once, in its newest wording.
    pub(super) fn close_rules(&mut self) {
        // Those of an earlier handoff stand already.
        let held = self.ledger.entries.iter().filter(|entry| entry.section == Section::Constraints);
        let mut told: Vec<String> =
            held.map(|entry| self.ledger.text(entry).trim_start_matches("- ").to_owned()).collect();
        let mut rules: Vec<Rule> = Vec::new();
        for at in (0..self.ledger.entries.len()).rev() {
            let Some(entry) = self.ledger.entries.get(at) else {
                continue;
            };
            let Some(&statement) = self.ledger.statement(entry) else {
                continue;
            };
            let (said, message) = (self.ledger.text(entry), entry.message as usize);
            let (text, is_item) = (without_bullet(said), item_number(said).is_some());
            if !self.is_rule(at, entry, &statement, text) || told.iter().any(|known| known.contains(text)) {
                continue;
            }
            let object = self
                .object_of(at)
                .filter(|&before| !is_item && !self.asks(before))
                .filter(|&before| is_bare(text) || self.is_chat && self.gives_object(before));
            let rule = match object.and_then(|at| self.ledger.entries.get(at)) {
                Some(object) => format!("{} {text}", without_bullet(self.ledger.text(object))),
                None => text.to_owned(),
            };
            let heading = if is_item { self.heading_of_list(at) } else { None };
            // It is told once, unless it is all that was asked for: then it says what the work that followed was for.
            let is_told_once = self.is_chat || self.says_more(at, object);
            for told in [Some(at), object].into_iter().flatten().filter(|_| is_told_once) {
                if let Some(entry) = self.ledger.entries.get_mut(told) {
                    entry.statement = None;
                    entry.worth = 0.0;
                    entry.terms = super::Stretch::default();
                }
            }
            told.push(rule.clone());
            // The likeliest come first where there is no room for all.
            rules.push(Rule { message, text: rule, worth: RULE_WORTH + statement.rule, heading });
        }
        // Those of one message stand in the order in which they were said, those of a list under what announces it.
        let mut last = None;
        for Rule { message, text, worth, heading } in rules.into_iter().rev() {
            let announced = heading.filter(|_| last != heading).and_then(|at| self.ledger.entries.get(at));
            let text = match announced {
                Some(heading) => format!("- {} {text}", self.ledger.text(heading)),
                None => format!("- {text}"),
            };
            last = heading;
            self.fact(message, Section::Constraints, &text, worth);
        }
    }

    /// Whether a sentence of the user is a standing instruction.
    fn is_rule(&self, at: usize, entry: &Entry, statement: &Statement, text: &str) -> bool {
        // What announces rules is none.
        if text.ends_with([':', '：']) || text.chars().count() > LONGEST_RULE || has_question(text) {
            return false;
        }
        if self.is_chat {
            return statement.rule > LEAST_RULE_IN_CHAT && statement.keep > LEAST_KEEP;
        }
        // "The second one" lays nothing down without what it answers; "no mocks" does.
        let is_loud = statement.sounds_like_rule() >= RULE_BY_LETTERS;
        if text.len() <= LONGEST_REPLY && (statement.answers() || !is_loud) {
            return false;
        }
        // What leads up to a question explains it.
        if !is_loud && self.leads_to_question(at) {
            return false;
        }
        // Amid work most sentences that order something order it for now, and many explain how things are.
        let clause = statement.has_clause_of_rule();
        let is_lasting = statement.sounds_once() <= MOST_ONCE
            && clause > LEAST_CLAUSE
            && statement.sounds_like_rule() + clause > LEAST_LETTERS;
        statement.rule > LEAST_RULE && statement.keep > LEAST_KEEP && is_lasting || self.is_order(entry, statement)
    }

    /// Whether the message of a sentence ends with a question.
    fn leads_to_question(&self, at: usize) -> bool {
        let rest = self.ledger.entries.get(at..).unwrap_or_default();
        let group = rest.first().and_then(|entry| entry.group);
        let last = rest.iter().take_while(|entry| entry.group == group).last();
        last.is_some_and(|last| has_question(self.ledger.text(last)))
    }

    /// What announces the list that an item stands in.
    fn heading_of_list(&self, at: usize) -> Option<usize> {
        let own = self.ledger.entries.get(at)?.group;
        let before =
            (0..at).rev().take_while(|&place| self.ledger.entries.get(place).is_some_and(|one| one.group == own));
        let text = |place: usize| self.ledger.entries.get(place).map(|one| self.ledger.text(one)).unwrap_or_default();
        let place = before.into_iter().find(|&place| item_number(text(place)).is_none())?;
        (text(place).ends_with([':', '：']) && text(place).chars().count() <= LONGEST_OBJECT).then_some(place)
    }

    /// Whether a sentence was said amid work and asked for nothing, so that it was said to be remembered. Who only tells how
    /// something is, in more than one sentence, explains it.
    fn is_order(&self, entry: &Entry, statement: &Statement) -> bool {
        let group = entry.group.and_then(|group| self.ledger.groups.get(group as usize));
        let same = || self.ledger.entries.iter().filter(|other| other.group == entry.group);
        let asks_for_nothing = || {
            group.is_some_and(|group| !self.is_served(group.episode))
                && !same().any(|other| has_question(self.ledger.text(other)))
        };
        let is_news = || statement.sounds_kept() > KEPT_BY_LETTERS && same().nth(1).is_none();
        (statement.sounds_like_rule() > RULE_BY_LETTERS || is_news()) && asks_for_nothing()
    }

    /// Whether more was said in the same message than a rule and its object that is told where it was said.
    fn says_more(&self, at: usize, object: Option<usize>) -> bool {
        let group = |at: usize| self.ledger.entries.get(at).and_then(|entry| entry.group);
        let own = group(at);
        let is_left = |place: usize| {
            Some(place) != object
                && self.ledger.entries.get(place).is_some_and(|entry| !self.ledger.terms(entry).is_empty())
        };
        let ahead = (0..at).rev().take_while(|&place| group(place) == own);
        let behind = (at + 1..self.ledger.entries.len()).take_while(|&place| group(place) == own);
        own.is_some() && ahead.chain(behind).any(is_left)
    }

    /// The sentence before one in the same message.
    fn object_of(&self, at: usize) -> Option<usize> {
        let entry = self.ledger.entries.get(at)?;
        let place = at.checked_sub(1)?;
        let before = self.ledger.entries.get(place)?;
        (before.group == entry.group && before.statement.is_some()).then_some(place)
    }

    fn asks(&self, at: usize) -> bool {
        self.ledger.entries.get(at).is_some_and(|entry| has_question(self.ledger.text(entry)))
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
/// Amid work a clause of a rule must sound like one by more than this, …
const LEAST_CLAUSE: f32 = 0.3;
/// … and together with the whole sentence by more than this: reports of how code behaves have as many odds to be kept.
const LEAST_LETTERS: f32 = 0.8;
/// Where nothing was done about a sentence, its letters alone make it a rule from here on, or something to be remembered.
const RULE_BY_LETTERS: f32 = 0.6;
const KEPT_BY_LETTERS: f32 = 1.2;
/// A sentence whose letters speak more than this for a request for now is none.
const MOST_ONCE: f32 = -1.0;
/// Who only talks tells many things that sound like rules.
const LEAST_RULE_IN_CHAT: f32 = -0.3;

/// An item of a list without its bullet; a number may be referred to, and stays.
fn without_bullet(text: &str) -> &str {
    let text = text.trim_start();
    match item_number(text) {
        Some(ItemMark::Bullet) => text.trim_start_matches(['-', '*', '•']).trim_start(),
        _ => text,
    }
}

/// Whether a sentence has too few words to be understood alone.
fn is_bare(sentence: &str) -> bool {
    sentence.split_whitespace().filter(|word| word.chars().count() >= 4).count() < FEWEST_WORDS && sentence.is_ascii()
}
