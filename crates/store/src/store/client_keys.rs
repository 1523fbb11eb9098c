//! The calls about client keys.

use super::Store;
use crate::client_keys::{Added, ClientKey, KeyDay, KeyEvent, KeyRefused, KeyTerms};
use crate::conversation::Key;
use crate::error::StoreError;

/// Longest name.
const LONGEST_NAME: usize = 64;

impl Store {
    /// Adds a client key by its digest.
    pub fn add_client_key(
        &self,
        now_ms: i64,
        digest: Key,
        name: &str,
        terms: KeyTerms,
    ) -> Result<Result<(), KeyRefused>, StoreError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
            return Ok(Err(KeyRefused::Name));
        }
        if terms.scopes.is_empty() {
            return Ok(Err(KeyRefused::NoScope));
        }
        let name = name.to_owned();
        let key = ClientKey { digest, name, terms, created_at: now_ms, revoked_at: None, used_at: None };
        Ok(match self.told(self.backend.add_key(now_ms, &key))? {
            Added::Done => Ok(()),
            Added::Taken => Err(KeyRefused::Taken),
            Added::TooMany => Err(KeyRefused::TooMany),
        })
    }

    /// Revokes a client key; false when there is none of that name.
    pub fn revoke_client_key(&self, now_ms: i64, name: &str) -> Result<bool, StoreError> {
        self.told(self.backend.revoke_key(now_ms, name))
    }

    /// All client keys, the newest first, revoked ones too.
    pub fn client_keys(&self) -> Result<Vec<ClientKey>, StoreError> {
        self.told(self.backend.client_keys())
    }

    /// What client keys used since a day.
    pub fn key_usage(&self, since_day: i64) -> Result<Vec<KeyDay>, StoreError> {
        self.told(self.backend.key_usage(since_day))
    }

    /// Adds to what client keys used, and to their events, all or none.
    pub fn book_keys(&self, now_ms: i64, usage: &[KeyDay], events: &[KeyEvent]) -> Result<(), StoreError> {
        self.told(self.backend.book_keys(now_ms, usage, events))
    }

    /// The latest events of client keys, newest first.
    pub fn key_events(&self, most: usize) -> Result<Vec<KeyEvent>, StoreError> {
        self.told(self.backend.key_events(most))
    }
}
