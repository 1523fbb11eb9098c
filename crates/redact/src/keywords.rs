//! Finds the keywords of all rules in one pass.
//!
//! At every byte the next four are looked up in a table of bits that says whether they stand for a keyword: each keyword is
//! searched by the part of it that other words have least. The table stays in the nearest cache, and no look has to wait for
//! the one before, as the steps of an automaton would; an automaton of all keywords takes megabytes besides, and
//! milliseconds to build.

use crate::rule::{Rule, Shape, compile};
use crate::rules::RULES;
use crate::scan::is_word;
use regex::bytes::Regex;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
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
    lead: OnceLock<Option<Lead>>,
}

/// What a pattern begins with: at least so many bytes of one kind. Most tries of a pattern end there, and counting bytes
/// takes a tenth of the time that asking a pattern takes.
#[derive(Debug)]
pub(crate) struct Lead {
    inside: [bool; 256],
    pub(crate) fewest: usize,
}

impl Lead {
    /// Reads a pattern like `[A-Z0-9]{20,}…`. Others have no lead.
    fn of(pattern: &str) -> Option<Self> {
        let class_end = match pattern.as_bytes() {
            [b'[', ..] => pattern.find(']')? + 1,
            [b'\\', b'w' | b'd', ..] => 2,
            _ => return None,
        };
        let (class, rest) = pattern.split_at_checked(class_end)?;
        let count = rest.strip_prefix('{')?;
        let digits = count.find(|sign: char| !sign.is_ascii_digit())?;
        let fewest = count.get(..digits)?.parse().ok().filter(|_| !rest.contains('|'))?;
        let one = compile(&format!(r"\A{class}\z"))?;
        let mut inside = [false; 256];
        for (byte, inside) in (0..=u8::MAX).zip(&mut inside) {
            *inside = one.is_match(&[byte]);
        }
        Some(Self { inside, fewest })
    }

    /// How many of the bytes that it needs stand at the beginning of a text.
    pub(crate) fn count(&self, text: &[u8]) -> usize {
        text.iter().take(self.fewest).take_while(|byte| self.inside[usize::from(**byte)]).count()
    }
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
    fn new(rule: &'static Rule) -> Self {
        Self { rule, regex: OnceLock::new(), lead: OnceLock::new() }
    }

    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| self.rule.compile()).as_ref()
    }

    pub(crate) fn lead(&self) -> Option<&Lead> {
        self.lead.get_or_init(|| self.rule.pattern().and_then(Lead::of)).as_ref()
    }

    /// Searches from `from` on, which may lie behind the end: a value may go on where the arguments that are searched end.
    /// Groups cost several times as much as the end of a match; where the secret begins at the end, they are not asked for.
    pub(crate) fn search(&self, text: &[u8], from: usize) -> Option<Secret> {
        let regex = self.regex().filter(|_| from <= text.len())?;
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
    /// Keywords of three bytes and more, by the three or four bytes of them that are rarest in texts.
    grams: Grams,
    /// Shorter ones, by their first byte and their second.
    pairs: BTreeMap<u8, BTreeMap<u8, KeywordId>>,
}

struct Keyword {
    /// In lower case.
    word: Vec<u8>,
    /// The rules that it belongs to.
    rules: Vec<usize>,
    /// Whether only tokens begin with it: in one of these spellings.
    spellings: Option<Vec<&'static str>>,
    /// Whether no rule of it fits inside a word.
    begins_word: bool,
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
        let (mut grams, mut pairs) = (Vec::new(), BTreeMap::<u8, BTreeMap<u8, KeywordId>>::new());
        for (id, keyword) in (0..).map(KeywordId).zip(&keywords) {
            match *keyword.word.as_slice() {
                [a, b, c] => grams.push(([a, b, c, 0], Gram::new(id, 0, keyword), EVERY_FOURTH)),
                [first, second] => _ = pairs.entry(first).or_default().insert(second, id),
                _ => grams.extend(
                    rarest_gram(&keyword.word)
                        .map(|(gram, offset)| (gram, Gram::new(id, offset, keyword), fourth(gram))),
                ),
            }
        }
        let rules = rules.iter().map(|rule| Prepared::new(rule)).collect();
        Self { rules, keywords, grams: Grams::new(&grams), pairs }
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
        let mut places = [0_u16; STRETCH];
        let mut start = from;
        while start < to {
            let stop = to.min(start + STRETCH);
            let stretch = text.get(start..text.len().min(stop + WINDOW - 1)).unwrap_or_default();
            let mut count = 0;
            // Without a branch: which places are kept cannot be foretold.
            for (place, &window) in (0_u16..).zip(stretch.array_windows::<WINDOW>()) {
                places[count % STRETCH] = place;
                count += usize::from(self.grams.may_be(window));
            }
            // The last bytes of the text begin no whole window.
            let whole = (stretch.len() + 1).saturating_sub(WINDOW);
            let places = places.get(..count).unwrap_or_default().iter().map(|&place| usize::from(place));
            for place in places.chain(whole..stop - start) {
                self.compare(text, start + place, found);
            }
            self.read_pairs(text, start, stop, found);
            start = stop;
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

    /// Finds the keywords whose gram begins at `place`.
    #[inline]
    fn compare(&self, text: &[u8], place: usize, found: &mut Vec<Found>) {
        let mut window = [0; WINDOW];
        match text.get(place..).and_then(|rest| rest.first_chunk()) {
            Some(whole) => window = *whole,
            None => window.iter_mut().zip(text.get(place..).unwrap_or_default()).for_each(|(to, from)| *to = *from),
        }
        for gram in self.grams.of(window) {
            let Some(start) = place.checked_sub(gram.offset.into()) else { continue };
            match text.get(start..).and_then(|rest| rest.first_chunk()) {
                Some(&head) if !gram.fits(head) => {}
                Some(_) if gram.is_whole => {
                    insert(found, Found { end: start + gram.length(), start, keyword: gram.id })
                }
                _ => self.find_at(text, start, gram.id, found),
            }
        }
    }

    fn find_at(&self, text: &[u8], start: usize, id: KeywordId, found: &mut Vec<Found>) {
        if let Some(keyword) = self.keywords.get(id.index()).filter(|keyword| keyword.is_at(text, start)) {
            insert(found, Found { end: start + keyword.word.len(), start, keyword: id });
        }
    }
}

/// Keywords are found nearly in order.
fn insert(found: &mut Vec<Found>, new: Found) {
    if found.last().is_none_or(|last| *last < new) {
        return found.push(new);
    }
    let place = found.iter().rposition(|earlier| *earlier < new).map_or(0, |last| last + 1);
    found.insert(place, new);
}

/// Bytes that are looked at together.
const WINDOW: usize = 4;
/// Bytes of a keyword that are compared at once.
const HEAD: usize = 8;
/// Places are collected over so many bytes, then looked at.
const STRETCH: usize = 512;

/// A part of a keyword that is searched for.
#[derive(Debug, Clone, Copy)]
struct Gram {
    id: KeywordId,
    /// Where it stands in the keyword.
    offset: u8,
    /// Whether nothing is left to compare where the first bytes fit.
    is_whole: bool,
    /// The first bytes of the keyword, in small letters.
    head: u64,
    /// Which of them count.
    mask: u64,
    /// The bit of lower case, where there are letters.
    letters: u64,
}

impl Gram {
    fn new(id: KeywordId, offset: u8, keyword: &Keyword) -> Self {
        let word = &keyword.word;
        let mut head = [0; HEAD];
        head.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
        let counted = u32::try_from(word.len().min(HEAD)).unwrap_or(0);
        Self {
            id,
            offset,
            is_whole: word.len() <= HEAD && keyword.spellings.is_none() && !keyword.begins_word,
            head: u64::from_le_bytes(head),
            mask: u64::MAX >> (u64::BITS - 8 * counted),
            letters: u64::from_le_bytes(head.map(|byte| if byte.is_ascii_lowercase() { 0x20 } else { 0 })),
        }
    }

    /// Whether the keyword begins so.
    #[inline]
    fn fits(&self, head: [u8; HEAD]) -> bool {
        ((u64::from_le_bytes(head) | self.letters) ^ self.head) & self.mask == 0
    }

    /// How many bytes of the keyword are compared.
    fn length(&self) -> usize {
        self.mask.count_ones() as usize / 8
    }
}

/// Which keywords may have some bytes in them.
struct Grams {
    /// For each digest of three bytes, a bit for each kind of fourth byte.
    fourths: Box<[u8; 1 << DIGEST_BITS]>,
    /// For the upper bits of each digest, where its grams begin in `grams`.
    starts: Vec<u16>,
    grams: Vec<Gram>,
}

/// The table takes half of the nearest cache.
const DIGEST_BITS: u32 = 14;
/// Upper bits of a digest that lead to its grams: several times as many values as there are keywords.
const SLOT_BITS: u32 = 12;
/// For keywords of three bytes.
const EVERY_FOURTH: u8 = u8::MAX;

impl Grams {
    fn new(entries: &[([u8; WINDOW], Gram, u8)]) -> Self {
        let mut fourths = Box::new([0; 1 << DIGEST_BITS]);
        for (gram, _, fourth) in entries {
            fourths[digest(*gram)] |= fourth;
        }
        let slot = |gram: [u8; WINDOW]| digest(gram) >> (DIGEST_BITS - SLOT_BITS);
        let mut grams: Vec<(usize, Gram)> = entries.iter().map(|(gram, entry, _)| (slot(*gram), *entry)).collect();
        grams.sort_unstable_by_key(|(slot, gram)| (*slot, gram.id));
        let start = |slot: usize| grams.partition_point(|(of, _)| *of < slot) as u16;
        let starts = (0..=1 << SLOT_BITS).map(start).collect();
        Self { fourths, starts, grams: grams.into_iter().map(|(_, gram)| gram).collect() }
    }

    #[inline]
    fn may_be(&self, window: [u8; WINDOW]) -> bool {
        self.fourths[digest(window)] & fourth(window) != 0
    }

    #[inline]
    fn of(&self, window: [u8; WINDOW]) -> &[Gram] {
        let slot = digest(window) >> (DIGEST_BITS - SLOT_BITS);
        match self.starts.get(slot..slot + 2) {
            Some(&[from, to]) => self.grams.get(usize::from(from)..usize::from(to)).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The four bytes of a keyword that other words have least, and where they stand.
fn rarest_gram(word: &[u8]) -> Option<([u8; WINDOW], u8)> {
    /// How often signs are among a thousand of a text, about; those that are not listed are rare.
    const OFTEN: [(&[u8], u32); 7] = [
        (b" e", 100),
        (b"taoinsr", 65),
        (b"ldchu", 35),
        (b"mfpg", 22),
        (b"wybv", 14),
        (b"k.,_-/\"0123456789", 9),
        (b":;=xj", 4),
    ];
    let share = |byte: &u8| OFTEN.iter().find(|(signs, _)| signs.contains(byte)).map_or(2, |(_, share)| *share);
    let cost = |gram: &[u8; WINDOW]| gram.iter().map(share).product::<u32>();
    let rarest = word.array_windows::<WINDOW>().enumerate().min_by_key(|(_, gram)| cost(gram))?;
    Some((*rarest.1, u8::try_from(rarest.0).ok()?))
}

/// The kind of the fourth byte, as a bit.
#[inline]
fn fourth([.., last]: [u8; WINDOW]) -> u8 {
    1 << (last & 7)
}

/// A digest of the first three bytes that does not mind the case of letters.
///
/// The bit of lower case is set in each byte; others than letters may become the same, and differ when they are compared.
#[inline]
fn digest(window: [u8; WINDOW]) -> usize {
    let three = (u32::from_le_bytes(window) | 0x2020_2020) << 8;
    (three.wrapping_mul(0x9E37_79B1) >> (u32::BITS - DIGEST_BITS)) as usize
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
