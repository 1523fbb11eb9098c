//! Which texts hold one of a list of phrases, whatever their case: one pass, however long the list.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// A list of phrases, in lower case.
pub(super) struct Phrases {
    finder: LazyLock<Option<AhoCorasick>, fn() -> Option<AhoCorasick>>,
}

impl Phrases {
    /// A list that is made ready when it is first used; `make` calls [`Phrases::finder`].
    pub(super) const fn new(make: fn() -> Option<AhoCorasick>) -> Phrases {
        Phrases { finder: LazyLock::new(make) }
    }

    /// What looks for the phrases of a list.
    pub(super) fn finder(phrases: &[&str]) -> Option<AhoCorasick> {
        AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(phrases).ok()
    }

    /// Whether a text holds one of them.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
    }
}
