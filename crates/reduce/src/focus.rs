//! Decides which lines speak of the current task.

use aho_corasick::AhoCorasick;

use super::conversation_names::ConversationNames;
use super::words::is_common;

/// More words than this describe no focus.
const MOST_WORDS: usize = 64;
/// Words of a task that asks for timing or for what happens inside.
const TIMING: &[&str] = &[
    "slow",
    "latency",
    "timeout",
    "timeouts",
    "performance",
    "debug",
    "debugging",
    "timing",
    "profile",
    "profiling",
    "duration",
    "hang",
    "hangs",
    "stuck",
];

/// The words of the current task, ready to be looked for.
pub(super) struct Focus<'a> {
    words: usize,
    timing: bool,
    finder: Option<AhoCorasick>,
    /// The conversation around the output, where it is known.
    pub conversation: Option<&'a ConversationNames>,
}

impl<'a> Focus<'a> {
    pub(super) fn new(words: &[&str], conversation: Option<&'a ConversationNames>) -> Focus<'a> {
        let timing = words.iter().any(|word| TIMING.contains(word));
        let mut telling: Vec<&str> = words.iter().copied().filter(|word| word.len() >= 4 && !is_common(word)).collect();
        telling.sort_unstable();
        telling.dedup();
        telling.truncate(MOST_WORDS);
        let finder = if telling.is_empty() {
            None
        } else {
            AhoCorasick::builder().ascii_case_insensitive(true).build(&telling).ok()
        };
        Focus { words: telling.len(), timing, finder, conversation }
    }

    /// True when the task is about timing or debugging.
    pub(super) const fn is_about_timing(&self) -> bool {
        self.timing
    }

    pub(super) const fn words(&self) -> usize {
        self.words
    }

    /// Which words a line holds, as bits.
    pub(super) fn found_in(&self, line: &str) -> u64 {
        self.finder.as_ref().map_or(0, |finder| {
            finder.find_iter(line).fold(0, |bits, found| bits | 1 << found.pattern().as_u32().min(63))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_inside_names() {
        let focus = Focus::new(&["session", "the", "checkpoint"], None);
        assert_eq!(focus.words(), 2);
        assert_eq!(focus.found_in("func SaveSession(checkpointID)").count_ones(), 2);
        assert_eq!(focus.found_in("nothing"), 0);
        assert!(Focus::new(&["slow"], None).is_about_timing());
    }
}
