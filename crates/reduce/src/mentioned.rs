//! Decides which lines stay for the sake of the conversation: those with names that it speaks of and that no other
//! line of the result has.

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::index::Index;
use super::lines::{prefix, push, trim};
use super::names::{Which, each_name};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::room::Room;
use super::{Kind, Output};

/// Above this size the rest is not unfolded.
const MOST_UNFOLDED: usize = 1 << 20;
/// The longest piece of a line.
const LONGEST_PIECE: usize = 120;
/// What a piece of a longer line keeps before its name.
const BEFORE: usize = 50;

/// Reduced forms are dense with names: one that is coined comes every so many bytes, so that their table need not grow.
const BYTES_PER_NAME: usize = 16;

/// Adds such lines to a body.
pub(super) fn add(output: &Output<'_>, kind: Kind, body: &mut String) {
    let Some(conversation) = output.focus.conversation else {
        return;
    };
    let unfolded = unfolded(output.text, kind);
    let own = unfolded.as_deref().map(|text| Index::of(text, Which::All));
    let text = unfolded.as_deref().unwrap_or(output.text);
    let index = own.as_ref().unwrap_or(output.names);
    let mut shown: FxHashSet<u64> = FxHashSet::with_capacity_and_hasher(body.len() / BYTES_PER_NAME, FxBuildHasher);
    each_name(body, Which::Coined, |name| {
        shown.insert(name.key());
    });
    let mut candidates = Vec::new();
    let mut line = LineSpan { start: 0, end: 0 };
    let mut taken = 0;
    for (name, key) in index.coined() {
        if name.at < taken || !conversation.speaks_of(key) || shown.contains(&key) {
            continue;
        }
        if name.at >= line.end {
            if candidates.len() >= MOST_CANDIDATES {
                break;
            }
            line = LineSpan::around(text, name.at);
        }
        let whole = text.get(line.start..line.end).unwrap_or_default();
        let (start, piece) = piece(whole, name.at - line.start);
        taken = line.start + start + piece.len();
        if piece.len() < whole.len() && is_dense(piece) {
            continue;
        }
        candidates.push(Candidate { position: line.start, weight: 0, text: trim(piece), extra: 1 });
    }
    if candidates.is_empty() {
        return;
    }
    let picked = pick(candidates, Room::beside(output.text.len()).bytes(), output.focus, index);
    let picked: Vec<String> = picked.iter().map(|picked| picked.text.to_owned()).collect();
    if !picked.is_empty() {
        push(body, "[also spoken of:]");
        picked.iter().for_each(|line| push(body, line));
    }
}

/// Where a line is.
struct LineSpan {
    start: usize,
    end: usize,
}

impl LineSpan {
    /// The line that has a name in it.
    fn around(text: &str, name: usize) -> LineSpan {
        let (before, after) = text.as_bytes().split_at_checked(name).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let length = memchr::memchr(b'\n', after).unwrap_or(after.len());
        let returned = after.get(..length).is_some_and(|rest| rest.ends_with(b"\r"));
        LineSpan { start, end: name + length - usize::from(returned) }
    }
}

/// The text with the lines inside of its strings as lines of their own, where it has some.
fn unfolded(text: &str, kind: Kind) -> Option<String> {
    let text = prefix(text, MOST_UNFOLDED);
    (kind == Kind::Json && text.contains("\\n"))
        .then(|| text.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\""))
}

/// Whether a piece is data without its frame: a shard of it tells nobody anything.
fn is_dense(piece: &str) -> bool {
    const LEAST_SIGNS: usize = 8;
    let signs = piece.bytes().filter(|byte| b"\"\\{}[]:,;=&".contains(byte)).count();
    signs * LEAST_SIGNS >= piece.len()
}

/// The line, or the part of a long one around a name, and where it starts.
fn piece(line: &str, at: usize) -> (usize, &str) {
    if line.len() <= LONGEST_PIECE {
        return (0, line);
    }
    let start = line.floor_char_boundary(at.saturating_sub(BEFORE));
    let before = line.get(start..at).unwrap_or_default();
    // A piece starts at a word, not in one.
    let start = match before.find([' ', ',', '"']) {
        Some(gap) if start > 0 => start + gap + 1,
        _ => start,
    };
    (start, prefix(line.get(start..).unwrap_or_default(), LONGEST_PIECE))
}

#[cfg(test)]
mod tests {
    use super::is_dense;

    #[test]
    fn shards_of_data_are_told_from_words_and_code() {
        assert!(is_dense(
            r#":8,"cache_creation_tokens":604,"cache_read_tokens":50603,"cache_creation":{"tokens":604,""#
        ));
        assert!(!is_dense(
            "the reader of `entire.io` keeps the folder that it was started in, so the second call fails there"
        ));
        assert!(!is_dense(
            "sessions, err := restorer.RestoreLogsOnly(point, force) and then the caller prints each of them in order"
        ));
        assert!(!is_dense("第二次调用失败，因为读取器保留了启动时所在的文件夹"));
    }
}
