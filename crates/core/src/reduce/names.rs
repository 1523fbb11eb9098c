//! Decides what counts as a name in a text, and what it is worth.

use rustc_hash::FxHasher;
use std::hash::Hasher;

use super::block::{BLOCK, Block};
use super::words::is_common;

/// Shorter words are syntax.
const SHORTEST: usize = 4;
/// Longer ones are data.
const LONGEST: usize = 64;

/// A name: a run of letters, digits and underscores that starts with no digit and has four characters.
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

    /// What a name is worth: a coined one can be searched for, a common word cannot. The ratio is measured: a higher one
    /// keeps hardly more of the names that agents use later, and loses other words.
    pub(super) fn worth(self) -> u32 {
        if self.length > LONGEST || is_common(self.text()) {
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
pub(super) fn each_name<'a>(text: &'a str, mut take: impl FnMut(Name<'a>)) {
    let mut open: Option<Run> = None;
    for base in (0..text.len()).step_by(BLOCK) {
        let mut block = Block::at(text.as_bytes(), base);
        if let Some(mut run) = open.take() {
            run.go_on(&mut block, base);
            match block.is_full() {
                true => {
                    open = Some(run);
                    continue;
                }
                false => run.hand(text, &mut take),
            }
        }
        while let Some(first) = block.first() {
            let run = Run::from(&mut block, first, base);
            if run.end == base + BLOCK {
                open = Some(run);
                break;
            }
            run.hand(text, &mut take);
        }
    }
    if let Some(run) = open {
        run.hand(text, &mut take);
    }
}

/// Letters, digits and underscores without a gap.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    /// Bits of it that are digits or underscores, capitals, small letters; none when there are none.
    joint: u64,
    upper: u64,
    lower: u64,
}

impl Run {
    #[inline]
    fn from(block: &mut Block, first: u32, base: usize) -> Run {
        let bits = block.take_run(first);
        // What its first byte is makes no name coined, but for a small one before capitals.
        let inner = bits & (bits - 1);
        Run {
            start: base + first as usize,
            end: base + end_of(bits),
            joint: block.joint & inner,
            upper: block.upper & inner,
            lower: block.lower & bits,
        }
    }

    /// Goes on with what begins the next block.
    fn go_on(&mut self, block: &mut Block, base: usize) {
        let bits = block.take_run(0);
        self.end = base + end_of(bits);
        self.joint |= block.joint & bits;
        self.upper |= block.upper & bits;
        self.lower |= block.lower & bits;
    }

    #[inline]
    fn hand<'a>(self, text: &'a str, take: &mut impl FnMut(Name<'a>)) {
        let length = self.end - self.start;
        if length >= SHORTEST && !text.as_bytes().get(self.start).is_some_and(u8::is_ascii_digit) {
            let coined = self.joint != 0 || self.upper != 0 && self.lower != 0;
            take(Name { source: text, at: self.start, length, coined });
        }
    }
}

/// Where the last bit of a run ends.
#[inline]
fn end_of(run: u64) -> usize {
    BLOCK - run.leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Name<'_>> {
        let mut found = Vec::new();
        each_name(text, |name| found.push(name));
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
        let name = "a".repeat(60) + "_Z9" + &"bC".repeat(40);
        for blanks in 0..140 {
            let text = format!("{}{name} 12ab {}", " ".repeat(blanks), &name[..5]);
            let found: Vec<_> = names(&text).into_iter().map(|name| (name.at, name.text(), name.coined)).collect();
            assert_eq!(found, [(blanks, &*name, true), (blanks + name.len() + 6, "aaaaa", false)], "{blanks} blanks");
        }
    }

    #[test]
    fn coined_names_are_worth_more_than_words() {
        assert!(name("saveStep").worth() > name("storage").worth());
        assert_eq!(name("Return").worth(), 0);
    }
}
