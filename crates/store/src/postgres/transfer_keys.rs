//! Client keys as records, and records as client keys.

use super::sql::{all, bytes, change, int, maybe_int, values};
use super::transfer::PER_PAGE;
use crate::error::Fault;
use crate::transfer::{Bytes, Cursor, Record};
use tokio_postgres::Transaction;

pub(super) async fn keys(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql =
        "SELECT digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at, revoked_at,
                      used_at FROM foldline.client_keys WHERE digest > $1 ORDER BY digest LIMIT $2";
    let mut records = Vec::new();
    for row in all(snapshot, sql, values![after.name => BYTEA, PER_PAGE => INT8]).await? {
        after.name = bytes(&row, 0)?;
        records.push(Record::ClientKey {
            digest: Bytes(bytes(&row, 0)?),
            name: row.try_get(1)?,
            scopes: row.try_get(2)?,
            upstream: row.try_get(3)?,
            expires_at: maybe_int(&row, 4)?,
            tokens_per_day: maybe_int(&row, 5)?,
            dollars_per_day: row.try_get(6)?,
            created_at: int(&row, 7)?,
            revoked_at: maybe_int(&row, 8)?,
            used_at: maybe_int(&row, 9)?,
        });
    }
    Ok(records)
}

pub(super) async fn usage(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = "SELECT digest, day, requests, tokens_in, tokens_out, dollars FROM foldline.key_usage
                WHERE (digest, day) > ($1, $2) ORDER BY digest, day LIMIT $3";
    let mut records = Vec::new();
    for row in all(snapshot, sql, values![after.name => BYTEA, after.row => INT8, PER_PAGE => INT8]).await? {
        after.name = bytes(&row, 0)?;
        after.row = int(&row, 1)?;
        records.push(Record::KeyUsage {
            digest: Bytes(bytes(&row, 0)?),
            day: int(&row, 1)?,
            requests: int(&row, 2)?,
            tokens_in: int(&row, 3)?,
            tokens_out: int(&row, 4)?,
            dollars: row.try_get(5)?,
        });
    }
    Ok(records)
}

pub(super) async fn events(snapshot: &Transaction<'_>, after: &mut Cursor) -> Result<Vec<Record>, Fault> {
    let sql = "SELECT id, at, name, kind FROM foldline.key_events WHERE id > $1 ORDER BY id LIMIT $2";
    let mut records = Vec::new();
    for row in all(snapshot, sql, values![after.row => INT8, PER_PAGE => INT8]).await? {
        after.row = int(&row, 0)?;
        records.push(Record::KeyEvent { at: int(&row, 1)?, name: row.try_get(2)?, event: row.try_get(3)? });
    }
    Ok(records)
}

/// Adds a record about keys; what is there stays, also a key of the same name that is in force.
pub(super) async fn add(transaction: &Transaction<'_>, record: &Record) -> Result<u64, Fault> {
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
        } => {
            let sql = "INSERT INTO foldline.client_keys (digest, name, scopes, upstream, expires_at, tokens_per_day,
                                                         dollars_per_day, created_at, revoked_at, used_at)
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
            let given = values![
                digest.0 => BYTEA,
                name => TEXT,
                scopes => TEXT,
                upstream => TEXT,
                expires_at => INT8,
                tokens_per_day => INT8,
                dollars_per_day => FLOAT8,
                *created_at => INT8,
                revoked_at => INT8,
                used_at => INT8,
            ];
            change(transaction, sql, given).await
        }
        Record::KeyUsage { digest, day, requests, tokens_in, tokens_out, dollars } => {
            let sql = "INSERT INTO foldline.key_usage (digest, day, requests, tokens_in, tokens_out, dollars)
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
            let given = values![
                digest.0 => BYTEA,
                *day => INT8,
                *requests => INT8,
                *tokens_in => INT8,
                *tokens_out => INT8,
                *dollars => FLOAT8,
            ];
            change(transaction, sql, given).await
        }
        // Events have no name of their own, so the same one is known by all of it.
        Record::KeyEvent { at, name, event } => {
            let sql = "INSERT INTO foldline.key_events (at, name, kind) SELECT $1, $2, $3
                        WHERE NOT EXISTS (
                            SELECT 1 FROM foldline.key_events WHERE at = $1 AND name = $2 AND kind = $3)";
            change(transaction, sql, values![*at => INT8, name => TEXT, event => TEXT]).await
        }
        _ => Ok(0),
    }
}
