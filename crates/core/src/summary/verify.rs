//! Holding a reply against what the model was shown: it may judge, it may not invent.

use super::reply::Words;
use crate::inserted::Section;
use crate::ledger::names::{self, NameKind};
use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;
use serde::Serialize;

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Lines that name something which does not occur in the source; they say so.
    pub unverified: usize,
    /// Lines that were taken out because they quote words that no user said.
    pub dropped: usize,
}

/// What a line with an unknown name ends with.
pub(super) const UNVERIFIED: &str = " [unverified]";
/// A quote of fewer words is emphasis.
const SHORTEST_QUOTE: usize = 4;

/// Checks every line: what the material does not contain is marked, invented quotes of users go.
pub(super) fn verify(words: Words, material: &[&str], user: &[String]) -> (Words, Checked) {
    let unknown = unknown_names(&words, material);
    let said = plain(&user.join("\n"));
    let mut checked = Checked::default();
    let mut kept = Words::default();
    for (section, mut line) in words.lines {
        if speaks_for_the_user(section, &line) && quotes(&line).any(|quote| !said.contains(&plain(quote))) {
            checked.dropped += 1;
            continue;
        }
        if claims(&line).iter().any(|name| unknown.contains(*name)) {
            checked.unverified += 1;
            line.push_str(UNVERIFIED);
        }
        kept.lines.push((section, line));
    }
    (kept, checked)
}

/// The claimed names that occur nowhere in the material.
fn unknown_names(words: &Words, material: &[&str]) -> FxHashSet<String> {
    let mut names: Vec<&str> = words.lines.iter().flat_map(|(_, line)| claims(line)).collect();
    names.sort_unstable();
    names.dedup();
    let mut unknown: FxHashSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    // All names in one pass over material that may be megabytes long. Overlaps count: a path may stand inside another.
    let Ok(search) = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&names) else {
        return FxHashSet::default();
    };
    for text in material {
        for found in search.find_overlapping_iter(*text) {
            if let Some(name) = names.get(found.pattern().as_usize()) {
                unknown.remove(*name);
            }
        }
    }
    unknown
}

/// The paths, hashes and addresses of a line.
fn claims(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for scheme in ["http://", "https://"] {
        for (at, _) in line.match_indices(scheme) {
            let rest = line.get(at..).unwrap_or_default();
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ']' | '|'));
            found
                .push(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim_end_matches(['.', ',', ';', ':']));
        }
    }
    let has_url = !found.is_empty();
    names::scan(line, |name, kind| match kind {
        NameKind::Path if is_path(name) && !(has_url && found.iter().any(|url| url.contains(name))) => found.push(name),
        NameKind::Hash if name.len() >= 7 => found.push(name),
        _ => {}
    });
    found
}

/// A path, as opposed to "and/or" and "client/server".
fn is_path(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=6).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && !extension.chars().all(|c| c.is_ascii_digit())
    });
    has_extension || name.starts_with('/') || name.starts_with("~/") || name.matches('/').count() >= 2
}

/// Whether a line reports what the user said.
fn speaks_for_the_user(section: Section, line: &str) -> bool {
    matches!(section, Section::PendingAsks | Section::ResolvedQuestions | Section::ActiveTask)
        || line
            .split(|c: char| !c.is_alphabetic())
            .any(|word| word.eq_ignore_ascii_case("user") || word.eq_ignore_ascii_case("asked"))
}

/// What stands between quotation marks.
fn quotes(line: &str) -> impl Iterator<Item = &str> {
    const MARKS: [(char, char); 3] = [('"', '"'), ('“', '”'), ('«', '»')];
    MARKS
        .into_iter()
        .flat_map(move |(open, close)| {
            let mut rest = line;
            std::iter::from_fn(move || {
                let (_, after) = rest.split_once(open)?;
                let (quote, next) = after.split_once(close)?;
                rest = next;
                Some(quote)
            })
        })
        .filter(|quote| quote.split_whitespace().count() >= SHORTEST_QUOTE)
}

/// Words without case, spacing and punctuation, which models change freely.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.trim().to_owned()
}
