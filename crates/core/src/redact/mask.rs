//! What stands in the place of a secret.

use crate::redact::alphabet::TOKEN68;
use crate::redact::rules::Reveal;

/// Characters kept of a long token: enough to tell which key it was.
pub(crate) const KEPT_START: usize = 6;
pub(crate) const KEPT_END: usize = 4;
/// What stands for a secret that keeps nothing.
const HIDDEN: &str = "***";
/// From this length on, what is hidden is too long to be guessed.
const LONG: usize = 18;
/// Shorter values beside a password's name are words like `on`, or nothing worth hiding.
pub(crate) const EARLIEST: usize = 4;

/// Masks one secret: a long one keeps its first six and last four characters, a short one nothing.
///
/// The kept characters are letters, digits and the signs of base64 only, so a mask never cuts an escape sequence in two
/// and never changes the structure around it.
pub fn mask(secret: &str) -> String {
    let bytes = secret.as_bytes();
    let head = bytes.get(..KEPT_START).unwrap_or_default();
    let tail = bytes.len().checked_sub(KEPT_END).and_then(|from| bytes.get(from..)).unwrap_or_default();
    let harmless = head.iter().chain(tail).all(|&byte| TOKEN68.has(byte));
    match (secret.get(..KEPT_START), secret.get(secret.len().saturating_sub(KEPT_END)..)) {
        (Some(head), Some(tail)) if harmless && secret.chars().count() >= LONG => format!("{head}...{tail}"),
        _ => HIDDEN.to_owned(),
    }
}

/// The text in the place of a secret of which this much is revealed.
pub(crate) fn replacement(reveal: Reveal, secret: &[u8]) -> String {
    match reveal {
        Reveal::Ends => std::str::from_utf8(secret).map_or_else(|_| HIDDEN.to_owned(), mask),
        Reveal::Nothing => HIDDEN.to_owned(),
        Reveal::Label(label) => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_token_keeps_six_and_four_characters() {
        assert_eq!(mask("abcdefghijklmnopqrst"), "abcdef...qrst");
        assert_eq!(mask(&"x".repeat(18)), "xxxxxx...xxxx");
    }

    #[test]
    fn a_short_token_keeps_nothing() {
        assert_eq!(mask(&"x".repeat(17)), "***");
        assert_eq!(mask(""), "***");
    }

    #[test]
    fn ends_that_could_break_the_structure_around_are_not_kept() {
        for odd in [
            "abcde\\nabcdefghijklmnop",
            "äöüßéèabcdefghijklmnop",
            "abcdefghijklmnopqrs\"tu",
            "a b c d e f g h i j k l m",
        ] {
            assert_eq!(mask(odd), "***", "{odd}");
        }
    }
}
