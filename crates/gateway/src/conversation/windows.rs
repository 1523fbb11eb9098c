//! What requests that were accepted and refused tell about the windows of models, where tables and settings are wrong or
//! silent. Not every refusal has numbers; the sizes of what was refused and of what was accepted enclose the window all
//! the same. Kept in the store, so that nobody is refused again after a restart.

use super::incoming::CredentialId;
use super::shared::Shared;
use crate::refusal::{RefusalKind, SizeRefusal};
use foldline_store::WindowRow;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Models that are remembered. A client that makes up their names cannot fill the memory with them.
const MOST: usize = 1_024;

/// A longer name is not remembered.
const LONGEST_NAME: usize = 256;

/// How long a window is believed, in milliseconds: a week. Endpoints change, and what was learnt too low would otherwise
/// never be tried again.
const BELIEVED: i64 = 7 * 24 * 3_600_000;

/// Share of what was refused without numbers that is taken for the window where nothing as large was accepted: sizes are
/// estimates, and grow by a few percent from one request to the next.
const REFUSED_SHARE: f64 = 0.8;

/// What is known about the window of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WindowEvidence {
    /// The limit that a provider named.
    named: Option<u32>,
    /// The smallest prompt that was refused without numbers.
    refused: Option<u64>,
    /// The largest prompt that was accepted, as reported.
    accepted: u64,
    /// What a provider adds to the prompt before it compares.
    reply: Reply,
    /// When a refusal last taught something.
    learnt_at: i64,
}

/// Whether a provider counts the room that a request asks for its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// Not that anybody knows.
    #[default]
    Uncounted,
    /// A request is refused whose prompt and `max_tokens` exceed the window together.
    Counted,
}

/// What follows from it for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) tokens: u32,
    pub(super) reply: Reply,
}

/// A request that was refused.
pub(super) struct RefusedRequest {
    /// Tokens of its prompt, best known.
    pub(super) prompt: u64,
    /// Tokens that it asks for its reply.
    pub(super) reply: Option<u32>,
}

impl WindowEvidence {
    fn refuse(&mut self, refused: &RefusedRequest, refusal: &SizeRefusal, now: i64) {
        self.learnt_at = now;
        if let Some(limit) = refusal.limit.and_then(|limit| u32::try_from(limit).ok()) {
            self.named = Some(limit.max(1));
            self.refused = None;
            let reply = u64::from(refused.reply.unwrap_or(0));
            // Which sum is nearer to what the provider counted?
            if let Some(asked) = refusal.asked
                && asked.abs_diff(refused.prompt + reply) < asked.abs_diff(refused.prompt)
            {
                self.reply = Reply::Counted;
            }
            return;
        }
        let prompt = refusal.asked.unwrap_or(refused.prompt);
        self.refused = Some(self.refused.map_or(prompt, |before| before.min(prompt)));
        // What was accepted before is larger than what is refused now: it was another endpoint's.
        self.accepted = if self.accepted < prompt { self.accepted } else { 0 };
    }

    /// Takes note of a prompt that was accepted. Says whether that contradicts what was learnt.
    fn accept(&mut self, prompt: u64) -> bool {
        self.accepted = self.accepted.max(prompt);
        let is_wrong = self.is_contradicted_by(prompt);
        if is_wrong {
            *self = WindowEvidence { accepted: self.accepted, ..WindowEvidence::default() };
        }
        is_wrong
    }

    fn is_contradicted_by(&self, prompt: u64) -> bool {
        self.named.is_some_and(|named| prompt > u64::from(named))
            || self.refused.is_some_and(|refused| prompt >= refused)
    }

    fn window(&self, now: i64) -> Option<Window> {
        if now.saturating_sub(self.learnt_at) > BELIEVED {
            return None;
        }
        let guessed = self.refused.map(|refused| ((refused as f64 * REFUSED_SHARE) as u64).max(self.accepted).max(1));
        let tokens = self.named.or(guessed.map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)))?;
        Some(Window { tokens, reply: self.reply })
    }

    fn is_learnt(&self) -> bool {
        self.named.is_some() || self.refused.is_some()
    }
}

/// The windows that are held in memory.
#[derive(Debug, Default)]
pub(super) struct Windows {
    seen: HashMap<(CredentialId, String), WindowEvidence>,
}

impl Windows {
    /// Whether something is held about a model, be it that nothing is known.
    pub(super) fn holds(&self, credential: CredentialId, model: &str) -> bool {
        self.seen.contains_key(&(credential, model.to_owned()))
    }

    fn get(&mut self, credential: CredentialId, model: &str) -> &mut WindowEvidence {
        let key = (credential, model.to_owned());
        if self.seen.len() >= MOST && !self.seen.contains_key(&key) {
            // What is in the store is read again.
            self.seen.clear();
        }
        self.seen.entry(key).or_default()
    }
}

/// The window that refusals have taught for a model.
pub(super) fn learnt(shared: &Shared, credential: CredentialId, model: &str, now: i64) -> Option<Window> {
    let key = (credential, model.to_owned());
    let held = shared.memory().windows.seen.get(&key).cloned();
    // Another node may have been refused since.
    let asked = shared.store().filter(|store| held.is_none() || (store.is_shared() && !shared.store_rests(now)));
    // Who cannot ask the store goes by what is known here, or learns from the next refusal.
    let stored = asked.map(|store| store.window(&credential.namespace(), model));
    let (accepted, held) = (held.as_ref().map_or(0, |held| held.accepted), held);
    let seen = match (stored, held) {
        (Some(Ok(record)), _) => {
            let seen: WindowEvidence = record.and_then(|record| serde_json::from_str(&record).ok()).unwrap_or_default();
            WindowEvidence { accepted: seen.accepted.max(accepted), ..seen }
        }
        (_, held) => held.unwrap_or_default(),
    };
    let window = seen.window(now);
    *shared.memory().windows.get(credential, model) = seen;
    window
}

/// Takes note of a refusal.
pub(super) fn refuse(
    shared: &Shared,
    credential: CredentialId,
    model: &str,
    refused: &RefusedRequest,
    refusal: &SizeRefusal,
    now: i64,
) {
    if refusal.kind != RefusalKind::Window {
        return;
    }
    let row = {
        let mut memory = shared.memory();
        let seen = memory.windows.get(credential, model);
        seen.refuse(refused, refusal, now);
        row(credential, model, seen)
    };
    keep(shared, row, now);
}

/// Takes note of a prompt that was accepted.
pub(super) fn accept(shared: &Shared, credential: CredentialId, model: &str, prompt: u64, now: i64) {
    let row = {
        let mut memory = shared.memory();
        let seen = memory.windows.get(credential, model);
        let is_wrong = seen.accept(prompt);
        is_wrong.then(|| row(credential, model, seen))
    };
    if let Some(row) = row {
        keep(shared, row, now);
    }
}

/// Whether a prompt that is accepted contradicts what was learnt for a model.
pub(super) fn is_contradicted(shared: &Shared, credential: CredentialId, model: &str, prompt: u64) -> bool {
    shared.memory().windows.get(credential, model).is_contradicted_by(prompt)
}

fn row(credential: CredentialId, model: &str, seen: &WindowEvidence) -> WindowRow {
    WindowRow {
        namespace: credential.namespace(),
        model: model.to_owned(),
        record: seen.is_learnt().then(|| serde_json::to_string(seen).unwrap_or_default()),
    }
}

/// Writes it down at once: refusals are rare. A store that fails costs one refusal after a restart.
fn keep(shared: &Shared, row: WindowRow, now: i64) {
    if let Some(store) = shared.store().filter(|_| row.model.len() <= LONGEST_NAME && !shared.store_rests(now)) {
        let _lost = store.write_windows(now, &[row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(seen: &WindowEvidence) -> Option<u32> {
        seen.window(1_000).map(|window| window.tokens)
    }

    fn refusal(asked: Option<u64>, limit: Option<u64>) -> SizeRefusal {
        SizeRefusal { kind: RefusalKind::Window, asked, limit }
    }

    fn refused(prompt: u64, reply: u32) -> RefusedRequest {
        RefusedRequest { prompt, reply: Some(reply) }
    }

    #[test]
    fn a_refusal_without_numbers_is_enclosed_by_what_was_accepted() {
        let mut seen = WindowEvidence::default();
        assert!(!seen.accept(120_000));
        assert_eq!(window(&seen), None, "nothing was refused");
        seen.refuse(&refused(130_000, 0), &refusal(None, None), 1_000);
        assert_eq!(window(&seen), Some(120_000), "what was accepted is known to fit");
        let mut seen = WindowEvidence::default();
        seen.accept(10_000);
        seen.refuse(&refused(130_000, 0), &refusal(None, None), 1_000);
        assert_eq!(window(&seen), Some(104_000), "a leap says little about where the edge is");
        assert!(seen.accept(131_000), "another endpoint's");
        assert_eq!(window(&seen), None);
    }

    #[test]
    fn a_named_limit_counts_until_more_is_accepted_or_a_week_has_passed() {
        let mut seen = WindowEvidence::default();
        seen.refuse(&refused(40_000, 0), &refusal(Some(40_100), Some(32_000)), 1_000);
        assert_eq!(window(&seen), Some(32_000));
        assert_eq!(seen.window(1_000 + BELIEVED + 1), None);
        assert!(!seen.accept(32_000));
        assert!(seen.accept(32_001));
        assert_eq!(window(&seen), None);
    }

    #[test]
    fn a_provider_that_counts_the_reply_is_recognised_by_its_sum() {
        let reply = |asked| {
            let mut seen = WindowEvidence::default();
            seen.refuse(&refused(28_000, 8_000), &refusal(Some(asked), Some(32_000)), 1_000);
            seen.window(1_000).unwrap().reply
        };
        assert_eq!(reply(36_200), Reply::Counted);
        assert_eq!(reply(33_000), Reply::Counted);
        assert_eq!(reply(31_000), Reply::Uncounted);
    }
}
