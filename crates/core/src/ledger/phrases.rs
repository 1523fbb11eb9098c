//! Which texts hold one of a list of phrases, whatever their case: one pass, however long the list.

use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// A list of phrases, in lower case unless they are sought as they are written.
pub(super) struct Phrases {
    finder: LazyLock<Option<AhoCorasick>, fn() -> Option<AhoCorasick>>,
}

impl Phrases {
    /// A list that is made ready when it is first used; `make` calls [`Phrases::finder`].
    pub(super) const fn new(make: fn() -> Option<AhoCorasick>) -> Phrases {
        Phrases { finder: LazyLock::new(make) }
    }

    /// What looks for the phrases of a list. Which of several is found does not matter; this kind of match is the one
    /// that is sought many bytes at a time.
    pub(super) fn finder(phrases: &[&str]) -> Option<AhoCorasick> {
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(phrases).ok()
    }

    /// Whether a text holds one of them. A copy in small letters and an exact search, both many bytes at a time, take
    /// a fraction of the time of a search that minds both cases.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(&text.to_ascii_lowercase()))
    }

    /// Whether a text holds one of them as they are written.
    pub(super) fn are_written_in(&self, text: &str) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
    }
}
