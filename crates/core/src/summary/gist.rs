//! What a line is about, so that nothing is told twice: models say one thing in several sections, and say again what
//! the ledger has recorded.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The words of a line that carry its meaning, as sorted numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gist {
    words: Vec<u64>,
    /// Those with digits. Two lines that differ in a number tell two things.
    numbers: Vec<u64>,
}

/// Words that any sentence has.
const COMMON: [&str; 36] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "had", "has", "have", "he", "in", "is",
    "it", "its", "of", "on", "or", "so", "that", "the", "their", "then", "they", "this", "to", "user", "was", "were",
    "which", "will", "with",
];
/// A line says the same as another that has this share of its words, in percent.
const SAME: usize = 80;
/// A text of so many times the words has most words of any line on its subject.
const LONGER: usize = 3;

impl Gist {
    pub(super) fn of(line: &str) -> Gist {
        let mut words = Vec::new();
        let mut numbers = Vec::new();
        for word in line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            if COMMON.contains(&word.as_str()) {
                continue;
            }
            let mut hasher = FxHasher::default();
            word.hash(&mut hasher);
            words.push(hasher.finish());
            if word.bytes().any(|byte| byte.is_ascii_digit()) {
                numbers.push(hasher.finish());
            }
        }
        words.sort_unstable();
        words.dedup();
        Gist { words, numbers }
    }

    /// Whether another line says all of this.
    pub(super) fn is_told_by(&self, other: &Gist) -> bool {
        let has = |word: &u64| other.words.binary_search(word).is_ok();
        let common = self.words.iter().filter(|word| has(word)).count();
        !self.words.is_empty()
            && common * 100 >= self.words.len() * SAME
            && other.words.len() <= self.words.len() * LONGER
            && self.numbers.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::Gist;

    #[test]
    fn the_same_in_other_words_is_told_once_and_another_number_is_another_fact() {
        let told = |line: &str, other: &str| Gist::of(line).is_told_by(&Gist::of(other));
        assert!(told("- Do not install, upgrade or remove anything.", "- do not install, upgrade, or remove anything"));
        assert!(told("- The import of HALV is broken.", "- The import of HALV is broken since the feed changed."));
        assert!(!told("- The import of HALV is broken since the feed changed.", "- The import of HALV is broken."));
        assert!(!told("- Port 8080 is open on the gate.", "- Port 8081 is open on the gate."));
        assert!(!told("- The db is slow.", "- The web is slow."));
        assert!(!told("", "- Anything."));
        let long =
            "the importer reads files and writes orders, the report sums orders by week and the api serves reports";
        assert!(!told("- The importer serves files.", long), "a long text has the words of many lines");
    }
}
