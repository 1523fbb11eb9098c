//! Keys of the gateway's clients: who may do what, until when, and how much per day. A key itself is never stored, only
//! its digest.

use crate::conversation::Key;
use crate::error::Fault;
use crate::keys::random;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeSet;
use std::io;
use zeroize::Zeroizing;

/// Keys that are not revoked; who needs more runs several gateways.
pub(crate) const MOST_KEYS: i64 = 10_000;
/// Revoked keys that are remembered, the latest.
pub(crate) const MOST_REVOKED: i64 = 1_000;
/// Events that are remembered, the latest.
pub(crate) const MOST_EVENTS: i64 = 10_000;
/// Days of usage that are remembered.
pub(crate) const USAGE_DAYS: i64 = 400;

/// What keys begin with, so that people and scanners know one when they see it.
const PREFIX: &str = "foldline-";

/// A new client key: 256 random bits. Whoever gets it keeps it; the store takes its digest.
pub fn new_client_key() -> io::Result<Zeroizing<String>> {
    let mut bytes = Zeroizing::new([0; 32]);
    random(&mut *bytes)?;
    Ok(Zeroizing::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(*bytes))))
}

/// What a client key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyScope {
    /// Requests that are forwarded to a provider.
    Generate,
    /// Reading what the key has in the store: originals, searches, sessions, the dashboard.
    Recall,
    /// Figures of all clients.
    Operator,
}

impl KeyScope {
    /// Every scope.
    pub const ALL: [KeyScope; 3] = [KeyScope::Generate, KeyScope::Recall, KeyScope::Operator];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            KeyScope::Generate => "generate",
            KeyScope::Recall => "recall",
            KeyScope::Operator => "operator",
        }
    }

    /// The scope of a name.
    pub fn parse(name: &str) -> Option<KeyScope> {
        KeyScope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// What a client key is good for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyTerms {
    /// What it may be used for.
    pub scopes: BTreeSet<KeyScope>,
    /// Providers, and the environment variables of the gateway that hold the keys sent to them in its place.
    pub upstream: Vec<(String, String)>,
    /// When it ends.
    pub expires_at: Option<i64>,
    /// Tokens per day, in and out together.
    pub tokens_per_day: Option<u64>,
    /// Dollars per day.
    pub dollars_per_day: Option<f64>,
}

impl KeyTerms {
    /// The scopes as one text.
    pub fn scope_names(&self) -> String {
        let names: Vec<&str> = self.scopes.iter().map(|scope| scope.name()).collect();
        names.join(" ")
    }

    pub(crate) fn upstream_text(&self) -> String {
        let pairs: Vec<String> = self.upstream.iter().map(|(name, variable)| format!("{name}={variable}")).collect();
        pairs.join(" ")
    }

    /// Scopes and variables as they are written. Scopes of later releases are none that this one could grant.
    pub(crate) fn read_texts(scopes: &str, upstream: &str) -> (BTreeSet<KeyScope>, Vec<(String, String)>) {
        let pairs = upstream.split(' ').filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, variable)| (name.to_owned(), variable.to_owned()));
        (scopes.split(' ').filter_map(KeyScope::parse).collect(), pairs.collect())
    }
}

/// A client key as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientKey {
    /// The digest of the key.
    pub digest: Key,
    /// What people call it.
    pub name: String,
    /// What it is good for.
    pub terms: KeyTerms,
    /// When it was added.
    pub created_at: i64,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
    /// When it was last used, exact to some seconds.
    pub used_at: Option<i64>,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyUsage {
    /// Requests that were forwarded.
    pub requests: u64,
    /// Tokens of prompts, from caches or not.
    pub tokens_in: u64,
    /// Tokens of replies.
    pub tokens_out: u64,
    /// Dollars, where prices are known.
    pub dollars: f64,
}

impl KeyUsage {
    /// Tokens in both directions.
    pub fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// Adds more of it.
    pub fn add(&mut self, more: &KeyUsage) {
        self.requests = self.requests.saturating_add(more.requests);
        self.tokens_in = self.tokens_in.saturating_add(more.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(more.tokens_out);
        self.dollars += more.dollars;
    }
}

/// What a key used in a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyDay {
    /// The digest of the key.
    pub digest: Key,
    /// The day, counted from 1970 in UTC.
    pub day: i64,
    /// What was used.
    pub usage: KeyUsage,
}

impl KeyDay {
    /// The day of a moment.
    pub fn of(now_ms: i64) -> i64 {
        now_ms.div_euclid(86_400_000)
    }
}

/// Something that happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyEventKind {
    /// It was added.
    Added,
    /// It was revoked.
    Revoked,
    /// A request was refused because the key was revoked.
    RefusedRevoked,
    /// A request was refused because the key had expired.
    RefusedExpired,
    /// A request was refused because the key has another scope.
    RefusedScope,
    /// A request was refused because the budget of the day was used up.
    RefusedBudget,
}

impl KeyEventKind {
    const ALL: [KeyEventKind; 6] = [
        KeyEventKind::Added,
        KeyEventKind::Revoked,
        KeyEventKind::RefusedRevoked,
        KeyEventKind::RefusedExpired,
        KeyEventKind::RefusedScope,
        KeyEventKind::RefusedBudget,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            KeyEventKind::Added => "added",
            KeyEventKind::Revoked => "revoked",
            KeyEventKind::RefusedRevoked => "refused: revoked",
            KeyEventKind::RefusedExpired => "refused: expired",
            KeyEventKind::RefusedScope => "refused: scope",
            KeyEventKind::RefusedBudget => "refused: budget",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<KeyEventKind> {
        KeyEventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEvent {
    /// When it happened.
    pub at: i64,
    /// The name of the key.
    pub name: String,
    /// What happened.
    pub kind: KeyEventKind,
}

/// Why a key was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefused {
    /// Not a name.
    #[error("invalid name; expected 1 to 64 letters, digits, dots, dashes and underscores")]
    Name,
    /// No scope.
    #[error("a key needs at least one scope: generate, recall or operator")]
    NoScope,
    /// Another key has the name.
    #[error("a key with this name exists; revoke it first, or choose another name")]
    Taken,
    /// There are too many.
    #[error("there are {MOST_KEYS} keys already; revoke some that are not used")]
    TooMany,
}

/// What became of an attempt to add a key.
pub(crate) enum Added {
    Done,
    Taken,
    TooMany,
}

/// What a database does for client keys. As with [`crate::backend::Backend`], what returned is durable and seen by all.
pub(crate) trait KeyBackend {
    /// Adds a key and the event of it.
    fn add_key(&self, now: i64, key: &ClientKey) -> Result<Added, Fault>;
    /// Revokes a key and adds the event of it; false when there is none of that name.
    fn revoke_key(&self, now: i64, name: &str) -> Result<bool, Fault>;
    /// All keys, revoked ones too, the newest first.
    fn client_keys(&self) -> Result<Vec<ClientKey>, Fault>;
    /// What keys used since a day.
    fn key_usage(&self, since_day: i64) -> Result<Vec<KeyDay>, Fault>;
    /// Adds usage and events, all or none.
    fn book_keys(&self, now: i64, usage: &[KeyDay], events: &[KeyEvent]) -> Result<(), Fault>;
    /// The latest events, newest first.
    fn key_events(&self, most: usize) -> Result<Vec<KeyEvent>, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_as_they_are_written() {
        let terms = KeyTerms {
            scopes: [KeyScope::Operator, KeyScope::Generate].into(),
            upstream: vec![("openai".to_owned(), "A".to_owned()), ("google".to_owned(), "B_1".to_owned())],
            ..KeyTerms::default()
        };
        let read = KeyTerms::read_texts(&terms.scope_names(), &terms.upstream_text());
        assert_eq!(read, (terms.scopes, terms.upstream));
        assert_eq!(KeyTerms::read_texts("recall later", "").0, [KeyScope::Recall].into());
    }

    #[test]
    fn a_day_ends_at_midnight() {
        assert_eq!((KeyDay::of(86_399_999), KeyDay::of(86_400_000)), (0, 1));
    }

    #[test]
    fn every_event_has_a_name_of_its_own() {
        for kind in KeyEventKind::ALL {
            assert_eq!(KeyEventKind::parse(kind.name()), Some(kind));
        }
    }
}
