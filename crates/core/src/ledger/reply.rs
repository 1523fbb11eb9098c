//! What a short reply answers: the option that it names, or the question before it.

use super::paragraphs::{self, ItemMark, option_mark};
use super::sentences::sentences;
use std::ops::Range;

/// A reply of at most this many characters cannot be understood without what it answers.
const SHORT_REPLY: usize = 60;
/// One of at most this many refers to what was said last even when nothing was asked.
const BARE_REPLY: usize = 20;
/// Bytes of what it answers that are quoted.
const LONGEST_OFFER: usize = 240;

/// Whether words cannot be understood without what they answer. A question asks, it does not answer.
pub(super) fn is_short_reply(words: &str) -> bool {
    words.chars().count() <= SHORT_REPLY && !has_question(words)
}

/// Whether words refer to what was said last even when they name nothing of it.
pub(super) fn is_bare(words: &str) -> bool {
    words.chars().count() <= BARE_REPLY
}

/// The sentences of a text around its last question, those after it first: options stand on both sides.
fn around_question(text: &str) -> String {
    let all: Vec<&str> = sentences(text).collect();
    let last = all.iter().rposition(|sentence| has_question(sentence)).unwrap_or(all.len().saturating_sub(1));
    let (mut start, mut end) = (last, last + 1);
    let length = |range: Range<usize>| all.get(range).unwrap_or_default().iter().map(|one| one.len()).sum::<usize>();
    while end < all.len() && length(start..end + 1) <= LONGEST_OFFER {
        end += 1;
    }
    while start > 0 && length(start - 1..end) <= LONGEST_OFFER {
        start -= 1;
    }
    let part = all.get(start..end).unwrap_or_default().join(" ");
    part.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Which of the passages that came before a reply it refers to: the option it names, or else the last question.
fn referred_to(passages: &[&str], reply: &str) -> Vec<usize> {
    let named = named_option(reply);
    let mut places: Vec<usize> = Vec::new();
    if let Some(named) = named {
        let is_named = |text: &&str| text.lines().any(|line| option_mark(line) == Some(named));
        // The last list is the one that was offered.
        places.extend(passages.iter().rposition(is_named));
    }
    let question = passages.iter().rposition(|text| has_question(text));
    // A bare "yes" answers whatever was said last.
    places.extend(question.or_else(|| passages.len().checked_sub(1).filter(|_| is_bare(reply))));
    places.sort_unstable();
    places.dedup();
    places
}

/// The option that a reply names: `2`, `2.`, `B`, `option 2`.
pub(super) fn named_option(reply: &str) -> Option<ItemMark> {
    let words = || reply.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let number = words().find_map(|word| word.parse::<u32>().ok().filter(|number| *number <= 20));
    if let Some(number) = number {
        return Some(ItemMark::Number(number));
    }
    // A letter is an option when it stands for itself: alone, or as a capital that is no word.
    let is_alone = words().count() == 1;
    words().find_map(|word| {
        let mut letters = word.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        let is_option = letters.next().is_none() && (is_alone || (letter.is_ascii_uppercase() && letter != 'I'));
        is_option.then_some(ItemMark::Letter(letter.to_ascii_uppercase()))
    })
}

/// Whether a reply names one of the options that were listed.
pub(super) fn names_option_of(words: &str, reply: &str) -> bool {
    named_option(reply).is_some_and(|named| words.lines().any(|line| option_mark(line) == Some(named)))
}

/// Question marks of all scripts.
pub(super) fn has_question(text: &str) -> bool {
    text.contains(['?', '？', '؟', '\u{37e}', '՞', '⁇', '፧'])
}

/// What the assistant had said that a short reply answers, for a reader who sees the reply alone: the line of an option,
/// the sentences around a question.
pub(crate) fn offered(words: &str, reply: &str) -> Option<Vec<String>> {
    if !is_short_reply(reply) {
        return None;
    }
    let mut passages: Vec<&str> = Vec::new();
    paragraphs::each(words, |range| passages.extend(words.get(range)));
    let named = named_option(reply);
    let option = |text: &str| {
        let option = text.lines().find(|line| named.is_some() && option_mark(line) == named)?;
        // What the options are about stands above them.
        let lead = text.lines().next().filter(|lead| option_mark(lead).is_none()).unwrap_or_default();
        Some(format!("{lead} {}", option.trim()).trim().to_owned())
    };
    let places = referred_to(&passages, reply);
    let texts = places.into_iter().filter_map(|at| passages.get(at).copied());
    let found: Vec<String> = texts.map(|text| option(text).unwrap_or_else(|| around_question(text))).collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_finds_what_it_answers() {
        let words = "Two ways:\n\n1. Rebuild the index\n2. Delete it\n\nWhich one?";
        let answered = |words: &str, reply: &str| offered(words, reply).unwrap_or_default().join(" | ");
        assert_eq!(answered(words, "let's try 2"), "Two ways: 2. Delete it | Which one?");
        assert_eq!(answered(words, "1."), "Two ways: 1. Rebuild the index | Which one?");
        assert_eq!(answered(words, "yes"), "Which one?");
        assert_eq!(answered("**A) now**\n**B) later**", "I'd say B"), "**B) later**");
        assert_eq!(answered("When it exists:\n- **A) skip**\n- **B) ask**", "B)"), "When it exists: - **B) ask**");
        assert_eq!(answered("要我继续吗？", "好的"), "要我继续吗？");
        assert_eq!(
            answered("Which? One is steamed. The other is fried.", "the first"),
            "Which? One is steamed. The other is fried."
        );
        assert_eq!(offered(words, &"long ".repeat(20)), None);
        assert_eq!(offered("", "yes"), None);
    }
}
