//! Decides what counts as a name in a text, and what it is worth.

use rustc_hash::FxHasher;
use std::hash::Hasher;

pub(super) use super::block::Which;
use super::block::{Block, Run};
use super::words::is_common;

/// Shorter words are syntax.
const SHORTEST: usize = 4;
/// A name: a run of letters, digits and underscores that starts with no digit, has four characters and is shorter than
/// a block; what is longer is data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    /// The text that it is in.
    pub source: &'a str,
    /// Where it starts.
    pub at: usize,
    pub length: usize,
    /// True for names that nobody writes in a sentence: `snake_case`, `camelCase`, `v2`.
    pub coined: bool,
}

impl<'a> Name<'a> {
    /// The name itself.
    pub(super) fn text(self) -> &'a str {
        self.source.get(self.at..self.at + self.length).unwrap_or_default()
    }

    /// What the name is in tables. Collisions cost a line that did not have to stay, no more.
    #[inline]
    pub(super) fn key(self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(self.source.as_bytes().get(self.at..self.at + self.length).unwrap_or_default());
        hasher.finish()
    }

    /// What a name is worth: a coined one can be searched for, a common word cannot. The ratio is measured (`foldline eval
    /// DIR`): a higher one keeps hardly more of the names that agents use later, and loses other words.
    pub(super) fn worth(self) -> u32 {
        if is_common(self.text()) {
            0
        } else if self.coined {
            6
        } else {
            1
        }
    }
}

/// Hands out the names of a text, in order. Works on bytes: a letter of another alphabet ends a name as a blank does.
///
/// Reads a block at a time: a block becomes bits, and a run of bits is a name. Words end so irregularly that a processor
/// guesses wrong at the end of each when it goes byte by byte.
#[inline]
pub(super) fn each_name<'a>(source: &'a str, which: Which, mut take: impl FnMut(Name<'a>)) {
    let mut base = 0;
    while let Some(text) = source.as_bytes().get(base..).filter(|text| !text.is_empty()) {
        let mut block = Block::of(text, which);
        while let Some(Run { start, end, coined }) = block.next_run() {
            let is_number = text.get(start).is_some_and(u8::is_ascii_digit);
            if end - start >= SHORTEST && !is_number && (coined || which == Which::All) {
                take(Name { source, at: base + start, length: end - start, coined });
            }
        }
        base += block.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Name<'_>> {
        let mut found = Vec::new();
        each_name(text, Which::All, |name| found.push(name));
        found
    }

    fn name(text: &str) -> Name<'_> {
        *names(text).first().expect("a name")
    }

    #[test]
    fn names_are_found_with_their_places_and_looks() {
        let found: Vec<_> = names("let saveStep = über_all(x1, v200, 9lives, the Word);")
            .into_iter()
            .map(|name| (name.at, name.text(), name.coined))
            .collect();
        assert_eq!(found, [(4, "saveStep", true), (17, "ber_all", true), (29, "v200", true), (47, "Word", false)]);
    }

    #[test]
    fn names_are_the_same_wherever_blocks_end() {
        let name = "a".repeat(60) + "_Z9";
        for (blanks, data) in (0..140).flat_map(|blanks| [0, 64, 65, 200].map(|data| (blanks, data))) {
            let text = format!("{}{name} {} 12ab {}", " ".repeat(blanks), "x".repeat(data), &name[..5]);
            let found: Vec<_> = names(&text).into_iter().map(|name| (name.at, name.text(), name.coined)).collect();
            let last = text.len() - 5;
            assert_eq!(found, [(blanks, &*name, true), (last, "aaaaa", false)], "{blanks} blanks, {data} bytes");
        }
    }

    #[test]
    fn coined_names_are_the_same_without_the_others() {
        let words =
            ["plain", "ab", "aB", "snake_case", "CAPS", "camelCase", "Proper", "v200", "_x", "__init__", "HTTPd"];
        for shift in 0..words.len() * 70 {
            let line = |word: &&str| format!("{word}{}", " ".repeat(1 + shift % 7));
            let text: String = words.iter().cycle().skip(shift).take(40).map(line).collect();
            let mut coined = Vec::new();
            each_name(&text, Which::Coined, |name| coined.push((name.at, name.text())));
            let among_all: Vec<_> =
                names(&text).into_iter().filter(|name| name.coined).map(|name| (name.at, name.text())).collect();
            assert_eq!(coined, among_all);
        }
    }

    #[test]
    fn coined_names_are_worth_more_than_words() {
        assert!(name("saveStep").worth() > name("storage").worth());
        assert_eq!(name("Return").worth(), 0);
    }
}
