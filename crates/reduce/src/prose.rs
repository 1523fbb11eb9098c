//! Decides what stays of text for people: headings, first sentences, and the lines that bring most names.

use super::lines::{lines, prefix, push, trim};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};
use crate::wording::counted;

/// The longest sentence that stays.
const LONGEST_SENTENCE: usize = 220;
/// What ends earlier is an abbreviation or the number of an item.
const SHORTEST_SENTENCE: usize = 24;
/// Above this size the rest is not weighed.
const MOST_WEIGHED: usize = 1 << 20;

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut candidates = Vec::new();
    let mut headings = 0usize;
    let mut blank_before = true;
    let mut fenced = false;
    for (position, line) in lines(prefix(output.text, MOST_WEIGHED)).enumerate().take(MOST_CANDIDATES) {
        let text = trim(line);
        if text.is_empty() {
            blank_before = true;
            continue;
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if !text.bytes().any(|b| b.is_ascii_alphanumeric() || b >= 0x80) {
            continue;
        }
        let heading = !fenced && is_heading(text);
        headings += usize::from(heading);
        let weight = match (heading, fenced, blank_before) {
            (true, ..) => 6,
            (_, true, _) => 0,
            (_, _, true) => 4,
            _ => 1,
        };
        blank_before = false;
        let text = if fenced { prefix(text, 120) } else { first_sentence(text) };
        candidates.push(Candidate { position, weight, text, extra: 1 });
    }
    if candidates.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(2 * output.room.bytes());
    for picked in pick(candidates, output.room.bytes(), output.focus, output.names) {
        push(&mut text, picked.text);
    }
    let note = if headings > 0 { counted(headings, "heading") } else { String::new() };
    Some(Body { note, text })
}

fn is_heading(text: &str) -> bool {
    let marks = text.bytes().take_while(|b| *b == b'#').count();
    (1..=6).contains(&marks) && text.as_bytes().get(marks) == Some(&b' ')
        || (text.starts_with("**")
            && (text.ends_with("**") || text.ends_with("**:") || text.ends_with(":**"))
            && text.len() < 100)
}

/// Up to the end of the first sentence, or a limit.
fn first_sentence(text: &str) -> &str {
    let start = prefix(text, LONGEST_SENTENCE);
    let ends = start.as_bytes().windows(2).skip(SHORTEST_SENTENCE);
    let end = ends
        .zip(SHORTEST_SENTENCE + 1..)
        .find(|(pair, _)| matches!(pair, [b'.' | b'!' | b'?', b' ']))
        .map(|(_, at)| at);
    end.and_then(|at| start.get(..at)).unwrap_or(start)
}
