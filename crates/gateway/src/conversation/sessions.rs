//! Sessions as shown to users: counts and cost, no content.

use super::incoming::{CredentialId, Dialect, SessionId};
use super::memory::{Session, SessionRecord};
use super::shared::{Shared, key_named};
use foldline_core::ledger::{Held, held_in};
use foldline_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Sums over the requests of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// Requests that were prepared.
    pub requests: u64,
    /// Folds.
    pub folds: u64,
    /// Prunes (old tool outputs reduced, nothing folded).
    pub prunes: u64,
    /// Requests in which a known prefix was swapped.
    pub swaps: u64,
    /// Requests that a provider refused for their size and that were folded harder.
    pub recoveries: u64,
    /// Folds that could not be stored.
    pub failed_open: u64,
    /// Tokens as they came, counted.
    pub tokens_before: u64,
    /// Tokens as they went out, counted.
    pub tokens_after: u64,
    /// Prompt tokens that the provider reported.
    pub reported_prompt: u64,
    /// Of these, read from a cache.
    pub reported_cached: u64,
    /// Output tokens that the provider reported.
    pub reported_output: u64,
    /// Dollars that the provider charged, as far as prices are known.
    pub charged: f64,
    /// Dollars that the same requests would have cost as they came.
    pub uncompacted: f64,
    /// Dollars that summaries cost.
    pub summaries: f64,
    /// Tokens that requests would have been shorter by, where the gateway only looked (shadow mode).
    pub shadow_tokens: u64,
    /// Dollars that this would have saved.
    pub shadow_dollars: f64,
}

impl Sums {
    /// Adds others.
    pub(super) fn add(&mut self, other: &Sums) {
        self.requests += other.requests;
        self.folds += other.folds;
        self.prunes += other.prunes;
        self.swaps += other.swaps;
        self.recoveries += other.recoveries;
        self.failed_open += other.failed_open;
        self.tokens_before += other.tokens_before;
        self.tokens_after += other.tokens_after;
        self.reported_prompt += other.reported_prompt;
        self.reported_cached += other.reported_cached;
        self.reported_output += other.reported_output;
        self.charged += other.charged;
        self.uncompacted += other.uncompacted;
        self.summaries += other.summaries;
        self.shadow_tokens += other.shadow_tokens;
        self.shadow_dollars += other.shadow_dollars;
    }

    /// What came since these sums were read before.
    pub fn since(&self, before: &Sums) -> Sums {
        Sums {
            requests: self.requests - before.requests,
            folds: self.folds - before.folds,
            prunes: self.prunes - before.prunes,
            swaps: self.swaps - before.swaps,
            recoveries: self.recoveries - before.recoveries,
            failed_open: self.failed_open - before.failed_open,
            tokens_before: self.tokens_before - before.tokens_before,
            tokens_after: self.tokens_after - before.tokens_after,
            reported_prompt: self.reported_prompt - before.reported_prompt,
            reported_cached: self.reported_cached - before.reported_cached,
            reported_output: self.reported_output - before.reported_output,
            charged: self.charged - before.charged,
            uncompacted: self.uncompacted - before.uncompacted,
            summaries: self.summaries - before.summaries,
            shadow_tokens: self.shadow_tokens - before.shadow_tokens,
            shadow_dollars: self.shadow_dollars - before.shadow_dollars,
        }
    }

    /// Dollars saved: what the same requests would have cost as they came, less what they and summaries cost. It may be
    /// negative.
    pub fn saved(&self) -> f64 {
        self.uncompacted - self.charged - self.summaries
    }
}

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The name that its client gave it; empty when it gave none.
    pub label: String,
    /// The API it speaks; none before its first request.
    pub dialect: Option<Dialect>,
    /// The model of its last request.
    pub model: String,
    /// Its first request, in milliseconds since 1970.
    pub first_at: i64,
    /// Its last request.
    pub last_at: i64,
    /// Prompt tokens of its last request, reported or counted.
    pub context: u64,
    /// Tokens at which the engine acts.
    pub trigger: u64,
    /// Window of the model.
    pub window: u64,
    /// Sums.
    pub sums: Sums,
}

/// One turn of a session, for its history: counts only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEvent {
    /// When, in milliseconds since 1970.
    #[serde(skip)]
    pub at: i64,
    /// What became of it.
    pub outcome: String,
    /// Tokens as they came.
    pub before: u64,
    /// Tokens as they went out.
    pub after: u64,
    /// Prompt tokens that the provider reported.
    pub prompt: u64,
    /// Of these, read from a cache.
    pub cached: u64,
    /// Output tokens that the provider reported.
    pub output: u64,
    /// Dollars that it cost.
    pub charged: f64,
    /// Dollars that it would have cost as it came.
    pub uncompacted: f64,
}

/// Sums over everything since the process started, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Sums over all sessions.
    pub sums: Sums,
    /// Requests with a stored checkpoint.
    pub checkpoint_hits: u64,
    /// Requests for which none was.
    pub checkpoint_misses: u64,
    /// Folds in the background that are under way.
    pub in_flight: u64,
    /// Sessions in memory.
    pub sessions: u64,
}

impl SessionView {
    fn of(id: SessionId, record: &SessionRecord) -> SessionView {
        SessionView {
            id,
            label: record.label.clone(),
            dialect: Dialect::ALL.into_iter().find(|dialect| dialect.name() == record.dialect),
            model: record.model.clone(),
            first_at: record.first_at,
            last_at: record.last_at,
            context: record.context,
            trigger: record.trigger,
            window: record.window,
            sums: record.sums,
        }
    }
}

/// The latest sessions: those in memory as they stand, the others as they were written.
pub(super) fn list(
    shared: &Shared,
    credential: Option<&CredentialId>,
    most: usize,
) -> Result<Vec<SessionView>, StoreError> {
    let namespace = credential.map(CredentialId::namespace);
    let mut views: Vec<SessionView> = {
        let memory = shared.memory();
        let held = memory.sessions.iter().filter(|(_, session)| {
            session.record.last_at > 0 && namespace.as_ref().is_none_or(|name| *name == session.namespace)
        });
        held.map(|(id, session)| SessionView::of(id.clone(), &session.record)).collect()
    };
    if let Some(store) = shared.store() {
        for row in store.sessions(namespace.as_deref(), most)? {
            let Some(id) = SessionId::parse(&row.id) else { continue };
            let stored = SessionView::of(id, &Session::of_row(&row).record);
            match views.iter_mut().find(|view| view.id == stored.id) {
                // Served by another node since.
                Some(held) if held.last_at < stored.last_at => *held = stored,
                Some(_) => {}
                None => views.push(stored),
            }
        }
    }
    views.sort_by(|one, two| two.last_at.cmp(&one.last_at).then_with(|| one.id.cmp(&two.id)));
    views.truncate(most);
    Ok(views)
}

/// The rules and pins in the handoff of a session's latest checkpoint.
pub(super) fn held(shared: &Shared, id: &SessionId, now: i64) -> Result<Vec<Held>, StoreError> {
    shared.renew(id, now);
    let known = shared.memory().sessions.get(id).cloned();
    let session = match (known, shared.store()) {
        (Some(session), _) => session,
        (None, Some(store)) => match store.session(id.as_str())? {
            Some(row) => Session::of_row(&row),
            None => return Ok(Vec::new()),
        },
        (None, None) => return Ok(Vec::new()),
    };
    let Some(key) = session.record.latest_checkpoint().and_then(key_named) else { return Ok(Vec::new()) };
    let text = shared.memory().text(&key).map(|checkpoint| checkpoint.text.clone());
    let text = match (text, shared.store()) {
        (None, Some(store)) => store.checkpoint_text(now, &session.namespace, &key)?,
        (text, _) => text,
    };
    let messages: Value = serde_json::from_str(&format!("[{}]", text.unwrap_or_default())).unwrap_or_default();
    let mut held = Vec::new();
    each_text(&messages, &mut |text| held.extend(held_in(text)));
    Ok(held)
}

/// Calls `tell` with every text in a value.
fn each_text(value: &Value, tell: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => tell(text),
        Value::Array(values) => values.iter().for_each(|value| each_text(value, tell)),
        Value::Object(fields) => fields.values().for_each(|value| each_text(value, tell)),
        _ => {}
    }
}

/// One session with its latest turns.
pub(super) fn one(
    shared: &Shared,
    id: &SessionId,
    most: usize,
) -> Result<Option<(SessionView, Vec<TurnEvent>)>, StoreError> {
    shared.renew(id, shared.now());
    let held = shared.memory().sessions.get(id).map(|session| SessionView::of(id.clone(), &session.record));
    let stored = match (&held, shared.store()) {
        (None, Some(store)) => store.session(id.as_str())?,
        _ => None,
    };
    let Some(view) = held.or_else(|| stored.map(|row| SessionView::of(id.clone(), &Session::of_row(&row).record)))
    else {
        return Ok(None);
    };
    // Those that wait for the next flush are the newest.
    let waiting = shared.memory().events.iter().rev().filter(|event| event.session == id.as_str()).cloned().collect();
    let mut rows: Vec<foldline_store::EventRow> = waiting;
    rows.truncate(most);
    if let Some(store) = shared.store() {
        rows.extend(store.events(id.as_str(), most - rows.len())?);
    }
    let events =
        rows.into_iter().map(|row| TurnEvent { at: row.at, ..serde_json::from_str(&row.record).unwrap_or_default() });
    Ok(Some((view, events.collect())))
}
