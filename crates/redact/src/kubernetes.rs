//! Kubernetes secrets: all values of their data, whatever their names.

use crate::Mode;
use crate::placeholder;
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::value::{at, is_quote};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A manifest is not larger; of a larger one the part around its kind is read.
const REACH: usize = 8 * 1024;

/// Called at `kind: Secret`. Its data may stand before or behind that line.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize) {
    static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"(?:{nl}|[{,]\s*)([ \t+>|]*){q}?(?:data|stringData|binaryData){q}?[ \t]*[:=][ \t]*(?:\{|{nl})")
    });
    static SEPARATOR: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"{nl}---"));
    let (Some(data), Some(separator)) = (DATA.as_ref(), SEPARATOR.as_ref()) else { return };
    if start < scan.manifested || scan.mode == Mode::Code {
        return;
    }
    let text = scan.text;
    let floor = start.saturating_sub(REACH).max(scan.manifested);
    let before = text.get(floor..start).unwrap_or_default();
    let first = floor + separator.find_iter(before).last().map_or(0, |found| found.end());
    let limit = text.len().min(start + REACH);
    let after = text.get(start..limit).unwrap_or_default();
    let last = separator.find(after).map_or(limit, |found| start + found.start());
    scan.manifested = last;
    let mut from = first;
    while let Some(groups) = text.get(from..last).and_then(|part| data.captures(part)) {
        let (Some(opening), margin) = (groups.get(0), groups.get(1).map_or(0, |blanks| blanks.len())) else { return };
        from += opening.end();
        while let Some((length, value)) = text.get(from..last).and_then(entry) {
            let indentation = text
                .get(from..from + length)
                .unwrap_or_default()
                .iter()
                .skip_while(|byte| matches!(byte, b'\n' | b'\r'))
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'+' | b'>' | b'|'))
                .count();
            let inline = opening.as_bytes().ends_with(b"{");
            if !inline && indentation <= margin {
                break;
            }
            let (start, end) = (from + value.start, from + value.end);
            if !text.get(start..end).is_some_and(placeholder::is_placeholder) {
                scan.report(rule, start, end);
            }
            from += length;
        }
    }
}

/// Length of the name and the value that a text begins with, and where in it the value stands.
fn entry(text: &[u8]) -> Option<(usize, Range<usize>)> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| compile(&format!("{LEAD}{{q}}?")));
    // Groups of a pattern that counts so far cost too much to be asked for each time.
    static ENTRY: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(&format!(r"{LEAD}{{q}}?([^\s,{{}}\x22'\x11-\x14]{{4,4096}}){{q}}?")));
    const LEAD: &str = r"\A[\s,+>|]*{q}?[\w./-]{1,120}{q}?[ \t]*[:=][ \t]*(?:[|>][-+]?\s*)?";
    const SHORTEST: usize = 4;
    const LONGEST: usize = 4096;
    let start = NAME.as_ref()?.find(text)?.end();
    let inside = |byte: &&u8| {
        !byte.is_ascii_whitespace()
            && **byte != 0x0B
            && !matches!(byte, b',' | b'{' | b'}' | b'"' | b'\'' | 0x11..=0x14)
    };
    let end = start + text.get(start..)?.iter().take(LONGEST).take_while(inside).count();
    if end >= start + SHORTEST {
        return Some((end + usize::from(is_quote(at(text, end))), start..end));
    }
    let groups = ENTRY.as_ref()?.captures(text)?;
    Some((groups.get(0)?.end(), groups.get(1)?.range()))
}
