//! Places that fit a search: originals whose parts the index names, read and ranked.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::rows::{Packed, whole};
use crate::seal::{Scope, Vault};
use crate::search::{Fitting, Parts, Query, fitting};
use foldline_core::reading::{Fit, Hit, Way, read};
use std::collections::BTreeSet;

/// Parts that are read to be ranked. More than that hold only common words; the newest are the likeliest.
pub(crate) const MOST_READ: usize = 500;
/// Bytes of text that are read to be ranked.
pub(crate) const MOST_BYTES: u64 = 32 << 20;
/// Bytes of texts that are fetched at once to be ranked.
const FETCHED: u64 = 4 << 20;
/// Namespaces that the owner of a file searches at once.
pub(crate) const MOST_NAMESPACES: u32 = 1_000;
/// Sessions that are named with a place.
pub(crate) const MOST_SESSIONS: u32 = 3;
/// Words in a part, about.
pub(crate) const USUAL_WORDS: f64 = 500.0;

/// An original in which something was found.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: Packed,
    pub(crate) sealed: i64,
    pub(crate) digest: Digest,
    pub(crate) tool: String,
    pub(crate) created_at: i64,
}

/// How many of these candidates are read at once: at least one.
pub(crate) fn read_at_once(candidates: &[(Source, Vec<usize>)]) -> usize {
    let mut bytes = 0;
    let fitting = candidates.iter().take_while(|(source, _)| {
        bytes += whole(source.text.size);
        bytes <= FETCHED
    });
    fitting.count().max(1)
}

/// A place that fits.
pub(crate) struct Place {
    pub(crate) source: Source,
    pub(crate) namespace: String,
    pub(crate) fitting: Fitting,
    pub(crate) turn: Option<usize>,
    pub(crate) role: &'static str,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

/// The places that fit, and what it took to find them.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) list: Vec<Place>,
    pub(crate) read: u64,
}

impl Places {
    /// All of them, the best first, the newer of equals. A line that stands in several originals comes once.
    pub(crate) fn ranked(mut self) -> Vec<Place> {
        self.list.sort_by(|one, other| {
            let by_groups = other.fitting.groups.cmp(&one.fitting.groups);
            let by_score = other.fitting.score.total_cmp(&one.fitting.score);
            let by_time = other
                .source
                .created_at
                .cmp(&one.source.created_at)
                .then(other.source.text.row.cmp(&one.source.text.row));
            by_groups.then(by_score).then(by_time)
        });
        let mut seen = BTreeSet::new();
        self.list.retain(|place| seen.insert(place.fitting.snippet.clone()));
        self.list
    }
}

/// What the parts of an original are held against.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) query: &'w Query,
    pub(crate) fit: Fit,
    pub(crate) weights: &'w [f64],
    pub(crate) namespace: &'w str,
}

impl Places {
    /// Holds the parts of an original against the query.
    pub(crate) fn read(&mut self, source: &Source, text: &str, numbers: &[usize], wanted: &Wanted<'_>) {
        let reading = read(text, &source.tool);
        let parts = Parts::of(&reading);
        for &number in numbers {
            let part = parts.part(number);
            let least = if wanted.fit == Fit::All { wanted.query.groups.len() } else { 1 };
            let fitting = fitting(part, wanted.query, wanted.weights, USUAL_WORDS);
            let Some(fitting) = fitting.filter(|fitting| fitting.groups >= least) else { continue };
            let Some((turn, line)) = part.get(fitting.line) else { continue };
            self.list.push(Place {
                source: source.clone(),
                namespace: wanted.namespace.to_owned(),
                turn: (!turn.role.is_empty()).then_some(turn.number),
                role: turn.role,
                line: line.number,
                lines: turn.length,
                fitting,
            });
        }
    }
}

impl Place {
    /// What is told of it, given the other originals of the namespace that its short handle fits, and the sessions that
    /// removed it, by the names that they are kept under.
    pub(crate) fn hit(self, vault: &Vault, alike: &[Digest], sessions: Vec<(String, i64)>, way: &Way) -> Hit {
        let named =
            sessions.into_iter().filter_map(|(name, sealed)| vault.of_row(sealed, Scope::Sessions)?.open_name(name));
        let mut named: Vec<String> = named.collect();
        named.sort_unstable();
        let mut hit = Hit {
            handle: Address::distinguishing(&self.source.digest, alike).to_string(),
            turn: self.turn,
            role: self.role,
            line: self.line,
            lines: self.lines,
            tool: self.source.tool,
            text: self.fitting.snippet,
            removed_at: self.source.created_at,
            sessions: named,
            show: String::new(),
        };
        hit.show = hit.way(way);
        hit
    }
}

/// The names that a session may have in the file.
pub(crate) fn names_of(vault: &Vault, session: &str) -> Result<Vec<String>, Fault> {
    vault.all(Scope::Sessions).iter().map(|seal| seal.name(session)).collect()
}
