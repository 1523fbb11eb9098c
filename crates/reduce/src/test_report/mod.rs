//! Decides what stays of a test run: the counts, and every failure with its message and place.
//!
//! Reports of many frameworks are read by the shapes of their lines. A failure is known by the last part of its
//! name, so that a detail block and a line of the summary are one failure.

mod event;
mod failed;

use rustc_hash::FxHashMap;

use super::alarm::{Distinct, Severity, severity};
use super::lines::{cut, lines, prefix, push, roll};
use super::search::shared_folder;
use super::{Body, Output};
use event::{Event, event};
pub(super) use event::{bare, is_mark, is_summary};
pub use failed::failed_tests;

/// Lines of evidence that are remembered per failure.
const MOST_EVIDENCE: usize = 6;
/// Lines before a failure that are taken for its evidence. The last ones count: what a test prints before
/// it fails is mostly its progress.
const MOST_PENDING: usize = 3;
/// Evidence that is written per failure, by the number of failures.
const EVIDENCE_SCALE: &[(usize, usize)] = &[(4, 5), (10, 3), (40, 1)];
/// Above this many bytes, failures are listed by name only.
const MOST_DETAIL: usize = 2_400;
/// Names of passed tests that are remembered.
const MOST_NAMES: usize = 400;
/// Summary lines that are kept; several packages print one each.
const MOST_SUMMARIES: usize = 12;
const LONGEST_MESSAGE: usize = 200;

#[derive(Debug, Default)]
struct Failure<'a> {
    name: &'a str,
    evidence: Vec<&'a str>,
}

#[derive(Debug, Default)]
struct Report<'a> {
    passed: Vec<&'a str>,
    passes: usize,
    ticked: Vec<&'a str>,
    ticks: usize,
    packages: Vec<&'a str>,
    failures: Vec<Failure<'a>>,
    index: FxHashMap<&'a str, usize>,
    summaries: Vec<&'a str>,
    summary_lines: usize,
    other: Distinct<'a>,
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let report = Report::of(output.text);
    if report.summaries.is_empty() && report.failures.is_empty() && report.passes == 0 && report.packages.is_empty() {
        return None;
    }
    let room = output.room.bytes();
    let mut text = String::new();
    for line in &report.summaries {
        push(&mut text, &cut(line.trim(), LONGEST_MESSAGE));
    }
    if report.summary_lines > report.summaries.len() {
        push(&mut text, &format!("[… {} more summary lines]", report.summary_lines - report.summaries.len()));
    }
    report.write_failures(&mut text, room);
    for line in report.other.write(room.saturating_sub(text.len()), &text) {
        push(&mut text, &line);
    }
    let left = room.saturating_sub(text.len());
    if !report.packages.is_empty() {
        let shared = shared_folder(report.packages.iter().copied());
        let names = report.packages.iter().map(|name| name.strip_prefix(shared).unwrap_or(name));
        let label = if shared.is_empty() {
            format!("{} packages ok:", report.packages.len())
        } else {
            format!("{} packages ok under {shared}:", report.packages.len())
        };
        if let Some(line) = roll(&label, names, label.len() + left / 2) {
            push(&mut text, &line);
        }
    }
    let left = room.saturating_sub(text.len());
    if left > 40
        && let Some(line) = roll("passed:", report.passed.iter().copied(), left)
    {
        push(&mut text, &line);
    }
    Some(Body { note: format!("{} failed, {} passed seen", report.failures.len(), report.passes), text })
}

impl<'a> Report<'a> {
    fn of(text: &'a str) -> Report<'a> {
        let mut report = Report::default();
        let mut current: Option<usize> = None;
        let mut pending: Vec<&'a str> = Vec::new();
        for line in lines(text) {
            let line = bare(line);
            match event(line) {
                Some(Event::Start(_)) => {
                    current = None;
                    pending.clear();
                }
                Some(Event::Pass(name)) => {
                    report.passes += 1;
                    if report.passed.len() < MOST_NAMES {
                        report.passed.push(name);
                    }
                    current = None;
                    pending.clear();
                }
                Some(Event::Tick(name)) => {
                    report.ticks += 1;
                    if report.ticked.len() < MOST_NAMES {
                        report.ticked.push(name);
                    }
                }
                Some(Event::Package(name)) => {
                    report.packages.push(name);
                    current = None;
                }
                Some(Event::Fail(name, message)) => {
                    let at = report.failure(name);
                    if let Some(failure) = report.failures.get_mut(at) {
                        for evidence in pending.drain(..).chain((!message.is_empty()).then_some(message)) {
                            failure.add(evidence);
                        }
                    }
                    current = Some(at);
                }
                Some(Event::Summary) => {
                    report.summary_lines += 1;
                    if severity(line) == Some(Severity::Error) || report.summaries.len() < MOST_SUMMARIES {
                        if report.summaries.len() >= MOST_SUMMARIES * 4 {
                            continue;
                        }
                        report.summaries.push(line);
                    }
                    current = None;
                }
                None if is_evidence(line) => {
                    if let Some(failure) = current.and_then(|at| report.failures.get_mut(at)) {
                        failure.add(line);
                    } else {
                        if pending.len() >= MOST_PENDING {
                            pending.remove(0);
                        }
                        pending.push(line);
                    }
                    // Evidence has its limits; what went wrong is listed again unless it is shown.
                    if let Some(severity) = severity(line) {
                        report.other.add(line, severity);
                    }
                }
                None => {}
            }
        }
        if report.passes == 0 && report.packages.is_empty() {
            report.passes = report.ticks;
            report.passed.append(&mut report.ticked);
        }
        report
    }

    fn failure(&mut self, name: &'a str) -> usize {
        let key = key(name);
        *self.index.entry(key).or_insert_with(|| {
            self.failures.push(Failure { name, evidence: Vec::new() });
            self.failures.len() - 1
        })
    }

    /// Failures with evidence while there are few, and every name in any case.
    fn write_failures(&self, text: &mut String, room: usize) {
        let count = self.failures.len();
        let evidence = EVIDENCE_SCALE.iter().find(|(most, _)| count <= *most).map_or(0, |(_, lines)| *lines);
        let limit = MOST_DETAIL.max(room) + text.len();
        let mut named = Vec::new();
        for failure in &self.failures {
            if evidence == 0 || text.len() > limit {
                named.push(failure.name);
                continue;
            }
            push(text, &format!("FAIL {}", cut(failure.name, LONGEST_MESSAGE)));
            for line in failure.evidence.iter().take(evidence) {
                push(text, &format!("  {}", cut(line.trim(), LONGEST_MESSAGE)));
            }
        }
        if let Some(line) = roll("FAIL", named, usize::MAX) {
            push(text, &line);
        }
    }
}

impl<'a> Failure<'a> {
    fn add(&mut self, line: &'a str) {
        if self.evidence.len() < MOST_EVIDENCE && !self.evidence.iter().any(|known| known.trim() == line.trim()) {
            self.evidence.push(line);
        }
    }
}

/// The part of a name that detail blocks and summaries share.
fn key(name: &str) -> &str {
    let name = name.split(" (").next().unwrap_or(name).trim();
    name.rsplit("::").next().unwrap_or(name).rsplit(" > ").next().unwrap_or(name).rsplit(" › ").next().unwrap_or(name)
}

/// True for lines that say why a test failed, or where.
fn is_evidence(line: &str) -> bool {
    let text = line.trim_start();
    if text.is_empty() || text.starts_with("===") || text == "failures:" {
        return false;
    }
    text.starts_with("E  ")
        || has_place(text)
        || severity(text).is_some()
        || [
            "left:",
            "right:",
            "Expected",
            "Received",
            "expected",
            "actual",
            "want",
            "got",
            "Error:",
            "assert",
            "File \"",
            "Messages:",
        ]
        .iter()
        .any(|start| text.starts_with(start))
}

/// True when a line names a file and a line in it: `a/b.rs:12`.
fn has_place(text: &str) -> bool {
    let bytes = prefix(text, 300).as_bytes();
    memchr::memchr_iter(b':', bytes).any(|at| {
        bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            && bytes.get(..at).is_some_and(|before| {
                let start = before
                    .iter()
                    .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'\'' | b'"'))
                    .map_or(0, |at| at + 1);
                let word = before.get(start..).unwrap_or_default();
                word.len() > 3
                    && word.iter().rev().take(6).any(|b| *b == b'.')
                    && word.iter().any(u8::is_ascii_alphabetic)
            })
    })
}
