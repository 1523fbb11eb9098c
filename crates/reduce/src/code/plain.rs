//! Decides what a file defines by looking at its lines: works for any language and for parts of files.

use std::borrow::Cow;

use super::{CodeLine, Definition, LONGEST_SIGNATURE};
use crate::definitions::defined;

/// Comment marks of common languages.
const COMMENTS: &[&str] = &["//", "#", "/*", "*", "--", ";", "\"\"\"", "'''", "<!--", "%"];
/// Lines that start like a comment but are code.
const NO_COMMENTS: &[&str] = &["#define", "#[", "#!", "#include", "--flag", "*("];

pub(super) fn definitions<'a>(read: &[CodeLine<'a>]) -> Vec<Definition<'a>> {
    let mut found = Vec::new();
    for (index, line) in read.iter().enumerate() {
        let nested = line.is_nested();
        if let Some(rank) = defined(line.text, nested) {
            found.push(Definition { index, rank, nested, signature: signature(read.get(index..).unwrap_or_default()) });
        }
    }
    found
}

/// The first line; where it leaves a parenthesis open, on one line with those that follow up to its end.
fn signature<'a>(lines: &[CodeLine<'a>]) -> Cow<'a, str> {
    let mut lines = lines.iter().map(|line| line.text);
    let first = lines.next().unwrap_or_default();
    if !leaves_open(first) {
        return Cow::Borrowed(first);
    }
    let mut whole = first.to_owned();
    for line in lines.take(MOST_LINES) {
        if !whole.ends_with('(') && !line.starts_with(')') {
            whole.push(' ');
        }
        whole.push_str(line);
        if whole.len() > LONGEST_SIGNATURE || !leaves_open(&whole) {
            break;
        }
    }
    Cow::Owned(whole)
}

/// Lines of one signature at most.
const MOST_LINES: usize = 12;

fn leaves_open(text: &str) -> bool {
    let count = |mark: u8| text.bytes().filter(|byte| *byte == mark).count();
    count(b'(') > count(b')')
}

/// The first words of a leading comment: what the file says about itself.
pub(super) fn heading<'a>(read: &[CodeLine<'a>]) -> Option<&'a str> {
    let first = read.iter().take(12).map(|line| line.text).find(|line| line.len() > 4)?;
    let words = first.trim_start_matches(['/', '!', '*', '#', '-', '"', '\'', ' ', ';']);
    (is_comment(first) && words.contains(' ') && !words.to_ascii_lowercase().contains("copyright")).then_some(first)
}

/// What a file imports, and on which lines.
#[derive(Debug, Default)]
pub(super) struct Imports {
    pub names: Vec<String>,
    pub lines: Vec<usize>,
}

pub(super) fn imports(read: &[CodeLine<'_>]) -> Imports {
    let mut imports = Imports::default();
    let mut block = false;
    for (index, line) in read.iter().enumerate().take(400) {
        let text = line.text;
        if block {
            imports.lines.push(index);
            block = !text.starts_with(')');
            imports.names.extend(imported(text));
        } else if text == "import (" {
            imports.lines.push(index);
            block = true;
        } else if is_import(text) {
            imports.lines.push(index);
            imports.names.extend(imported(text));
        }
    }
    imports.names.dedup();
    imports
}

fn is_import(text: &str) -> bool {
    // Most lines begin with another letter.
    if !matches!(text.as_bytes().first(), Some(b'i' | b'u' | b'p' | b'#' | b'r' | b'f' | b'c')) {
        return false;
    }
    ["import ", "use ", "pub use ", "#include ", "require ", "require_relative ", "using "]
        .iter()
        .any(|start| text.starts_with(start))
        || (text.starts_with("from ") && text.contains(" import "))
        || (text.starts_with("const ") && text.contains("= require("))
}

/// The shortest telling part of an import: the quoted path's last part, or the path itself.
fn imported(text: &str) -> Option<String> {
    let quoted = text.split(['"', '\'', '<', '>']).nth(1).filter(|path| !path.is_empty());
    let path = match quoted {
        Some(path) => path,
        None => text
            .split_ascii_whitespace()
            .find(|word| !matches!(*word, "import" | "use" | "pub" | "from" | "using" | "static" | "type"))?,
    };
    let last = path.trim_end_matches(';').rsplit('/').next()?;
    (last.len() > 1).then(|| last.to_owned())
}

pub(super) fn is_comment(text: &str) -> bool {
    // No mark is a letter, and most lines begin with one.
    !text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && COMMENTS.iter().any(|mark| text.starts_with(mark))
        && !NO_COMMENTS.iter().any(|code| text.starts_with(code))
}

/// A line without the brace that opens its body.
pub(super) fn trimmed(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| !matches!(byte, b' ' | b'{' | b'\t')).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}
