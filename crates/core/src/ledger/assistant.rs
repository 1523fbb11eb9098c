//! Words of the assistant: the answer to a request, or what was found and announced amid work.

use super::episodes::{LONGEST_TYPED, is_request};
use super::paragraphs;
use super::reply::has_question;
use super::sentences::sentences;
use super::terms::Voice;
use super::{Gathering, GroupKind, Source};
use crate::inserted::Section;
use foldline_transcript::{Format, PartKind, Role, Transcript};

/// Words in the middle of work that are longer than this explain something.
const LONGEST_NARRATION: usize = 280;
/// A question in an answer that is not longer and names no value hands over to the user, who has spoken since.
const LONGEST_COURTESY: usize = 160;
/// Where a question stands that is to be answered: in the last bytes of what was said.
const LAST_WORDS: usize = 200;

/// For each folded message, whether words of the assistant in it are its last before the user speaks again.
pub(super) fn closing_words(transcript: &Transcript<'_>, folded: &[usize]) -> Vec<bool> {
    let mut closing = vec![false; folded.len()];
    let mut work_follows = goes_on_behind(transcript, folded);
    for (at, &index) in folded.iter().enumerate().rev() {
        let Some(message) = transcript.messages.get(index) else {
            continue;
        };
        if is_request(transcript, index) {
            work_follows = false;
        }
        let parts = transcript.parts_of(message);
        work_follows |= parts.iter().any(|part| part.kind == PartKind::ToolCall);
        if let Some(slot) = closing.get_mut(at) {
            *slot = message.role == Role::Assistant && !work_follows;
        }
    }
    closing
}

/// Whether work of the folded messages goes on in those behind them.
pub(super) fn goes_on_behind(transcript: &Transcript<'_>, folded: &[usize]) -> bool {
    let behind = folded.last().map_or(0, |last| last + 1)..transcript.messages.len();
    behind.take_while(|&index| !is_request(transcript, index)).any(|index| super::calls(transcript, index))
}

/// Whether a text has a number, a name in code marks or a quote, and does not end by announcing something.
fn names_a_value(text: &str) -> bool {
    !text.ends_with([':', '：', '…']) && text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'`' | b'"'))
}

/// Splits what is announced off the end of a paragraph: the sentence that ends with a colon before something is done.
fn announcement(paragraph: &str) -> (&str, &str) {
    if !paragraph.ends_with([':', '：', '…']) {
        return (paragraph, "");
    }
    let last = sentences(paragraph).last().unwrap_or_default().trim();
    let found = paragraph.strip_suffix(last).unwrap_or_default().trim_end();
    if paragraphs::item_number(last).is_some() { (paragraph, "") } else { (found, last) }
}

impl Gathering<'_, '_> {
    /// Words of the assistant.
    pub(super) fn assistant_text(&mut self, index: usize, part_index: usize, words: &str) {
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        self.terms.begin();
        self.extend_episode(index);
        self.talk.answered = true;
        let at = self.stretches.folded.binary_search(&index).unwrap_or_default();
        let is_closing = self.closing.get(at).copied().unwrap_or_default() && !self.calls_follow(index, part_index);
        let source = match is_closing {
            true => Source::Answer,
            false if words.len() > LONGEST_NARRATION => Source::Explanation,
            false => Source::Narration,
        };
        let group = self.group(index, Section::CompletedActions, GroupKind::Step, "Assistant:".to_owned(), Voice::Tool);
        let mut places = Vec::new();
        paragraphs::each(words, |range| places.push(range));
        for range in places {
            let paragraph = words.get(range.clone()).unwrap_or_default();
            match (self.is_chat, source) {
                (true, _) => self.sentences(index, group, source, paragraph, 0.0),
                (false, Source::Answer) => {
                    let place = self.passage(index, group, source, paragraph, 0.0);
                    let is_polite =
                        paragraph.len() <= LONGEST_COURTESY && has_question(paragraph) && !names_a_value(paragraph);
                    if let Some(entry) = place.and_then(|place| self.ledger.entries.get_mut(place)) {
                        entry.counts = if is_polite { self.weights.courtesy } else { 1.0 };
                    }
                }
                (false, _) => {
                    let is_last = range.end == words.len();
                    self.narration(index, group, source, paragraph, is_last);
                }
            }
        }
        let end = |length: usize| words.get(words.ceil_char_boundary(words.len().saturating_sub(length))..);
        self.talk.asked = has_question(end(LAST_WORDS).unwrap_or_default());
        self.talk.latest_words.clear();
        self.talk.latest_words.push_str(end(LONGEST_TYPED).unwrap_or_default());
    }

    /// A paragraph amid work: what was found, and at its end what is done next.
    fn narration(&mut self, index: usize, group: u32, source: Source, paragraph: &str, is_last: bool) {
        let (found, announced) = if is_last { announcement(paragraph) } else { (paragraph, "") };
        for (text, counts) in [(found, None), (announced, Some(self.weights.announced))] {
            let place = self.passage(index, group, source, text, 0.0);
            let Some(entry) = place.and_then(|place| self.ledger.entries.get_mut(place)) else {
                continue;
            };
            entry.counts = match counts {
                Some(counts) => counts,
                None if source != Source::Narration => 1.0,
                None if names_a_value(text) => self.weights.finding,
                None => self.weights.announcement,
            };
            entry.joined = counts.is_some() && !found.is_empty();
        }
    }

    /// Whether calls follow in the same message. In Chat Completions words come before calls, wherever they are written.
    fn calls_follow(&self, index: usize, part_index: usize) -> bool {
        let is_unordered = self.transcript.format == Format::OpenAiChat;
        self.transcript.messages.get(index).is_some_and(|message| {
            let first = if is_unordered { message.parts.start as usize } else { part_index };
            (first..message.parts.end as usize)
                .any(|part| self.transcript.parts.get(part).is_some_and(|part| part.kind == PartKind::ToolCall))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_split_off_what_was_found() {
        let found = "One test fails: `resume` has no agent.";
        assert_eq!(announcement(&format!("{found} Let me look at it:")), (found, "Let me look at it:"));
        assert_eq!(announcement("接下来看测试："), ("", "接下来看测试："));
        assert_eq!(announcement("All tests pass."), ("All tests pass.", ""));
        assert_eq!(announcement("Two ways:\n1. this\n2. that:"), ("Two ways:\n1. this\n2. that:", ""));
    }
}
