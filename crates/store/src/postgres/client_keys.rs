//! Client keys.

use super::sql::{all, change, digest, first, int, maybe_int, values};
use super::{PostgresStore, Sees};
use crate::client_keys::{
    Added, ClientKey, KeyBackend, KeyDay, KeyEvent, KeyEventKind, KeyTerms, KeyUsage, MOST_EVENTS, MOST_KEYS,
    MOST_REVOKED, USAGE_DAYS,
};
use crate::conversation::Key;
use crate::error::Fault;
use crate::rows::{number, whole};
use tokio_postgres::{GenericClient, Row, Transaction};

/// The letters `Keys`: who takes this lock adds a key. Two of one name must not both find it free.
const LOCK: i64 = 0x4b65_7973;

impl KeyBackend for PostgresStore {
    fn add_key(&self, now: i64, key: &ClientKey) -> Result<Added, Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| {
            all(transaction, "SELECT pg_advisory_xact_lock($1)", values![LOCK => INT8]).await?;
            add(transaction, now, key).await
        })
    }

    fn revoke_key(&self, now: i64, name: &str) -> Result<bool, Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| {
            let sql = "UPDATE foldline.client_keys SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL";
            if change(transaction, sql, values![now => INT8, name => TEXT]).await? == 0 {
                return Ok(false);
            }
            let sql = "DELETE FROM foldline.client_keys WHERE revoked_at < (
                           SELECT revoked_at FROM foldline.client_keys WHERE revoked_at IS NOT NULL
                            ORDER BY revoked_at DESC LIMIT 1 OFFSET $1)";
            change(transaction, sql, values![MOST_REVOKED => INT8]).await?;
            let event = KeyEvent { at: now, name: name.to_owned(), kind: KeyEventKind::Revoked };
            note(transaction, &[event]).await?;
            Ok(true)
        })
    }

    fn client_keys(&self) -> Result<Vec<ClientKey>, Fault> {
        self.read(async |client| {
            let sql = "SELECT digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at,
                              revoked_at, used_at
                         FROM foldline.client_keys ORDER BY created_at DESC, name";
            all(client, sql, values![]).await?.iter().map(key_of).collect()
        })
    }

    fn key_usage(&self, since_day: i64) -> Result<Vec<KeyDay>, Fault> {
        self.read(async |client| {
            let sql = "SELECT digest, day, requests, tokens_in, tokens_out, dollars FROM foldline.key_usage
                        WHERE day >= $1 ORDER BY day, digest";
            let rows = all(client, sql, values![since_day => INT8]).await?;
            rows.iter().map(day_of).collect()
        })
    }

    fn book_keys(&self, now: i64, usage: &[KeyDay], events: &[KeyEvent]) -> Result<(), Fault> {
        // In one order on every node, so that no two wait for each other.
        let mut usage = usage.to_vec();
        usage.sort_by_key(|day| (day.digest, day.day));
        self.transact(self.short(), Sees::Latest, async |transaction| {
            for KeyDay { digest, day, usage } in &usage {
                let sql = "INSERT INTO foldline.key_usage AS u (digest, day, requests, tokens_in, tokens_out, dollars)
                           VALUES ($1, $2, $3, $4, $5, $6)
                           ON CONFLICT (digest, day) DO UPDATE SET
                               requests = u.requests + excluded.requests,
                               tokens_in = u.tokens_in + excluded.tokens_in,
                               tokens_out = u.tokens_out + excluded.tokens_out,
                               dollars = u.dollars + excluded.dollars";
                let given = values![
                    digest.0.as_slice() => BYTEA,
                    day => INT8,
                    number(usage.requests) => INT8,
                    number(usage.tokens_in) => INT8,
                    number(usage.tokens_out) => INT8,
                    usage.dollars => FLOAT8,
                ];
                change(transaction, sql, given).await?;
                let sql = "UPDATE foldline.client_keys SET used_at = greatest(coalesce(used_at, 0), $1)
                            WHERE digest = $2";
                change(transaction, sql, values![now => INT8, digest.0.as_slice() => BYTEA]).await?;
            }
            let before = KeyDay::of(now) - USAGE_DAYS;
            change(transaction, "DELETE FROM foldline.key_usage WHERE day < $1", values![before => INT8]).await?;
            note(transaction, events).await
        })
    }

    fn key_events(&self, most: usize) -> Result<Vec<KeyEvent>, Fault> {
        self.read(async |client| {
            let sql = "SELECT at, name, kind FROM foldline.key_events ORDER BY id DESC LIMIT $1";
            let mut events = Vec::new();
            for row in all(client, sql, values![number(most as u64) => INT8]).await? {
                if let Some(kind) = KeyEventKind::parse(row.try_get(2)?) {
                    events.push(KeyEvent { at: int(&row, 0)?, name: row.try_get(1)?, kind });
                }
            }
            Ok(events)
        })
    }
}

async fn add(transaction: &Transaction<'_>, now: i64, key: &ClientKey) -> Result<Added, Fault> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE name = $1) FROM foldline.client_keys WHERE revoked_at IS NULL";
    if let Some(row) = first(transaction, sql, values![key.name => TEXT]).await? {
        if int(&row, 1)? > 0 {
            return Ok(Added::Taken);
        }
        if int(&row, 0)? >= MOST_KEYS {
            return Ok(Added::TooMany);
        }
    }
    let terms = &key.terms;
    let sql = "INSERT INTO foldline.client_keys
                   (digest, name, scopes, upstream, expires_at, tokens_per_day, dollars_per_day, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let given = values![
        key.digest.0.as_slice() => BYTEA,
        key.name => TEXT,
        terms.scope_names() => TEXT,
        terms.upstream_text() => TEXT,
        terms.expires_at => INT8,
        terms.tokens_per_day.map(number) => INT8,
        terms.dollars_per_day => FLOAT8,
        now => INT8,
    ];
    change(transaction, sql, given).await?;
    note(transaction, &[KeyEvent { at: now, name: key.name.clone(), kind: KeyEventKind::Added }]).await?;
    Ok(Added::Done)
}

async fn note(client: &impl GenericClient, events: &[KeyEvent]) -> Result<(), Fault> {
    if events.is_empty() {
        return Ok(());
    }
    let times: Vec<i64> = events.iter().map(|event| event.at).collect();
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.name()).collect();
    let sql = "INSERT INTO foldline.key_events (at, name, kind)
               SELECT at, name, kind FROM unnest($1, $2, $3) WITH ORDINALITY AS e (at, name, kind, place)
                ORDER BY place";
    change(client, sql, values![times => INT8_ARRAY, names => TEXT_ARRAY, kinds => TEXT_ARRAY]).await?;
    let sql = "DELETE FROM foldline.key_events WHERE id <= (SELECT max(id) FROM foldline.key_events) - $1";
    change(client, sql, values![MOST_EVENTS => INT8]).await.map(drop)
}

fn key_of(row: &Row) -> Result<ClientKey, Fault> {
    let (scopes, upstream) = KeyTerms::read_texts(row.try_get(2)?, row.try_get(3)?);
    let terms = KeyTerms {
        scopes,
        upstream,
        expires_at: maybe_int(row, 4)?,
        tokens_per_day: maybe_int(row, 5)?.map(whole),
        dollars_per_day: row.try_get(6)?,
    };
    Ok(ClientKey {
        digest: Key(digest(row, 0)?),
        name: row.try_get(1)?,
        terms,
        created_at: int(row, 7)?,
        revoked_at: maybe_int(row, 8)?,
        used_at: maybe_int(row, 9)?,
    })
}

fn day_of(row: &Row) -> Result<KeyDay, Fault> {
    let usage = KeyUsage {
        requests: whole(int(row, 2)?),
        tokens_in: whole(int(row, 3)?),
        tokens_out: whole(int(row, 4)?),
        dollars: row.try_get(5)?,
    };
    Ok(KeyDay { digest: Key(digest(row, 0)?), day: int(row, 1)?, usage })
}
