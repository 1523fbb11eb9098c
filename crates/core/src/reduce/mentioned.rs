//! Decides which lines stay for the sake of the conversation: those with names that it speaks of and that no other
//! line of the result has.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::lines::{lines, prefix, push};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::room::Room;
use super::talk::SPOKEN_OF;
use super::words::{is_coined, names, names_at};
use super::{Kind, Output};

/// Above this size the rest is not searched.
const MOST_SEARCHED: usize = 1 << 20;
/// The longest piece of a line.
const LONGEST_PIECE: usize = 120;
/// What a piece of a longer line keeps before its name.
const BEFORE: usize = 50;

/// Adds such lines to a body.
pub(super) fn add(output: &Output<'_>, kind: Kind, body: &mut String) {
    let Some(talk) = output.focus.talk else {
        return;
    };
    let text = unfolded(prefix(output.text, MOST_SEARCHED), kind);
    let shown: FxHashSet<&str> = names(body).collect();
    let mut candidates = Vec::new();
    for (position, line) in lines(&text).enumerate() {
        let mut end = 0;
        for (at, name) in names_at(line) {
            if at < end || !is_coined(name) || talk.likelihood(name) < SPOKEN_OF || shown.contains(name) {
                continue;
            }
            let (start, text) = piece(line, at);
            end = start + text.len();
            candidates.push(Candidate { position, weight: 0, text: text.trim(), extra: 1 });
        }
        if candidates.len() >= MOST_CANDIDATES {
            break;
        }
    }
    if candidates.is_empty() {
        return;
    }
    let picked = pick(candidates, Room::beside(output.text.len()).bytes(), output.focus);
    let picked: Vec<String> = picked.iter().map(|picked| picked.text.to_owned()).collect();
    if !picked.is_empty() {
        push(body, "[also spoken of:]");
        picked.iter().for_each(|line| push(body, line));
    }
}

/// The lines inside of strings as lines of their own.
fn unfolded(text: &str, kind: Kind) -> Cow<'_, str> {
    if kind == Kind::Json && text.contains("\\n") {
        Cow::Owned(text.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\""))
    } else {
        Cow::Borrowed(text)
    }
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
