//! Values that stand on the lines below their name: block scalars of YAML, here-documents, folded strings.

use crate::disguise::is_break;
use crate::gibberish::is_gibberish;
use crate::string_stats;
use crate::value::{Memory, Quoting, Value, at};

const MOST_LINES: usize = 64;
/// The name of a block stands this far behind the beginning of its line, at most.
const WIDEST: usize = 160;

/// The block that a `|` or `>` at `from` introduces: all lines that are indented deeper than the name.
///
/// `accepts` sees the first line; a block that begins with a placeholder is not read to its end.
pub(crate) fn read(text: &[u8], name: usize, from: usize, accepts: impl Fn(&[u8]) -> bool) -> Option<Value> {
    if text.get(from..)?.starts_with(b"<<") {
        return here_document(text, from, accepts);
    }
    if !matches!(at(text, from), b'|' | b'>') {
        return None;
    }
    let header = text.get(from + 1..)?.iter().take(24);
    let header = header.take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ')).count();
    let mut line = from + 1 + header;
    if !is_break(at(text, line)) {
        return None;
    }
    let margin = indentation_of_name(text, name)?;
    let (mut start, mut end) = (None, from);
    for _ in 0..MOST_LINES {
        line = past_break(text, line)?;
        let (indentation, content) = indentation(text, line);
        let stop = line_end(text, content);
        match stop > content {
            false => {}
            true if indentation > margin => {
                if start.is_none() && !accepts(text.get(content..stop)?) {
                    return None;
                }
                start.get_or_insert(content);
                end = stop;
            }
            true => break,
        }
        if stop >= text.len() {
            break;
        }
        line = stop;
    }
    Some(Value { start: start?, end, quoting: Quoting::Quoted })
}

/// The lines up to the tag that `<<TAG` announces.
fn here_document(text: &[u8], from: usize, accepts: impl Fn(&[u8]) -> bool) -> Option<Value> {
    let marks = text.get(from + 2..)?.iter().take(2);
    let tag_start = from + 2 + marks.take_while(|byte| matches!(byte, b'-' | b'~' | b'"' | b'\'')).count();
    let letters = text.get(tag_start..)?.iter().take(24);
    let tag_end = tag_start + letters.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let tag = text.get(tag_start..tag_end).filter(|tag| !tag.is_empty())?;
    let mut line = line_end(text, tag_end);
    let (mut start, mut end) = (None, from);
    for _ in 0..MOST_LINES {
        line = past_break(text, line)?;
        let (_, content) = indentation(text, line);
        let stop = line_end(text, content);
        let words = text.get(content..stop)?;
        if words == tag {
            return Some(Value { start: start?, end, quoting: Quoting::Quoted });
        }
        if start.is_none() && !accepts(words) {
            return None;
        }
        start.get_or_insert(content);
        (end, line) = (stop, stop);
    }
    None
}

/// The items of a list on the lines below: `- …`.
pub(crate) fn items(text: &[u8], from: usize) -> Vec<Value> {
    const MOST: usize = 32;
    let mut items = Vec::new();
    let mut line = from;
    while let Some(next) = past_break(text, line).filter(|_| items.len() < MOST) {
        let (_, content) = indentation(text, next);
        if text.get(content..content + 2) != Some(b"- ") {
            break;
        }
        let value = Value::read(text, content + 2, &Memory::default());
        let end = value.end + usize::from(value.quoting == Quoting::Quoted);
        if !text.get(end).is_none_or(|&byte| is_break(byte)) {
            break;
        }
        items.push(value);
        line = end;
    }
    items
}

/// A value alone on the line after its name: in quotes, or none that a language has.
pub(crate) fn next_line(text: &[u8], from: usize) -> Option<Value> {
    const LONGEST: usize = 2048;
    let line = past_break(text, from)?;
    // At most one empty line stands between.
    let line = past_break(text, line).unwrap_or(line);
    let (_, start) = indentation(text, line);
    let rest = text.get(start..)?;
    if matches!(rest.first(), Some(b'"' | b'\'')) {
        let value = Value::quoted(text, start);
        let closed = at(text, value.end) == at(text, start);
        let alone = text.get(value.end + 1).is_none_or(|&byte| is_break(byte));
        return (closed && alone && value.end < start + LONGEST).then_some(value);
    }
    let inside = |byte: &&u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'{' | b'}' | b'<' | b'>');
    let length = rest.iter().take(LONGEST).take_while(inside).count();
    let alone = rest.get(length).is_none_or(|&byte| is_break(byte));
    let value = rest.get(..length)?;
    let chosen = value.len() >= 8 && string_stats::is_mixed(value) && !string_stats::is_wordy(value);
    let generated = string_stats::is_random(value) || is_gibberish(value) || chosen;
    (alone && generated).then_some(Value { start, end: start + length, quoting: Quoting::Bare })
}

/// How deep the line is indented on which the name stands; dashes of a list count.
fn indentation_of_name(text: &[u8], name: usize) -> Option<usize> {
    let before = text.get(name.saturating_sub(WIDEST)..name)?;
    let line = before.iter().rposition(|&byte| is_break(byte)).map_or(0, |index| index + 1);
    let start = name - (before.len() - line);
    Some(indentation(text, start).0)
}

/// Indentation of a line, after line numbers and marks of diffs and quotations, and where its content begins.
fn indentation(text: &[u8], line: usize) -> (usize, usize) {
    let count = |from: usize, test: fn(&u8) -> bool| {
        text.get(from..).unwrap_or_default().iter().take(WIDEST).take_while(|byte| test(byte)).count()
    };
    let blank: fn(&u8) -> bool = |byte| matches!(byte, b' ' | b'\t');
    let mut start = line;
    let number = start + count(start, blank);
    let digits = count(number, u8::is_ascii_digit);
    if digits > 0 {
        start = match text.get(number + digits..).unwrap_or_default() {
            [b':' | b'\t' | b'|' | b'-', ..] => number + digits + 1,
            [0xE2, 0x86, 0x92, ..] => number + digits + 3,
            _ => start,
        };
    }
    if matches!(at(text, start), b'+' | b'>' | b'|') || at(text, start) == b'-' && at(text, start + 1) != b' ' {
        start += 1;
    }
    let blanks = count(start, blank);
    (blanks, start + blanks)
}

fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest
        .iter()
        .position(|&byte| is_break(byte) || byte == b'"' || (0x11..=0x13).contains(&byte))
        .unwrap_or(rest.len())
}

fn past_break(text: &[u8], at_break: usize) -> Option<usize> {
    match (text.get(at_break)?, text.get(at_break + 1)) {
        (b'\r', Some(b'\n')) => Some(at_break + 2),
        (&byte, _) if is_break(byte) => Some(at_break + 1),
        _ => None,
    }
}
