//! What a string looks like: generated, a word, a number, one sign repeated.
//!
//! Judgement reads at most [`WINDOW`] bytes, so that it costs the same however long a value is.

/// Enough to see what a value is; the rest of a long one tells nothing else.
pub(crate) const WINDOW: usize = 64;

pub(crate) fn head(value: &[u8]) -> &[u8] {
    value.get(..WINDOW).unwrap_or(value)
}

pub(crate) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

pub(crate) fn has_letter(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic)
}

/// Letters and digits together.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    has_digit(value) && has_letter(value)
}

/// Digits with what groups them: a count, a date, a version, a port.
pub(crate) fn is_number(value: &[u8]) -> bool {
    let decimal = || value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b',' | b'-' | b'+'));
    let constant = || {
        value.len() <= 20
            && value.starts_with(b"0x")
            && value.iter().skip(2).all(|byte| byte.is_ascii_hexdigit() || *byte == b'_')
    };
    has_digit(value) && (decimal() || constant())
}

/// Names of sessions and requests are numbers of this form; hardly any credential is.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    const UUID: usize = 36;
    let tail = value.get(value.len().saturating_sub(UUID)..).unwrap_or_default();
    let fits = |(index, byte): (usize, &u8)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    tail.len() == UUID && tail.iter().enumerate().all(fits)
}

/// One sign repeated, or a run like `xxxx-xxxx`, as people write to show the form of a token.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    let head = head(value);
    let mut signs = head.iter().filter(|byte| !matches!(byte, b'-' | b'_' | b' '));
    let Some(first) = signs.next() else { return true };
    let sign = first.to_ascii_lowercase();
    let repeats = matches!(sign, b'x' | b'*' | b'.' | b'0' | b'#' | b'?') || head.len() >= 8;
    repeats && signs.all(|byte| byte.to_ascii_lowercase() == sign)
}

/// Whether letters, capitals and digits alternate as they do in generated strings and not in words or names.
pub(crate) fn is_random(value: &[u8]) -> bool {
    /// Shorter strings alternate by chance.
    const SHORTEST: usize = 12;
    let head = head(value);
    if head.len() < SHORTEST {
        return false;
    }
    let mut verdict = false;
    let mut piece = Piece::default();
    // Base64 has slashes and plus signs, which divide it into pieces too short to tell.
    let mut joined = Piece::default();
    for &byte in head {
        let class = Class::of(byte);
        if class == Class::Other {
            verdict |= std::mem::take(&mut piece).is_random();
            if !matches!(byte, b'+' | b'/' | b'=') {
                verdict |= std::mem::take(&mut joined).is_random_base64();
            }
        } else {
            piece.push(class);
            joined.push(class);
        }
    }
    verdict || joined.is_random_base64() || piece.is_random()
}

/// What was seen of a run of letters and digits.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    length: usize,
    digits: usize,
    /// Changes between letters and digits, or from a small letter to a capital. A capital before a small letter begins
    /// a word.
    changes: usize,
    last: Class,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Other,
    Digit,
    Small,
    Capital,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Self::Digit,
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            _ => Self::Other,
        }
    }
}

impl Piece {
    fn push(&mut self, class: Class) {
        let begins_word = self.last == Class::Capital && class == Class::Small;
        self.changes += usize::from(self.length > 0 && self.last != class && !begins_word);
        self.digits += usize::from(class == Class::Digit);
        self.length += 1;
        self.last = class;
    }

    /// Longer than [`Self::is_random`] asks for, as a path of names has some changes too.
    fn is_random_base64(self) -> bool {
        self.length >= 30 && self.digits > 0 && self.changes * 5 >= self.length
    }

    /// A name changes class about once per word of five letters or more; a random string every two or three characters.
    fn is_random(self) -> bool {
        let mixed = self.length >= 8 && self.digits > 1 && self.digits < self.length;
        (mixed || self.length >= 20) && self.changes * 9 >= self.length * 2
    }
}

/// Bits of information per character, from how often each one occurs.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Length of the longest stretch of letters and digits.
pub(crate) fn longest_stretch(value: &[u8]) -> usize {
    value.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or(0)
}

/// Only words and numbers joined by separators: `my-secret-1`, `token_v2`, `sha256`.
pub(crate) fn is_wordy(value: &[u8]) -> bool {
    let head = head(value);
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b' ' | b'@' | b',')
    };
    head.iter().all(plain) && !words(head).any(|word| word.len() >= 6 && is_mixed(word) && !is_versioned(word))
}

/// A word with a number at its end: `sha256`, `part2`.
fn is_versioned(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let digits = word.get(letters..).unwrap_or_default();
    letters >= 2 && digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit)
}

/// Runs of letters and digits.
pub(crate) fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Letters and underscores, perhaps with a number at the end: what could be the name of a variable or a type.
pub(crate) fn is_name(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    letters > 0 && value.len() - letters < 2 && value.iter().skip(letters).all(u8::is_ascii_digit)
}

/// What a value is made of, counted in one pass. Most questions about it are answered without looking again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringStats<'t> {
    /// The value, as far as it is judged.
    pub(crate) bytes: &'t [u8],
    digits: usize,
    letters: usize,
    /// Capitals that follow a small letter.
    rises: usize,
    /// Signs that passwords have and words do not.
    signs: usize,
    /// Signs that join words.
    joints: usize,
}

impl<'t> StringStats<'t> {
    pub(crate) fn at(value: &'t [u8]) -> Self {
        let mut look = Self { bytes: head(value), digits: 0, letters: 0, rises: 0, signs: 0, joints: 0 };
        let mut last = 0;
        for &byte in look.bytes {
            match byte {
                b'0'..=b'9' => look.digits += 1,
                b'a'..=b'z' => look.letters += 1,
                b'A'..=b'Z' => {
                    look.letters += 1;
                    look.rises += usize::from(u8::is_ascii_lowercase(&last));
                }
                b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'~' | b'?' => look.signs += 1,
                b'-' | b'_' | b'.' | b':' | b'/' | b' ' | b',' => look.joints += 1,
                _ => {}
            }
            last = byte;
        }
        look
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn has_digit(&self) -> bool {
        self.digits > 0
    }

    /// Letters and digits together.
    pub(crate) fn is_mixed(&self) -> bool {
        self.digits > 0 && self.letters > 0
    }

    pub(crate) fn is_number(&self) -> bool {
        self.digits > 0 && is_number(self.bytes)
    }

    pub(crate) fn has_blank(&self) -> bool {
        self.joints > 0 && self.bytes.iter().any(u8::is_ascii_whitespace)
    }

    /// Only words and numbers joined by separators; `@` joins, too.
    pub(crate) fn is_wordy(&self) -> bool {
        let plain = self.digits + self.letters + self.joints == self.len();
        if self.digits == 0 && plain {
            return true;
        }
        (plain || self.signs > 0) && is_wordy(self.bytes)
    }

    /// Characters alternate as in generated strings.
    pub(crate) fn is_random(&self) -> bool {
        (self.digits > 0 || self.rises > 1) && is_random(self.bytes)
    }

    /// Letters with digits, or letters with signs that words do not have, or capitals inside.
    pub(crate) fn is_unwordly(&self) -> bool {
        self.is_mixed() || self.digits > 0 && self.len() >= 6 || self.signs > 0 || self.rises > 0
    }

    /// What could be the name of a variable or a type.
    pub(crate) fn is_name(&self) -> bool {
        self.signs == 0 && is_name(self.bytes)
    }

    /// A run of letters and digits that no word is as long as.
    pub(crate) fn is_long_run(&self) -> bool {
        self.len() >= 20 && self.digits + self.letters == self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_strings_differ_from_names() {
        for random in ["k7Lm2Xp9Rt4VwQ", "c4f0a1b2c3d4e5f6a7b8", "wJalrXUtnFEMIK7MDENGbPxRfiCY1EKEY"] {
            assert!(is_random(random.as_bytes()), "{random}");
        }
        for name in [
            "configuration_of_the_server",
            "getAccessTokenFromCache",
            "sha256",
            "hello-world-2024",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(!is_random(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn fillers_repeat_one_sign() {
        for filler in ["xxxx", "XXXX-xxxx", "********", "000000", "aaaaaaaa", ""] {
            assert!(is_filler(filler.as_bytes()), "{filler}");
        }
        for other in ["xx1x", "aaa", "hunter2"] {
            assert!(!is_filler(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn entropy_counts_bits() {
        assert!(entropy(b"aaaaaaaa") < 0.01);
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 0.01);
    }
}
