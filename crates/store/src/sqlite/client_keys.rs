//! Client keys.

use super::{SqliteStore, lock};
use crate::client_keys::{
    Added, ClientKey, KeyBackend, KeyDay, KeyEvent, KeyEventKind, KeyTerms, KeyUsage, MOST_EVENTS, MOST_KEYS,
    MOST_REVOKED, USAGE_DAYS,
};
use crate::conversation::Key;
use crate::error::Fault;
use crate::rows::{number, whole};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::sync::Mutex;

impl KeyBackend for SqliteStore {
    fn add_key(&self, now: i64, key: &ClientKey) -> Result<Added, Fault> {
        change(self.writer()?, |transaction| {
            let names = "SELECT count(*), coalesce(sum(name = ?1), 0) FROM client_keys WHERE revoked_at IS NULL";
            let (all, same): (i64, i64) =
                transaction.query_row(names, [&key.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if same > 0 {
                return Ok(Added::Taken);
            }
            if all >= MOST_KEYS {
                return Ok(Added::TooMany);
            }
            let terms = &key.terms;
            transaction.execute(
                "INSERT INTO client_keys
                     (digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    key.digest.0,
                    key.name,
                    terms.scope_names(),
                    terms.upstream_text(),
                    terms.expires_at,
                    terms.tokens_per_day.map(number),
                    terms.dollars_per_day,
                    now
                ],
            )?;
            note(transaction, &[KeyEvent { at: now, name: key.name.clone(), kind: KeyEventKind::Added }])?;
            Ok(Added::Done)
        })
    }

    fn revoke_key(&self, now: i64, name: &str) -> Result<bool, Fault> {
        change(self.writer()?, |transaction| {
            let sql = "UPDATE client_keys SET revoked_at = ?1 WHERE name = ?2 AND revoked_at IS NULL";
            if transaction.execute(sql, params![now, name])? == 0 {
                return Ok(false);
            }
            transaction.execute(
                "DELETE FROM client_keys WHERE revoked_at < (SELECT revoked_at FROM client_keys
                     WHERE revoked_at IS NOT NULL ORDER BY revoked_at DESC LIMIT 1 OFFSET ?1)",
                [MOST_REVOKED],
            )?;
            note(transaction, &[KeyEvent { at: now, name: name.to_owned(), kind: KeyEventKind::Revoked }])?;
            Ok(true)
        })
    }

    fn client_keys(&self) -> Result<Vec<ClientKey>, Fault> {
        let reader = self.reader()?;
        let mut statement = reader.prepare(
            "SELECT digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at, revoked_at,
                    used_at FROM client_keys ORDER BY created_at DESC, name",
        )?;
        let rows = statement.query_map([], |row| {
            let (scopes, upstream): (String, String) = (row.get(2)?, row.get(3)?);
            let (scopes, upstream) = KeyTerms::read_texts(&scopes, &upstream);
            let terms = KeyTerms {
                scopes,
                upstream,
                expires_at: row.get(4)?,
                tokens_per_day: row.get::<_, Option<i64>>(5)?.map(whole),
                dollars_per_day: row.get(6)?,
            };
            Ok(ClientKey {
                digest: Key(row.get(0)?),
                name: row.get(1)?,
                terms,
                created_at: row.get(7)?,
                revoked_at: row.get(8)?,
                used_at: row.get(9)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn key_usage(&self, since_day: i64) -> Result<Vec<KeyDay>, Fault> {
        let reader = self.reader()?;
        let mut statement = reader.prepare(
            "SELECT digest, day, requests, tokens_in, tokens_out, dollars FROM key_usage WHERE day >= ?1
                 ORDER BY day, digest",
        )?;
        let rows = statement.query_map([since_day], |row| {
            let usage = KeyUsage {
                requests: whole(row.get(2)?),
                tokens_in: whole(row.get(3)?),
                tokens_out: whole(row.get(4)?),
                dollars: row.get(5)?,
            };
            Ok(KeyDay { digest: Key(row.get(0)?), day: row.get(1)?, usage })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn book_keys(&self, now: i64, usage: &[KeyDay], events: &[KeyEvent]) -> Result<(), Fault> {
        change(self.writer()?, |transaction| {
            for KeyDay { digest, day, usage } in usage {
                transaction.execute(
                    "INSERT INTO key_usage (digest, day, requests, tokens_in, tokens_out, dollars)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (digest, day) DO UPDATE SET
                         requests = requests + excluded.requests, tokens_in = tokens_in + excluded.tokens_in,
                         tokens_out = tokens_out + excluded.tokens_out, dollars = dollars + excluded.dollars",
                    params![
                        digest.0,
                        day,
                        number(usage.requests),
                        number(usage.tokens_in),
                        number(usage.tokens_out),
                        usage.dollars
                    ],
                )?;
                let sql = "UPDATE client_keys SET used_at = max(coalesce(used_at, 0), ?1) WHERE digest = ?2";
                transaction.execute(sql, params![now, digest.0])?;
            }
            transaction.execute("DELETE FROM key_usage WHERE day < ?1", [KeyDay::of(now) - USAGE_DAYS])?;
            note(transaction, events)
        })
    }

    fn key_events(&self, most: usize) -> Result<Vec<KeyEvent>, Fault> {
        let reader = self.reader()?;
        let mut statement = reader.prepare("SELECT at, name, kind FROM key_events ORDER BY id DESC LIMIT ?1")?;
        let rows = statement.query_map([number(most as u64)], |row| {
            let kind: String = row.get(2)?;
            Ok(KeyEventKind::parse(&kind).map(|kind| (row.get(0), row.get(1), kind)))
        })?;
        let mut events = Vec::new();
        for row in rows {
            if let Some((at, name, kind)) = row? {
                events.push(KeyEvent { at: at?, name: name?, kind });
            }
        }
        Ok(events)
    }
}

fn change<T>(writer: &Mutex<Connection>, work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn note(transaction: &Transaction<'_>, events: &[KeyEvent]) -> Result<(), Fault> {
    for KeyEvent { at, name, kind } in events {
        let sql = "INSERT INTO key_events (at, name, kind) VALUES (?1, ?2, ?3)";
        transaction.execute(sql, params![at, name, kind.name()])?;
    }
    let sql = "DELETE FROM key_events WHERE id <= (SELECT max(id) FROM key_events) - ?1";
    transaction.execute(sql, [MOST_EVENTS])?;
    Ok(())
}
