//! The index of words, and finding in it: it names parts that hold the words, the newest first; their texts decide how
//! well they fit.

use super::object_rows::object;
use super::originals::{Pieces, alike, pieces};
use super::sessions::names;
use super::sql::{all, change, digest, first, int, text as name_of, values};
use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::object_store::{Fetched, Objects};
use crate::rows::{Packed, bytes_per_index_byte, number, read_label, unpacked, whole};
use crate::seal::{Scope, Seal, Vault};
use crate::search::{
    Entries, Extent, MOST_BYTES, MOST_NAMESPACES, MOST_READ, MOST_SESSIONS, Parts, Place, Places, Query, Search,
    Source, Term, Wanted, Whose, each_word, lookup, read_at_once, weight,
};
use foldline_core::reading::{Findings, Fit, Hit, Way, read};
use std::collections::BTreeMap;
use tokio_postgres::{GenericClient, Row, Transaction};

/// Originals that one transaction puts into the index.
const PER_TURN: i64 = 64;
/// Bytes of words that one row of the index can hold, with room to spare. A part with more has one endless line, which is
/// data: what is beyond is not found by its words.
const MOST_WORDS: usize = 700_000;

/// Parts that are counted to weigh a word: more of them and it tells little. Each is a page of the table to be looked at.
const MOST_COUNTED: i64 = 1_000;

/// Where the index is looked into, and where only in what a session removed: that is read first, whatever the planner takes
/// the words to be worth. With words that stand everywhere it would read the whole table to find the few that are the
/// session's: 2.5 s of a million, against a millisecond.
const ANYWHERE: &str = "foldline.words";
const OF_SESSION: &str = "(SELECT DISTINCT original FROM foldline.removals WHERE session = ANY($4) OFFSET 0) AS own
                           JOIN foldline.words USING (original)";

/// The newest parts that hold what is asked for.
fn newest(place: &str) -> String {
    format!(
        "SELECT part::int8, originals.id, digest, label, created_at, size, sealed, object
           FROM (SELECT original, part FROM {place} WHERE words @@ $1::text::tsquery
                  ORDER BY original DESC, part DESC LIMIT $3) AS named
           JOIN foldline.originals ON originals.id = named.original
          WHERE namespace = $2
          ORDER BY originals.id DESC, part DESC"
    )
}

/// Originals that wait for the index.
pub(super) async fn waiting(client: &impl GenericClient) -> Result<u64, Fault> {
    let row = first(client, "SELECT count(*) FROM foldline.originals WHERE parts IS NULL", values![]).await?;
    row.map_or(Ok(0), |row| int(&row, 0).map(whole))
}

/// Puts some of the newest originals that wait into the index. Returns the bytes of their texts; 0 when none waits that
/// nobody else is at.
pub(super) async fn index_some(transaction: &Transaction<'_>, vault: &Vault, objects: &Objects) -> Result<u64, Fault> {
    let sql = "SELECT id, digest, size, namespace, label, sealed, object FROM foldline.originals
                WHERE parts IS NULL ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED";
    let rows = all(transaction, sql, values![PER_TURN => INT8]).await?;
    let named: Result<Vec<_>, Fault> = rows.iter().map(|row| object(row, 6)).collect();
    let fetched = objects.fetch_all(named?.into_iter().flatten())?;
    let mut done = 0;
    let mut spaces: BTreeMap<String, i64> = BTreeMap::new();
    for row in &rows {
        let (id, size, namespace) = (int(row, 0)?, int(row, 2)?, name_of(row, 3)?);
        let space = match spaces.get(&namespace) {
            Some(space) => *space,
            None => {
                let space = number_of(transaction, &namespace).await?;
                spaces.insert(namespace.clone(), space);
                space
            }
        };
        let text = Packed { row: id, place: Digest::from_array(digest(row, 1)?), size, object: object(row, 6)? };
        let written = (&text, name_of(row, 4)?, int(row, 5)?);
        let (parts, footprint) = words_of(transaction, (vault, &fetched), &namespace, written, space).await?;
        for (part, words) in (0_i32..).zip(&parts) {
            let sql = "INSERT INTO foldline.words (original, part, words) VALUES ($1, $2, array_to_tsvector($3))";
            change(transaction, sql, values![id => INT8, part => INT4, words => TEXT_ARRAY]).await?;
        }
        let count = i32::try_from(parts.len()).unwrap_or(i32::MAX);
        let sql = "UPDATE foldline.originals SET parts = $2, footprint = footprint + $3 WHERE id = $1";
        change(transaction, sql, values![id => INT8, count => INT4, number(footprint as u64) => INT8]).await?;
        done += whole(size).max(1);
    }
    Ok(done)
}

/// The number of a namespace in the index.
async fn number_of(transaction: &Transaction<'_>, namespace: &str) -> Result<i64, Fault> {
    let name = namespace.as_bytes();
    let sql = "INSERT INTO foldline.namespaces (name) VALUES ($1) ON CONFLICT DO NOTHING";
    change(transaction, sql, values![name => BYTEA]).await?;
    let row = first(transaction, "SELECT id FROM foldline.namespaces WHERE name = $1", values![name => BYTEA]).await?;
    row.map_or_else(|| Err(Fault::Locked(std::time::Duration::ZERO)), |row| int(&row, 0))
}

/// The words of an original, part by part, and what they will take.
async fn words_of(
    transaction: &Transaction<'_>,
    (vault, fetched): (&Vault, &Fetched),
    namespace: &str,
    (text, label, sealed): (&Packed, String, i64),
    space: i64,
) -> Result<(Vec<Vec<String>>, usize), Fault> {
    let nothing = (Vec::new(), 0);
    let Some(seal) = vault.of_row(sealed, Scope::Namespace(namespace)) else { return Ok(nothing) };
    // A damaged one has no words; recall says what is the matter with it.
    let Some((_, tool)) = read_label(&seal, &text.place, label) else { return Ok(nothing) };
    let pieces = pieces(transaction, &[text.row]).await?.remove(&text.row).unwrap_or_default();
    let text = match unpack(&seal, text, (fetched, pieces), &Address::distinguishing(&text.place, &[])) {
        Err(Fault::Damaged(_) | Fault::MissingObject(_)) => return Ok(nothing),
        text => text?,
    };
    let reading = read(&text, &tool);
    let parts = Parts::of(&reading);
    let mut entries = Entries::new(&seal, space);
    let mut found = Vec::new();
    let mut footprint = 0;
    for part in parts.iter() {
        for (_, line) in part {
            each_word(&line.text, |word, _| entries.add(word));
            footprint += line.text.len() / bytes_per_index_byte(&seal) + 1;
        }
        let mut left = MOST_WORDS;
        let words = entries.take();
        let words = words.split_ascii_whitespace().take_while(|word| {
            left = left.saturating_sub(word.len() + 4);
            left > 0
        });
        found.push(words.map(str::to_owned).collect());
    }
    Ok((found, footprint))
}

/// The text of an original, from its pieces in the database or from what was fetched.
fn unpack(
    seal: &Seal,
    text: &Packed,
    (fetched, pieces): (&Fetched, Pieces),
    address: &Address,
) -> Result<String, Fault> {
    match &text.object {
        Some(object) => fetched.text(seal, text, object, address),
        None => unpacked(seal, text, address, pieces),
    }
}

/// Finds the best places. Whose they are decides which entries of the index are looked at.
pub(super) async fn find(
    snapshot: &Transaction<'_>,
    (vault, objects): (&Vault, &Objects),
    search: &Search<'_>,
    way: &Way,
) -> Result<Findings, Fault> {
    let namespaces = namespaces(snapshot, search.whose).await?;
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
            let search_in = search.session.map(|session| names(vault, session)).transpose()?;
            let looking = Looking { snapshot, objects, search_in, seals, query, fit, namespace: *id, name };
            looking.look(&mut places).await?;
        }
        if !places.list.is_empty() {
            findings.fit = fit;
            let mut ranked = places.ranked();
            findings.places = ranked.len();
            ranked.truncate(search.limit);
            findings.hits = hits(snapshot, vault, ranked, way).await?;
            break;
        }
    }
    Ok(findings)
}

async fn namespaces(snapshot: &Transaction<'_>, whose: Whose<'_>) -> Result<Vec<(i64, String)>, Fault> {
    let rows = match whose {
        Whose::Namespace(name) => {
            let sql = "SELECT id, name FROM foldline.namespaces WHERE name = $1";
            all(snapshot, sql, values![name.as_bytes() => BYTEA]).await?
        }
        Whose::Everybody => {
            let sql = "SELECT id, name FROM foldline.namespaces ORDER BY id DESC LIMIT $1";
            all(snapshot, sql, values![i64::from(MOST_NAMESPACES) => INT8]).await?
        }
    };
    rows.iter().map(|row| Ok((int(row, 0)?, name_of(row, 1)?))).collect()
}

/// One look into the index.
struct Looking<'l> {
    snapshot: &'l Transaction<'l>,
    objects: &'l Objects,
    /// The names of the only session that is searched, in every way that it may have been sealed.
    search_in: Option<Vec<Vec<u8>>>,
    /// How originals of the namespace may have been sealed.
    seals: Vec<Seal>,
    query: &'l Query,
    fit: Fit,
    namespace: i64,
    name: &'l str,
}

impl Looking<'_> {
    async fn look(&self, places: &mut Places) -> Result<(), Fault> {
        let sql = "SELECT parts FROM foldline.tenants WHERE namespace = $1";
        let parts = first(self.snapshot, sql, values![self.name.as_bytes() => BYTEA]).await?;
        let parts = parts.map_or(Ok(0), |row| int(&row, 0))?;
        let mut weights = Vec::new();
        for group in &self.query.groups {
            let holding = self.count(&self.all_of(&group.terms)).await?;
            weights.push(weight(usize::try_from(parts).unwrap_or(0), holding));
        }
        let mut candidates: BTreeMap<i64, (Source, Vec<usize>)> = BTreeMap::new();
        let expressions: Vec<String> = self.query.asked(self.fit).into_iter().map(|terms| self.all_of(terms)).collect();
        let share = MOST_READ / expressions.len().max(1);
        for expression in &expressions {
            for (source, part) in self.candidates(expression, share).await? {
                let (_, parts) = candidates.entry(source.text.row).or_insert((source, Vec::new()));
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        // The newest first.
        let candidates: Vec<(Source, Vec<usize>)> = candidates.into_values().rev().collect();
        let mut rest = candidates.as_slice();
        while !rest.is_empty() && places.read <= MOST_BYTES {
            let (some, others) = rest.split_at(read_at_once(rest));
            rest = others;
            let rows: Vec<i64> = some.iter().map(|(source, _)| source.text.row).collect();
            let mut texts = pieces(self.snapshot, &rows).await?;
            let fetched = self.objects.fetch(some.iter().map(|(source, _)| &source.text))?;
            for (source, numbers) in some {
                places.read += whole(source.text.size);
                let pieces = texts.remove(&source.text.row).unwrap_or_default();
                self.read(source, (&fetched, pieces), numbers, &weights, places)?;
            }
        }
        Ok(())
    }

    /// Every term, in the language of the index, however it may have been sealed.
    fn all_of<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> String {
        let entry = |term: &Term| {
            let ways: Vec<String> = self.seals.iter().map(|seal| expression(seal, self.namespace, term)).collect();
            format!("({})", ways.join(" | "))
        };
        terms.into_iter().map(entry).collect::<Vec<_>>().join(" & ")
    }

    async fn count(&self, expression: &str) -> Result<usize, Fault> {
        let sql = "SELECT count(*) FROM (
                       SELECT 1 FROM foldline.words WHERE words @@ $1::text::tsquery LIMIT $2) AS found";
        let row = first(self.snapshot, sql, values![expression => TEXT, MOST_COUNTED => INT8]).await?;
        Ok(row.map_or(Ok(0), |row| int(&row, 0))?.try_into().unwrap_or(0))
    }

    /// The newest parts that the index names.
    async fn candidates(&self, expression: &str, most: usize) -> Result<Vec<(Source, usize)>, Fault> {
        let most = number(most as u64);
        let name = self.name.as_bytes();
        let rows = match &self.search_in {
            None => {
                let given = values![expression => TEXT, name => BYTEA, most => INT8];
                all(self.snapshot, &newest(ANYWHERE), given).await?
            }
            Some(sessions) => {
                let given = values![expression => TEXT, name => BYTEA, most => INT8, sessions => BYTEA_ARRAY];
                all(self.snapshot, &newest(OF_SESSION), given).await?
            }
        };
        let found: Result<Vec<_>, Fault> = rows.iter().map(|row| self.candidate(row)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// A part that the index names; `None` when the original cannot be opened.
    fn candidate(&self, row: &Row) -> Result<Option<(Source, usize)>, Fault> {
        let place = Digest::from_array(digest(row, 2)?);
        let sealed = int(row, 6)?;
        let Some(seal) = self.seal(sealed) else { return Ok(None) };
        let Some((digest, tool)) = read_label(seal, &place, name_of(row, 3)?) else { return Ok(None) };
        let text = Packed { row: int(row, 1)?, place, size: int(row, 5)?, object: object(row, 7)? };
        let part = usize::try_from(int(row, 0)?).unwrap_or(usize::MAX);
        Ok(Some((Source { text, sealed, digest, tool, created_at: int(row, 4)? }, part)))
    }

    fn seal(&self, number: i64) -> Option<&Seal> {
        self.seals.iter().find(|seal| seal.number() == number)
    }

    /// Holds the parts of an original against the query.
    fn read(
        &self,
        source: &Source,
        from: (&Fetched, Pieces),
        numbers: &[usize],
        weights: &[f64],
        places: &mut Places,
    ) -> Result<(), Fault> {
        let address = Address::distinguishing(&source.digest, &[]);
        let Some(seal) = self.seal(source.sealed) else { return Ok(()) };
        let text = match unpack(seal, &source.text, from, &address) {
            Err(Fault::Damaged(_) | Fault::MissingObject(_)) => return Ok(()),
            text => text?,
        };
        let wanted = Wanted { query: self.query, fit: self.fit, weights, namespace: self.name };
        places.read(source, &text, numbers, &wanted);
        Ok(())
    }
}

/// What the index is asked for to find a term, in its language. Words hold nothing that has a meaning there, and are
/// quoted all the same.
fn expression(seal: &Seal, namespace: i64, term: &Term) -> String {
    let (entry, extent) = lookup(seal, namespace, term);
    let star = if extent == Extent::Beginning { ":*" } else { "" };
    format!("'{}'{star}", entry.replace('\\', "\\\\").replace('\'', "''"))
}

async fn hits(snapshot: &Transaction<'_>, vault: &Vault, places: Vec<Place>, way: &Way) -> Result<Vec<Hit>, Fault> {
    let sql = "SELECT session, sealed FROM foldline.removals WHERE original = $1 ORDER BY session LIMIT $2";
    let mut hits = Vec::new();
    for place in places {
        let short = Address::distinguishing(&place.source.digest, &[]);
        let alike = alike(snapshot, vault, &place.namespace, &short).await?;
        let given = values![place.source.text.row => INT8, i64::from(MOST_SESSIONS) => INT8];
        let rows = all(snapshot, sql, given).await?;
        let named: Result<Vec<_>, Fault> = rows.iter().map(|row| Ok((name_of(row, 0)?, int(row, 1)?))).collect();
        hits.push(place.hit(vault, &alike, named?, way));
    }
    Ok(hits)
}
