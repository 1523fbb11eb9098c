//! Terms: what a text is about, word by word, in any script.
//!
//! A term is a word, an identifier or a number in lower case. Scripts that put no spaces between words (Han, Kana,
//! Thai and their neighbours) give pairs of neighbouring characters instead: two characters tell topics apart about as
//! well as a word does. Terms are interned as small numbers; what one is worth follows from who used it and how often.

use super::names::{self, DIGIT, JOIN, LOWER, UNDER, UPPER};
use super::weights::Weights;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Who a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// A person.
    User,
    /// The assistant's own words.
    Assistant,
    /// Arguments of its calls: commands, edits, files that it wrote.
    Call,
    /// What tools printed.
    Tool,
}

/// What is seen of a term in a text.
struct FoundTerm {
    /// The same for the same letters in any case.
    digest: u64,
    /// Written as programs write: `snake_case`, `camelCase`.
    coined: bool,
    /// Has a digit.
    number: bool,
}

/// What is known about a term.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// The last text that has it, so that each text counts once.
    last: u32,
    /// Texts that have it, by voice.
    texts: [u32; 4],
    coined: bool,
    number: bool,
}

/// All terms of a conversation.
#[derive(Debug, Default)]
pub(super) struct Terms {
    ids: FxHashMap<u64, u32>,
    usage: Vec<Usage>,
    /// Texts noted so far.
    texts: u32,
}

impl Terms {
    /// Begins a new text: a term counts once in it.
    pub(super) fn begin(&mut self) {
        self.texts += 1;
    }

    /// Notes the terms of a stretch of the current text; appends each of them once to `into`.
    pub(super) fn note(&mut self, text: &str, voice: Voice, into: &mut Vec<u32>) {
        let start = into.len();
        scan(text, &mut |_, found| {
            let id = self.intern(&found);
            if let Some(usage) = self.usage.get_mut(id as usize)
                && usage.last != self.texts
            {
                usage.last = self.texts;
                if let Some(count) = usage.texts.get_mut(voice as usize) {
                    *count += 1;
                }
            }
            into.push(id);
        });
        dedup_from(into, start);
    }

    /// The known terms of a text.
    pub(super) fn known(&self, text: &str, into: &mut Vec<u32>) {
        let start = into.len();
        scan(text, &mut |_, found| into.extend(self.ids.get(&found.digest).copied()));
        dedup_from(into, start);
    }

    /// Whether the assistant came back to a term that somebody else brought up, and it is no word that everybody uses.
    pub(super) fn is_taken_up(&self, term: u32) -> bool {
        let is_said = |usage: &Usage| usage.texts.get(Voice::Assistant as usize).is_some_and(|&said| said > 0);
        self.usage.get(term as usize).is_some_and(is_said) && !self.is_common(term)
    }

    /// Whether a term is everybody's.
    pub(super) fn is_common(&self, term: u32) -> bool {
        self.usage.get(term as usize).is_some_and(|usage| usage.texts.iter().sum::<u32>() * COMMON_SHARE >= self.texts)
    }

    /// Whether a term has a digit.
    pub(super) fn is_number(&self, term: u32) -> bool {
        self.usage.get(term as usize).is_some_and(|usage| usage.number)
    }

    fn intern(&mut self, found: &FoundTerm) -> u32 {
        let next = self.usage.len() as u32;
        let id = *self.ids.entry(found.digest).or_insert(next);
        if id == next {
            self.usage.push(Usage { coined: found.coined, number: found.number, ..Usage::default() });
        } else if found.coined
            && let Some(usage) = self.usage.get_mut(id as usize)
        {
            usage.coined = true;
        }
        id
    }

    /// What each term is worth: used by people and by the assistant, and not in every text.
    pub(super) fn weights(&self, weights: &Weights) -> Vec<f32> {
        let all = log2(self.texts.max(1));
        self.usage
            .iter()
            .map(|usage| {
                let [user, said, called, printed] = usage.texts;
                let used = weights.term_user * f32::from(u8::from(user > 0))
                    + weights.term_assistant * log2(1 + said)
                    + weights.term_call * log2(1 + called)
                    + weights.term_tool * log2(1 + printed);
                let rarity = (all - log2(usage.texts.iter().sum::<u32>().max(1))).max(COMMON);
                let coined = if usage.coined { weights.term_coined } else { 1.0 };
                let number = if usage.number { weights.term_number } else { 1.0 };
                let once = if usage.texts.iter().sum::<u32>() <= 1 { weights.term_once } else { 1.0 };
                used * rarity * coined * number * once
            })
            .collect()
    }
}

/// A term that one text in so many has is everybody's.
const COMMON_SHARE: u32 = 8;

/// What is left of a term that every text has.
const COMMON: f32 = 0.05;

/// A logarithm that is the same on every machine: exact at powers of two, straight lines between them.
fn log2(number: u32) -> f32 {
    let power = number.max(1).ilog2();
    let base = (1_u32 << power) as f32;
    power as f32 + (number.max(1) as f32 / base - 1.0)
}

fn dedup_from(terms: &mut Vec<u32>, start: usize) {
    if let Some(new) = terms.get_mut(start..) {
        new.sort_unstable();
    }
    let mut kept = start;
    for at in start..terms.len() {
        if at == start || terms.get(at) != terms.get(kept.wrapping_sub(1)) {
            let term = terms.get(at).copied().unwrap_or_default();
            if let Some(slot) = terms.get_mut(kept) {
                *slot = term;
            }
            kept += 1;
        }
    }
    terms.truncate(kept);
}

/// The digest of a word in any letters.
fn digest(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    word.chars().flat_map(char::to_lowercase).for_each(|c| hasher.write_u32(c as u32));
    hasher.finish()
}

/// The digest of the word at `start..end`, which is letters, digits and `_` of ASCII. In these one bit is the case of a
/// letter or says nothing.
fn ascii_digest(bytes: &[u8], start: usize, end: usize) -> u64 {
    let mut hasher = FxHasher::default();
    let mut at = start;
    while at + 8 <= end {
        hasher.write_u64(eight(bytes, at) | LOWER_BITS);
        at += 8;
    }
    // What stands behind the word does not count, nor does its case.
    let rest = (1 << (8 * (end - at))) - 1;
    hasher.write_u64((eight(bytes, at) | LOWER_BITS) & rest);
    hasher.finish()
}

/// Eight bytes as a number; zeros stand behind the end of the text.
fn eight(bytes: &[u8], at: usize) -> u64 {
    let ahead = bytes.get(at..).unwrap_or_default();
    let whole = ahead.first_chunk::<8>().copied();
    u64::from_le_bytes(whole.unwrap_or_else(|| {
        let mut last = [0; 8];
        last.iter_mut().zip(ahead).for_each(|(slot, byte)| *slot = *byte);
        last
    }))
}

/// The bit of lower case in each of eight bytes.
const LOWER_BITS: u64 = 0x2020_2020_2020_2020;

/// A single letter is no word.
const SHORTEST: usize = 2;
/// Longer runs are payload (base64, minified text), not words.
const LONGEST: usize = 64;

/// Calls `found` with every term of a text.
fn scan<'a>(text: &'a str, found: &mut impl FnMut(&'a str, FoundTerm)) {
    let bytes = text.as_bytes();
    let class_at = |at: usize| bytes.get(at).map_or(0, |&byte| class(byte));
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let mut seen = class(byte);
        if seen == 0 && byte.is_ascii() {
            at += 1;
            continue;
        }
        loop {
            match class_at(at) {
                0 => break,
                class => seen |= class,
            }
            at += 1;
        }
        // A word that goes on in other letters is read with them.
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            at = scan_letters(text, start, found);
        } else if (SHORTEST..=LONGEST).contains(&(at - start))
            && let Some(word) = text.get(start..at)
        {
            let digest = ascii_digest(bytes, start, at);
            let coined = seen & UNDER != 0 || (seen & LOWER != 0 && seen & UPPER != 0 && has_hump(word));
            found(word, FoundTerm { digest, coined, number: seen & DIGIT != 0 });
        }
    }
}

/// What a byte is to a word; nothing of it is no part of one, or beyond ASCII.
const fn class(byte: u8) -> u8 {
    names::class(byte) & !JOIN
}

/// Whether a capital stands behind a small letter.
fn has_hump(word: &str) -> bool {
    let mut behind = word.bytes().skip_while(|byte| !byte.is_ascii_lowercase());
    behind.any(|byte| byte.is_ascii_uppercase())
}

/// Reads a run that has letters beyond ASCII; returns where it ends.
fn scan_letters<'a>(text: &'a str, start: usize, found: &mut impl FnMut(&'a str, FoundTerm)) -> usize {
    let mut end = start;
    let mut previous: Option<(usize, char)> = None;
    let mut begun = start;
    for (offset, c) in text.get(start..).unwrap_or_default().char_indices() {
        let at = start + offset;
        let is_part = c.is_alphanumeric() || c == '_' || is_joined_mark(c);
        if !is_part {
            if offset == 0 {
                return at + c.len_utf8();
            }
            end = at;
            break;
        }
        if is_unspaced(c) {
            if begun < at && previous.is_none() {
                word(text, begun, at, found);
            }
            if let Some((before, _)) = previous
                && let Some(pair) = text.get(before..at + c.len_utf8())
            {
                found(pair, FoundTerm { digest: digest(pair), coined: false, number: false });
            }
            previous = Some((at, c));
            begun = at + c.len_utf8();
        } else if previous.take().is_some() {
            begun = at;
        }
        end = at + c.len_utf8();
    }
    if begun < end && previous.is_none() {
        word(text, begun, end, found);
    }
    end.max(start + 1)
}

/// Scripts that write without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0EFF      // Thai, Lao
        | 0x1000..=0x109F    // Myanmar
        | 0x1780..=0x17FF    // Khmer
        | 0x3040..=0x30FF    // Kana
        | 0x3400..=0x9FFF    // Han
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}

/// Marks that belong to the letter before them, as Indic scripts and Arabic have.
fn is_joined_mark(c: char) -> bool {
    matches!(c as u32, 0x0300..=0x036F | 0x064B..=0x065F | 0x0900..=0x0DFF | 0x200C..=0x200D)
}

fn word<'a>(text: &'a str, start: usize, end: usize, found: &mut impl FnMut(&'a str, FoundTerm)) {
    let Some(word) = text.get(start..end).filter(|word| (SHORTEST..=LONGEST).contains(&word.len())) else {
        return;
    };
    let digest = if word.is_ascii() { ascii_digest(text.as_bytes(), start, end) } else { digest(word) };
    let coined = word.contains('_') || has_hump(word);
    let number = word.bytes().any(|byte| byte.is_ascii_digit());
    found(word, FoundTerm { digest, coined, number });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        scan(text, &mut |word, _| all.push(word.to_owned()));
        all
    }

    #[test]
    fn words_of_any_script_are_found() {
        assert_eq!(words("Let me look at `git_dir`, v2."), ["Let", "me", "look", "at", "git_dir", "v2"]);
        assert_eq!(words("Größe: 3,5 cm für Ärzte"), ["Größe", "cm", "für", "Ärzte"]);
        assert_eq!(words("不要猪肉。"), ["不要", "要猪", "猪肉"]);
        assert_eq!(words("予算は42万"), ["予算", "算は", "42"]);
        assert_eq!(words("لا تقترح لحم"), ["لا", "تقترح", "لحم"]);
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
        assert!(words(&"x".repeat(100)).is_empty());
    }

    #[test]
    fn case_does_not_matter_and_each_text_counts_once() {
        let mut terms = Terms::default();
        let mut ids = Vec::new();
        terms.begin();
        terms.note("Index index INDEX Straße", Voice::User, &mut ids);
        assert_eq!(ids.len(), 2);
        let mut known = Vec::new();
        terms.known("STRASSE straße index other", &mut known);
        assert_eq!(known.len(), 2);
        assert_eq!(terms.usage.first().map(|usage| usage.texts), Some([1, 0, 0, 0]));
    }

    #[test]
    fn logarithms_rise() {
        assert_eq!((log2(1), log2(2), log2(8)), (0.0, 1.0, 3.0));
        assert!((1..1_000).all(|number| log2(number) < log2(number + 1)));
    }
}
