//! The gate: finds the places in a text where some rule has something to check.
//!
//! Every rule names anchors; the first four bytes of an anchor, folded to lower case, mark a bit in a filter. The scan
//! hashes the four bytes at each position and stops where the bit is set. Most text passes at the cost of one load, one
//! multiplication and one lookup per byte, whatever the number of rules.

use std::sync::LazyLock;

use crate::redact::alphabet::DASH;
use crate::redact::rules::{Anchors, RULES, Rule};

/// 32 KB of bits stay in the first-level cache; with about 2,000 marked grams one position in 100 stops by chance.
const FILTER_BITS: u32 = 18;
/// Enough groups that few of them hold more than one gram.
const GROUP_BITS: u32 = 13;
const FOLD: u32 = 0x2020_2020;
/// Knuth's multiplicative constant: spreads grams that differ in few bits.
const SPREAD: u32 = 0x9E37_79B1;

pub(crate) static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::new(RULES));

pub(crate) struct Gate {
    filter: Box<[u64; 1 << (FILTER_BITS - 6)]>,
    /// All marked grams, ordered by the upper bits of their hash.
    entries: Vec<Entry>,
    /// Where the entries with the same upper bits begin; one more at the end.
    starts: Vec<usize>,
}

/// A rule that may start where these four bytes stand, with the word that has to follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    gram: u32,
    rule: usize,
    word: usize,
}

impl Gate {
    fn new(rules: &'static [Rule]) -> Self {
        let mut entries = Vec::new();
        for (rule, row) in rules.iter().enumerate() {
            let mut mark = |word, gram| entries.push(Entry { gram: gram | FOLD, rule, word });
            match row.anchors {
                Anchors::Exact(words) | Anchors::AnyCase(words) => {
                    for (index, word) in words.iter().enumerate() {
                        grams_of(word, &mut |gram| mark(index, gram));
                    }
                }
                Anchors::Classes(classes) => grams_of_classes(classes, &mut |gram| mark(0, gram)),
            }
        }
        entries.sort_unstable_by_key(|&entry| (group(entry.gram), entry));
        entries.dedup();
        let starts =
            (0..=1 << GROUP_BITS).map(|number| entries.partition_point(|entry| group(entry.gram) < number)).collect();
        let mut filter = Box::new([0_u64; 1 << (FILTER_BITS - 6)]);
        for entry in &entries {
            let bit = slot(entry.gram);
            filter[bit >> 6] |= 1 << (bit & 63);
        }
        Self { filter, entries, starts }
    }

    /// The next position at or after `from` where a rule may start.
    pub(crate) fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let offset = rest.windows(4).position(|window| {
            let bit = slot(gram_of(window) | FOLD);
            self.filter[bit >> 6] >> (bit & 63) & 1 != 0
        })?;
        Some(from + offset)
    }

    /// The rules whose anchor really stands at `at`, in the order of the table.
    pub(crate) fn rules_at(&self, bytes: &[u8], at: usize) -> impl Iterator<Item = &'static Rule> {
        let rest = bytes.get(at..).unwrap_or_default();
        let gram = gram_of(rest) | FOLD;
        let bounds = self.starts.get(group(gram)..group(gram) + 2);
        let same_group = match bounds {
            Some(&[start, end]) => self.entries.get(start..end).unwrap_or_default(),
            _ => &[],
        };
        let candidates = same_group.iter().filter(move |entry| entry.gram == gram);
        let mut last = None;
        candidates.filter_map(move |entry| {
            let rule = RULES.get(entry.rule)?;
            let fresh = last != Some(entry.rule) && stands(rule, entry.word, rest);
            fresh.then(|| {
                last = Some(entry.rule);
                rule
            })
        })
    }
}
#[inline]
fn gram_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |gram| u32::from_le_bytes(*gram))
}
#[inline]
fn group(folded: u32) -> usize {
    slot(folded) >> (FILTER_BITS - GROUP_BITS)
}

/// Always below `1 << FILTER_BITS`.
#[inline]
fn slot(folded: u32) -> usize {
    (folded.wrapping_mul(SPREAD) >> (32 - FILTER_BITS)) as usize
}

/// A word of three bytes is marked together with every byte that may continue a token.
fn grams_of(word: &str, mark: &mut dyn FnMut(u32)) {
    match *word.as_bytes() {
        [a, b, c, d, ..] => mark(u32::from_le_bytes([a, b, c, d])),
        [a, b, c] => (0..=u8::MAX).filter(|&d| DASH.has(d)).for_each(|d| mark(u32::from_le_bytes([a, b, c, d]))),
        _ => debug_assert!(false, "an anchor needs three bytes: {word:?}"),
    }
}

fn grams_of_classes(classes: [&str; 4], mark: &mut dyn FnMut(u32)) {
    let [first, second, third, fourth] = classes;
    for a in first.bytes() {
        for b in second.bytes() {
            for c in third.bytes() {
                for d in fourth.bytes() {
                    mark(u32::from_le_bytes([a, b, c, d]));
                }
            }
        }
    }
}

fn stands(rule: &Rule, word: usize, rest: &[u8]) -> bool {
    match rule.anchors {
        Anchors::Exact(words) => words.get(word).is_some_and(|word| rest.starts_with(word.as_bytes())),
        Anchors::AnyCase(words) => words.get(word).is_some_and(|word| {
            rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        }),
        Anchors::Classes(classes) => {
            classes.iter().zip(rest).filter(|(class, byte)| class.as_bytes().contains(byte)).count() == classes.len()
        }
    }
}
