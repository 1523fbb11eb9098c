//! Decides what counts as a name in a text, and what it is worth.

use rustc_hash::FxHasher;
use std::hash::Hasher;

use super::words::is_common;

/// Shorter words are syntax.
const SHORTEST: usize = 4;
/// Longer ones are data.
const LONGEST: usize = 64;

/// A name: a run of letters, digits and underscores that starts with no digit and has four characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    /// Where it starts.
    pub at: usize,
    /// The name itself.
    pub text: &'a str,
    /// True for names that nobody writes in a sentence: `snake_case`, `camelCase`, `v2`.
    pub coined: bool,
}

impl Name<'_> {
    /// What the name is in tables. Collisions cost a line that did not have to stay, no more.
    #[inline]
    pub(super) fn key(self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(self.text.as_bytes());
        hasher.finish()
    }

    /// What a name is worth: a coined one can be searched for, a common word cannot. The ratio is measured: a higher one
    /// keeps hardly more of the names that agents use later, and loses other words.
    pub(super) fn worth(self) -> u32 {
        if self.text.len() > LONGEST || is_common(self.text) {
            0
        } else if self.coined {
            6
        } else {
            1
        }
    }
}

/// The names of a text, in order. Works on bytes: a letter of another alphabet ends a name as a blank does.
pub(super) fn names(text: &str) -> impl Iterator<Item = Name<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += bytes.get(at..)?.iter().position(|byte| class(*byte) != 0)?;
            let start = at;
            let first = class(*bytes.get(start)?);
            at += 1;
            let mut inner = 0;
            for byte in bytes.get(at..)? {
                match class(*byte) {
                    0 => break,
                    class => inner |= class,
                }
                at += 1;
            }
            if at - start >= SHORTEST && first != DIGIT {
                let coined = inner & (DIGIT | UNDER) != 0 || inner & UPPER != 0 && (first | inner) & LOWER != 0;
                return text.get(start..at).map(|text| Name { at: start, text, coined });
            }
        }
    })
}

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const UNDER: u8 = 8;

/// What a byte is to a name; nothing of it is no part of a name.
#[inline]
const fn class(byte: u8) -> u8 {
    const CLASSES: [u8; 256] = {
        let mut classes = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' => LOWER,
                b'A'..=b'Z' => UPPER,
                b'0'..=b'9' => DIGIT,
                b'_' => UNDER,
                _ => 0,
            };
            byte += 1;
        }
        classes
    };
    CLASSES[byte as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name<'_> {
        names(text).next().expect("a name")
    }

    #[test]
    fn names_are_found_with_their_places_and_looks() {
        let found: Vec<_> = names("let saveStep = über_all(x1, v200, 9lives, the Word);")
            .map(|name| (name.at, name.text, name.coined))
            .collect();
        assert_eq!(found, [(4, "saveStep", true), (17, "ber_all", true), (29, "v200", true), (47, "Word", false)]);
    }

    #[test]
    fn coined_names_are_worth_more_than_words() {
        assert!(name("saveStep").worth() > name("storage").worth());
        assert_eq!(name("Return").worth(), 0);
    }
}
