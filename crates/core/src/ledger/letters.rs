//! What kind of sentence one is by its letters alone: a rule, a fact, a request for now, or talk.
//!
//! A linear model over runs of letters and whole words, hashed into a small table. It knows no word lists and no
//! languages, only the labelled sentences it was fitted on (`examples/sentences`, 24 languages); `lab fit
//! statements` fits it again.

/// Slots of the table.
pub const SLOTS: usize = 1 << 18;
/// What a sentence can be beside talk, against which everything is measured.
pub const KINDS: usize = 3;
/// Runs of letters up to this length are looked at.
const LONGEST_RUN: usize = 4;
/// Only so much of a sentence is read.
const LONGEST_SENTENCE: usize = 400;

/// The slots of a sentence: its runs of two to four letters, its words, and its first word once more.
pub fn slots(sentence: &str, mut found: impl FnMut(usize)) {
    let letters = letters(sentence);
    for start in 0..letters.len() {
        let mut hash = SEED;
        let run = letters.get(start..).unwrap_or_default().iter().take(LONGEST_RUN);
        for (at, &letter) in run.enumerate() {
            hash = step(hash, letter);
            if at > 0 {
                found(slot(hash));
            }
        }
    }
    let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    let words = letters.split(|letter| !is_word(letter)).filter(|word| !word.is_empty());
    for (at, word) in words.enumerate() {
        let whole = |seed: u32| slot(word.iter().fold(seed, |hash, &letter| step(hash, letter)));
        found(whole(SEED ^ 1));
        if at == 0 {
            found(whole(SEED ^ 3));
        }
    }
}

/// A sentence in lower case between marks for its ends; all digits are one, and so are all spaces.
fn letters(sentence: &str) -> Vec<char> {
    let sentence = sentence.trim();
    let sentence = sentence.get(..sentence.floor_char_boundary(LONGEST_SENTENCE)).unwrap_or(sentence);
    let mut letters = Vec::with_capacity(sentence.len() + 2);
    letters.push('\u{2}');
    for letter in sentence.chars() {
        match letter {
            // Most are these, which need no tables.
            'a'..='z' => letters.push(letter),
            'A'..='Z' => letters.push(letter.to_ascii_lowercase()),
            letter if letter.is_numeric() => letters.push('0'),
            letter if letter.is_whitespace() => {
                if letters.last() != Some(&' ') {
                    letters.push(' ');
                }
            }
            letter => letters.extend(letter.to_lowercase()),
        }
    }
    letters.push('\u{3}');
    letters
}

const SEED: u32 = 0x811C_9DC5;

/// A step of the FNV hash.
fn step(hash: u32, letter: char) -> u32 {
    (hash ^ letter as u32).wrapping_mul(0x0100_0193)
}

fn slot(hash: u32) -> usize {
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2C1B_3C6D) >> 7;
    mixed as usize % SLOTS
}

/// The table: a weight for each slot and kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// What one step of a weight is worth.
    pub(super) scale: f32,
    pub(super) weights: &'a [u8],
}

impl Table<'_> {
    /// How much a sentence is like each kind.
    pub(super) fn look_up(self, sentence: &str) -> [f32; KINDS] {
        let mut sums = [0_i32; KINDS];
        let mut count = 0_u32;
        slots(sentence, |slot| {
            let weights = self.weights.get(slot * KINDS..).and_then(|rest| rest.first_chunk::<KINDS>());
            let weights = weights.copied().unwrap_or_default();
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(weight as i8));
            count += 1;
        });
        let norm = self.scale / (count.max(1) as f32).sqrt();
        sums.map(|sum| sum as f32 * norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(sentence: &str) -> Vec<usize> {
        let mut found = Vec::new();
        slots(sentence, |slot| found.push(slot));
        found
    }

    #[test]
    fn case_spaces_and_digits_do_not_matter() {
        assert_eq!(all("Call  me at 9."), all("call me\nat 7."));
        assert_ne!(all("call me"), all("call you"));
        assert!(all("不要猪肉").iter().all(|&slot| slot < SLOTS));
    }

    #[test]
    fn a_long_paste_is_read_in_part() {
        assert_eq!(all(&"x".repeat(LONGEST_SENTENCE)), all(&"x".repeat(100_000)));
    }
}
