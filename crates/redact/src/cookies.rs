//! Cookie headers: names and attributes stay, values go.

use crate::rule::{Rule, compile};
use crate::scan::Scan;
use crate::shape::{is_mixed, is_random};
use crate::words::holds;
use crate::{Mode, verdict};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Attributes of `Set-Cookie`, and cookies that keep a choice.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "comment", "domain", "expires", "httponly", "lang", "language", "locale", "max-age", "partitioned", "path", "priority", "samesite", "secure", "theme", "timezone", "tz", "version",
];
/// More cookies than browsers send.
const MOST: usize = 64;
/// No cookie is longer.
const LONGEST: usize = 4096;
/// Cookies that keep a choice and not an identity have short values.
const SHORT: usize = 6;

/// Called after the word `cookie`.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, end: usize) {
    static OPENING: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r#"\A2?{q}?[ \t]*(?:[:=,]|=>)[ \t\x18]*\[?[ \t]*{q}?[ \t]*"#));
    static PAIR: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r#"\A[ \t\x18]*([\w!#$%&*+.^|~-]{1,64})(?:[=\x16]("?[^\s;,"'`\x11-\x13\x17<>]*))?(;|%3[Bb]|{q}[ \t]*,[ \t]*{q})?"#));
    let (Some(opening), Some(pair)) = (OPENING.as_ref(), PAIR.as_ref()) else { return };
    let text = scan.text;
    let window = |from: usize| text.get(from..text.len().min(from + LONGEST)).unwrap_or_default();
    let Some(found) = opening.find(window(end)) else { return };
    let mut from = end + found.end();
    for _ in 0..MOST {
        let Some(groups) = pair.captures(window(from)) else { break };
        if let (Some(name), Some(value)) = (groups.get(1), groups.get(2))
            && is_secret(scan.mode, name.as_bytes(), value.as_bytes())
        {
            scan.report(rule, from + value.start(), from + value.end());
        }
        match groups.get(3) {
            Some(separator) => from += separator.end(),
            None => break,
        }
    }
}

fn is_secret(mode: Mode, name: &[u8], value: &[u8]) -> bool {
    let real = value.len() >= SHORT && !verdict::is_placeholder(value);
    let identity = is_mixed(value) || value.len() >= 16;
    let generated = mode == Mode::Text || is_random(value) && !verdict::is_fixture(value);
    !holds(HARMLESS, name) && real && identity && generated
}
