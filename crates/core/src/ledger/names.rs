//! Names: the paths, identifiers and hashes of a text, as small numbers.
//!
//! What agents lose when history goes are exact names. The ledger values a line by the names that it
//! keeps, so every name is interned once and lines are compared by numbers.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Shorter words are syntax, not names.
const SHORTEST: usize = 4;
/// Longer runs are payload (base64, minified text), not names.
const LONGEST: usize = 120;

/// What a name looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// Has a slash or a file extension.
    Path,
    /// Written as programs write: `snake_case`, `camelCase`, `HTTP2`, `v1`.
    Identifier,
    /// A run of hexadecimal digits, as commits and ids have.
    Hash,
    /// A plain word.
    Word,
}

/// Calls `found` for every name of `text`, in order. A path is followed by its last component.
pub fn scan<'a>(text: &'a str, mut found: impl FnMut(&'a str, NameKind)) {
    let bytes = text.as_bytes();
    let class_at = |at: usize| bytes.get(at).map_or(0, |&byte| class(byte));
    let mut at = 0;
    while at < bytes.len() {
        let mut seen = class_at(at);
        if seen == 0 {
            at += 1;
            continue;
        }
        let start = at;
        loop {
            at += 1;
            match class_at(at) {
                0 => break,
                class => seen |= class,
            }
        }
        if at - start >= SHORTEST
            && at - start <= LONGEST
            && seen & (LOWER | UPPER) != 0
            && let Some(run) = text.get(start..at)
        {
            match seen {
                LOWER => found(run, NameKind::Word),
                _ if seen & JOIN == 0 => found_word(run, &mut found),
                _ => scan_run(run, &mut found),
            }
        }
    }
}

/// What a byte is to a name; nothing of it is no part of a name.
pub(super) const fn class(byte: u8) -> u8 {
    CLASSES[byte as usize]
}

pub(super) const LOWER: u8 = 1;
pub(super) const UPPER: u8 = 2;
pub(super) const DIGIT: u8 = 4;
pub(super) const UNDER: u8 = 8;
/// Joins words: dot, dash, slash.
pub(super) const JOIN: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDER,
            b'.' | b'-' | b'/' => JOIN,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// A run of name characters: a path, or identifiers joined by dots and dashes.
fn scan_run<'a>(run: &'a str, found: &mut impl FnMut(&'a str, NameKind)) {
    let run = run.trim_start_matches(['.', '-']).trim_end_matches(['/', '.', '-']);
    if run.len() < SHORTEST {
        return;
    }
    match memchr::memrchr(b'/', run.as_bytes()) {
        Some(slash) => {
            found(run, NameKind::Path);
            scan_file_name(run.get(slash + 1..).unwrap_or_default(), found);
        }
        None => scan_file_name(run, found),
    }
}

fn scan_file_name<'a>(name: &'a str, found: &mut impl FnMut(&'a str, NameKind)) {
    if has_extension(name) {
        found(name, NameKind::Path);
    }
    let mut start = 0;
    for end in joints(name).chain([name.len()]) {
        if end - start >= SHORTEST
            && let Some(word) = name.get(start..end)
        {
            found_word(word, found);
        }
        start = end + 1;
    }
}

/// Where words of a file name are joined.
fn joints(name: &str) -> impl Iterator<Item = usize> {
    name.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'.' | b'-')).map(|(at, _)| at)
}

/// Whether a name ends in a dot and up to five small letters and digits, and not digits alone.
fn has_extension(name: &str) -> bool {
    let mut seen = 0;
    for (length, byte) in name.bytes().rev().enumerate().take(7) {
        match class(byte) {
            JOIN if byte == b'.' => return seen & LOWER != 0 && length + 1 < name.len(),
            class @ (LOWER | DIGIT) if length < 5 => seen |= class,
            _ => return false,
        }
    }
    false
}

fn found_word<'a>(word: &'a str, found: &mut impl FnMut(&'a str, NameKind)) {
    if let Some(kind) = kind_of(word) {
        found(word, kind);
    }
}

/// What a single word is; `None` for numbers.
fn kind_of(word: &str) -> Option<NameKind> {
    let (mut seen, mut hex, mut capitals, mut hump, mut previous) = (0, true, 0, false, 0);
    for byte in word.bytes() {
        let class = class(byte);
        seen |= class;
        hex &= matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        capitals += usize::from(class == UPPER);
        hump |= class == UPPER && previous == LOWER;
        previous = class;
    }
    Some(match () {
        () if seen & (LOWER | UPPER) == 0 => return None,
        () if hex && word.len() >= 7 && seen & DIGIT != 0 => NameKind::Hash,
        () if seen & (UNDER | DIGIT) != 0 || hump || (capitals > 1 && seen & LOWER != 0) => NameKind::Identifier,
        () => NameKind::Word,
    })
}

/// Names as small numbers. Two names are the same when their hashes are: a collision among the
/// names of one conversation is rarer than a typing error, and costs one line.
///
/// A conversation has more names than the nearest caches hold, so a lookup costs what the memory takes: a slot is eight
/// bytes, and the one that a hash points to mostly answers.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// A power of two of them, at most half of them used.
    slots: Vec<Slot>,
    kinds: Vec<NameKind>,
    hashes: Vec<u64>,
}

/// Half of a hash, and the number of the name that has it; no number is free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    check: u32,
    number: u32,
}

/// The slots of a small conversation.
const FEWEST_SLOTS: usize = 1 << 12;

impl Names {
    /// The number of a name.
    pub fn intern(&mut self, name: &str, kind: NameKind) -> u32 {
        let hash = hash(name);
        if self.slots.len() < 2 * (self.kinds.len() + 1) {
            self.grow();
        }
        let place = self.place(hash);
        let next = self.kinds.len() as u32;
        match self.slots.get_mut(place) {
            Some(slot) if slot.number > 0 => slot.number - 1,
            slot => {
                if let Some(slot) = slot {
                    *slot = Slot { check: check(hash), number: next + 1 };
                }
                self.kinds.push(kind);
                self.hashes.push(hash);
                next
            }
        }
    }

    /// The number of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.slots.get(self.place(hash(name)))?.number.checked_sub(1)
    }

    /// The slot that has a hash, or the free one where it would be.
    fn place(&self, hash: u64) -> usize {
        let last = self.slots.len().wrapping_sub(1);
        let mut place = hash as usize & last;
        while self.slots.get(place).is_some_and(|slot| slot.number > 0 && slot.check != check(hash)) {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        self.slots = vec![Slot::default(); (2 * self.slots.len()).max(FEWEST_SLOTS)];
        for (number, &hash) in (1..).zip(&self.hashes) {
            let place = self.place(hash);
            if let Some(slot) = self.slots.get_mut(place) {
                *slot = Slot { check: check(hash), number };
            }
        }
    }

    /// What a name looks like.
    pub fn kind(&self, id: u32) -> NameKind {
        self.kinds.get(id as usize).copied().unwrap_or(NameKind::Word)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

/// The half of a hash that does not choose the slot.
const fn check(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&str, NameKind)> {
        let mut all = Vec::new();
        scan(text, |name, kind| all.push((name, kind)));
        all
    }

    #[test]
    fn a_name_keeps_its_number_however_many_come() {
        let mut names = Names::default();
        assert_eq!(names.get("name_0"), None);
        for round in 0..2 {
            for number in 0..20_000 {
                assert_eq!(names.intern(&format!("name_{number}"), NameKind::Word), number, "round {round}");
            }
        }
        assert_eq!((names.get("name_19999"), names.get("other"), names.len()), (Some(19_999), None, 20_000));
    }

    #[test]
    fn a_path_gives_itself_its_file_and_its_words() {
        assert_eq!(
            names("see src/user_store.rs:12."),
            [
                ("src/user_store.rs", NameKind::Path),
                ("user_store.rs", NameKind::Path),
                ("user_store", NameKind::Identifier),
            ]
        );
    }

    #[test]
    fn identifiers_hashes_and_words_are_told_apart() {
        assert_eq!(
            names("call parseHTTP in 3fa9c1e with load_all, then stop 12345"),
            [
                ("call", NameKind::Word),
                ("parseHTTP", NameKind::Identifier),
                ("3fa9c1e", NameKind::Hash),
                ("with", NameKind::Word),
                ("load_all", NameKind::Identifier),
                ("then", NameKind::Word),
                ("stop", NameKind::Word),
            ]
        );
    }
}
