//! Search: the index yields candidates, newest first; their texts are ranked.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::object_store::{Fetched, Objects};
use crate::rows::{Packed, number, read_label, whole};
use crate::seal::{Scope, Seal, Vault};
use crate::search::{
    Extent, MOST_BYTES, MOST_NAMESPACES, MOST_READ, MOST_SESSIONS, Place, Places, Query, Search, Source, Term, Wanted,
    Whose, lookup, names_of, read_at_once, weight,
};
use crate::sqlite::get::{alike, object, unpack};
use crate::sqlite::index::{id_of, part_of};
use foldline_core::reading::{Findings, Fit, Hit, Way};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use std::collections::BTreeMap;

/// Parts that are counted to weigh a word: more of them and it tells little.
const MOST_COUNTED: i64 = 20_000;

/// Parts that the index may name for a search in one session before the session itself is read: each has to be looked up.
const FEW: usize = 1_000;

/// Originals and which of their parts are read, by row.
type Candidates = BTreeMap<i64, (Source, Vec<usize>)>;

/// Finds the best places. Whose they are decides which entries of the index are looked at.
pub(crate) fn find(
    reader: &mut Connection,
    vault: &Vault,
    objects: &Objects,
    search: &Search<'_>,
    way: &Way,
) -> Result<Findings, Fault> {
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
            let seals = vault.all(Scope::Namespace(name));
            let sessions = search.session.map(|session| names_of(vault, session)).transpose()?;
            let looking =
                Looking { snapshot: &snapshot, objects, search_in: sessions, seals, query, fit, namespace: *id, name };
            looking.look(&mut places)?;
        }
        if !places.list.is_empty() {
            findings.fit = fit;
            let mut ranked = places.ranked();
            findings.places = ranked.len();
            ranked.truncate(search.limit);
            findings.hits = hits(&snapshot, vault, ranked, way)?;
            break;
        }
    }
    Ok(findings)
}

fn namespaces(snapshot: &Transaction<'_>, whose: Whose<'_>) -> Result<Vec<(i64, String)>, Fault> {
    match whose {
        Whose::Namespace(name) => Ok(id_of(snapshot, name)?.into_iter().map(|id| (id, name.to_owned())).collect()),
        Whose::Everybody => {
            let mut statement = snapshot.prepare_cached("SELECT id, name FROM namespaces ORDER BY id DESC LIMIT ?1")?;
            let rows = statement.query_map([MOST_NAMESPACES], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        }
    }
}

/// One look into the index.
struct Looking<'l> {
    snapshot: &'l Transaction<'l>,
    objects: &'l Objects,
    /// The names of the only session that is searched, in every way that it may have been sealed.
    search_in: Option<Vec<String>>,
    /// How originals of the namespace may have been sealed.
    seals: Vec<Seal>,
    query: &'l Query,
    fit: Fit,
    namespace: i64,
    name: &'l str,
}

impl Looking<'_> {
    fn look(&self, places: &mut Places) -> Result<(), Fault> {
        let sql = "SELECT parts FROM tenants WHERE namespace = ?1";
        let all = self.snapshot.prepare_cached(sql)?.query_row([self.name], |row| row.get(0)).optional()?;
        let all: i64 = all.unwrap_or(0);
        let mut weights = Vec::new();
        let mut rarest = usize::MAX;
        for group in &self.query.groups {
            let holding = self.count(&self.all_of(&group.terms))?;
            rarest = rarest.min(holding);
            weights.push(weight(usize::try_from(all).unwrap_or(0), holding));
        }
        let of_session = if rarest > FEW { self.all_of_session()? } else { None };
        let candidates = match of_session {
            Some(all) => all,
            None => self.named()?,
        };
        // The newest first.
        let candidates: Vec<(Source, Vec<usize>)> = candidates.into_values().rev().collect();
        let mut rest = candidates.as_slice();
        while !rest.is_empty() && places.read <= MOST_BYTES {
            let (some, others) = rest.split_at(read_at_once(rest));
            rest = others;
            let fetched = self.objects.fetch(some.iter().map(|(source, _)| &source.text))?;
            for (source, numbers) in some {
                places.read += whole(source.text.size);
                self.read(source, &fetched, numbers, &weights, places)?;
            }
        }
        Ok(())
    }

    /// The newest parts that the index names, by original.
    fn named(&self) -> Result<Candidates, Fault> {
        let mut candidates = Candidates::new();
        let expressions: Vec<String> = self.query.asked(self.fit).into_iter().map(|terms| self.all_of(terms)).collect();
        let share = MOST_READ / expressions.len().max(1);
        for expression in &expressions {
            for (source, part) in self.candidates(expression, share)? {
                let (_, parts) = candidates.entry(source.text.row).or_insert((source, Vec::new()));
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        Ok(candidates)
    }

    /// All that a session removed, where that is no more than is read anyway: the index is long where words are common,
    /// and knows nothing of sessions. `None` where no session is asked for, or it has more.
    fn all_of_session(&self) -> Result<Option<Candidates>, Fault> {
        let Some(sessions) = self.sessions() else { return Ok(None) };
        let mut statement = self.snapshot.prepare_cached(
            "SELECT id * 1048576, id, digest, tool, created_at, size, sealed, object, parts FROM originals
              WHERE namespace = ?1 AND parts > 0 AND id IN (
                    SELECT original FROM removals WHERE session IN (SELECT value FROM json_each(?2)))
              ORDER BY id DESC LIMIT ?3",
        )?;
        let mut rows = statement.query(params![self.name, sessions, number(MOST_READ as u64 + 1)])?;
        let mut candidates = Candidates::new();
        let mut all = 0;
        while let Some(row) = rows.next()? {
            let parts = usize::try_from(row.get::<_, i64>(8)?).unwrap_or(usize::MAX);
            all += parts;
            if all > MOST_READ {
                return Ok(None);
            }
            if let Some((source, _)) = self.candidate(row)? {
                candidates.insert(source.text.row, (source, (0..parts).collect()));
            }
        }
        Ok(Some(candidates))
    }

    /// The names of the only session that is searched, as a list in JSON.
    fn sessions(&self) -> Option<String> {
        self.search_in.as_ref().map(|names| serde_json::json!(names).to_string())
    }

    /// Every term, in the language of the index, however it may have been sealed.
    fn all_of<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> String {
        let entry = |term: &Term| {
            let ways: Vec<String> = self.seals.iter().map(|seal| expression(seal, self.namespace, term)).collect();
            format!("({})", ways.join(" OR "))
        };
        terms.into_iter().map(entry).collect::<Vec<_>>().join(" AND ")
    }

    fn count(&self, expression: &str) -> Result<usize, Fault> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)";
        let mut statement = self.snapshot.prepare_cached(sql)?;
        Ok(statement.query_row(params![expression, MOST_COUNTED], |row| row.get(0).map(whole))? as usize)
    }

    /// The newest parts that the index names.
    fn candidates(&self, expression: &str, most: usize) -> Result<Vec<(Source, usize)>, Fault> {
        let mut statement = self.snapshot.prepare_cached(
            "SELECT words.rowid, originals.id, digest, tool, created_at, size, sealed, object
               FROM words CROSS JOIN originals ON originals.id = words.rowid / 1048576
              WHERE words MATCH ?1 AND namespace = ?2 AND (?3 IS NULL OR EXISTS (
                    SELECT 1 FROM removals
                     WHERE original = originals.id AND session IN (SELECT value FROM json_each(?3))))
              ORDER BY words.rowid DESC LIMIT ?4",
        )?;
        let mut rows = statement.query(params![expression, self.name, self.sessions(), number(most as u64)])?;
        let mut candidates = Vec::new();
        while let Some(row) = rows.next()? {
            candidates.extend(self.candidate(row)?);
        }
        Ok(candidates)
    }

    /// A part that the index names; `None` when the original cannot be opened.
    fn candidate(&self, row: &Row<'_>) -> Result<Option<(Source, usize)>, Fault> {
        let place: Vec<u8> = row.get(2)?;
        let sealed: i64 = row.get(6)?;
        let Some(place) = Digest::from_bytes(&place) else { return Ok(None) };
        let Some(seal) = self.seal(sealed) else { return Ok(None) };
        let Some((digest, tool)) = read_label(seal, &place, row.get(3)?) else { return Ok(None) };
        let text = Packed { row: row.get(1)?, place, size: row.get(5)?, object: object(row, 7)? };
        let (_, part) = part_of(row.get(0)?);
        Ok(Some((Source { text, sealed, digest, tool, created_at: row.get(4)? }, part)))
    }

    fn seal(&self, number: i64) -> Option<&Seal> {
        self.seals.iter().find(|seal| seal.number() == number)
    }

    /// Holds the parts of an original against the query.
    fn read(
        &self,
        source: &Source,
        fetched: &Fetched,
        numbers: &[usize],
        weights: &[f64],
        places: &mut Places,
    ) -> Result<(), Fault> {
        let address = Address::distinguishing(&source.digest, &[]);
        let Some(seal) = self.seal(source.sealed) else { return Ok(()) };
        let text = match unpack(self.snapshot, seal, &source.text, fetched, &address) {
            Err(Fault::Damaged(_) | Fault::MissingObject(_)) => return Ok(()),
            text => text?,
        };
        let wanted = Wanted { query: self.query, fit: self.fit, weights, namespace: self.name };
        places.read(source, &text, numbers, &wanted);
        Ok(())
    }
}

/// What the index is asked for to find a term, in its language. Words hold nothing that has a meaning there.
fn expression(seal: &Seal, namespace: i64, term: &Term) -> String {
    let (entry, extent) = lookup(seal, namespace, term);
    let star = if extent == Extent::Beginning { "*" } else { "" };
    format!("\"{entry}\"{star}")
}

fn hits(snapshot: &Transaction<'_>, vault: &Vault, places: Vec<Place>, way: &Way) -> Result<Vec<Hit>, Fault> {
    let mut sessions = snapshot
        .prepare_cached("SELECT session, sealed FROM removals WHERE original = ?1 ORDER BY session LIMIT ?2")?;
    let mut hits = Vec::new();
    for place in places {
        let short = Address::distinguishing(&place.source.digest, &[]);
        let alike = alike(snapshot, vault, &place.namespace, &short)?;
        let named = sessions
            .query_map(params![place.source.text.row, MOST_SESSIONS], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<Vec<(String, i64)>, _>>()?;
        hits.push(place.hit(vault, &alike, named, way));
    }
    Ok(hits)
}
