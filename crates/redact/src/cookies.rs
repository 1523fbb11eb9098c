//! Cookie headers: names and attributes stay, values go.

use crate::disguise::{URL_BLANK, URL_EQUALS};
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::string_stats::{is_mixed, is_random};
use crate::value::{at, is_quote, skip_blanks};
use crate::words::words;
use crate::{Mode, placeholder};
use regex::bytes::Regex;
use std::sync::LazyLock;

words! {
    /// Attributes of `Set-Cookie`, and cookies that keep a choice.
    HARMLESS = [
        "comment", "domain", "expires", "httponly", "lang", "language", "locale", "max-age", "partitioned", "path",
        "priority", "samesite", "secure", "theme", "timezone", "tz", "version",
    ]
}
/// More cookies than browsers send.
const MOST: usize = 64;
/// No cookie is longer.
const LONGEST: usize = 4096;
/// Cookies that keep a choice and not an identity have short values.
const SHORT: usize = 6;

/// Called after the word `cookie`.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, end: usize) {
    static OPENING: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r#"\A2?{q}?[ \t]*(?:(?:[:=,]|=>)[ \t\x18]*\[?[ \t]*{q}?|[ \t]{q})[ \t]*"#));
    const LONGEST_OPENING: usize = 48;
    let text = scan.text;
    let window = text.get(end..text.len().min(end + LONGEST_OPENING)).unwrap_or_default();
    let Some(found) = OPENING.as_ref().and_then(|opening| opening.find(window)) else { return };
    let mut from = end + found.end();
    for _ in 0..MOST {
        let name_end = from
            + run(text, from, 64, |byte| {
                byte > b' ' && !matches!(byte, b'=' | b';' | b',' | b':' | b'(' | b')' | b'{' | b'}') && !is_quote(byte)
            });
        let mut end = name_end;
        if name_end == from {
            return;
        }
        if matches!(at(text, name_end), b'=' | URL_EQUALS) {
            let start = name_end + 1 + usize::from(at(text, name_end + 1) == b'"');
            end = start
                + run(text, start, LONGEST, |byte| {
                    byte > b' ' && !matches!(byte, b';' | b',' | b'<' | b'>' | b'{' | b'}') && !is_quote(byte)
                });
            let name = text.get(from..name_end).unwrap_or_default();
            if is_secret(scan.mode, name, text.get(start..end).unwrap_or_default()) {
                scan.report(rule, start, end);
            }
        }
        end += usize::from(at(text, end) == b'"' && at(text, end + 1) == b';');
        match separator(text, end) {
            Some(next) => from = next,
            None => return,
        }
    }
}

fn run(text: &[u8], from: usize, most: usize, inside: impl Fn(u8) -> bool) -> usize {
    text.get(from..).unwrap_or_default().iter().take(most).take_while(|&&byte| inside(byte)).count()
}

/// Past the sign between two cookies, or between two strings of a list of them.
fn separator(text: &[u8], end: usize) -> Option<usize> {
    let coded = text.get(end..end + 3).is_some_and(|sign| sign.eq_ignore_ascii_case(b"%3b"));
    let after = match at(text, end) {
        b';' => end + 1,
        _ if coded => end + 3,
        quote if is_quote(quote) && at(text, end + 1) == b',' => {
            let next = skip_blanks(text, end + 2);
            next + usize::from(is_quote(at(text, next)))
        }
        _ => return None,
    };
    Some(skip_blanks(text, after) + usize::from(at(text, after) == URL_BLANK))
}

fn is_secret(mode: Mode, name: &[u8], value: &[u8]) -> bool {
    let real = value.len() >= SHORT && !placeholder::is_placeholder(value);
    let identity = is_mixed(value) || value.len() >= 16;
    let generated = mode == Mode::Text || is_random(value) && !placeholder::is_fixture(value);
    !HARMLESS.has(name) && real && identity && generated
}
