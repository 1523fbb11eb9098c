//! Words as the index has them: each behind the number of its namespace, so that a search does not even touch the entries
//! of another one. Where content is encrypted they are keyed digests. A digest has no beginning, so words that are searched
//! by theirs have entries for it.

use crate::seal::{Entry, Seal};
use crate::search::{Extent, Term, is_unspaced};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Characters of the beginnings that have entries of their own; those of a longer one are found by the text.
const BEGINNINGS: [usize; 2] = [3, 6];
/// Shorter beginnings fit half the language.
const SHORTEST: usize = BEGINNINGS[0];

/// Ends the number of a namespace before a word: numbers hold no letters, so no two namespaces share an entry.
const END: char = 'z';
/// The same before a digest of a word.
const END_SEALED: char = 'y';

/// The entries of one part of an original, each once and as they come: where and how often is not kept.
pub(crate) struct Entries<'s> {
    seal: &'s Seal,
    namespace: i64,
    seen: HashSet<String>,
    digests: HashSet<[u8; 6]>,
    entries: String,
}

impl<'s> Entries<'s> {
    pub(crate) fn new(seal: &'s Seal, namespace: i64) -> Entries<'s> {
        Entries { seal, namespace, seen: HashSet::new(), digests: HashSet::new(), entries: String::new() }
    }

    pub(crate) fn add(&mut self, word: &str) {
        if self.seen.contains(word) {
            return;
        }
        self.seen.insert(word.to_owned());
        let Some(digest) = self.seal.entry(Entry::Word, word) else {
            // Writing to a string does not fail.
            let _ = write!(self.entries, "{}{END}{word} ", self.namespace);
            return;
        };
        self.add_digest(digest);
        for beginning in beginnings(word) {
            if let Some(digest) = self.seal.entry(Entry::Beginning, beginning) {
                self.add_digest(digest);
            }
        }
    }

    fn add_digest(&mut self, digest: [u8; 6]) {
        if self.digests.insert(digest) {
            push_digest(&mut self.entries, self.namespace, &digest);
            self.entries.push(' ');
        }
    }

    /// What came since the last time.
    pub(crate) fn take(&mut self) -> String {
        self.seen.clear();
        self.digests.clear();
        std::mem::take(&mut self.entries)
    }
}

fn push_digest(entries: &mut String, namespace: i64, digest: &[u8; 6]) {
    let _ = write!(entries, "{namespace}{END_SEALED}");
    for byte in digest {
        let _ = write!(entries, "{byte:02x}");
    }
}

/// The beginnings of a word that have entries. A character of a script without spaces is a word, or half of one.
fn beginnings(word: &str) -> impl Iterator<Item = &str> {
    let alone = word.chars().next().filter(|first| is_unspaced(*first)).map(char::len_utf8);
    let lengths = if alone.is_some() { [1, 0] } else { BEGINNINGS };
    lengths.into_iter().filter(|length| *length > 0).filter_map(|length| beginning(word, length))
}

/// The first characters of a word, if it has so many.
fn beginning(word: &str, length: usize) -> Option<&str> {
    let (last, c) = word.char_indices().nth(length.checked_sub(1)?)?;
    word.get(..last + c.len_utf8())
}

/// Whether a term can be taken as a beginning.
pub(crate) fn is_telling(term: &Term) -> bool {
    term.word.chars().count() >= SHORTEST || term.word.chars().all(is_unspaced)
}

/// What the index is asked for to find a term: an entry, or how entries begin.
pub(crate) fn lookup(seal: &Seal, namespace: i64, term: &Term) -> (String, Extent) {
    let is_beginning = term.extent == Extent::Beginning && is_telling(term);
    // What is too long to have an entry as a beginning is found by a shorter one.
    let word = term.word.as_str();
    let known = if is_beginning { beginnings(word).last() } else { None };
    let is_pair = known.is_some_and(|known| known != word && word.chars().all(is_unspaced));
    let digest = match known {
        Some(beginning) if !is_pair => seal.entry(Entry::Beginning, beginning),
        _ => seal.entry(Entry::Word, word),
    };
    let mut entry = String::new();
    match digest {
        Some(digest) => push_digest(&mut entry, namespace, &digest),
        None => entry.push_str(&format!("{namespace}{END}{word}")),
    }
    let extent = if digest.is_none() && is_beginning { Extent::Beginning } else { Extent::Whole };
    (entry, extent)
}
