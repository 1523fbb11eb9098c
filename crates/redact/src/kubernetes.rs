//! Kubernetes secrets: all values of their data, whatever their names.

use crate::Mode;
use crate::placeholder;
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// A manifest is not larger; of a larger one the part around its kind is read.
const REACH: usize = 8 * 1024;

/// Called at `kind: Secret`. Its data may stand before or behind that line.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize) {
    static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"(?:{nl}|[{,]\s*)([ \t+>|]*){q}?(?:data|stringData|binaryData){q}?[ \t]*[:=][ \t]*(?:\{|{nl})")
    });
    static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\A[\s,+>|]*{q}?[\w./-]{1,120}{q}?[ \t]*[:=][ \t]*(?:[|>][-+]?\s*)?{q}?([^\s,{}\x22'\x11-\x14]{4,4096}){q}?",
        )
    });
    static SEPARATOR: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"{nl}---"));
    let (Some(data), Some(entry), Some(separator)) = (DATA.as_ref(), ENTRY.as_ref(), SEPARATOR.as_ref()) else {
        return;
    };
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
        while let Some(groups) = text.get(from..last).and_then(|part| entry.captures(part)) {
            let (Some(whole), Some(value)) = (groups.get(0), groups.get(1)) else { break };
            let indentation = whole
                .as_bytes()
                .iter()
                .skip_while(|byte| matches!(byte, b'\n' | b'\r'))
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'+' | b'>' | b'|'))
                .count();
            let inline = opening.as_bytes().ends_with(b"{");
            if !inline && indentation <= margin {
                break;
            }
            if !placeholder::is_placeholder(value.as_bytes()) {
                scan.report(rule, from + value.start(), from + value.end());
            }
            from += whole.end();
        }
    }
}
