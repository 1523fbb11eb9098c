//! Decides which lines say that something went wrong, and which of them say the same.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::lines::cut;

/// How bad a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}

/// Words of trouble. Spelled out per case, because a case-blind search of a large output is several times slower.
const TROUBLE: &[(&str, Severity)] = &[
    ("error", Severity::Error),
    ("Error", Severity::Error),
    ("ERROR", Severity::Error),
    ("fail", Severity::Error),
    ("Fail", Severity::Error),
    ("FAIL", Severity::Error),
    ("panic", Severity::Error),
    ("Panic", Severity::Error),
    ("PANIC", Severity::Error),
    ("exception", Severity::Error),
    ("Exception", Severity::Error),
    ("EXCEPTION", Severity::Error),
    ("fatal", Severity::Error),
    ("Fatal", Severity::Error),
    ("FATAL", Severity::Error),
    ("critical", Severity::Error),
    ("CRITICAL", Severity::Error),
    ("Traceback", Severity::Error),
    ("abort", Severity::Error),
    ("Abort", Severity::Error),
    ("denied", Severity::Error),
    ("Denied", Severity::Error),
    ("not found", Severity::Error),
    ("Not found", Severity::Error),
    ("Not Found", Severity::Error),
    ("No such file", Severity::Error),
    ("cannot", Severity::Error),
    ("Cannot", Severity::Error),
    ("unable to", Severity::Error),
    ("Unable to", Severity::Error),
    ("refused", Severity::Error),
    ("timed out", Severity::Error),
    ("Segmentation fault", Severity::Error),
    ("CONFLICT", Severity::Error),
    ("warn", Severity::Warning),
    ("Warn", Severity::Warning),
    ("WARN", Severity::Warning),
    ("deprecated", Severity::Warning),
];

/// Endings that a word of trouble may have and still be one.
const ENDINGS: &[&str] = &[
    "",
    "s",
    "ed",
    "ing",
    "ings",
    "ure",
    "ures",
    "ked",
    "Error",
    "Exception",
    "ING",
    "INGS",
    "ED",
    "URE",
    "URES",
    "S",
    "es",
];

/// Distinct lines that are told apart; beyond, they are only counted.
const MOST_DISTINCT: usize = 2_000;
/// A program that announces an error says so in its first words.
const ANNOUNCED_REACH: usize = 24;
/// Templates look at the start of a line only, so that one huge line stays cheap.
const TEMPLATE_REACH: usize = 400;

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .kind(Some(AhoCorasickKind::DFA))
        .build(TROUBLE.iter().map(|(word, _)| word))
        .ok()
});

/// How bad a line is, if it speaks of trouble at all. A count of zero is no trouble.
pub(super) fn severity(line: &str) -> Option<Severity> {
    let finder = FINDER.as_ref()?;
    let mut worst = None;
    for found in finder.find_iter(line) {
        if !is_word(line, found.start(), found.end()) {
            continue;
        }
        let severity = TROUBLE.get(found.pattern().as_usize()).map(|(_, severity)| *severity);
        if severity == Some(Severity::Error) {
            return severity;
        }
        worst = worst.max(severity);
    }
    worst
}

/// Calls `visit` for every line of trouble. Lines without any are skipped at the speed of the search.
pub fn each<'a>(text: &'a str, mut visit: impl FnMut(&'a str, Severity)) {
    let Some(finder) = FINDER.as_ref() else {
        return;
    };
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(found) = finder.find(Input::new(text).range(from..)) {
        let before = bytes.get(from..found.start()).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(from, |at| from + at + 1);
        let after = bytes.get(found.end()..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(text.len(), |at| found.end() + at);
        let line = text.get(start..end).unwrap_or_default();
        if let Some(severity) = severity(line) {
            visit(line, severity);
        }
        from = end;
    }
}

/// True when the match is a word of its own or the end of a name such as `TypeError`.
fn is_word(line: &str, start: usize, end: usize) -> bool {
    let bytes = line.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let first = bytes.get(start).copied().unwrap_or(b' ');
    let joined = if first.is_ascii_uppercase() {
        before.is_ascii_uppercase() || matches!(before, b'_' | b'/')
    } else {
        before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-' | b'.' | b'/' | b'$')
    };
    if joined {
        return false;
    }
    let rest = bytes.get(end..).unwrap_or_default();
    let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).take(12).count();
    let ending = rest.get(..letters).unwrap_or_default();
    if !ENDINGS.iter().any(|known| known.as_bytes() == ending) {
        return false;
    }
    let after = rest.get(letters..).unwrap_or_default();
    let path = match after {
        [b'_' | b'/', ..] => true,
        [b'.' | b'-', next, ..] => next.is_ascii_alphanumeric(),
        _ => false,
    };
    !path && !is_none(bytes.get(..start).unwrap_or_default(), after)
}

/// True for `0 errors`, `no warnings`, `failures=0`.
fn is_none(before: &[u8], after: &[u8]) -> bool {
    let word_start = before.trim_ascii_end();
    let counted = before.len() > word_start.len()
        && [&b"no"[..], b"No", b"without", b"zero"].iter().any(|word| ends_with_word(word_start, word))
        || (before.len() > word_start.len() && ends_with_word(word_start, b"0"));
    let value = after.trim_ascii_start();
    let value = value.strip_prefix(b":").or_else(|| value.strip_prefix(b"=")).map(<[u8]>::trim_ascii_start);
    counted
        || value
            .is_some_and(|value| matches!(value, [b'0'] | [b'0', b' ' | b',' | b';' | b')' | b'.' | b'\t' | b'\r', ..]))
}

fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    text.strip_suffix(word).is_some_and(|rest| !rest.last().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.'))
}

/// One of several lines that say the same.
#[derive(Debug)]
pub(super) struct RepeatedLine<'a> {
    pub line: &'a str,
    pub severity: Severity,
    pub count: usize,
}

/// Lines told apart by what remains of them without numbers, ids and times.
#[derive(Debug, Default)]
pub(super) struct Distinct<'a> {
    index: FxHashMap<Box<[u8]>, usize>,
    scratch: Vec<u8>,
    pub entries: Vec<RepeatedLine<'a>>,
    beyond: usize,
}

impl<'a> Distinct<'a> {
    /// Every line of trouble in a text.
    pub(super) fn of(text: &'a str) -> Distinct<'a> {
        let mut distinct = Distinct::default();
        each(text, |line, severity| distinct.add(line, severity));
        distinct
    }

    /// Errors that a program announces itself, at the start of a line: `error: …`, `fatal: …`.
    pub(super) fn announced(text: &'a str) -> Distinct<'a> {
        let mut distinct = Distinct::default();
        each(text, |line, _| {
            let start = super::lines::prefix(line, ANNOUNCED_REACH);
            if line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '[')
                && severity(start) == Some(Severity::Error)
            {
                distinct.add(line, Severity::Error);
            }
        });
        distinct
    }

    pub(super) fn add(&mut self, line: &'a str, severity: Severity) {
        self.scratch.clear();
        template(line.as_bytes(), &mut self.scratch);
        if let Some(entry) = self.index.get(self.scratch.as_slice()).and_then(|at| self.entries.get_mut(*at)) {
            entry.count += 1;
        } else if self.entries.len() < MOST_DISTINCT {
            self.index.insert(self.scratch.clone().into_boxed_slice(), self.entries.len());
            self.entries.push(RepeatedLine { line, severity, count: 1 });
        } else {
            self.beyond += 1;
        }
    }

    /// The lines to show: every error in some form, shorter the more there are, then warnings while `room` lasts.
    /// Lines that `shown` already holds are left out.
    pub(super) fn write(&self, room: usize, shown: &str) -> Vec<String> {
        let pending = |severity: Severity| {
            self.entries.iter().filter(move |entry| entry.severity == severity && !holds(shown, entry.line))
        };
        let most = (room * 2).max(1_200);
        let full: usize = pending(Severity::Error).map(|entry| entry.line.trim().len().min(240) + 1).sum();
        let width = if full <= room {
            240
        } else if full <= most {
            140
        } else {
            72
        };
        let mut written = Vec::new();
        let mut used = 0;
        let mut families = Families::default();
        for entry in pending(Severity::Error) {
            if used < most {
                let line = entry.written(width);
                used += line.len() + 1;
                written.push(line);
            } else {
                families.add(entry);
            }
        }
        written.extend(families.write());
        if self.beyond > 0 {
            written.push(format!("[… {} further lines of trouble]", self.beyond));
        }
        let mut warnings_left = 0;
        for entry in pending(Severity::Warning) {
            let line = entry.written(160);
            if used + line.len() < room {
                used += line.len() + 1;
                written.push(line);
            } else {
                warnings_left += 1;
            }
        }
        if warnings_left > 0 {
            written.push(format!("[… {warnings_left} further distinct warnings]"));
        }
        written
    }
}

impl RepeatedLine<'_> {
    fn written(&self, width: usize) -> String {
        let line = cut(self.line.trim(), width);
        if self.count > 1 { format!("{line} (×{})", self.count) } else { line.into_owned() }
    }
}

/// Errors that do not fit even when cut, merged by their first words.
#[derive(Default)]
struct Families {
    counts: Vec<(String, usize)>,
    index: FxHashMap<String, usize>,
    beyond: usize,
}

/// Families that are named; the rest is one number.
const MOST_FAMILIES: usize = 24;

impl Families {
    fn add(&mut self, entry: &RepeatedLine<'_>) {
        let mut scratch = Vec::new();
        template(entry.line.trim().as_bytes(), &mut scratch);
        let line = String::from_utf8_lossy(&scratch).into_owned();
        let key = line.split_ascii_whitespace().take(3).collect::<Vec<_>>().join(" ");
        let key = cut(&key, 60).into_owned();
        if let Some((_, count)) = self.index.get(&key).and_then(|at| self.counts.get_mut(*at)) {
            *count += entry.count;
        } else if self.counts.len() < MOST_FAMILIES {
            self.index.insert(key.clone(), self.counts.len());
            self.counts.push((key, entry.count));
        } else {
            self.beyond += entry.count;
        }
    }

    fn write(self) -> Vec<String> {
        let mut written: Vec<String> =
            self.counts.into_iter().map(|(key, count)| format!("{key} … (×{count})")).collect();
        if self.beyond > 0 {
            written.push(format!("[… {} further errors]", self.beyond));
        }
        written
    }
}

/// True when the start of `line` stands in `shown`.
fn holds(shown: &str, line: &str) -> bool {
    let start = super::lines::prefix(line.trim(), 60);
    !start.is_empty() && shown.contains(start)
}

/// Writes the part of a line that equal events share: runs of digits and hexadecimal ids become one mark.
pub(super) fn template(line: &[u8], into: &mut Vec<u8>) {
    let line = line.get(..TEMPLATE_REACH).unwrap_or(line);
    let mut rest = line;
    while let Some(byte) = rest.first().copied() {
        if !byte.is_ascii_alphanumeric() {
            into.push(byte);
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let (word, after) = rest.split_at(length);
        rest = after;
        let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            into.extend_from_slice(word);
        } else if is_id(word, digits) {
            if into.last() != Some(&b'#') {
                into.push(b'#');
            }
        } else {
            for byte in word {
                let mark = if byte.is_ascii_digit() { b'#' } else { *byte };
                if mark != b'#' || into.last() != Some(&b'#') {
                    into.push(mark);
                }
            }
        }
    }
}

/// True for numbers, hexadecimal ids and addresses.
fn is_id(word: &[u8], digits: usize) -> bool {
    let hexadecimal = word.strip_prefix(b"0x").unwrap_or(word);
    digits == word.len()
        || ((word.len() >= 6 || hexadecimal.len() < word.len()) && hexadecimal.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_a_word_not_a_part_of_a_name() {
        for line in [
            "error: x",
            "TypeError: y",
            "2 failed",
            "FAILED",
            "thread panicked",
            "Permission denied",
            "make: *** Error 1",
            "ERROR task",
        ] {
            assert_eq!(severity(line), Some(Severity::Error), "{line}");
        }
        for line in [
            "0 errors",
            "no errors",
            "failures=0",
            "errors.go",
            "error_handler",
            "fail-fast",
            "src/error/mod.rs",
            "stderr",
            "errors: 0, ok",
        ] {
            assert_eq!(severity(line), None, "{line}");
        }
        assert_eq!(severity("warning: unused"), Some(Severity::Warning));
        assert_eq!(severity("10 errors"), Some(Severity::Error));
    }

    #[test]
    fn equal_events_are_one_entry() {
        let distinct = Distinct::of("12:01 error id 55 at 0x7fa3\nok\n12:02 error id 56 at 0x7fb4\nerror other\n");
        assert_eq!(distinct.write(500, ""), ["12:01 error id 55 at 0x7fa3 (×2)", "error other"]);
    }

    #[test]
    fn many_errors_shrink_but_none_vanishes_without_a_count() {
        let text: String = (0..1500)
            .map(|i| {
                format!(
                    "error: {} broke at {i}\n",
                    "abcdefghijklmno".repeat(1 + i % 7).to_uppercase() + &"x".repeat(i / 7)
                )
            })
            .collect();
        let written = Distinct::of(&text).write(600, "");
        let bytes: usize = written.iter().map(String::len).sum();
        assert!(bytes < 4_000, "{bytes}");
        assert!(written.iter().any(|line| line.contains("…")));
    }
}
