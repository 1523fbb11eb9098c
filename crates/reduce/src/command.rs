//! Decides what stays of any output: its first lines, what went wrong, the lines that bring most names, its last
//! lines.

use super::alarm::Distinct;
use super::lines::{LONGEST_LINE, cut, gap, lines, prefix, push, suffix};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};
use crate::wording::counted;

/// Shares of the room for the start and the end; an end tells how it went, so it gets more.
const HEAD_SHARE: usize = 20;
const TAIL_SHARE: usize = 30;
/// Above this size the middle is searched for trouble only.
const MOST_WEIGHED: usize = 1 << 20;

/// A text in three parts of whole lines.
pub(super) struct Frame<'a> {
    pub head: &'a str,
    pub middle: &'a str,
    pub tail: &'a str,
}

impl<'a> Frame<'a> {
    /// Head and tail hold at most so many bytes, but at least one line each.
    pub(super) fn of(text: &'a str, head: usize, tail: usize) -> Frame<'a> {
        let text = text.trim_end();
        let head_end = match prefix(text, head).rfind('\n') {
            Some(at) => at + 1,
            None => text.find('\n').map_or(text.len(), |at| at + 1),
        };
        let (head, rest) = text.split_at_checked(head_end).unwrap_or((text, ""));
        let end = suffix(rest, tail);
        let start = if end.len() == rest.len() {
            0
        } else {
            match end.find('\n') {
                Some(at) => rest.len() - end.len() + at + 1,
                None => rest.rfind('\n').map_or(0, |at| at + 1),
            }
        };
        let (middle, tail) = rest.split_at_checked(start).unwrap_or((rest, ""));
        Frame { head, middle, tail }
    }
}

pub(super) fn reduce(output: &Output<'_>) -> Body {
    let room = output.room;
    let frame = Frame::of(output.text, room.percent(HEAD_SHARE), room.percent(TAIL_SHARE));
    let width = room.percent(TAIL_SHARE).min(LONGEST_LINE);
    let mut text = String::new();
    for line in lines(frame.head).filter(|line| !line.trim().is_empty()) {
        push(&mut text, &cut(line, width));
    }
    let middle = middle(output, frame.middle, room.percent(100 - HEAD_SHARE - TAIL_SHARE));
    let hidden = super::lines::count(frame.middle);
    if hidden > 0 {
        if middle.is_empty() {
            push(&mut text, &gap(hidden));
        } else {
            push(&mut text, &format!("[… {} omitted, among them:]", counted(hidden, "line")));
            middle.iter().for_each(|line| push(&mut text, line));
            push(&mut text, "[…]");
        }
    }
    for line in lines(frame.tail).filter(|line| !line.trim().is_empty()) {
        push(&mut text, &cut(line, width));
    }
    Body { note: String::new(), text }
}

/// Trouble first, then other telling lines while room is left.
fn middle(output: &Output<'_>, middle: &str, room: usize) -> Vec<String> {
    let mut written = Distinct::of(middle).write(room, "");
    let used: usize = written.iter().map(|line| line.len() + 1).sum();
    if middle.len() <= MOST_WEIGHED && used < room {
        let candidates = lines(middle)
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(position, line)| Candidate { position, weight: 0, text: prefix(line.trim_end(), 160), extra: 1 })
            .take(MOST_CANDIDATES)
            .collect();
        for picked in pick(candidates, room - used, output.focus, output.names) {
            if !written.iter().any(|line| line.starts_with(picked.text.trim())) {
                written.push(picked.text.to_owned());
            }
        }
    }
    written
}
