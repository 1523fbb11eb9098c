//! Finds the keywords of all rules in one pass.
//!
//! At every byte the next four are looked up in a table of bits (`grams.rs`) that says whether they stand for a keyword. The
//! table stays in the nearest cache, and no look has to wait for the one before, as the steps of an automaton would; an
//! automaton of all keywords takes megabytes besides, and milliseconds to build.

use crate::grams::{Grams, STRETCH, Window};
use crate::prepared::Prepared;
use crate::rule::{Rule, Shape};
use crate::rules::RULES;
use crate::scan::is_word;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Few enough keywords begin in a row that those of two bytes are soon put in their places.
const ROW: usize = 8 * STRETCH;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeywordId(pub(crate) u16);

impl KeywordId {
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

pub(crate) struct KeywordSearch {
    rules: Vec<Prepared>,
    keywords: Vec<Keyword>,
    /// Keywords of three bytes and more, by the three or four bytes of them that are rarest in texts.
    grams: Grams,
    /// Shorter ones, by their first byte and their second.
    pairs: BTreeMap<u8, BTreeMap<u8, KeywordId>>,
}

pub(crate) struct Keyword {
    /// In lower case.
    pub(crate) word: Vec<u8>,
    /// The rules that it belongs to.
    rules: Vec<usize>,
    /// Whether only tokens begin with it: in one of these spellings.
    pub(crate) spellings: Option<Vec<&'static str>>,
    /// Whether no rule of it fits inside a word.
    pub(crate) begins_word: bool,
}

impl Keyword {
    fn new(word: Vec<u8>, rules: Vec<usize>, all: &[&'static Rule]) -> Self {
        let of: Vec<&'static Rule> = rules.iter().filter_map(|&index| all.get(index).copied()).collect();
        let tokens = of.iter().all(|rule| matches!(rule.shape, Shape::Token(_)));
        let spelled = |rule: &&'static Rule| {
            rule.keywords.iter().copied().filter(|keyword| keyword.as_bytes().eq_ignore_ascii_case(&word))
        };
        let spellings = tokens.then(|| of.iter().flat_map(spelled).collect());
        let whole = |rule: &&Rule| matches!(rule.shape, Shape::Token(_) | Shape::Option(_) | Shape::Command(_));
        Self { begins_word: of.iter().all(whole), word, rules, spellings }
    }

    /// Its spelling, if there is only one.
    pub(crate) fn only_spelling(&self) -> Option<&'static str> {
        let [first, rest @ ..] = self.spellings.as_deref()? else { return None };
        rest.iter().all(|other| other == first).then_some(*first)
    }

    /// Whether it stands at `start`, spelled as it has to be.
    fn is_at(&self, text: &[u8], start: usize) -> bool {
        text.get(start..start + self.word.len()).is_some_and(|here| here.eq_ignore_ascii_case(&self.word))
            && self.may_stand(text, start)
    }

    /// Whether it may stand at `start`, where its letters are.
    fn may_stand(&self, text: &[u8], start: usize) -> bool {
        let before = start.checked_sub(1).and_then(|index| text.get(index));
        let inside = self.begins_word && before.is_some_and(|&byte| is_word(byte) || byte == b'-');
        let here = text.get(start..start + self.word.len()).unwrap_or_default();
        let spelled = |spellings: &Vec<&str>| spellings.iter().any(|spelling| spelling.as_bytes() == here);
        !inside && self.spellings.as_ref().is_none_or(spelled)
    }
}

/// A keyword that was read. Their order is that of their ends; of those with the same end the longest is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    end: usize,
    start: usize,
    keyword: KeywordId,
}

impl KeywordSearch {
    fn new(rules: &[&'static Rule]) -> Self {
        let mut by_word: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in rule.keywords {
                let of = by_word.entry(keyword.to_ascii_lowercase().into_bytes()).or_default();
                if of.last() != Some(&index) {
                    of.push(index);
                }
            }
        }
        let keywords: Vec<Keyword> = by_word.into_iter().map(|(word, of)| Keyword::new(word, of, rules)).collect();
        let mut pairs = BTreeMap::<u8, BTreeMap<u8, KeywordId>>::new();
        for (id, keyword) in (0..).map(KeywordId).zip(&keywords) {
            if let [first, second] = *keyword.word.as_slice() {
                pairs.entry(first).or_default().insert(second, id);
            }
        }
        let rules = rules.iter().map(|rule| Prepared::new(rule)).collect();
        Self { rules, grams: Grams::new(&keywords), keywords, pairs }
    }

    /// The rules to try at a keyword.
    pub(crate) fn rules_of(&self, hit: Hit) -> impl Iterator<Item = &Prepared> {
        let rules = self.keywords.get(hit.keyword.index()).map_or(&[][..], |keyword| keyword.rules.as_slice());
        rules.iter().filter_map(|&index| self.rules.get(index))
    }

    /// Calls `check` with every keyword and where it begins, in the order of their ends; of those with the same end, the
    /// longest is first.
    pub(crate) fn each(&self, text: &[u8], mut check: impl FnMut(usize, Hit)) {
        let mut found = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let to = text.len().min(from + BLOCK);
            self.read(text, from, to, &mut found);
            // Those that end behind the block come with what ends there, too.
            let decided = found.partition_point(|found: &Found| found.end <= to);
            for Found { start, end, keyword } in found.drain(..decided) {
                check(start, Hit { keyword, end });
            }
            from = to;
        }
    }

    /// Finds the keywords whose grams begin in a block.
    fn read(&self, text: &[u8], from: usize, to: usize, found: &mut Vec<Found>) {
        let mut places = Places::default();
        let mut row = from;
        while row < to {
            let stop = to.min(row + ROW);
            places.read(&self.grams, text, row, stop);
            for (place, window) in places.windows(text, row) {
                self.compare(text, place, window, found);
            }
            self.read_pairs(text, row, stop, found);
            row = stop;
        }
    }

    /// Finds the keywords of two bytes that begin in a stretch.
    fn read_pairs(&self, text: &[u8], from: usize, to: usize, found: &mut Vec<Found>) {
        for (&first, seconds) in &self.pairs {
            let stretch = text.get(from..to).unwrap_or_default();
            for place in memchr::memchr2_iter(first, first.to_ascii_uppercase(), stretch) {
                let second = text.get(from + place + 1).and_then(|byte| seconds.get(&byte.to_ascii_lowercase()));
                if let Some(&id) = second {
                    self.find_at(text, from + place, id, found);
                }
            }
        }
    }

    /// Finds the keywords whose gram stands at `place`.
    fn compare(&self, text: &[u8], place: usize, window: Window, found: &mut Vec<Found>) {
        for digest in window.digests() {
            for gram in self.grams.with(digest) {
                let Some(start) = gram.keyword_start(text, place) else { continue };
                match gram.whole_end(text, start) {
                    Some(end) => insert(found, Found { end, start, keyword: gram.id }),
                    None => self.find_at(text, start, gram.id, found),
                }
            }
        }
    }

    fn find_at(&self, text: &[u8], start: usize, id: KeywordId, found: &mut Vec<Found>) {
        if let Some(keyword) = self.keywords.get(id.index()).filter(|keyword| keyword.is_at(text, start)) {
            insert(found, Found { end: start + keyword.word.len(), start, keyword: id });
        }
    }
}

/// Where grams stand in a row.
struct Places {
    places: [u16; ROW + AT_ONCE],
    count: usize,
}

/// So many places of a stretch are noted without a look at how many there are: more are rare.
const AT_ONCE: usize = 4;

impl Default for Places {
    fn default() -> Self {
        Self { places: [0; ROW + AT_ONCE], count: 0 }
    }
}

impl Places {
    /// Finds the places between `from` and `to`. Hardly a branch depends on the text: which way it goes could not be
    /// foretold.
    fn read(&mut self, grams: &Grams, text: &[u8], from: usize, to: usize) {
        let mut count = 0;
        for start in (from..to).step_by(STRETCH) {
            let rest = text.get(start..).unwrap_or_default();
            let mut left = match rest.first_chunk() {
                Some(stretch) => grams.places(stretch),
                None => grams.places(&padded(rest)),
            };
            let found = left.count_ones() as usize;
            let mut to = count;
            while let Some(next) = self.places.get_mut(to..).and_then(|places| places.first_chunk_mut::<AT_ONCE>()) {
                for place in next {
                    *place = (start - from + left.trailing_zeros() as usize) as u16;
                    left &= left.wrapping_sub(1);
                }
                to += AT_ONCE;
                if left == 0 {
                    break;
                }
            }
            count += found;
        }
        self.count = 0;
        for index in 0..count.min(ROW) {
            let place = self.places[index];
            let known = window_at(text, from + usize::from(place)).is_some_and(|window| grams.has(window));
            self.places[self.count] = place;
            self.count += usize::from(known);
        }
    }

    /// The places that were found from `from` on, with what stands there.
    fn windows(&self, text: &[u8], from: usize) -> impl Iterator<Item = (usize, Window)> {
        let places = self.places.iter().take(self.count).map(move |&place| from + usize::from(place));
        places.filter_map(|place| Some((place, window_at(text, place)?)))
    }
}

/// The next four bytes.
#[inline]
fn window_at(text: &[u8], place: usize) -> Option<Window> {
    let rest = text.get(place..)?;
    Some(Window::new(rest.first_chunk().copied().unwrap_or_else(|| padded(rest))))
}

/// The last bytes of a text, with zeros behind them.
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    padded
}

/// Keywords are found nearly in order.
fn insert(found: &mut Vec<Found>, new: Found) {
    if found.last().is_none_or(|last| *last < new) {
        return found.push(new);
    }
    let place = found.iter().rposition(|earlier| *earlier < new).map_or(0, |last| last + 1);
    found.insert(place, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every keyword at every place, by comparing them one by one.
    fn one_by_one(search: &KeywordSearch, text: &[u8]) -> Vec<(usize, usize)> {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let mut all = Vec::new();
        for end in 0..=text.len() {
            let ends = |(index, keyword): (usize, &Keyword)| {
                let start = end.checked_sub(keyword.word.len())?;
                let bytes = text.get(start..end).filter(|bytes| bytes.eq_ignore_ascii_case(&keyword.word))?;
                let spelled =
                    keyword.spellings.as_ref().is_none_or(|all| all.iter().any(|one| one.as_bytes() == bytes));
                let apart = !keyword.begins_word || start == 0 || !word(text[start - 1]);
                (spelled && apart).then_some((end, index, keyword.word.len()))
            };
            let mut here: Vec<_> = search.keywords.iter().enumerate().filter_map(ends).collect();
            here.sort_by_key(|(.., length)| std::cmp::Reverse(*length));
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
            for spelling in keyword.spellings.iter().flatten() {
                text.extend_from_slice(spelling.as_bytes());
                text.extend_from_slice(&b"\n\"= "[..index % 5]);
            }
        }
        for text in [
            text.as_slice(),
            b"",
            b"+",
            b"+1",
            b"a+9",
            b"ghp_",
            b"-ghp_",
            b"key",
            b"ke",
            "пароль".as_bytes(),
            b"tok_+1",
        ] {
            let mut found = Vec::new();
            search.each(text, |_, hit| found.push((hit.end, hit.keyword.index())));
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
            search.each(&text, |_, hit| ends.push(hit.end));
            assert!(ends.is_sorted() && ends.last() == Some(&text.len()), "{ends:?}");
            let count = one_by_one(search, b"api_key_password").len();
            assert_eq!(ends.len(), count, "{shift}");
        }
    }
}
