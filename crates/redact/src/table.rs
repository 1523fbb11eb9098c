//! Tables: a column whose heading names a secret. Bars as databases print them, commas and tabulators as files have them,
//! blanks as commands align them.

use crate::disguise::{BREAK_1, BREAK_2, QUOTE_1, QUOTE_2, QUOTE_3, is_break};
use crate::gibberish::is_gibberish;
use crate::name::{self, NameKind};
use crate::rule::Rule;
use crate::scan::Scan;
use crate::string_stats::StringStats;
use crate::value::{at, is_quote};
use crate::{Mode, placeholder};

const LONGEST_LINE: usize = 512;
const MOST_ROWS: usize = 64;
const MOST_COLUMNS: usize = 32;

/// Called at a name without a value beside it. If it is the heading of a column, the cells below it are secrets.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    if scan.mode == Mode::Code || start < scan.tabled {
        return;
    }
    let text = scan.text;
    let sign = text.get(end..).unwrap_or_default().iter().take(24).find(|byte| !matches!(byte, b' ' | b'"')).copied();
    let sign = sign.unwrap_or(b'\n');
    let aligned = text.get(end..end + 2) == Some(b"  ");
    if !(is_break(sign) || matches!(sign, b'|' | b',' | b'\t') || aligned) {
        return;
    }
    let header_start = line_start(text, start);
    let header_end = line_end(text, end);
    scan.tabled = header_end;
    let Some(header) = text.get(header_start..header_end) else { return };
    let single = || is_heading(text, end).then_some(b'|');
    let Some(separator) = separator(header).or_else(single) else { return };
    let kind = |cell: (usize, usize)| {
        let (kind, _) = header.get(cell.0..cell.1).and_then(name::classify)?;
        matches!(kind, NameKind::Password | NameKind::Credential).then_some(kind)
    };
    // Headings are names; what has numbers or nothing in its cells is a row.
    let named =
        |(start, end)| header.get(start..end).is_some_and(|cell: &[u8]| cell.iter().any(u8::is_ascii_alphabetic));
    if !cells(header, separator).all(named) {
        return;
    }
    let kinds: Vec<Option<NameKind>> = cells(header, separator).map(kind).collect();
    let fewest = if is_heading(text, end) { 1 } else { 2 };
    if kinds.len() < fewest || kinds.len() > MOST_COLUMNS || kinds.iter().all(Option::is_none) {
        return;
    }
    let mut from = header_end;
    for _ in 0..MOST_ROWS {
        let Some(row_start) = past_break(text, from) else { return };
        from = line_end(text, row_start);
        let row = text.get(row_start..from).unwrap_or_default();
        if !row.is_empty() && is_ruling(row) {
            continue;
        }
        let places: Vec<(usize, usize)> = cells(row, separator).collect();
        if places.len() != kinds.len() {
            return;
        }
        for (&(start, end), kind) in places.iter().zip(&kinds) {
            if kind.is_some_and(|kind| row.get(start..end).is_some_and(|cell| is_value(cell, kind))) {
                scan.report(rule, row_start + start, row_start + end);
            }
        }
    }
}

/// Whether the line after the one that `index` is in rules off a heading.
pub(crate) fn is_heading(text: &[u8], index: usize) -> bool {
    let end = line_end(text, index);
    let below = past_break(text, end).and_then(|start| text.get(start..line_end(text, start))).unwrap_or_default();
    below.len() > 2 && is_ruling(below)
}

/// Whether a line is drawn: of ASCII signs, or of those for boxes.
fn is_ruling(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b'=' | b':' | b' ' | 0x80..))
}

fn is_value(cell: &[u8], kind: NameKind) -> bool {
    let look = StringStats::at(cell);
    let plausible = match kind {
        NameKind::Password => true,
        _ => look.is_unwordly() && !look.is_number() || look.is_long_run() || is_gibberish(cell),
    };
    // A quote inside ends the string that holds the table.
    let word = cell.len() >= 4 && !look.has_blank() && !cell.iter().any(|&byte| is_quote(byte));
    word && plausible
        && !placeholder::is_placeholder(cell)
        && !placeholder::is_expression(cell)
        && !placeholder::is_type(cell)
}

/// What separates the cells of a heading: bars, or commas and tabulators between single words.
fn separator(header: &[u8]) -> Option<u8> {
    let has = |sign: u8| header.contains(&sign);
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b',' | b'\t');
    let plain = header.iter().all(word);
    match () {
        // Bars have blanks around them; alternatives of a pattern do not.
        () if header.windows(2).any(|two| two == b" |" || two == b"| ") => Some(b'|'),
        () if has(b'\t') && plain => Some(b'\t'),
        () if has(b',') && plain => Some(b','),
        () if header.iter().all(|byte| word(byte) || *byte == b' ') && is_aligned(header) => Some(b' '),
        () => None,
    }
}

/// Whether words stand in columns: two blanks or more between them, and never one.
fn is_aligned(header: &[u8]) -> bool {
    let line = header.trim_ascii();
    let blank = |index: usize| line.get(index) == Some(&b' ');
    let single = (1..line.len()).any(|index| blank(index) && !blank(index - 1) && !blank(index + 1));
    line.windows(2).any(|two| two == b"  ") && !single
}

/// The cells of a row without blanks and quotes around them. Bars at the edges belong to the frame.
fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = (usize, usize)> {
    let trimmed = row.trim_ascii();
    let lead = row.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let framed = separator == b'|' && trimmed.len() > 1;
    let opened = usize::from(framed && trimmed.first() == Some(&b'|'));
    let closed = usize::from(framed && trimmed.last() == Some(&b'|'));
    let inner = trimmed.get(opened..trimmed.len() - closed).unwrap_or_default();
    let mut from = lead + opened;
    inner.split(move |&byte| byte == separator).filter_map(move |cell| {
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`');
        let left = cell.iter().take_while(blank).count();
        let right = cell.iter().skip(left).rev().take_while(blank).count();
        let place = (from + left, from + cell.len() - right);
        from += cell.len() + 1;
        // Columns that are aligned have many blanks between them.
        (separator != b' ' || place.0 < place.1).then_some(place)
    })
}

fn line_start(text: &[u8], index: usize) -> usize {
    let from = index.saturating_sub(LONGEST_LINE);
    let before = text.get(from..index).unwrap_or_default();
    // A quote opens the string that holds the table, unless it belongs to a cell.
    let opens = |&byte: &u8| is_break(byte) || matches!(byte, 0x11..=0x13) || byte == b'"' && !before.contains(&b',');
    from + before.iter().rposition(opens).map_or(0, |place| place + 1)
}

fn line_end(text: &[u8], index: usize) -> usize {
    let rest = text.get(index..).unwrap_or_default();
    let rest = rest.get(..LONGEST_LINE).unwrap_or(rest);
    // Three searches at memory speed, each no further than the one before.
    let first = |stop: usize, signs: [u8; 3]| {
        let [a, b, c] = signs;
        rest.get(..stop).and_then(|rest| memchr::memchr3(a, b, c, rest)).unwrap_or(stop)
    };
    let stop = first(rest.len(), [b'\n', b'\r', BREAK_1]);
    index + first(first(stop, [QUOTE_1, QUOTE_2, QUOTE_3]), [BREAK_2; 3])
}

fn past_break(text: &[u8], index: usize) -> Option<usize> {
    match (at(text, index), at(text, index + 1)) {
        (b'\r', b'\n') => Some(index + 2),
        (byte, _) if is_break(byte) => Some(index + 1),
        _ => None,
    }
}
