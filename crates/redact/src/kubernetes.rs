//! Kubernetes secrets: all values of their data, whatever their names.

use crate::Mode;
use crate::entries::{self, Extent};
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// A manifest is not larger; of a larger one the part around its kind is read.
const REACH: usize = 8 * 1024;

/// Called at `kind: Secret` or `stringData:`, which nothing else has. The data may stand before or behind that line.
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
        let inline = opening.as_bytes().ends_with(b"{");
        let extent = if inline { Extent::Braces } else { Extent::Deeper(margin) };
        from = entries::report(scan, rule, from, last, extent);
    }
}
