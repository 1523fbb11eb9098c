//! Lists of short words with a lookup that costs a few integer comparisons.
//!
//! A word is packed into one integer with its last letter lowest, so that "is this word" is an equality and "ends with
//! this word" is an equality under a mask.

/// A word of at most sixteen letters, or the end of a longer one. Letters are small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    packed: u128,
    length: usize,
}

const LONGEST: usize = 16;

impl Word {
    #[inline]
    pub(crate) fn new(letters: &[u8]) -> Self {
        let start = letters.len().saturating_sub(LONGEST);
        let end = letters.get(start..).unwrap_or_default();
        Self {
            packed: end.iter().fold(0, |packed, letter| packed << 8 | u128::from(letter.to_ascii_lowercase())),
            length: letters.len(),
        }
    }

    pub(crate) const EMPTY: Self = Self { packed: 0, length: 0 };
}

/// A sorted list of packed words.
#[derive(Debug)]
pub(crate) struct WordList<const N: usize> {
    words: [u128; N],
    /// The bits that each of them has, as many as its letters need.
    masks: [u128; N],
    /// Their last letters, a bit for each: most words are told by it to be in no list.
    last_letters: u32,
}

impl<const N: usize> WordList<N> {
    /// Words are small letters, digits and dashes, at most sixteen of them.
    pub(crate) const fn new(words: [&str; N]) -> Self {
        let mut packed = [0; N];
        let mut last_letters = 0;
        let mut count = 0;
        while count < N {
            let word = pack(words[count]);
            last_letters |= last_letter(word);
            let mut place = count;
            while place > 0 && packed[place - 1] > word {
                packed[place] = packed[place - 1];
                place -= 1;
            }
            packed[place] = word;
            count += 1;
        }
        let mut masks = [0; N];
        while count > 0 {
            count -= 1;
            masks[count] = u128::MAX >> (packed[count].leading_zeros() / 8 * 8);
        }
        Self { words: packed, masks, last_letters }
    }

    #[inline]
    pub(crate) fn has(&self, word: Word) -> bool {
        self.may_end(word) && word.length <= LONGEST && self.words.binary_search(&word.packed).is_ok()
    }

    #[inline]
    pub(crate) fn has_ending_of(&self, word: Word) -> bool {
        let ends_with = |(ending, mask): (&u128, &u128)| (word.packed ^ ending) & mask == 0;
        self.may_end(word) && self.words.iter().zip(&self.masks).any(ends_with)
    }

    /// Whether some word of the list ends as this one does.
    #[inline]
    fn may_end(&self, word: Word) -> bool {
        self.last_letters & last_letter(word.packed) != 0
    }
}

/// The bit of a word's last letter. Letters have one each; digits and dashes share those of others.
const fn last_letter(packed: u128) -> u32 {
    1 << (packed & 31)
}

const fn pack(word: &str) -> u128 {
    let bytes = word.as_bytes();
    assert!(!bytes.is_empty() && bytes.len() <= LONGEST, "a listed word has 1 to 16 letters");
    let mut packed = 0;
    let mut index = 0;
    while index < bytes.len() {
        packed = packed << 8 | bytes[index] as u128;
        index += 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    static FRUIT: WordList<3> = WordList::new(["pear", "apple", "fig"]);

    #[test]
    fn a_list_holds_its_words_in_any_case_and_no_others() {
        assert!(FRUIT.has(Word::new(b"Apple")) && FRUIT.has(Word::new(b"fig")));
        assert!(!FRUIT.has(Word::new(b"figs")) && !FRUIT.has(Word::new(b"")) && !FRUIT.has(Word::new(b"ig")));
        assert!(!FRUIT.has(Word::new(b"xxxxxxxxxxxxxxxxpear")));
    }

    #[test]
    fn endings_are_compared_from_the_end() {
        assert!(FRUIT.has_ending_of(Word::new(b"a-very-long-name-of-a-PEAR")));
        assert!(FRUIT.has_ending_of(Word::new(b"pear")) && !FRUIT.has_ending_of(Word::new(b"ear")));
        assert!(!FRUIT.has_ending_of(Word::new(b"pears")));
    }
}
