//! Tells letters that were drawn at random from words, by the pairs of letters that words do not have.

/// For each letter, those that follow it in fewer than one of a thousand words. Counted in the documentation of a Debian
/// system and the Python library.
#[rustfmt::skip]
const STRANGE: [&str; 26] = [
    "aehjoqz", "fghknqvwxz", "bfgjnqwxz", "kmpqwxz",
    "z", "bdghjkmnpqvwxz", "bcdjkpqvwxyz", "bcdfghjkpqvwxz",
    "hijuwy", "bcdfghijklmnpqrtvwxyz", "bcdfhjkmqruvwxyz", "hjqrwxz",
    "cfghjnqrvwxyz", "qxz", "hqz", "bgjmnqvwxz",
    "abcdefghijklmnopqrstvwxyz", "hjqxz", "bgjvxz", "jkqvxz",
    "hjkquvwxyz", "bcdfghjklmnpqrstuvwxyz", "bcdfgjkmpqtuvwxyz", "bdfghjklnoqruvwyz",
    "dfhjkqruvwxyz", "bcdfghjklmnpqrstuvwxyz",
];

/// The same as one bit for each letter.
const PAIRS: [u32; 26] = pairs();

const fn pairs() -> [u32; 26] {
    let mut pairs = [0; 26];
    let mut first = 0;
    while first < pairs.len() {
        let letters = STRANGE[first].as_bytes();
        let mut index = 0;
        while index < letters.len() {
            pairs[first] |= 1 << (letters[index] - b'a');
            index += 1;
        }
        first += 1;
    }
    pairs
}

/// Whether letters make no word: two pairs of them are strange, or one among many consonants. Holds for nine of ten random strings of nine letters, and
/// for one of three hundred words.
pub(crate) fn is_gibberish(value: &[u8]) -> bool {
    /// Shorter ones are abbreviations.
    const SHORTEST: usize = 6;
    const FEWEST: usize = 2;
    /// So many consonants in a row are rare in words, too.
    const CROWDED: usize = 4;
    let value = crate::string_stats::head(value);
    let letters = |text: &[u8]| text.iter().all(u8::is_ascii_lowercase);
    let plain =
        letters(value) || value.split_first().is_some_and(|(first, rest)| first.is_ascii_uppercase() && letters(rest));
    let strange = |two: &&[u8]| match **two {
        [first, second] => {
            let place = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
            PAIRS.get(place(first)).is_some_and(|pairs| pairs >> place(second) & 1 == 1)
        }
        _ => false,
    };
    if !plain || value.len() < SHORTEST {
        return false;
    }
    let pairs = value.windows(2).filter(strange).count();
    pairs >= FEWEST || pairs == 1 && longest_consonants(value) >= CROWDED
}

/// Length of the longest row of consonants.
fn longest_consonants(value: &[u8]) -> usize {
    let vowel = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    value.split(vowel).map(<[u8]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_random_letters() {
        for word in ["password", "sunshine", "strengths", "administrator", "Kubernetes", "required", "case", "mailbox"]
        {
            assert!(!is_gibberish(word.as_bytes()), "{word}");
        }
        for letters in ["rkhbxwsjskbk", "gsoijvjbi", "Zjfhkzqdg", "arusyjqzecfmqahafrzgwetp"] {
            assert!(is_gibberish(letters.as_bytes()), "{letters}");
        }
    }
}
