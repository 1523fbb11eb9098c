//! Client keys of the store with what they used, for operators. No secrets: not even digests.

use super::dates;
use super::gateway::{Gateway, now};
use foldline_store::{ClientKey, Key, KeyDay, KeyEvent, KeyUsage, Store, StoreError};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Days of usage that are summed up.
const DAYS: i64 = 30;
/// Events that are shown.
const EVENTS: usize = 100;

/// All keys of the store and what happened to them.
#[derive(Debug)]
pub struct KeyFigures {
    /// The keys, the newest first.
    pub keys: Vec<KeyFigure>,
    /// The latest events, newest first.
    pub events: Vec<KeyEvent>,
}

/// A key with what it used.
#[derive(Debug)]
pub struct KeyFigure {
    /// The key.
    pub key: ClientKey,
    /// What it used today.
    pub today: KeyUsage,
    /// What it used in the last thirty days, today among them.
    pub month: KeyUsage,
    /// Whether it can be used.
    pub status: KeyStatus,
}

/// Whether a key can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// It can.
    Active,
    /// Not before midnight UTC.
    BudgetUsedUp,
    /// It is over.
    Expired,
    /// Somebody ended it.
    Revoked,
}

impl KeyStatus {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            KeyStatus::Active => "active",
            KeyStatus::BudgetUsedUp => "budget used up",
            KeyStatus::Expired => "expired",
            KeyStatus::Revoked => "revoked",
        }
    }
}

/// Reads the figures of a store.
pub fn key_figures(store: &Store, now_ms: i64) -> Result<KeyFigures, StoreError> {
    let today = KeyDay::of(now_ms);
    let mut used: HashMap<Key, (KeyUsage, KeyUsage)> = HashMap::new();
    for KeyDay { digest, day, usage } in store.key_usage(today - DAYS + 1)? {
        let (of_today, of_month) = used.entry(digest).or_default();
        of_month.add(&usage);
        if day == today {
            of_today.add(&usage);
        }
    }
    let figure = |key: ClientKey| {
        let (today, month) = used.get(&key.digest).copied().unwrap_or_default();
        let status = status(&key, &today, now_ms);
        KeyFigure { key, today, month, status }
    };
    let keys = store.client_keys()?.into_iter().map(figure).collect();
    Ok(KeyFigures { keys, events: store.key_events(EVENTS)? })
}

fn status(key: &ClientKey, today: &KeyUsage, now_ms: i64) -> KeyStatus {
    let terms = &key.terms;
    if key.revoked_at.is_some() {
        KeyStatus::Revoked
    } else if terms.expires_at.is_some_and(|expires_at| expires_at <= now_ms) {
        KeyStatus::Expired
    } else if terms.tokens_per_day.is_some_and(|limit| today.tokens() >= limit)
        || terms.dollars_per_day.is_some_and(|limit| today.dollars >= limit)
    {
        KeyStatus::BudgetUsedUp
    } else {
        KeyStatus::Active
    }
}

impl KeyFigures {
    /// Those of a gateway; none where there is no store.
    pub(super) fn read(gateway: &Gateway) -> Result<KeyFigures, StoreError> {
        match gateway.conversations.store() {
            Some(store) => key_figures(store, now().0),
            None => Ok(KeyFigures { keys: Vec::new(), events: Vec::new() }),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let keys: Vec<Value> = self.keys.iter().map(KeyFigure::json).collect();
        json!({ "keys": keys, "events": events_json(&self.events) })
    }
}

/// Events for programs.
pub fn events_json(events: &[KeyEvent]) -> Value {
    let event = |event: &KeyEvent| json!({ "at": dates::iso(event.at), "key": event.name, "event": event.kind.name() });
    events.iter().map(event).collect()
}

impl KeyFigure {
    fn json(&self) -> Value {
        let KeyFigure { key, today, month, status } = self;
        let terms = &key.terms;
        let scopes: Vec<&str> = terms.scopes.iter().map(|scope| scope.name()).collect();
        let upstream: serde_json::Map<String, Value> = terms
            .upstream
            .iter()
            .map(|(provider, variable)| (provider.clone(), json!(format!("${variable}"))))
            .collect();
        json!({
            "name": key.name,
            "status": status.name(),
            "scopes": scopes,
            "upstream": upstream,
            "created_at": dates::iso(key.created_at),
            "expires_at": terms.expires_at.map(dates::iso),
            "revoked_at": key.revoked_at.map(dates::iso),
            "last_used_at": key.used_at.map(dates::iso),
            "tokens_per_day": terms.tokens_per_day,
            "dollars_per_day": terms.dollars_per_day,
            "today": usage(today),
            "last_30_days": usage(month),
        })
    }
}

fn usage(usage: &KeyUsage) -> Value {
    json!({
        "requests": usage.requests,
        "input_tokens": usage.tokens_in,
        "output_tokens": usage.tokens_out,
        "dollars": usage.dollars,
    })
}
