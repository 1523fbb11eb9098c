//! Decides whether a word is one of a list, at the cost of one lookup however long the list.
//!
//! A short word is one number, its bytes; a list is a table of such numbers that is built at compile time.

/// The longest word that a list can hold.
const LONGEST: usize = 16;

/// Words with a value each, in a table of `SLOTS`, which should be several times their number.
pub(super) struct Lexicon<V, const SLOTS: usize> {
    keys: [u128; SLOTS],
    values: [Option<V>; SLOTS],
}

impl<V: Copy, const SLOTS: usize> Lexicon<V, SLOTS> {
    /// The words of several lists, with blanks between them; all of one list have the same value.
    pub(super) const fn of_lists(lists: &[(&str, V)]) -> Self {
        let mut table = Self { keys: [0; SLOTS], values: [None; SLOTS] };
        let (mut list, mut words) = (0, 0);
        while list < lists.len() {
            let (listed, value) = lists[list];
            let mut rest = listed.as_bytes().trim_ascii();
            while !rest.is_empty() {
                let (word, after) = rest.split_at(end_of_word(rest));
                table.insert(word, value);
                rest = after.trim_ascii_start();
                words += 1;
            }
            list += 1;
        }
        assert!(words < SLOTS, "a table needs an empty slot, where a search ends");
        table
    }

    const fn insert(&mut self, word: &[u8], value: V) {
        let key = packed(word);
        let mut slot = slot::<SLOTS>(key);
        while self.keys[slot] != 0 {
            assert!(self.keys[slot] != key, "a word is listed twice");
            slot = (slot + 1) % SLOTS;
        }
        self.keys[slot] = key;
        self.values[slot] = Some(value);
    }

    /// The value of a word, spelled exactly so.
    #[inline]
    pub(super) fn get(&self, word: &[u8]) -> Option<V> {
        self.find(number(word)?)
    }

    /// The value of a word of small letters, whatever the case of this one.
    #[inline]
    pub(super) fn get_any_case(&self, word: &[u8]) -> Option<V> {
        // The bit that capitals lack makes letters of no other bytes.
        const SMALL: u128 = u128::from_le_bytes([b' '; LONGEST]);
        let empty = LONGEST.checked_sub(word.len())?;
        self.find(number(word)? | SMALL.checked_shr(8 * empty as u32).unwrap_or(0))
    }

    #[inline]
    fn find(&self, key: u128) -> Option<V> {
        let mut slot = slot::<SLOTS>(key);
        loop {
            match self.keys[slot] {
                0 => return None,
                found if found == key => return self.values[slot],
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }
}

impl<const SLOTS: usize> Lexicon<(), SLOTS> {
    /// Words that have nothing but their being listed.
    pub(super) const fn of(words: &str) -> Self {
        Self::of_lists(&[(words, ())])
    }
}

/// The number of a short word, read in at most two overlapping pieces.
#[inline]
pub(super) fn number(word: &[u8]) -> Option<u128> {
    let length = word.len();
    if length > LONGEST {
        return None;
    }
    Some(match (word.first_chunk(), word.last_chunk(), word.first_chunk(), word.last_chunk()) {
        (Some(first), Some(last), ..) => {
            u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << (8 * (length - 8))
        }
        (_, _, Some(first), Some(last)) => {
            u128::from(u32::from_le_bytes(*first)) | u128::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
        }
        _ => word.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte)),
    })
}

/// The same at compile time.
const fn packed(word: &[u8]) -> u128 {
    assert!(!word.is_empty() && word.len() <= LONGEST, "a listed word has 1 to 16 bytes");
    let mut packed = 0;
    let mut index = word.len();
    while index > 0 {
        index -= 1;
        packed = packed << 8 | word[index] as u128;
    }
    packed
}

const fn end_of_word(text: &[u8]) -> usize {
    let mut end = 0;
    while end < text.len() && !text[end].is_ascii_whitespace() {
        end += 1;
    }
    end
}

/// The slot that a word should be in; always below `SLOTS`.
#[inline]
const fn slot<const SLOTS: usize>(key: u128) -> usize {
    let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lexicon_holds_its_words_and_no_others() {
        static FRUIT: Lexicon<u8, 8> = Lexicon::of_lists(&[("fig a-very-long-plum", 1), ("pear\n apple ", 2)]);
        assert_eq!(FRUIT.get(b"fig"), Some(1));
        assert_eq!(FRUIT.get(b"a-very-long-plum"), Some(1));
        assert_eq!([&b"Fig"[..], b"", b"figs", b"a-very-long-plums"].map(|word| FRUIT.get(word)), [None; 4]);
        assert_eq!(FRUIT.get_any_case(b"Apple"), Some(2));
        assert_eq!(FRUIT.get_any_case(b"FIG"), Some(1));
        assert_eq!([&b"PEARS"[..], b"", b"pea", b"A_VERY_LONG_PLUM"].map(|word| FRUIT.get_any_case(word)), [None; 4]);
    }
}
