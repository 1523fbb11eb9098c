//! Finds the keywords of all rules in one pass.
//!
//! All keywords of all rules are one automaton, which reads each byte once whatever their number. Each step of it waits
//! for the one before; several stretches of the text are therefore read side by side, which doubles the speed.

use crate::rule::Rule;
use crate::rules::RULES;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::{Anchored, PatternID, dfa::DFA};
use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// Stretches that are read at a time.
const LANES: usize = 4;
/// A block is read, then its places are checked, while its bytes are still in the processor's cache.
const BLOCK: usize = 32 * 1024;

pub(crate) static KEYWORD_SEARCH: LazyLock<Option<KeywordSearch>> = LazyLock::new(|| KeywordSearch::new(&RULES));

/// A keyword in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) keyword: PatternID,
    pub(crate) end: usize,
}

/// A rule with its pattern, which is compiled when it is needed first.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) rule: &'static Rule,
    regex: OnceLock<Option<Regex>>,
}

/// What the pattern of a rule says about the secret, as places in the text that it was matched with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Secret {
    /// It is this.
    Is(usize, usize),
    /// It is the argument or string that begins here.
    BeginsAt(usize),
}

impl Secret {
    pub(crate) fn moved(self, by: usize) -> Self {
        match self {
            Self::Is(start, end) => Self::Is(start + by, end + by),
            Self::BeginsAt(start) => Self::BeginsAt(start + by),
        }
    }
}

impl Prepared {
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| self.rule.compile()).as_ref()
    }

    /// Searches from `from` on. Groups cost several times as much as the end of a match; where the secret begins at the
    /// end, they are not asked for.
    pub(crate) fn search(&self, text: &[u8], from: usize) -> Option<Secret> {
        let regex = self.regex()?;
        let found = regex.find_at(text, from)?;
        if self.rule.pattern().is_some_and(|pattern| pattern.ends_with("()")) {
            return Some(Secret::BeginsAt(found.end()));
        }
        let groups = regex.captures_at(text, from)?;
        let secret = groups.iter().skip(1).flatten().last()?;
        Some(match secret.is_empty() {
            true => Secret::BeginsAt(secret.start()),
            false => Secret::Is(secret.start(), secret.end()),
        })
    }
}

pub(crate) struct KeywordSearch {
    automaton: DFA,
    start: StateID,
    rules: Vec<Prepared>,
    /// Length of each keyword, and the rules that it belongs to.
    keywords: Vec<(usize, Vec<usize>)>,
    longest: usize,
}

impl KeywordSearch {
    fn new(rules: &[&'static Rule]) -> Option<Self> {
        let mut by_keyword: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in rule.keywords {
                by_keyword.entry(keyword.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let rules = rules.iter().map(|rule| Prepared { rule, regex: OnceLock::new() }).collect();
        let words: Vec<&String> = by_keyword.keys().collect();
        let automaton = DFA::builder().ascii_case_insensitive(true).prefilter(false).build(&words).ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let longest = words.iter().map(|word| word.len()).max()?;
        let keywords = by_keyword.into_iter().map(|(word, rules)| (word.len(), rules)).collect();
        Some(Self { automaton, start, rules, keywords, longest })
    }

    /// Where the keyword begins, and the rules to try there.
    pub(crate) fn rules_of(&self, hit: Hit) -> Option<(usize, impl Iterator<Item = &Prepared>)> {
        let (length, rules) = self.keywords.get(hit.keyword.as_usize())?;
        Some((hit.end - length, rules.iter().filter_map(|&index| self.rules.get(index))))
    }

    /// Calls `check` for every keyword, in the order of their ends.
    pub(crate) fn each(&self, text: &[u8], mut check: impl FnMut(Hit)) {
        let mut lanes: [Vec<Hit>; LANES] = Default::default();
        let mut from = 0;
        while from < text.len() {
            let to = text.len().min(from + BLOCK);
            self.read(text, from, to, &mut lanes);
            for lane in &mut lanes {
                lane.drain(..).for_each(&mut check);
            }
            from = to;
        }
    }

    /// Finds the keywords that end in a block.
    fn read(&self, text: &[u8], from: usize, to: usize, found: &mut [Vec<Hit>; LANES]) {
        let share = (to - from) / LANES;
        if share <= self.longest * 2 {
            let [first, ..] = found;
            return self.run(text, from, to, first);
        }
        let starts: [usize; LANES] = std::array::from_fn(|lane| from + lane * share);
        let slices: [&[u8]; LANES] = starts.map(|start| text.get(start..start + share).unwrap_or_default());
        let mut states = starts.map(|start| self.warm(text, start));
        for offset in 0..share {
            for lane in 0..LANES {
                let Some(&byte) = slices[lane].get(offset) else { continue };
                let state = self.automaton.next_state(Anchored::No, states[lane], byte);
                states[lane] = state;
                if self.automaton.is_special(state) {
                    self.note(state, starts[lane] + offset + 1, &mut found[lane]);
                }
            }
        }
        let [.., last] = found;
        self.run(text, from + share * LANES, to, last);
    }

    /// The state of the automaton before `start`: it depends on no more bytes than the longest keyword has.
    fn warm(&self, text: &[u8], start: usize) -> StateID {
        let before = text.get(start.saturating_sub(self.longest)..start).unwrap_or_default();
        before.iter().fold(self.start, |state, &byte| self.automaton.next_state(Anchored::No, state, byte))
    }

    fn run(&self, text: &[u8], from: usize, to: usize, found: &mut Vec<Hit>) {
        let mut state = self.warm(text, from);
        for (offset, &byte) in text.get(from..to).unwrap_or_default().iter().enumerate() {
            state = self.automaton.next_state(Anchored::No, state, byte);
            if self.automaton.is_special(state) {
                self.note(state, from + offset + 1, found);
            }
        }
    }

    #[inline(never)]
    fn note(&self, state: StateID, end: usize, found: &mut Vec<Hit>) {
        if self.automaton.is_match(state) {
            for index in 0..self.automaton.match_len(state) {
                found.push(Hit { keyword: self.automaton.match_pattern(state, index), end });
            }
        }
    }
}
