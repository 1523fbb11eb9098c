//! The word index: pending originals are read and split without a lock, then written in one short transaction.

use crate::address::{Address, Digest};
use crate::error::Fault;
use crate::object_store::{Fetched, Objects};
use crate::rows::{Packed, bytes_per_index_byte, number, read_label, whole};
use crate::seal::{Scope, Vault};
use crate::search::{Entries, MOST_PARTS, Parts, each_word};
use crate::sqlite::get::{object, unpack};
use crate::sqlite::lock;
use crate::sqlite::totals::Change;
use foldline_core::reading::read;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::sync::Mutex;

/// Bytes of text that one transaction puts into the index: others wait for it for some ten milliseconds.
const TURN: u64 = 512 << 10;
/// Originals that one transaction puts there.
const MOST: u32 = 256;

/// An original that is not in the index yet.
struct Waiting {
    text: Packed,
    namespace: String,
    label: String,
    sealed: i64,
}

/// The words of an original, part by part, ready for the index.
struct Indexed {
    row: i64,
    digest: Digest,
    parts: Vec<String>,
    /// What it will take there.
    bytes: usize,
}

/// Originals that wait for the index.
pub(crate) fn waiting(reader: &Connection) -> Result<u64, Fault> {
    let sql = "SELECT count(*) FROM originals WHERE parts IS NULL";
    Ok(reader.prepare_cached(sql)?.query_row([], |row| row.get(0).map(whole))?)
}

/// Puts the newest originals that wait into the index. Returns the bytes of their texts; 0 when none waits.
pub(crate) fn index_some(
    reader: &mut Connection,
    writer: &Mutex<Connection>,
    vault: &Vault,
    objects: &Objects,
) -> Result<u64, Fault> {
    let snapshot = reader.transaction()?;
    let mut bytes = 0;
    let mut indexed = Vec::new();
    let turn = turn(newest(&snapshot)?);
    let fetched = objects.fetch(turn.iter().map(|original| &original.text))?;
    for original in turn {
        bytes += whole(original.text.size).max(1);
        let namespace = match id_of(&snapshot, &original.namespace)? {
            Some(id) => id,
            None => add_namespace(&lock(writer), &original.namespace)?,
        };
        indexed.push(indexed_form(&snapshot, vault, &original, namespace, &fetched)?);
    }
    drop(snapshot);
    if !indexed.is_empty() {
        let mut writer = lock(writer);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write(&transaction, &indexed)?;
        transaction.commit()?;
    }
    Ok(bytes)
}

/// As many of them as one turn takes: at least one.
fn turn(mut newest: Vec<Waiting>) -> Vec<Waiting> {
    let mut left = number(TURN);
    let fitting = newest.iter().take_while(|original| {
        let fits = left > 0;
        left -= original.text.size;
        fits
    });
    let count = fitting.count();
    newest.truncate(count);
    newest
}

fn newest(snapshot: &Transaction<'_>) -> Result<Vec<Waiting>, Fault> {
    let mut statement = snapshot.prepare_cached(
        "SELECT id, digest, size, namespace, tool, sealed, object FROM originals
          WHERE parts IS NULL ORDER BY id DESC LIMIT ?1",
    )?;
    let rows = statement.query_map([MOST], |row| {
        let digest: Vec<u8> = row.get(1)?;
        let place = Digest::from_bytes(&digest).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, 0))?;
        let text = Packed { row: row.get(0)?, place, size: row.get(2)?, object: object(row, 6)? };
        Ok(Waiting { text, namespace: row.get(3)?, label: row.get(4)?, sealed: row.get(5)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The number of a namespace in the index; `None` when nothing of it is there.
pub(super) fn id_of(reader: &Connection, namespace: &str) -> Result<Option<i64>, Fault> {
    let sql = "SELECT id FROM namespaces WHERE name = ?1";
    Ok(reader.prepare_cached(sql)?.query_row([namespace], |row| row.get(0)).optional()?)
}

fn add_namespace(writer: &Connection, namespace: &str) -> Result<i64, Fault> {
    writer.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?1)", [namespace])?;
    id_of(writer, namespace)?.ok_or_else(|| Fault::Other("a namespace is missing after it was written".into()))
}

fn indexed_form(
    snapshot: &Transaction<'_>,
    vault: &Vault,
    original: &Waiting,
    namespace: i64,
    fetched: &Fetched,
) -> Result<Indexed, Fault> {
    let Packed { row, place, .. } = original.text;
    let mut form = Indexed { row, digest: place, parts: Vec::new(), bytes: 0 };
    let Some(seal) = vault.of_row(original.sealed, Scope::Namespace(&original.namespace)) else { return Ok(form) };
    // A damaged one has no words; recall says what is the matter with it.
    let Some((_, tool)) = read_label(&seal, &place, original.label.clone()) else { return Ok(form) };
    let text = match unpack(snapshot, &seal, &original.text, fetched, &Address::distinguishing(&place, &[])) {
        Err(Fault::Damaged(_) | Fault::MissingObject(_)) => return Ok(form),
        text => text?,
    };
    let reading = read(&text, &tool);
    let parts = Parts::of(&reading);
    let mut entries = Entries::new(&seal, namespace);
    for part in parts.iter() {
        for (_, line) in part {
            each_word(&line.text, |word, _| entries.add(word));
            form.bytes += line.text.len() / bytes_per_index_byte(&seal) + 1;
        }
        form.parts.push(entries.take());
    }
    Ok(form)
}

fn write(transaction: &Transaction<'_>, indexed: &[Indexed]) -> Result<(), Fault> {
    let mut take = transaction.prepare_cached(
        "UPDATE originals SET parts = ?3, footprint = footprint + ?4 WHERE id = ?1 AND digest = ?2 AND parts IS NULL",
    )?;
    let mut add = transaction.prepare_cached("INSERT INTO words (rowid, word) VALUES (?1, ?2)")?;
    let mut change = Change::default();
    for original in indexed {
        let footprint = number(original.bytes as u64);
        let digest = original.digest.as_bytes();
        // Let go, or put there by somebody else, since it was read.
        if take.execute(params![original.row, digest, number(original.parts.len() as u64), footprint])? == 0 {
            continue;
        }
        change.footprint += footprint;
        for (row, words) in (first_row(original.row)..).zip(&original.parts) {
            add.execute(params![row, words])?;
        }
    }
    change.apply(transaction)
}

/// The row of the first part of an original.
fn first_row(original: i64) -> i64 {
    original.saturating_mul(MOST_PARTS as i64)
}

/// The original that a row belongs to, and the number of the part.
pub(super) fn part_of(row: i64) -> (i64, usize) {
    (row / MOST_PARTS as i64, usize::try_from(row % MOST_PARTS as i64).unwrap_or(usize::MAX))
}
