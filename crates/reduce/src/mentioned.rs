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
    let mut line = Line { start: 0, end: 0 };
    let mut taken = 0;
    for (name, key) in index.coined() {
        if name.at < taken || !conversation.speaks_of(key) || shown.contains(&key) {
            continue;
        }
        if name.at >= line.end {
            if candidates.len() >= MOST_CANDIDATES {
                break;
            }
            line = Line::around(text, name.at);
        }
        let whole = text.get(line.start..line.end).unwrap_or_default();
        let (start, piece) = piece(whole, name.at - line.start);
        taken = line.start + start + piece.len();
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
struct Line {
    start: usize,
    end: usize,
}

impl Line {
    /// The line that has a name in it.
    fn around(text: &str, name: usize) -> Line {
        let (before, after) = text.as_bytes().split_at_checked(name).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let length = memchr::memchr(b'\n', after).unwrap_or(after.len());
        let returned = after.get(..length).is_some_and(|rest| rest.ends_with(b"\r"));
        Line { start, end: name + length - usize::from(returned) }
    }
}

/// The text with the lines inside of its strings as lines of their own, where it has some.
fn unfolded(text: &str, kind: Kind) -> Option<String> {
    let text = prefix(text, MOST_UNFOLDED);
    (kind == Kind::Json && text.contains("\\n"))
        .then(|| text.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\""))
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
