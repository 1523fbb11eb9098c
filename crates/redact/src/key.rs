//! Private keys in PEM and OpenPGP armour, whole or cut at either end.
//!
//! Keys appear with real line breaks, with `\n` spelled out in strings, behind line numbers, file names, diff marks and
//! quotation marks. What stands between two lines of base64 is therefore a pattern, too.

use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::value::at;
use crate::view::is_break;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The largest keys in use are about 13 KB; prefixes on every line may double that.
const LARGEST: usize = 64 * 1024;

/// What stands before the base64 of a line: the end of the last line, then a file name and a line number, marks.
macro_rules! between {
    () => {
        r#"(?:[ \t]*[,+.\\|"'`\x11-\x14\x17]{0,4}[ \t]*(?:\r?\n|[\x0b\x0c\r]| )(?:[ \t]*(?:[\w./@-]{1,80}[:-])?\d{1,7}[:|\t)-]|\d{1,7} )?[ \t>|+*#"'`\x11-\x14\x17-]{0,40}|[ \t"'`\x11-\x14\x17]{1,8}[,+][ \t]*["'`\x11-\x14\x17])"#
    };
}

/// Called at `-BEGIN `.
pub(crate) fn begin(scan: &mut Scan<'_>, rule: &'static Rule, at_keyword: usize) {
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"\A-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----",
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
            r")?-{4,5}END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----|",
            between!(),
            r"[A-Za-z0-9+/]{2,76}={1,2})?",
        ))
    });
    const DASHES: usize = 4;
    let Some(start) = at_keyword.checked_sub(DASHES) else { return };
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
    static LABEL: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"\A[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"));
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r#"(?:\A|[\s"'`\x11-\x17>|+:)-])([A-Za-z0-9+/]{1,512}={0,2})[ \t,+\\"'`\x11-\x17]{0,6}\z"#)
    });
    /// Lines of a key have 64 to 76 characters; the last may be shorter.
    const LONG: usize = 40;
    const LONGEST_LINE: usize = 640;
    let text = scan.text;
    let (Some(label), Some(pattern)) = (LABEL.as_ref(), LINE.as_ref()) else { return };
    let window = text.get(keyword_end..text.len().min(keyword_end + 64)).unwrap_or_default();
    let Some(found) = label.find(window) else { return };
    let mut stop = at_keyword.saturating_sub(4);
    let mut start = None;
    let floor = scan.floor.max(stop.saturating_sub(LARGEST));
    let mut short = None;
    while stop > floor {
        // Past marks of the line below, and its break.
        let marks = text.get(floor..stop).unwrap_or_default().iter().rev().take(64);
        stop -= marks.take_while(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'=')).count();
        let line_start = line_start(text, floor, stop, LONGEST_LINE);
        let Some(line) = pattern.captures(text.get(line_start..stop).unwrap_or_default()).and_then(|groups| groups.get(1)) else { break };
        match (line.len() >= LONG, start, short) {
            (true, _, _) => start = Some(line_start + line.start()),
            (false, None, None) => short = Some(line_start + line.start()),
            _ => break,
        }
        stop = line_start.saturating_sub(1);
        if line_start == floor || !is_break(at(text, line_start - 1)) {
            break;
        }
    }
    if let Some(start) = start {
        scan.report(rule, start, keyword_end + found.end());
    }
}

fn line_start(text: &[u8], floor: usize, stop: usize, longest: usize) -> usize {
    let from = stop.saturating_sub(longest).max(floor);
    let before = text.get(from..stop).unwrap_or_default();
    from + before.iter().rposition(|&byte| is_break(byte)).map_or(0, |index| index + 1)
}
