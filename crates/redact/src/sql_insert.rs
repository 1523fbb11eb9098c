//! Inserts of SQL: the names of the columns tell which values are secret.

use crate::name::{self, NameKind};
use crate::placeholder;
use crate::rule::{Rule, compile};
use crate::scan::Scan;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Rows of an insert that are read; what is found moves the search on, so that the next ones are not read twice.
const MOST_ROWS: usize = 256;
const LONGEST: usize = 4096;

/// Called after `insert into`.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, end: usize) {
    static COLUMNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"(?i)\A\s+[\w.{q}\[\]]{1,80}\s*\(([\w\s,.'`\[\]\x11-\x14\x22-]{1,600})\)\s*values?\s*")
    });
    static ROW: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\A\s*,?\s*\((?:\s*(?:[nNeE]?'(?:[^'\\]|''|\\.)*'|{q}[^'\x11-\x14\x22]*{q}|[^,()'\x22]*(?:\([^()]*\))?)\s*,?)*\)",
        )
    });
    static CELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\s*(?:[nNeE]?'((?:[^'\\]|''|\\.)*)'|{q}([^'\x11-\x14\x22]*){q}|([^,()'\x22]*(?:\([^()]*\))?))\s*(?:,|\z)",
        )
    });
    let (Some(columns), Some(row), Some(cell)) = (COLUMNS.as_ref(), ROW.as_ref(), CELL.as_ref()) else { return };
    let text = scan.text;
    let window = |from: usize| text.get(from..text.len().min(from + LONGEST)).unwrap_or_default();
    let Some(found) = columns.captures(window(end)) else { return };
    let (Some(whole), Some(list)) = (found.get(0), found.get(1)) else { return };
    let is_secret =
        |name: &[u8]| matches!(name::classify(name.trim_ascii()), Some((NameKind::Password | NameKind::Credential, _)));
    let secret: Vec<bool> = list.as_bytes().split(|&byte| byte == b',').map(is_secret).collect();
    if !secret.contains(&true) {
        return;
    }
    let mut from = end + whole.end();
    for _ in 0..MOST_ROWS {
        let Some(values) = row.find(window(from)) else { return };
        let open = values.as_bytes().iter().position(|&byte| byte == b'(').unwrap_or(0) + 1;
        let inner = values.as_bytes().get(open..values.len() - 1).unwrap_or_default();
        for (groups, _) in cell.captures_iter(inner).zip(&secret).filter(|(_, secret)| **secret) {
            if let Some(value) = groups.get(1).or(groups.get(2))
                && !placeholder::is_placeholder(value.as_bytes())
                && scan.passes(rule, value.as_bytes())
            {
                scan.report(rule, from + open + value.start(), from + open + value.end());
            }
        }
        from += values.end();
    }
}
