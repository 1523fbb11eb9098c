//! Client keys as records, and records as client keys.

use crate::error::Fault;
use crate::sqlite::transfer::{PER_PAGE, run};
use crate::transfer::{Bytes, Cursor, Record};
use rusqlite::{Transaction, params};

pub(super) fn keys(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!(
        "SELECT digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at, revoked_at,
                used_at FROM client_keys WHERE digest > ?1 ORDER BY digest LIMIT {PER_PAGE}"
    );
    let mut statement = snapshot.prepare(&sql)?;
    let rows = statement.query_map([&after.name], |row| {
        Ok(Record::ClientKey {
            digest: Bytes(row.get(0)?),
            name: row.get(1)?,
            scopes: row.get(2)?,
            upstream: row.get(3)?,
            expires_at: row.get(4)?,
            tokens_per_day: row.get(5)?,
            dollars_per_day: row.get(6)?,
            created_at: row.get(7)?,
            revoked_at: row.get(8)?,
            used_at: row.get(9)?,
        })
    })?;
    let records: Vec<Record> = rows.collect::<Result<_, _>>()?;
    if let Some(Record::ClientKey { digest, .. }) = records.last() {
        after.name.clone_from(&digest.0);
    }
    Ok(records)
}

pub(super) fn usage(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!(
        "SELECT digest, day, requests, tokens_in, tokens_out, dollars FROM key_usage WHERE (digest, day) > (?1, ?2)
          ORDER BY digest, day LIMIT {PER_PAGE}"
    );
    let mut statement = snapshot.prepare(&sql)?;
    let rows = statement.query_map(params![after.name, after.row], |row| {
        Ok(Record::KeyUsage {
            digest: Bytes(row.get(0)?),
            day: row.get(1)?,
            requests: row.get(2)?,
            tokens_in: row.get(3)?,
            tokens_out: row.get(4)?,
            dollars: row.get(5)?,
        })
    })?;
    let records: Vec<Record> = rows.collect::<Result<_, _>>()?;
    if let Some(Record::KeyUsage { digest, day, .. }) = records.last() {
        after.name.clone_from(&digest.0);
        after.row = *day;
    }
    Ok(records)
}

pub(super) fn events(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = format!("SELECT id, at, name, kind FROM key_events WHERE id > ?1 ORDER BY id LIMIT {PER_PAGE}");
    let mut statement = snapshot.prepare(&sql)?;
    let mut rows = statement.query([after.row])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        after.row = row.get(0)?;
        records.push(Record::KeyEvent { at: row.get(1)?, name: row.get(2)?, event: row.get(3)? });
    }
    Ok(records)
}

/// Adds a record about keys; what is there stays, also a key of the same name that is in force.
pub(super) fn add(transaction: &Transaction<'_>, record: &Record) -> Result<usize, Fault> {
    match record {
        Record::ClientKey {
            digest,
            name,
            scopes,
            upstream,
            expires_at,
            tokens_per_day,
            dollars_per_day,
            created_at,
            revoked_at,
            used_at,
        } => run(
            transaction,
            "INSERT OR IGNORE INTO client_keys (digest, name, scopes, upstream, expires_at, tokens_per_day,
                                                dollars_per_day, created_at, revoked_at, used_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                digest.0,
                name,
                scopes,
                upstream,
                expires_at,
                tokens_per_day,
                dollars_per_day,
                created_at,
                revoked_at,
                used_at
            ],
        ),
        Record::KeyUsage { digest, day, requests, tokens_in, tokens_out, dollars } => run(
            transaction,
            "INSERT OR IGNORE INTO key_usage (digest, day, requests, tokens_in, tokens_out, dollars)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![digest.0, day, requests, tokens_in, tokens_out, dollars],
        ),
        // Events have no name of their own, so the same one is known by all of it.
        Record::KeyEvent { at, name, event } => run(
            transaction,
            "INSERT INTO key_events (at, name, kind) SELECT ?1, ?2, ?3
              WHERE NOT EXISTS (SELECT 1 FROM key_events WHERE at = ?1 AND name = ?2 AND kind = ?3)",
            params![at, name, event],
        ),
        _ => Ok(0),
    }
}
