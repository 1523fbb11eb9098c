//! Decides what stays of a log: counts by level, its first and last lines, every distinct error and warning once, and
//! the DEBUG lines when the task is about timing.

use super::alarm::{self, Distinct, Severity};
use super::command::Frame;
use super::lines::{cut, lines, push};
use super::pick::{Candidate, pick};
use super::{Body, Output};
use crate::wording::counted;

/// Levels of a log line, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// The process cannot go on.
    Fatal,
    /// Something failed.
    Error,
    /// Something may fail.
    Warning,
    /// Something happened.
    Info,
    /// How it happened.
    Debug,
    /// How it happened, step by step.
    Trace,
}

/// Levels and the names that logs give them.
const LEVELS: [(Level, &str, &[&str]); 6] = [
    (Level::Fatal, "fatal", &["FATAL", "CRITICAL", "CRIT", "EMERG", "PANIC", "ALERT"]),
    (Level::Error, "error", &["ERROR", "ERR", "SEVERE"]),
    (Level::Warning, "warn", &["WARN", "WARNING"]),
    (Level::Info, "info", &["INFO", "NOTICE"]),
    (Level::Debug, "debug", &["DEBUG", "DBG"]),
    (Level::Trace, "trace", &["TRACE"]),
];

/// A level stands near the start of its line.
const LEVEL_REACH: usize = 96;
/// Shares of the room for the start and the end.
const EDGE_SHARE: usize = 15;
/// Lines of DEBUG that are weighed when the task asks for them.
const MOST_DEBUG: usize = 4_000;
const LONGEST_EVENT: usize = 200;

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let room = output.room;
    let frame = Frame::of(output.text, room.percent(EDGE_SHARE), room.percent(EDGE_SHARE));
    let mut counts = [0usize; 6];
    let mut trouble = Distinct::default();
    let mut debug = Vec::new();
    let timing = output.focus.is_about_timing();
    for line in lines(output.text) {
        let level = level(line);
        if let Some(count) = level.and_then(|level| counts.get_mut(level as usize)) {
            *count += 1;
        }
        match level {
            Some(Level::Fatal | Level::Error) => trouble.add(line, Severity::Error),
            Some(Level::Warning) => trouble.add(line, Severity::Warning),
            Some(Level::Debug | Level::Trace) if timing && debug.len() < MOST_DEBUG => debug.push(line),
            Some(_) => {}
            None => {
                if let Some(severity) = alarm::severity(super::lines::prefix(line, 4_096)) {
                    trouble.add(line, severity);
                }
            }
        }
    }
    let mut text = String::new();
    for line in lines(frame.head) {
        push(&mut text, &cut(line, LONGEST_EVENT));
    }
    let mut tail = String::new();
    for line in lines(frame.tail) {
        push(&mut tail, &cut(line, LONGEST_EVENT));
    }
    let spent = text.len() + tail.len();
    let left = room.bytes().saturating_sub(spent);
    let shown = format!("{text}{tail}");
    let mut middle = trouble.write(if timing { left / 2 } else { left }, &shown);
    let used: usize = middle.iter().map(|line| line.len() + 1).sum();
    middle.extend(debug_lines(&debug, left.saturating_sub(used).max(left / 2), output));
    if !frame.middle.is_empty() {
        push(
            &mut text,
            &format!(
                "[… {} omitted{}]",
                counted(super::lines::count(frame.middle), "line"),
                if middle.is_empty() { "" } else { ", among them:" }
            ),
        );
    }
    for line in &middle {
        push(&mut text, line);
    }
    if !frame.middle.is_empty() && !middle.is_empty() {
        push(&mut text, "[…]");
    }
    text.push_str(&tail);
    let note = LEVELS
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((_, name, _), count)| format!("{count} {name}"))
        .collect::<Vec<_>>()
        .join(", ");
    Some(Body { note, text })
}

/// DEBUG lines that speak of the task, or else the most telling ones; equal ones once.
fn debug_lines(debug: &[&str], room: usize, output: &Output<'_>) -> Vec<String> {
    if debug.is_empty() {
        return Vec::new();
    }
    let mut distinct = Distinct::default();
    for line in debug {
        distinct.add(line, Severity::Warning);
    }
    let candidates = distinct
        .entries
        .iter()
        .enumerate()
        .map(|(position, entry)| Candidate {
            position,
            weight: if has_duration(entry.line) { 8 } else { 1 },
            text: super::lines::prefix(entry.line.trim(), LONGEST_EVENT),
            extra: 6,
        })
        .collect();
    pick(candidates, room, output.focus, output.names)
        .iter()
        .map(|picked| match distinct.entries.get(picked.position).map_or(1, |entry| entry.count) {
            1 => picked.text.to_owned(),
            count => format!("{} (×{count})", picked.text),
        })
        .collect()
}

/// True when a line holds a time span such as `120ms` or `duration=3`.
fn has_duration(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memmem::find_iter(bytes, b"ms")
        .any(|at| at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit))
        || ["elapsed", "duration", "took", "latency", " sec"].iter().any(|word| line.contains(word))
}

/// The level of a log line: a word of its own in capitals, in brackets, or the value of a `level` field.
pub(super) fn level(line: &str) -> Option<Level> {
    let bytes = super::lines::prefix(line, LEVEL_REACH).as_bytes();
    let mut before = b' ';
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        if !byte.is_ascii_alphanumeric() {
            before = byte;
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
        }
        let word = bytes.get(start..at).unwrap_or_default();
        if !(3..=8).contains(&word.len()) || before == b'_' {
            continue;
        }
        let after = bytes.get(at).copied().unwrap_or(b' ');
        let apart = match before {
            _ if byte.is_ascii_uppercase() => after != b'_' && word.iter().all(u8::is_ascii_uppercase),
            b'=' | b'[' | b'<' => matches!(after, b' ' | b']' | b'>' | b'"' | b','),
            b'"' => after == b'"' && bytes.get(..start).is_some_and(names_level),
            _ => false,
        };
        if apart {
            let known =
                LEVELS.iter().find(|(_, _, names)| names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(word)));
            if let Some((level, ..)) = known {
                return Some(*level);
            }
        }
    }
    None
}

/// True when the last key before a value is one for levels.
fn names_level(before: &[u8]) -> bool {
    let key = before.split(|b| *b == b',').next_back().unwrap_or_default();
    [&b"level"[..], b"severity", b"lvl"].iter().any(|name| memchr::memmem::find(key, name).is_some())
}

/// True for a line that starts with a time or a date.
pub(super) fn has_time(line: &str) -> bool {
    let mut shape = [0; 24];
    let head = line.bytes().skip_while(|b| matches!(b, b'[' | b'(' | b' '));
    shape.iter_mut().zip(head).for_each(|(to, b)| *to = if b.is_ascii_digit() { b'0' } else { b });
    [&b"0000-00-00"[..], b"0000/00/00", b"00:00:00", b"00/00/0000", b"0000.00.00"]
        .iter()
        .any(|date| shape.starts_with(date))
        || (shape.get(3..).is_some_and(|rest| rest.starts_with(b" 00 00:00:00") || rest.starts_with(b"  0 00:00:00")))
}

/// True for a JSON object that is a log event: it has a level or a time, and a message.
pub(super) fn is_json_event(line: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| line.contains(name));
    line.starts_with('{')
        && has(&["\"level\"", "\"severity\"", "\"lvl\""])
        && has(&["\"msg\"", "\"message\"", "\"time\"", "\"ts\""])
}
