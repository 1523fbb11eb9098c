//! Names: the paths, identifiers and hashes of a text, as small numbers.
//!
//! What agents lose when history goes are exact names. The ledger values a line by the names that it
//! keeps, so every name is interned once and lines are compared by numbers.

use rustc_hash::FxHashMap;
use std::hash::BuildHasher;

/// Shorter words are syntax, not names.
const SHORTEST: usize = 4;
/// Longer runs are payload (base64, minified text), not names.
const LONGEST: usize = 120;

/// What a name looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// Has a slash or a file extension.
    Path,
    /// Written as programs write: `snake_case`, `camelCase`, `HTTP2`, `v1`.
    Identifier,
    /// A run of hexadecimal digits, as commits and ids have.
    Hash,
    /// A plain word.
    Word,
}

/// Calls `found` for every name of `text`, in order. A path is followed by its last component.
pub fn scan<'a>(text: &'a str, mut found: impl FnMut(&'a str, NameKind)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_run(bytes.get(at).copied()) {
            at += 1;
            continue;
        }
        let start = at;
        while is_run(bytes.get(at).copied()) {
            at += 1;
        }
        if at - start >= SHORTEST
            && at - start <= LONGEST
            && let Some(run) = text.get(start..at)
        {
            scan_run(run, &mut found);
        }
    }
}

/// A run of name characters: a path, or identifiers joined by dots and dashes.
fn scan_run<'a>(run: &'a str, found: &mut impl FnMut(&'a str, NameKind)) {
    let run = run.trim_matches(|c: char| matches!(c, '.' | '-' | '/') && c != '/').trim_end_matches(['/', '.', '-']);
    if run.contains('/') {
        if run.len() >= SHORTEST {
            found(run, NameKind::Path);
        }
        if let Some((_, last)) = run.rsplit_once('/') {
            scan_file_name(last, found);
        }
        return;
    }
    scan_file_name(run, found);
}

fn scan_file_name<'a>(name: &'a str, found: &mut impl FnMut(&'a str, NameKind)) {
    if let Some((stem, extension)) = name.rsplit_once('.')
        && !stem.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && !extension.bytes().all(|byte| byte.is_ascii_digit())
    {
        found(name, NameKind::Path);
    }
    for word in name.split(['.', '-', '/']) {
        if word.len() >= SHORTEST
            && let Some(kind) = kind_of(word)
        {
            found(word, kind);
        }
    }
}

/// What a single word is; `None` for numbers.
fn kind_of(word: &str) -> Option<NameKind> {
    let (mut digits, mut lower, mut upper, mut under, mut hex, mut humps) = (0, 0, 0, 0, 0, 0);
    let mut previous_lower = false;
    for byte in word.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' => lower += 1,
            b'A'..=b'Z' => {
                upper += 1;
                humps += usize::from(previous_lower);
            }
            _ => under += 1,
        }
        hex += usize::from(matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        previous_lower = byte.is_ascii_lowercase();
    }
    if lower + upper == 0 {
        return None;
    }
    Some(match () {
        () if hex == word.len() && word.len() >= 7 && digits > 0 => NameKind::Hash,
        () if under > 0 || humps > 0 || digits > 0 || (upper > 1 && lower > 0) => NameKind::Identifier,
        () => NameKind::Word,
    })
}

fn is_run(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'/'))
}

/// Names as small numbers. Two names are the same when their hashes are: a collision among the
/// names of one conversation is rarer than a typing error, and costs one line.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: FxHashMap<u64, u32>,
    kinds: Vec<NameKind>,
}

impl Names {
    /// The number of a name.
    pub fn intern(&mut self, name: &str, kind: NameKind) -> u32 {
        let next = self.kinds.len() as u32;
        let id = *self.ids.entry(hash(name)).or_insert(next);
        if id == next {
            self.kinds.push(kind);
        }
        id
    }

    /// The number of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.ids.get(&hash(name)).copied()
    }

    /// What a name looks like.
    pub fn kind(&self, id: u32) -> NameKind {
        self.kinds.get(id as usize).copied().unwrap_or(NameKind::Word)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

fn hash(name: &str) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&str, NameKind)> {
        let mut all = Vec::new();
        scan(text, |name, kind| all.push((name, kind)));
        all
    }

    #[test]
    fn a_path_gives_itself_its_file_and_its_words() {
        assert_eq!(
            names("see src/user_store.rs:12."),
            [
                ("src/user_store.rs", NameKind::Path),
                ("user_store.rs", NameKind::Path),
                ("user_store", NameKind::Identifier),
            ]
        );
    }

    #[test]
    fn identifiers_hashes_and_words_are_told_apart() {
        assert_eq!(
            names("call parseHTTP in 3fa9c1e with load_all, then stop 12345"),
            [
                ("call", NameKind::Word),
                ("parseHTTP", NameKind::Identifier),
                ("3fa9c1e", NameKind::Hash),
                ("with", NameKind::Word),
                ("load_all", NameKind::Identifier),
                ("then", NameKind::Word),
                ("stop", NameKind::Word),
            ]
        );
    }
}
