//! Decides what stays of a stack trace: what was thrown, its own frames, and the chain of causes.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::alarm::severity;
use super::lines::{cut, lines, push};
use super::{Body, Output};

/// Parts of paths and names that belong to libraries and runtimes, not to the project.
const FOREIGN: &[&str] = &[
    "site-packages",
    "dist-packages",
    "node_modules",
    "/registry/src/",
    "/rustc/",
    "/.cargo/",
    "node:internal",
    "internal/modules",
    "/usr/lib/",
    "/usr/local/go/",
    "/go/pkg/mod/",
    "java.base/",
    "java.lang.",
    "java.util.",
    "sun.reflect",
    "jdk.internal",
    "org.springframework",
    "org.junit",
    "core::",
    "std::",
    "alloc::",
    "<frozen ",
    "lib/python3",
    "runtime/panic.go",
    "runtime.goexit",
    "runtime.gopanic",
    "System.",
    "Microsoft.",
    "rust_begin_unwind",
    "__libc_start",
];

static FOREIGN_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(FOREIGN).ok());

/// Starts of lines that open or chain a trace.
const HEADERS: &[&str] = &[
    "Traceback (most recent call last)",
    "Caused by",
    "During handling of",
    "The above exception",
    "goroutine ",
    "panic: ",
    "thread '",
    "Exception in thread",
    "Unhandled",
    "Uncaught",
    "fatal error: ",
    "stack backtrace:",
    "Error: ",
    "---> ",
    "Suppressed: ",
];

/// Frames that are written; the innermost and the outermost tell most.
const MOST_FRAMES: usize = 12;
const LONGEST_LINE: usize = 220;

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let room = output.room.bytes() * 3 / 2;
    let mut kept: Vec<&str> = Vec::new();
    let mut frames: Vec<&str> = Vec::new();
    let mut foreign = 0usize;
    let mut all = 0usize;
    let mut after_frame = false;
    let mut other = super::alarm::Distinct::default();
    for line in lines(output.text) {
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        if is_frame(line) {
            all += 1;
            after_frame = true;
            if FOREIGN_FINDER.as_ref().is_some_and(|finder| finder.is_match(line)) {
                foreign += 1;
            } else if frames.last() != Some(&text) && frames.len() < 4_096 {
                frames.push(text);
            }
            continue;
        }
        let message = is_header(text) || is_message(text);
        if message {
            settle(&mut kept, &mut frames);
            if !kept.contains(&text) && kept.len() < 200 {
                kept.push(text);
            } else if let Some(severity) = severity(text) {
                other.add(text, severity);
            }
            after_frame = false;
        } else if after_frame && line.starts_with(' ') {
            // The source line of the frame above: its place says where to find it.
        } else if let Some(severity) = severity(line) {
            other.add(line, severity);
        }
    }
    settle(&mut kept, &mut frames);
    if all == 0 {
        return None;
    }
    let mut text = String::new();
    let mut hidden = 0usize;
    for line in &kept {
        if text.len() < room || is_message(line) { push(&mut text, &cut(line, LONGEST_LINE)) } else { hidden += 1 }
    }
    if hidden > 0 {
        push(&mut text, &super::lines::gap(hidden));
    }
    for line in other.write(room.saturating_sub(text.len()), &text) {
        push(&mut text, &line);
    }
    Some(Body { note: format!("{all} frames, {foreign} of libraries"), text })
}

/// Moves the frames of one trace to the kept lines: the outer and inner ends of a long trace.
fn settle<'a>(kept: &mut Vec<&'a str>, frames: &mut Vec<&'a str>) {
    if frames.len() > MOST_FRAMES {
        let tail = frames.split_off(frames.len() - MOST_FRAMES / 2);
        frames.truncate(MOST_FRAMES / 2);
        frames.push("[…]");
        frames.extend(tail);
    }
    let known: Vec<&str> = frames.drain(..).filter(|frame| *frame == "[…]" || !kept.contains(frame)).collect();
    kept.extend(known);
}

/// True for a line of a frame in one of the common forms.
pub(super) fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    let indented = text.len() < line.len();
    (indented && text.starts_with("File \"") && text.contains(", line "))
        || (indented && text.starts_with("at ") && (text.contains(':') || text.ends_with(')')))
        || (indented && text.contains(".go:") && text.contains(" +0x"))
        || backtrace_frame(text)
}

/// `  12: module::function` of Rust.
fn backtrace_frame(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=4).contains(&digits)
        && text
            .get(digits..)
            .and_then(|rest| rest.strip_prefix(": "))
            .is_some_and(|rest| rest.contains("::") && !rest.contains(' ') || rest.starts_with("0x"))
}

pub(super) fn is_header(line: &str) -> bool {
    let line = line.trim();
    HEADERS.iter().any(|start| line.starts_with(start))
}

/// `some.package.NameError: message` and its like.
fn is_message(text: &str) -> bool {
    let name = text.split([':', ' ']).next().unwrap_or(text);
    name.len() < 120
        && (name.ends_with("Error")
            || name.ends_with("Exception")
            || name.ends_with("Warning")
            || name.ends_with("Interrupt"))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$'))
        || (severity(text).is_some() && is_header(text))
}
