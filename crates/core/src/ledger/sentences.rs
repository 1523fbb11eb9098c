//! Sentences of any script.

use unicode_segmentation::UnicodeSegmentation;

/// The sentences of a text, line by line, without list marks.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(bounded)
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '•', '#']).trim())
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

/// A line cut where sentences end, as Unicode says (UAX #29).
fn bounded(line: &str) -> impl Iterator<Item = &str> {
    let is_simple = line.is_ascii() && !line.contains('\r');
    let simple = is_simple.then_some(AsciiSentences { rest: line });
    let other = (!is_simple).then(|| line.split_sentence_bounds());
    simple.into_iter().flatten().chain(other.into_iter().flatten())
}

/// The same for a line of ASCII, where only three signs end a sentence: the rules are asked at these, not at every letter.
struct AsciiSentences<'t> {
    rest: &'t str,
}

impl<'t> Iterator for AsciiSentences<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.rest.as_bytes();
        let mut from = 0;
        while let Some(found) = memchr::memchr3(b'.', b'!', b'?', bytes.get(from..).unwrap_or_default()) {
            let mark = from + found;
            let end = behind_mark(bytes, mark);
            if is_end(bytes, mark, end) {
                let (sentence, rest) = self.rest.split_at_checked(end)?;
                self.rest = rest;
                return Some(sentence);
            }
            from = mark + 1;
        }
        let last = std::mem::take(&mut self.rest);
        (!last.is_empty()).then_some(last)
    }
}

/// Where the brackets and quotes behind a mark end, and the blanks behind them.
fn behind_mark(bytes: &[u8], mark: usize) -> usize {
    let run =
        |from: usize, is_part: fn(&u8) -> bool| from + bytes.iter().skip(from).take_while(|byte| is_part(byte)).count();
    let closed = run(mark + 1, |byte| matches!(byte, b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}'));
    run(closed, |byte| matches!(byte, b' ' | b'\t' | 0x0B | 0x0C))
}

/// Whether a sentence ends at `end`, behind a mark and what belongs to it.
fn is_end(bytes: &[u8], mark: usize, end: usize) -> bool {
    let Some(next) = bytes.get(end) else { return false };
    // SB8a
    if matches!(next, b',' | b'-' | b':' | b';' | b'.' | b'!' | b'?') {
        return false;
    }
    if bytes.get(mark) != Some(&b'.') {
        return true;
    }
    let is_behind_letter = || mark.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphabetic);
    // SB6, SB7
    let goes_on = end == mark + 1 && (next.is_ascii_digit() || next.is_ascii_uppercase() && is_behind_letter());
    // SB8: a small letter comes before any other, and before another mark.
    let decides = |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'!' | b'?');
    let is_small = bytes.iter().skip(end).find(decides).is_some_and(u8::is_ascii_lowercase);
    !goes_on && !is_small
}

#[cfg(test)]
mod tests {
    use super::{AsciiSentences, sentences};
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn sentences_end_where_their_script_ends_them() {
        let all = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(all("One. Two? Three!\n- four"), ["One.", "Two?", "Three!", "four"]);
        assert_eq!(all("不要猪肉。预算是4200。"), ["不要猪肉。", "预算是4200。"]);
        assert_eq!(all("كم السعر؟ لا أريد ذلك."), ["كم السعر؟", "لا أريد ذلك."]);
        assert_eq!(all("यह ठीक है। आगे चलो।"), ["यह ठीक है।", "आगे चलो।"]);
        assert!(all("...\n--").is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn ascii_is_cut_where_unicode_cuts_it(line in "([aB1]|[.!?]|[ \t\u{b}\u{c}]|[\"'()\\[{}]|[,:;-]|[_\u{1}%])*") {
            let quick: Vec<&str> = AsciiSentences { rest: &line }.collect();
            prop_assert_eq!(quick, line.split_sentence_bounds().collect::<Vec<_>>());
        }
    }
}
