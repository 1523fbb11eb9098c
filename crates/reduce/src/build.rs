//! Decides what stays of compilers and linters: each distinct diagnostic once, with its places, and how it ended.

use rustc_hash::FxHashMap;

use super::alarm::{self, Distinct, Severity};
use super::lines::{cut, lines, prefix, push};
use super::test_report::bare;
use super::{Body, Output};

/// Places that are written per diagnostic.
const MOST_PLACES: usize = 6;
/// Diagnostics that are told apart.
const MOST_DISTINCT: usize = 2_000;
const LONGEST_MESSAGE: usize = 180;

/// A line that reports something at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Diagnostic<'a> {
    /// `path:line`, or nothing when the place stands on another line.
    pub place: &'a str,
    pub severity: Option<Severity>,
    pub message: &'a str,
}

struct Group<'a> {
    severity: Severity,
    message: &'a str,
    /// Files with the lines in each.
    places: Vec<(&'a str, Vec<&'a str>)>,
    count: usize,
}

#[derive(Default)]
struct Report<'a> {
    groups: Vec<Group<'a>>,
    index: FxHashMap<Box<[u8]>, usize>,
    beyond: usize,
    scratch: Vec<u8>,
    other: Distinct<'a>,
    status: Vec<&'a str>,
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let report = Report::of(output.text);
    if report.groups.is_empty() && report.status.is_empty() {
        return None;
    }
    let room = output.room.bytes();
    let mut text = String::new();
    let mut hidden = 0usize;
    for severity in [Severity::Error, Severity::Warning] {
        for group in report.groups.iter().filter(|group| group.severity == severity) {
            let fits = text.len() < room || (severity == Severity::Error && text.len() < room * 3);
            if fits {
                let tight = text.len() > room;
                push(&mut text, &group.written(tight));
            } else {
                hidden += group.count;
            }
        }
    }
    if hidden + report.beyond > 0 {
        push(&mut text, &format!("[… {} further diagnostics]", hidden + report.beyond));
    }
    for line in report.other.write(room.saturating_sub(text.len()), &text) {
        push(&mut text, &line);
    }
    for line in &report.status {
        let line = cut(bare(line).trim(), LONGEST_MESSAGE);
        if !text.contains(line.as_ref()) {
            push(&mut text, &line);
        }
    }
    let count = |severity| {
        report.groups.iter().filter(|group| group.severity == severity).map(|group| group.count).sum::<usize>()
    };
    Some(Body { note: format!("{} errors, {} warnings", count(Severity::Error), count(Severity::Warning)), text })
}

impl<'a> Report<'a> {
    fn of(text: &'a str) -> Report<'a> {
        let mut report = Report::default();
        let mut heading = "";
        let mut waiting: Option<usize> = None;
        // Linters repeat the source line below a diagnostic; what it says is no news.
        let mut below = false;
        for line in lines(text) {
            let line = bare(line);
            if let Some(place) = arrow_place(line) {
                if let Some(group) = waiting.take().and_then(|at| report.groups.get_mut(at)) {
                    group.place(place);
                }
                continue;
            }
            let excerpt = std::mem::take(&mut below) || is_excerpt(line);
            if is_status(line) {
                if report.status.len() >= 8 {
                    report.status.remove(0);
                }
                report.status.push(line);
            } else if let Some(found) = diagnostic(line) {
                let place = match found.place.rsplit_once(':') {
                    Some(place) => place,
                    None => (heading, found.place),
                };
                below = !found.place.is_empty();
                let severity = found.severity.unwrap_or(Severity::Error);
                waiting = report.add(found.message, severity, place);
            } else if excerpt {
                continue;
            } else if let Some(severity) = alarm::severity(line) {
                report.other.add(line, severity);
            } else if super::search::is_path(line) {
                heading = line;
            }
        }
        report
    }

    fn add(&mut self, message: &'a str, severity: Severity, place: (&'a str, &'a str)) -> Option<usize> {
        self.scratch.clear();
        alarm::template(message.as_bytes(), &mut self.scratch);
        let at = match self.index.get(self.scratch.as_slice()) {
            Some(at) => *at,
            None if self.groups.len() < MOST_DISTINCT => {
                self.index.insert(self.scratch.clone().into_boxed_slice(), self.groups.len());
                self.groups.push(Group { severity, message, places: Vec::new(), count: 0 });
                self.groups.len() - 1
            }
            None => {
                self.beyond += 1;
                return None;
            }
        };
        let group = self.groups.get_mut(at)?;
        group.count += 1;
        if !place.1.is_empty() {
            group.place(place);
        }
        Some(at)
    }
}

impl<'a> Group<'a> {
    fn place(&mut self, (file, line): (&'a str, &'a str)) {
        if let Some((_, numbers)) = self.places.iter_mut().find(|(known, _)| *known == file) {
            if numbers.len() < MOST_PLACES && !numbers.contains(&line) {
                numbers.push(line);
            }
        } else if self.places.len() < MOST_PLACES {
            self.places.push((file, vec![line]));
        }
    }

    fn written(&self, tight: bool) -> String {
        let shown = if tight { 1 } else { MOST_PLACES };
        let listed = self.places.iter().take(shown);
        let mut line =
            listed.clone().map(|(file, numbers)| format!("{file}:{}", numbers.join(","))).collect::<Vec<_>>().join(" ");
        let more = self.count.saturating_sub(listed.map(|(_, numbers)| numbers.len()).sum::<usize>().max(1));
        if more > 0 {
            line.push_str(&format!(" (+{more})"));
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&cut(self.message.trim(), if tight { 90 } else { LONGEST_MESSAGE }));
        line
    }
}

/// `  --> src/a.rs:3:4`.
fn arrow_place(line: &str) -> Option<(&str, &str)> {
    without_column(line.trim_start().strip_prefix("--> ")?.trim()).rsplit_once(':')
}

/// ` 12 | code`, `   |   ^^^` and `   ^`.
fn is_excerpt(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    text.starts_with("| ")
        || text == "|"
        || (text.starts_with('^') && text.trim_end_matches(['^', '~', ' ', '-']).is_empty())
}

/// Reads `path:12:3: message`, `path(12,3): message`, `error[E1]: message`, `  12:3  error  message`.
pub(super) fn diagnostic(line: &str) -> Option<Diagnostic<'_>> {
    let line = bare(line);
    let text = line.trim_start();
    let head = prefix(text, 300);
    for start in ["error[", "error: ", "warning: ", "warning[", "fatal error: ", "error TS"] {
        if text.starts_with(start) {
            let severity = if start.starts_with('w') { Severity::Warning } else { Severity::Error };
            return Some(Diagnostic { place: "", severity: Some(severity), message: text });
        }
    }
    if head.starts_with(|c: char| c.is_ascii_digit()) {
        return stylish(text);
    }
    let bytes = head.as_bytes();
    for at in memchr::memchr2_iter(b':', b'(', bytes) {
        if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let path = head.get(..at)?.rsplit([' ', '\t']).next()?;
        if !super::search::is_path(path) || !path.contains('.') {
            return None;
        }
        let rest = head.get(at + 1..)?;
        let line_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let column = rest.get(line_digits + 1..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let numbers = if column > 0 { line_digits + 1 + column } else { line_digits };
        let end = at + 1 + line_digits;
        let message = text.get(at + 1 + numbers..)?.trim_start_matches([')', ':', ' ']);
        if message.is_empty() {
            return None;
        }
        let start = at - path.len();
        return Some(Diagnostic {
            place: text.get(start..end)?,
            severity: severity_of(message, numbers > line_digits),
            message,
        });
    }
    None
}

/// A message without a word of severity is an error when a column stands before it: Go and ruff print none.
fn severity_of(message: &str, with_column: bool) -> Option<Severity> {
    let starts = |words: &[&str]| {
        words.iter().any(|word| message.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
    };
    if starts(&["warn"]) {
        Some(Severity::Warning)
    } else if starts(&["note", "info", "help"]) {
        None
    } else if with_column || starts(&["error", "fatal"]) {
        Some(Severity::Error)
    } else {
        None
    }
}

/// eslint's `12:3  error  message  rule` below the line with the file.
fn stylish(text: &str) -> Option<Diagnostic<'_>> {
    let (place, rest) = text.split_once([' ', '\t'])?;
    if !place.contains(':') || !place.bytes().all(|b| b.is_ascii_digit() || b == b':') {
        return None;
    }
    let rest = rest.trim_start();
    let severity = if rest.starts_with("error") {
        Severity::Error
    } else if rest.starts_with("warning") {
        Severity::Warning
    } else {
        return None;
    };
    Some(Diagnostic { place: without_column(place), severity: Some(severity), message: rest })
}

/// `path:12:3` without its column.
fn without_column(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((rest, column)) if rest.contains(':') && column.bytes().all(|b| b.is_ascii_digit()) => rest,
        Some((rest, column))
            if !rest.is_empty()
                && rest.bytes().all(|b| b.is_ascii_digit())
                && column.bytes().all(|b| b.is_ascii_digit()) =>
        {
            rest
        }
        _ => place,
    }
}

/// Starts and endings of the lines that say how a build ended.
pub(super) fn is_status(line: &str) -> bool {
    let text = bare(line).trim();
    [
        "error: could not compile",
        "error: aborting due to",
        "make: *** ",
        "ninja: build stopped",
        "BUILD FAILED",
        "BUILD SUCCESS",
        "✖ ",
        "error Command failed",
        "npm ERR! code",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || (text.starts_with("Found ") && text.contains(" error"))
        || (text.starts_with("warning: `") && text.contains(" generated "))
        || (text.starts_with("Finished `") && text.contains("target(s) in"))
        || (text.ends_with(" issues.")
            || text.ends_with(" issues:")
            || (text.ends_with(" generated.") && text.contains("warning")))
}
