//! Decides what one line of a test report says, for many frameworks.

use crate::lines::prefix;

/// What a line of a report says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A test starts; what follows may become its evidence.
    Start(&'a str),
    /// A test passed.
    Pass(&'a str),
    /// A line with a tick: a passed test where nothing else marks one.
    Tick(&'a str),
    /// A package whose tests all passed.
    Package(&'a str),
    /// A test failed, with a message on the same line.
    Fail(&'a str, &'a str),
    /// Totals.
    Summary,
}

/// A line without the name of the task that printed it: `[test] ok` is `ok`.
pub(crate) fn bare(line: &str) -> &str {
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .filter(|(name, _)| {
            name.len() < 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'_'))
        })
        .map_or(line, |(_, rest)| rest)
}

/// True for a line that only test reports have.
pub(crate) fn is_mark(line: &str) -> bool {
    event(bare(line)).is_some_and(|event| !matches!(event, Event::Tick(_) | Event::Start("")))
}

/// True for a line with totals that only test reports have.
pub(crate) fn is_summary(line: &str) -> bool {
    let line = bare(line).trim();
    line.starts_with("test result: ")
        || (line.starts_with("===") && line.ends_with("===") && (line.contains(" passed") || line.contains(" failed")))
        || (line.starts_with("Ran ") && line.contains(" tests in "))
        || line.starts_with("Tests:  ")
        || line.starts_with("Test Files  ")
}

/// What a line says, by its shape alone.
pub(super) fn event(line: &str) -> Option<Event<'_>> {
    let text = line.trim_start();
    let first = text.bytes().next()?;
    match first {
        b'=' => {
            if let Some(name) = text
                .strip_prefix("=== RUN")
                .or_else(|| text.strip_prefix("=== CONT"))
                .or_else(|| text.strip_prefix("=== PAUSE"))
            {
                return Some(Event::Start(name.trim()));
            }
            if let Some(name) = text.strip_prefix("=== FAIL: ") {
                return Some(Event::Fail(name, ""));
            }
            let totals = text.ends_with('=')
                && text.contains(" in ")
                && [" passed", " failed", " error", "no tests"].iter().any(|word| text.contains(word));
            totals.then_some(Event::Summary)
        }
        b'-' => {
            if let Some(name) = text.strip_prefix("--- FAIL: ") {
                Some(Event::Fail(name.split(" (").next().unwrap_or(name), ""))
            } else if let Some(name) = text.strip_prefix("--- PASS: ").or_else(|| text.strip_prefix("--- SKIP: ")) {
                Some(Event::Pass(name.split(" (").next().unwrap_or(name)))
            } else {
                let name = text.strip_prefix("---- ")?.strip_suffix(" stdout ----")?;
                Some(Event::Fail(name, ""))
            }
        }
        b't' => cargo_event(text),
        b'F' | b'E' | b'P' => worded_event(text),
        b'o' if text.starts_with("ok  \t") || text.starts_with("ok \t") => {
            let name = text.get(3..).unwrap_or_default().trim_start().split('\t').next().unwrap_or_default();
            Some(if text.contains("coverage:") { Event::Summary } else { Event::Package(name) })
        }
        b'o' => tap_pass(text),
        b'n' => text
            .strip_prefix("not ok ")
            .map(|rest| Event::Fail(rest.split_once("- ").map_or(rest, |(_, name)| name), "")),
        b'_' => {
            let name = text.trim_matches('_').trim();
            (text.starts_with("____") && text.ends_with("____") && !name.is_empty()).then_some(Event::Fail(name, ""))
        }
        b'R' => (text.starts_with("Ran ") && text.contains(" tests in ")).then_some(Event::Summary),
        b'T' => ["Tests:  ", "Test Suites:", "Tests  ", "Test Files  ", "Tests run:", "Tests: "]
            .iter()
            .any(|start| text.starts_with(start))
            .then_some(Event::Summary),
        b'O' => (text == "OK" || text.starts_with("OK (")).then_some(Event::Summary),
        b'0'..=b'9' => numbered_event(text),
        0xe2 => glyph_event(text),
        _ => pytest_verbose(text),
    }
}

/// `test name ... ok`, `test result: …`.
fn cargo_event(text: &str) -> Option<Event<'_>> {
    let rest = text.strip_prefix("test ");
    if text.starts_with("test result: ") {
        return Some(Event::Summary);
    }
    let Some((name, outcome)) = rest.and_then(|rest| rest.rsplit_once(" ... ")) else {
        return pytest_verbose(text);
    };
    match outcome {
        _ if outcome.starts_with("FAILED") => Some(Event::Fail(name, "")),
        _ if outcome.starts_with("ok") || outcome.starts_with("ignored") => Some(Event::Pass(name)),
        _ => None,
    }
}

/// Lines that start with the outcome: pytest's summary, unittest's blocks, jest's files, Go's packages.
fn worded_event(text: &str) -> Option<Event<'_>> {
    if text == "FAIL" || text == "PASS" {
        return Some(Event::Start(""));
    }
    if text.starts_with("FAILED (") {
        return Some(Event::Summary);
    }
    for start in ["FAILED ", "ERROR: ", "FAIL: ", "ERROR ", "FAIL  "] {
        if let Some(rest) = text.strip_prefix(start) {
            let named = start != "ERROR " || rest.contains("::");
            let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
            return named.then_some(Event::Fail(name, message));
        }
    }
    if let Some(rest) = text.strip_prefix("FAIL\t") {
        let package = rest.split('\t').next().unwrap_or(rest);
        return Some(if rest.contains("build failed") { Event::Fail(package, "build failed") } else { Event::Summary });
    }
    if let Some(rest) = text.strip_prefix("FAIL ") {
        return crate::search::is_path(rest.split(' ').next().unwrap_or(rest)).then_some(Event::Fail(rest, ""));
    }
    if let Some(rest) = text.strip_prefix("PASS ") {
        return crate::search::is_path(rest.split(' ').next().unwrap_or(rest)).then_some(Event::Pass(rest));
    }
    None
}

fn tap_pass(text: &str) -> Option<Event<'_>> {
    let (number, name) = text.strip_prefix("ok ")?.split_once(" - ")?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(Event::Pass(name))
}

/// `3 passing`, `2 failed, 1 passed in 0.3s`, `1) name`.
fn numbered_event(text: &str) -> Option<Event<'_>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..)?;
    if let Some(name) = rest.strip_prefix(") ") {
        return (digits <= 4 && name.len() > 3).then_some(Event::Fail(name.trim_end_matches(':'), ""));
    }
    let summary =
        [" passing", " failing", " failed,", " passed in ", " passed,", " failed in ", " examples,", " pending"];
    summary.iter().any(|word| prefix(rest, 20).starts_with(word)).then_some(Event::Summary)
}

fn glyph_event(text: &str) -> Option<Event<'_>> {
    for mark in ["✕ ", "✗ ", "✘ ", "× ", "● "] {
        if let Some(name) = text.strip_prefix(mark) {
            return Some(Event::Fail(name, ""));
        }
    }
    for mark in ["✓ ", "✔ ", "√ "] {
        if let Some(name) = text.strip_prefix(mark) {
            return Some(Event::Tick(name));
        }
    }
    None
}

/// `tests/a.py::test_b PASSED  [ 50%]`.
fn pytest_verbose(text: &str) -> Option<Event<'_>> {
    let (name, rest) = text.split_once(' ')?;
    if !name.contains("::") {
        return None;
    }
    if rest.starts_with("PASSED") || rest.starts_with("SKIPPED") || rest.starts_with("XFAIL") {
        Some(Event::Pass(name))
    } else if rest.starts_with("FAILED") || rest.starts_with("ERROR") {
        Some(Event::Fail(name, ""))
    } else {
        None
    }
}
