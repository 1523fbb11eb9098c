//! Decides what stays of configuration: keys with short values, nested ones by their indent.

use super::lines::{lines, prefix, push};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};
use crate::wording::counted;

/// The longest value that stays whole.
const LONGEST_VALUE: usize = 60;
const MOST_WEIGHED: usize = 1 << 20;

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut candidates = Vec::new();
    let mut keys = 0usize;
    for (position, line) in lines(prefix(output.text, MOST_WEIGHED)).enumerate().take(MOST_CANDIDATES) {
        let text = line.trim_end();
        let Some(pair) = pair(text) else { continue };
        let indent = text.len() - text.trim_start().len();
        keys += 1;
        let weight = match (pair, indent) {
            (Pair::Section, _) => 3,
            (_, 0) => 4,
            (_, 1..=4) => 2,
            _ => 0,
        };
        candidates.push(Candidate { position, weight, text: shortened(text), extra: 1 });
    }
    if candidates.is_empty() {
        return None;
    }
    let mut text = String::new();
    for picked in pick(candidates, output.room.bytes(), output.focus, output.names) {
        push(&mut text, picked.text);
    }
    Some(Body { note: counted(keys, "key"), text })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    Section,
    Value,
}

/// True for a line with a key.
pub(super) fn is_pair(line: &str) -> bool {
    pair(line.trim_end()).is_some()
}

fn pair(text: &str) -> Option<Pair> {
    let bare = text.trim_start().trim_start_matches("- ");
    if bare.is_empty() || bare.starts_with('#') || bare.starts_with("//") || bare.starts_with(';') {
        return None;
    }
    if bare.starts_with('[') && bare.ends_with(']') && !bare.contains(',') {
        return Some(Pair::Section);
    }
    let bare = bare.strip_prefix("export ").unwrap_or(bare);
    let end = memchr::memchr2(b':', b'=', bare.as_bytes())?;
    let key = bare.get(..end)?.trim().trim_matches('"');
    let value = bare.get(end + 1..)?;
    let separated = bare.as_bytes().get(end) == Some(&b'=') || value.is_empty() || value.starts_with([' ', '\t']);
    let named = !key.is_empty()
        && key.len() <= 80
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'$' | b'@'));
    (separated && named).then_some(if value.trim().is_empty() { Pair::Section } else { Pair::Value })
}

/// A pair without the end of a long value.
fn shortened(text: &str) -> &str {
    let start = memchr::memchr2(b':', b'=', text.as_bytes()).unwrap_or(0);
    prefix(text, start + LONGEST_VALUE)
}
