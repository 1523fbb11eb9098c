//! Finds the keywords of all rules in one pass.
//!
//! At every byte the next four, and the next three, are looked up in a table of bits that says whether a keyword may
//! begin with them. Tables and keywords stay in the nearest cache, and no look has to wait for the one before, as the
//! steps of an automaton would; an automaton of all keywords takes megabytes besides, and milliseconds to build.

use crate::rule::Rule;
use crate::rules::RULES;
use regex::bytes::Regex;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// A block is read, then its places are checked, while its bytes are still in the processor's cache.
const BLOCK: usize = 32 * 1024;

pub(crate) static KEYWORD_SEARCH: LazyLock<KeywordSearch> = LazyLock::new(|| KeywordSearch::new(&RULES));

/// A keyword in a text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hit {
    pub(crate) keyword: KeywordId,
    pub(crate) end: usize,
}

/// Which keyword.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeywordId(u16);

impl KeywordId {
    fn index(self) -> usize {
        usize::from(self.0)
    }
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
    rules: Vec<Prepared>,
    keywords: Vec<Keyword>,
    /// Keywords of four bytes and more, by their first four.
    long: Beginnings,
    /// Shorter ones, by three bytes; where a keyword has two, the third may be any.
    short: Beginnings,
}

struct Keyword {
    /// In lower case.
    word: Vec<u8>,
    /// The rules that it belongs to.
    rules: Vec<usize>,
}

impl KeywordSearch {
    fn new(rules: &[&'static Rule]) -> Self {
        let mut by_word: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in rule.keywords {
                by_word.entry(keyword.to_ascii_lowercase().into_bytes()).or_default().push(index);
            }
        }
        let rules = rules.iter().map(|rule| Prepared { rule, regex: OnceLock::new() }).collect();
        let keywords: Vec<Keyword> = by_word.into_iter().map(|(word, rules)| Keyword { word, rules }).collect();
        let (mut long, mut short) = (Vec::new(), Vec::new());
        for (id, keyword) in (0..).map(KeywordId).zip(&keywords) {
            match *keyword.word.as_slice() {
                [a, b, c, d, ..] => long.push((four([a, b, c, d]), id)),
                [a, b, c] => short.push((three([a, b, c, 0]), id)),
                [a, b] => short.extend((0..=u8::MAX).map(|any| (three([a, b, any, 0]), id))),
                _ => {}
            }
        }
        Self { rules, keywords, long: Beginnings::new(long), short: Beginnings::new(short) }
    }

    /// Where the keyword begins, and the rules to try there.
    pub(crate) fn rules_of(&self, hit: Hit) -> Option<(usize, impl Iterator<Item = &Prepared>)> {
        let Keyword { word, rules } = self.keywords.get(hit.keyword.index())?;
        Some((hit.end - word.len(), rules.iter().filter_map(|&index| self.rules.get(index))))
    }

    /// Calls `check` for every keyword, in the order of their ends; of those with the same end, for the longest first.
    pub(crate) fn each(&self, text: &[u8], mut check: impl FnMut(Hit)) {
        let mut hits = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let to = text.len().min(from + BLOCK);
            self.read(text, from, to, &mut hits);
            let length = |hit: &Hit| self.keywords.get(hit.keyword.index()).map_or(0, |keyword| keyword.word.len());
            hits.sort_unstable_by_key(|hit| (hit.end, Reverse(length(hit))));
            // Those that end behind the block come with what ends there, too.
            let decided = hits.partition_point(|hit| hit.end <= to);
            hits.drain(..decided).for_each(&mut check);
            from = to;
        }
    }

    /// Finds the keywords that begin in a block.
    fn read(&self, text: &[u8], from: usize, to: usize, found: &mut Vec<Hit>) {
        let block = text.get(from..text.len().min(to + WINDOW - 1)).unwrap_or_default();
        for (offset, &window) in block.array_windows::<WINDOW>().enumerate() {
            self.look(text, from + offset, window, found);
        }
        // The last bytes of the text begin no whole window.
        for start in (from + (block.len() + 1).saturating_sub(WINDOW))..to {
            let mut window = [0; WINDOW];
            window.iter_mut().zip(text.get(start..).unwrap_or_default()).for_each(|(to, from)| *to = *from);
            self.look(text, start, window, found);
        }
    }

    #[inline]
    fn look(&self, text: &[u8], start: usize, window: [u8; WINDOW], found: &mut Vec<Hit>) {
        let (long, short) = (four(window), three(window));
        if self.long.may_be(long) {
            self.compare(text, start, self.long.keywords(long), found);
        }
        if self.short.may_be(short) {
            self.compare(text, start, self.short.keywords(short), found);
        }
    }

    #[inline(never)]
    fn compare(&self, text: &[u8], start: usize, keywords: &[KeywordId], found: &mut Vec<Hit>) {
        for &id in keywords {
            let Some(Keyword { word, .. }) = self.keywords.get(id.index()) else { continue };
            let end = start + word.len();
            if text.get(start..end).is_some_and(|bytes| bytes.eq_ignore_ascii_case(word)) {
                found.push(Hit { keyword: id, end });
            }
        }
    }
}

/// Bytes that are looked at together.
const WINDOW: usize = 4;

/// Which keywords may begin with some bytes.
struct Beginnings {
    /// One bit for each digest.
    bits: Box<[u64; 1 << (16 - 6)]>,
    /// For the upper bits of each digest, where its keywords begin in `keywords`.
    starts: Vec<u16>,
    keywords: Vec<KeywordId>,
}

/// Upper bits of a digest that lead to its keywords: several times as many values as there are keywords.
const SLOT_BITS: u32 = 12;

impl Beginnings {
    fn new(mut entries: Vec<(u16, KeywordId)>) -> Self {
        entries.sort_unstable_by_key(|(digest, id)| (digest >> (16 - SLOT_BITS), id.0));
        entries.dedup();
        let mut bits = Box::new([0_u64; 1 << (16 - 6)]);
        for (digest, _) in &entries {
            bits[usize::from(digest >> 6)] |= 1 << (digest & 63);
        }
        let start = |slot: u16| entries.partition_point(|(digest, _)| digest >> (16 - SLOT_BITS) < slot) as u16;
        let starts = (0..=1 << SLOT_BITS).map(start).collect();
        Self { bits, starts, keywords: entries.into_iter().map(|(_, id)| id).collect() }
    }

    #[inline]
    fn may_be(&self, digest: u16) -> bool {
        self.bits[usize::from(digest >> 6)] >> (digest & 63) & 1 == 1
    }

    fn keywords(&self, digest: u16) -> &[KeywordId] {
        let slot = usize::from(digest >> (16 - SLOT_BITS));
        match self.starts.get(slot..slot + 2) {
            Some(&[from, to]) => self.keywords.get(usize::from(from)..usize::from(to)).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// A digest of four bytes that does not mind the case of letters.
#[inline]
fn four(window: [u8; WINDOW]) -> u16 {
    digest(folded(window))
}

/// The same of the first three.
#[inline]
fn three(window: [u8; WINDOW]) -> u16 {
    digest(folded(window) << 8)
}

/// The bit of lower case is set in each byte; others than letters may become the same, and differ when they are compared.
#[inline]
fn folded(window: [u8; WINDOW]) -> u32 {
    u32::from_le_bytes(window) | 0x2020_2020
}

#[inline]
fn digest(bytes: u32) -> u16 {
    (bytes.wrapping_mul(0x9E37_79B1) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every keyword at every place, by comparing them one by one.
    fn one_by_one(search: &KeywordSearch, text: &[u8]) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for end in 0..=text.len() {
            let ends = |(index, keyword): (usize, &Keyword)| {
                let start = end.checked_sub(keyword.word.len())?;
                let is_here = text.get(start..end).is_some_and(|bytes| bytes.eq_ignore_ascii_case(&keyword.word));
                is_here.then_some((end, index, keyword.word.len()))
            };
            let mut here: Vec<_> = search.keywords.iter().enumerate().filter_map(ends).collect();
            here.sort_by_key(|(.., length)| Reverse(*length));
            all.extend(here.into_iter().map(|(end, index, _)| (end, index)));
        }
        all
    }

    #[test]
    fn every_keyword_is_found_wherever_it_stands() {
        let search = &*KEYWORD_SEARCH;
        let mut text = Vec::new();
        for (index, keyword) in search.keywords.iter().enumerate() {
            text.extend_from_slice(&keyword.word.to_ascii_uppercase());
            text.extend_from_slice(&b" =\"\n"[..index % 5]);
        }
        for text in [text.as_slice(), b"", b"+", b"+1", b"a+9", b"key", b"ke", "пароль".as_bytes(), b"tok_+1"] {
            let mut found = Vec::new();
            search.each(text, |hit| found.push((hit.end, hit.keyword.index())));
            assert_eq!(found, one_by_one(search, text));
        }
    }

    #[test]
    fn keywords_across_blocks_are_found_once_and_in_order() {
        let search = &*KEYWORD_SEARCH;
        for shift in 0..12 {
            let mut text = vec![b'.'; BLOCK - shift];
            text.extend_from_slice(b"api_key_password");
            let mut ends = Vec::new();
            search.each(&text, |hit| ends.push(hit.end));
            assert!(ends.is_sorted() && ends.last() == Some(&text.len()), "{ends:?}");
            let count = one_by_one(search, b"api_key_password").len();
            assert_eq!(ends.len(), count, "{shift}");
        }
    }
}
