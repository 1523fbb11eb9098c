//! All values of a map, whatever their names.

use crate::placeholder;
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::value::{at, is_quote};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Where a map ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// At its brace.
    Braces,
    /// At a line that is indented no deeper than this.
    Deeper(usize),
}

/// Reports the values between `from` and `last`, and returns where the map ends.
pub(crate) fn report(scan: &mut Scan<'_>, rule: &'static Rule, from: usize, last: usize, extent: Extent) -> usize {
    /// No value that stands for a secret is shorter.
    const SHORTEST: usize = 4;
    let text = scan.text;
    let mut from = from;
    while let Some((length, value)) = text.get(from..last).and_then(entry) {
        if let Extent::Deeper(margin) = extent
            && indentation(text.get(from..from + length).unwrap_or_default()) <= margin
        {
            break;
        }
        let (start, end) = (from + value.start, from + value.end);
        let bytes = text.get(start..end).unwrap_or_default();
        if bytes.len() >= SHORTEST && !placeholder::is_placeholder(bytes) && !placeholder::is_expression(bytes) {
            scan.report(rule, start, end);
        }
        from += length;
    }
    from
}

fn indentation(line: &[u8]) -> usize {
    line.iter()
        .skip_while(|byte| matches!(byte, b'\n' | b'\r'))
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'+' | b'>' | b'|'))
        .count()
}

/// Length of the name and the value that a text begins with, and where in it the value stands.
fn entry(text: &[u8]) -> Option<(usize, Range<usize>)> {
    static NAME: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"\A[\s,+>|]*{q}?[\w./-]{1,120}{q}?[ \t]*[:=][ \t]*(?:[|>][-+]?\s*)?{q}?"));
    const LONGEST: usize = 4096;
    let start = NAME.as_ref()?.find(text)?.end();
    let inside = |byte: &&u8| {
        !byte.is_ascii_whitespace()
            && **byte != 0x0B
            && !matches!(byte, b',' | b'{' | b'}' | b'"' | b'\'' | 0x11..=0x14)
    };
    let end = start + text.get(start..)?.iter().take(LONGEST).take_while(inside).count();
    Some((end + usize::from(is_quote(at(text, end))), start..end))
}
