//! Private keys in PEM and OpenPGP armour, whole or cut at either end.
//!
//! Keys appear with real line breaks, with `\n` spelled out in strings, behind line numbers, file names, diff marks and
//! quotation marks. What stands between two lines of base64 is therefore a pattern, too.

use crate::disguise::is_break;
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::value::{at, is_quote};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The largest keys in use are about 13 KB; prefixes on every line may double that.
const LARGEST: usize = 64 * 1024;

/// What stands before the base64 of a line: the end of the last line, then a file name and a line number, marks.
macro_rules! between {
    () => {
        r#"(?:[ \t]*(?:<br ?/?>)?[,+.\\|$"'`\x11-\x14\x17]{0,4}[ \t]*(?:\r?\n|[\x0b\x0c\r]| )(?:[ \t]*(?:[\w./@-]{1,80}[:-])?\d{1,7}(?:[:|\t) -]|\xE2\x86\x92))?[ \t>|+*#"'`\x11-\x14\x17-]{0,40}|[ \t"'`\x11-\x14\x17]{1,8}[,+][ \t]*["'`\x11-\x14\x17])"#
    };
}

/// Called at `-BEGIN `.
pub(crate) fn begin(scan: &mut Scan<'_>, rule: &'static Rule, at_keyword: usize) {
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"\A-{4,5} ?BEGIN[ \x18](?:[A-Z0-9 \x18]{0,32}PRIVATE[ \x18]KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}",
            // Lines like `Proc-Type: 4,ENCRYPTED`.
            r"(?:",
            between!(),
            r"[A-Za-z-]{4,20}: [ -~]{1,80}){0,4}(?:",
            between!(),
            r"){0,2}",
            // Lines of the key. The first is long, the last may be short.
            r"[A-Za-z0-9+/=]{24,}(?:",
            between!(),
            r"[A-Za-z0-9+/=]{24,})*(?:(?:",
            between!(),
            r"=?[A-Za-z0-9+/=]{1,76}){0,2}(?:",
            between!(),
            r")?-{4,5} ?END[ \x18](?:[A-Z0-9 \x18]{0,32}PRIVATE[ \x18]KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}|",
            between!(),
            // The last line; without its end, only where the text ends as well.
            r"(?:[A-Za-z0-9+/]{2,76}={1,2}|[A-Za-z0-9+/]{8,76}\s*\z))?",
        ))
    });
    const DASHES: usize = 4;
    let before = scan.text.get(..at_keyword).unwrap_or_default();
    let start = at_keyword - before.iter().rev().take(DASHES).take_while(|&&byte| byte == b'-').count();
    let window = scan.text.get(start..scan.text.len().min(start + LARGEST)).unwrap_or_default();
    let Some(found) = KEY.as_ref().and_then(|key| key.find(window)) else { return };
    let end = trimmed(window.get(..found.end()).unwrap_or_default());
    scan.report(rule, start, start + end);
}

/// Without the line break or quote that the pattern may have read behind the last line.
fn trimmed(found: &[u8]) -> usize {
    let kept = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-');
    found.iter().rposition(kept).map_or(0, |last| last + 1)
}

/// Called at `-END `: the end of a key whose beginning was cut off. Goes back as long as lines are lines of a key.
pub(crate) fn end(scan: &mut Scan<'_>, rule: &'static Rule, at_keyword: usize, keyword_end: usize) {
    static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\A[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"));
    /// Lines of a key have 64 to 76 characters; the last may be shorter.
    const LONG: usize = 40;
    let text = scan.text;
    let window = text.get(keyword_end..text.len().min(keyword_end + 64)).unwrap_or_default();
    let Some(found) = LABEL.as_ref().and_then(|label| label.find(window)) else { return };
    let stop = at_keyword.saturating_sub(4);
    let floor = scan.floor(stop).max(stop.saturating_sub(LARGEST));
    let mut start = None;
    let mut place = stop;
    let mut lines = 0;
    while let Some((line_start, line_end)) = line_before(text, floor, place) {
        let long = line_end - line_start >= LONG;
        if !long && lines > 0 {
            break;
        }
        if long {
            start = Some(line_start);
        }
        lines += 1;
        place = line_start;
    }
    if let Some(start) = start {
        scan.report(rule, start, keyword_end + found.end());
    }
}

/// The run of base64 before `place`, with only marks and line numbers between them, and something that ends a word before
/// it.
fn line_before(text: &[u8], floor: usize, place: usize) -> Option<(usize, usize)> {
    const MOST_MARKS: usize = 120;
    const LONGEST_LINE: usize = 1024;
    let base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let before = text.get(floor..place)?;
    let break_at =
        before.iter().rev().take(MOST_MARKS).position(|&byte| is_break(byte) || matches!(byte, b',' | b'"'))?;
    let (before, prefix) = (before.get(..before.len() - break_at - 1)?, before.get(before.len() - break_at..)?);
    let mark = |byte: &u8| *byte <= b' ' || is_quote(*byte) || matches!(byte, b',' | b'+' | b'|' | b'>' | b'\\' | b';');
    // A line number, a file name, marks of diffs and quotations.
    if !prefix.iter().all(|byte| {
        mark(byte) || byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'.' | b'/' | b'_' | b'#' | b')')
    }) {
        return None;
    }
    let marks = before.iter().rev().take(MOST_MARKS).take_while(|byte| mark(byte) && !base64(byte)).count();
    let end = floor + before.len() - marks;
    let run = text.get(floor..end)?.iter().rev().take(LONGEST_LINE).take_while(base64).count();
    let opens = |byte: u8| byte <= b' ' || is_quote(byte) || matches!(byte, b'>' | b'|' | b'+' | b':' | b')' | b'-');
    let whole = (end - run).checked_sub(1).is_none_or(|index| index < floor || opens(at(text, index)));
    (run > 0 && whole).then_some((end - run, end))
}
