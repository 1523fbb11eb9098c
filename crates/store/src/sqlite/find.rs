//! Finding: the index names parts that hold the words, the newest first; their texts decide how well they fit.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::search::{Extent, Fitting, Parts, Query, Search, Term, Whose, fitting, is_unspaced, weight};
use crate::sqlite::get::unpack;
use crate::sqlite::index::{entry_of, id_of, part_of};
use crate::sqlite::totals::{number, whole};
use foldline_core::reading::{Findings, Fit, Hit, Way, read};
use rusqlite::{Connection, Row, Transaction, params};
use std::collections::{BTreeMap, BTreeSet};

/// Parts that are read to be ranked. More than that hold only common words; the newest are the likeliest.
const MOST_READ: usize = 500;
/// Bytes of text that are read to be ranked.
const MOST_BYTES: u64 = 32 << 20;
/// Namespaces that the owner of a file searches at once.
const MOST_NAMESPACES: u32 = 1_000;
/// Shorter beginnings fit half the language.
const SHORTEST_BEGINNING: usize = 3;
/// Sessions that are named with a place.
const MOST_SESSIONS: u32 = 3;
/// Words in a part, about.
const USUAL_WORDS: f64 = 500.0;

/// Finds the best places. Whose they are decides which entries of the index are looked at.
pub(crate) fn find(reader: &mut Connection, search: &Search<'_>, way: &Way) -> Result<Findings, Fault> {
    // One snapshot: what the index names is there.
    let snapshot = reader.transaction()?;
    let namespaces = namespaces(&snapshot, search.whose)?;
    let beginnings = search.query.of_beginnings();
    let tries = [(search.query, Fit::All), (&beginnings, Fit::All), (&beginnings, Fit::Some)];
    let mut findings = Findings { words: search.query.typed().to_owned(), ..Findings::default() };
    for (query, fit) in tries {
        if fit == Fit::Some && query.groups.len() == 1 {
            break;
        }
        let mut places = Places::default();
        for (id, name) in &namespaces {
            Looking { snapshot: &snapshot, search, query, fit, namespace: *id, name }.look(&mut places)?;
        }
        if !places.list.is_empty() {
            findings.fit = fit;
            let mut ranked = places.ranked();
            findings.places = ranked.len();
            ranked.truncate(search.limit);
            findings.hits = hits(&snapshot, ranked, way)?;
            break;
        }
    }
    Ok(findings)
}

fn namespaces(snapshot: &Transaction<'_>, whose: Whose<'_>) -> Result<Vec<(i64, String)>, Fault> {
    match whose {
        Whose::Namespace(name) => Ok(id_of(snapshot, name)?.into_iter().map(|id| (id, name.to_owned())).collect()),
        Whose::Everybody => {
            let mut statement = snapshot.prepare("SELECT id, name FROM namespaces ORDER BY id DESC LIMIT ?1")?;
            let rows = statement.query_map([MOST_NAMESPACES], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        }
    }
}

/// An original in which something was found.
#[derive(Clone, Debug)]
struct Source {
    row: i64,
    digest: Digest,
    tool: String,
    created_at: i64,
    size: i64,
}

/// A place that fits.
struct Place {
    source: Source,
    namespace: String,
    fitting: Fitting,
    turn: Option<usize>,
    role: &'static str,
    line: usize,
    lines: usize,
}

/// The places that fit, and what it took to find them.
#[derive(Default)]
struct Places {
    list: Vec<Place>,
    read: u64,
}

impl Places {
    /// All of them, the best first, the newer of equals. A line that stands in several originals comes once.
    fn ranked(mut self) -> Vec<Place> {
        self.list.sort_by(|one, other| {
            let by_groups = other.fitting.groups.cmp(&one.fitting.groups);
            let by_score = other.fitting.score.total_cmp(&one.fitting.score);
            let by_time =
                other.source.created_at.cmp(&one.source.created_at).then(other.source.row.cmp(&one.source.row));
            by_groups.then(by_score).then(by_time)
        });
        let mut seen = BTreeSet::new();
        self.list.retain(|place| seen.insert(place.fitting.snippet.clone()));
        self.list
    }
}

/// One look into the index.
struct Looking<'l, 's> {
    snapshot: &'l Transaction<'l>,
    search: &'l Search<'s>,
    query: &'l Query,
    fit: Fit,
    namespace: i64,
    name: &'l str,
}

impl Looking<'_, '_> {
    fn look(&self, places: &mut Places) -> Result<(), Fault> {
        let all: i64 = self.snapshot.query_row("SELECT count(*) FROM words_docsize", [], |row| row.get(0))?;
        let mut weights = Vec::new();
        for group in &self.query.groups {
            let holding = self.count(&self.all_of(&group.terms))?;
            weights.push(weight(usize::try_from(all).unwrap_or(0), holding));
        }
        let mut candidates: BTreeMap<i64, (Source, Vec<usize>)> = BTreeMap::new();
        let expressions = self.expressions();
        let share = MOST_READ / expressions.len().max(1);
        for expression in &expressions {
            for (source, part) in self.candidates(expression, share)? {
                let (_, parts) = candidates.entry(source.row).or_insert((source, Vec::new()));
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        for (source, numbers) in candidates.into_values().rev() {
            if places.read > MOST_BYTES {
                break;
            }
            places.read += whole(source.size);
            self.read(&source, &numbers, &weights, places)?;
        }
        Ok(())
    }

    /// What the index is asked for: parts with all groups, or with each of them.
    fn expressions(&self) -> Vec<String> {
        let groups = self.query.groups.iter();
        match self.fit {
            Fit::All => vec![self.all_of(groups.flat_map(|group| &group.terms))],
            Fit::Some => groups
                .filter(|group| group.terms.iter().any(is_telling))
                .map(|group| self.all_of(&group.terms))
                .collect(),
        }
    }

    /// Every term, in the language of the index. Words hold nothing that has a meaning there.
    fn all_of<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> String {
        let entry = |term: &Term| {
            let is_beginning = term.extent == Extent::Beginning && is_telling(term);
            format!("\"{}\"{}", entry_of(self.namespace, &term.word), if is_beginning { "*" } else { "" })
        };
        terms.into_iter().map(entry).collect::<Vec<_>>().join(" AND ")
    }

    fn count(&self, expression: &str) -> Result<usize, Fault> {
        let sql = "SELECT count(*) FROM words WHERE words MATCH ?1";
        Ok(self.snapshot.query_row(sql, [expression], |row| row.get(0).map(whole))? as usize)
    }

    /// The newest parts that the index names.
    fn candidates(&self, expression: &str, most: usize) -> Result<Vec<(Source, usize)>, Fault> {
        let mut statement = self.snapshot.prepare(
            "SELECT words.rowid, originals.id, digest, tool, created_at, size
               FROM words CROSS JOIN originals ON originals.id = words.rowid / 1048576
              WHERE words MATCH ?1 AND namespace = ?2 AND (?3 IS NULL OR EXISTS (
                    SELECT 1 FROM removals WHERE session = ?3 AND original = originals.id))
              ORDER BY words.rowid DESC LIMIT ?4",
        )?;
        let given = params![expression, self.name, self.search.session, number(most as u64)];
        let rows = statement.query_map(given, candidate)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Holds the parts of an original against the query.
    fn read(&self, source: &Source, numbers: &[usize], weights: &[f64], places: &mut Places) -> Result<(), Fault> {
        let address = Address::distinguishing(&source.digest, &[]);
        let text = match unpack(self.snapshot, source.row, source.size, &address) {
            Err(Fault::Damaged(_)) => return Ok(()),
            text => text?,
        };
        let reading = read(&text, &source.tool);
        let parts = Parts::of(&reading);
        for &number in numbers {
            let part = parts.part(number);
            let wanted = if self.fit == Fit::All { self.query.groups.len() } else { 1 };
            let fitting = fitting(part, self.query, weights, USUAL_WORDS).filter(|fitting| fitting.groups >= wanted);
            let Some(fitting) = fitting else { continue };
            let Some((turn, line)) = part.get(fitting.line) else { continue };
            places.list.push(Place {
                source: source.clone(),
                namespace: self.name.to_owned(),
                turn: (!turn.role.is_empty()).then_some(turn.number),
                role: turn.role,
                line: line.number,
                lines: turn.length,
                fitting,
            });
        }
        Ok(())
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<(Source, usize)> {
    let digest: Vec<u8> = row.get(2)?;
    let digest = Digest::from_bytes(&digest).ok_or(rusqlite::Error::IntegralValueOutOfRange(2, 0))?;
    let (_, part) = part_of(row.get(0)?);
    Ok((Source { row: row.get(1)?, digest, tool: row.get(3)?, created_at: row.get(4)?, size: row.get(5)? }, part))
}

/// Whether a term can be taken as a beginning. A character of a script without spaces is a word, or half of one.
fn is_telling(term: &Term) -> bool {
    term.word.chars().count() >= SHORTEST_BEGINNING || term.word.chars().all(is_unspaced)
}

fn hits(snapshot: &Transaction<'_>, places: Vec<Place>, way: &Way) -> Result<Vec<Hit>, Fault> {
    let mut sessions =
        snapshot.prepare("SELECT session FROM removals WHERE original = ?1 ORDER BY session LIMIT ?2")?;
    let mut twins =
        snapshot.prepare("SELECT digest FROM originals WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3")?;
    let mut hits = Vec::new();
    for place in places {
        let (low, high) = Address::distinguishing(&place.source.digest, &[]).range();
        let alike = twins.query_map(params![place.namespace, low.as_bytes(), high.as_bytes()], |row| row.get(0))?;
        let alike: Vec<Vec<u8>> = alike.collect::<Result<_, _>>()?;
        let alike: Vec<Digest> = alike.iter().filter_map(|digest| Digest::from_bytes(digest)).collect();
        let named = sessions.query_map(params![place.source.row, MOST_SESSIONS], |row| row.get(0))?;
        let mut hit = Hit {
            handle: Address::distinguishing(&place.source.digest, &alike).to_string(),
            turn: place.turn,
            role: place.role,
            line: place.line,
            lines: place.lines,
            tool: place.source.tool,
            text: place.fitting.snippet,
            removed_at: place.source.created_at,
            sessions: named.collect::<Result<_, _>>()?,
            show: String::new(),
        };
        hit.show = hit.way(way);
        hits.push(hit);
    }
    Ok(hits)
}
