//! Private keys in PEM and OpenPGP armour, whole or cut at either end.
//!
//! Keys appear with real line breaks, with `\n` spelled out in strings, behind line numbers and quote marks. The
//! matcher therefore reads stretches of base64 and allows a little of anything between them, instead of reading lines.

use crate::redact::alphabet::{BASE64, TOKEN68};
use crate::redact::rules::Rule;
use crate::redact::scan::Scan;

const DASHES: &str = "-----";
/// `OPENSSH`, `ENCRYPTED` and `PRIVATE KEY BLOCK` with room for others.
const MAX_LABEL: usize = 48;
/// Base64 shorter than this between other text is a word. Lines of a key have 64 or 70 characters.
const STRETCH: usize = 24;
/// Header lines between the first line and the key (`Proc-Type`, `DEK-Info`, `Version`, `Comment`).
const MAX_HEADERS: usize = 320;
/// A line break, a line number, quotes and indentation between two lines of a key.
const MAX_GAP: usize = 40;
/// The last line of a key may be short; the line with `END` is not farther away than this.
const MAX_REST: usize = 128;
/// The largest keys in use are about 13 KB.
const MAX_BLOCK: usize = 64 * 1024;

/// Called at `-BEGIN `.
pub(crate) fn begin(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let start = (at + 1).checked_sub(DASHES.len()).filter(|&start| scan.starts_with(start, DASHES))?;
    let label_end = label(scan, at + "-BEGIN ".len())?;
    let first = stretch(scan, label_end, MAX_GAP, Between::Lines)
        .or_else(|| stretch(scan, label_end, MAX_HEADERS, Between::Headers))?;
    let mut end = first;
    while end < start + MAX_BLOCK {
        match stretch(scan, end, MAX_GAP, Between::Lines) {
            Some(next) => end = next,
            None => break,
        }
    }
    let end = end_line(scan, end).unwrap_or(end);
    scan.report(rule, start, end);
    Some(end)
}

/// Called at `-END `: the end of a key whose beginning was cut off.
pub(crate) fn end(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let dashes = (at + 1).checked_sub(DASHES.len()).filter(|&start| scan.starts_with(start, DASHES))?;
    let end = label(scan, at + "-END ".len())?;
    let mut start = stretch_back(scan, dashes, MAX_REST, Between::LastLine)?;
    while start + MAX_BLOCK > dashes {
        match stretch_back(scan, start, MAX_GAP, Between::Lines) {
            Some(previous) => start = previous,
            None => break,
        }
    }
    scan.report(rule, start, end);
    Some(end)
}

/// End of a label that names a private key, after its dashes.
fn label(scan: &Scan<'_>, from: usize) -> Option<usize> {
    let window = scan.slice(from, from + MAX_LABEL);
    let length =
        window.iter().position(|&byte| !(byte.is_ascii_uppercase() || byte == b' ' || byte.is_ascii_digit()))?;
    let name = window.get(..length)?;
    let private = name.windows(b"PRIVATE KEY".len()).any(|part| part == b"PRIVATE KEY");
    (private && scan.starts_with(from + length, DASHES)).then_some(from + length + DASHES.len())
}

/// End of the next long run of base64 that starts within `reach`, if only what may stand between lines of a key comes
/// first.
fn stretch(scan: &Scan<'_>, from: usize, reach: usize, between: Between) -> Option<usize> {
    let mut index = from;
    let mut quotes = 0;
    while index <= from + reach && index < scan.len() {
        let end = scan.run(index, &BASE64, usize::MAX - index);
        if end - index >= STRETCH {
            return (quotes % 2 == 0).then_some(end);
        }
        let escape = scan.before(index) == b'\\';
        if !between.allows_word(scan.slice(index, end), escape)
            || !between.allows_sign(scan.at(end))
            || scan.starts_with(end, DASHES)
            || scan.starts_with(end, "..")
        {
            return None;
        }
        quotes += usize::from(matches!(scan.at(end), b'"' | b'\''));
        index = end + 1;
    }
    None
}

/// Start of the previous long run of base64 that ends within `reach`, under the same condition.
fn stretch_back(scan: &Scan<'_>, to: usize, reach: usize, between: Between) -> Option<usize> {
    let floor = scan.floor();
    let mut index = to;
    let mut quotes = 0;
    while index + reach >= to && index > floor {
        let start = scan.run_back(index, &BASE64, MAX_BLOCK);
        let escape = scan.before(start) == b'\\';
        if index - start >= STRETCH {
            // The line is a line of a key only if nothing else stands before it.
            let whole = scan.starts_token(start, &TOKEN68);
            return (whole && quotes % 2 == 0).then_some(start + usize::from(escape));
        }
        if start <= floor
            || !between.allows_word(scan.slice(start, index), escape)
            || !between.allows_sign(scan.before(start))
        {
            return None;
        }
        quotes += usize::from(matches!(scan.before(start), b'"' | b'\''));
        index = start - 1;
    }
    None
}

/// What may stand between two long stretches of base64 of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    /// Header lines: words and punctuation.
    Headers,
    /// Line breaks, real or spelled out, with line numbers, indentation and quotes.
    Lines,
    /// The same, and a last line that is shorter than a stretch.
    LastLine,
}

impl Between {
    /// Whether a short run of letters and digits may stand here.
    fn allows_word(self, word: &[u8], after_backslash: bool) -> bool {
        let escape = after_backslash && matches!(word, [b'n' | b'r' | b't', ..]);
        match self {
            Self::Headers | Self::LastLine => true,
            Self::Lines => {
                word.iter().skip(usize::from(escape)).all(|&byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/'))
            }
        }
    }

    /// Braces, dots and asterisks belong to documents and masks, not to keys.
    fn allows_sign(self, sign: u8) -> bool {
        match sign {
            b' ' | b'\t' | b'\n' | b'\r' | b'\\' | b',' | b'|' | b'>' | b'#' | b':' | 0x80.. => true,
            b'"' | b'\'' => self != Self::Headers,
            b'-' | b'(' | b')' | b'@' | b'.' | b'_' => self == Self::Headers,
            _ => false,
        }
    }
}

/// End of the line with `END` if it follows closely.
fn end_line(scan: &Scan<'_>, from: usize) -> Option<usize> {
    let window = scan.slice(from, from + MAX_REST);
    let dashes = window.windows(DASHES.len()).position(|part| part == DASHES.as_bytes())?;
    let rest = window.get(..dashes)?;
    let quotes = rest.iter().filter(|byte| matches!(byte, b'"' | b'\'')).count();
    let plain = rest.iter().all(|&byte| BASE64.has(byte) || Between::LastLine.allows_sign(byte));
    let at = from + dashes + DASHES.len();
    (plain && quotes % 2 == 0 && scan.starts_with(at, "END ")).then(|| label(scan, at + "END ".len()))?
}
