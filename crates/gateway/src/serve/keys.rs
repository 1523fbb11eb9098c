//! Client keys, and the provider keys they are mapped to.
//!
//! A key file has one line per client: its key, and where wanted the keys that are sent upstream in its place:
//!
//! ```text
//! # laptop of the build team; its own key passes through
//! sk-team-…
//! # agents that never see a provider's key; a value that begins with $ is read from the environment
//! agent-7   openai=$OPENAI_API_KEY  anthropic=$ANTHROPIC_API_KEY  google=$GEMINI_API_KEY
//! # may see the figures of all clients together
//! ops-1     operator
//! ```
//!
//! Beside these there are the keys of the store, which `foldline keys` adds: see `stored_keys`. They have a name, scopes, an
//! end and budgets, and never leave the gateway.
//!
//! What goes out under a key that is mapped may be shared by several clients, so that less of it passes: see `mapped_keys`.
//!
//! Client keys are compared by digest: the time that takes says nothing about them, and they are not kept as text.

use super::answer::Refusal;
use super::credentials::{self, API_KEY, GOOGLE_KEY};
use super::gateway::now;
use super::headers;
use super::route::Provider;
use super::stored_keys::StoredKeys;
use super::upstream_keys::{MappingError, UpstreamKeys};
use crate::conversation::CredentialId;
use foldline_store::KeyScope;
use http::header::{self, HeaderMap, HeaderValue};
use std::collections::HashMap;
use std::sync::Arc;

/// The keys that are known: those of the file, and those of the store.
#[derive(Default)]
pub struct Keys {
    clients: HashMap<CredentialId, Client>,
    admission: Admission,
    stored: Arc<StoredKeys>,
}

/// Who comes in where no file names keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// Everybody.
    #[default]
    Everybody,
    /// Those with a key of the store.
    KeysOnly,
}

/// A client of the file.
#[derive(Default)]
struct Client {
    upstream: Arc<UpstreamKeys>,
    sees: Sees,
}

/// Whose figures a client may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sees {
    #[default]
    ItsOwn,
    Everybodys,
}

/// The word for a client that may see the figures of all.
const OPERATOR: &str = "operator";

/// A line of the key file that cannot be read. Says where, never what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct KeyError {
    line: usize,
    reason: String,
}

impl Keys {
    /// Reads a key file. `variable` looks up the environment.
    pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Keys, KeyError> {
        let mut clients = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let fail = |reason: String| KeyError { line: index + 1, reason };
            let mut words = line.split_whitespace();
            let Some(client) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let (mut upstream, mut sees) = (UpstreamKeys::default(), Sees::default());
            for word in words {
                if word == OPERATOR {
                    sees = Sees::Everybodys;
                    continue;
                }
                let (name, value) = word
                    .split_once('=')
                    .ok_or_else(|| fail("expected openai=KEY, anthropic=KEY, google=KEY or operator".to_owned()))?;
                let value = match value.strip_prefix('$') {
                    Some(name) => {
                        variable(name).ok_or_else(|| fail(format!("environment variable {name} is not set")))?
                    }
                    None => value.to_owned(),
                };
                upstream.map(name, &value).map_err(|error| {
                    fail(match error {
                        MappingError::UnknownProvider => {
                            format!("unknown provider `{name}`; expected openai, anthropic or google")
                        }
                        MappingError::NotAHeader => "a key contains characters that are invalid in a header".to_owned(),
                    })
                })?;
            }
            clients.insert(CredentialId::of_key(client), Client { upstream: Arc::new(upstream), sees });
        }
        Ok(Keys { clients, ..Keys::default() })
    }

    /// The same, with this about those who show no key.
    pub fn admitting(self, admission: Admission) -> Keys {
        Keys { admission, ..self }
    }

    /// Adds the keys of the store.
    pub fn attach(&mut self, stored: Arc<StoredKeys>) {
        self.stored = stored;
    }

    /// Whether somebody may see the figures of all clients. Where everybody comes in, all are on this machine.
    pub fn is_operator(&self, credential: CredentialId) -> bool {
        let by_file = || self.clients.get(&credential).is_some_and(|client| client.sees == Sees::Everybodys);
        let stored = self.stored.grants(credential, KeyScope::Operator, now().0);
        stored.unwrap_or_else(|| self.is_open() || by_file())
    }

    /// True when everybody may come in.
    pub fn is_open(&self) -> bool {
        self.clients.is_empty() && self.admission == Admission::Everybody
    }

    /// Whether somebody who was let in once would be again.
    pub fn knows(&self, credential: CredentialId) -> bool {
        let stored = self.stored.is_valid(credential, now().0);
        stored.unwrap_or_else(|| self.is_open() || self.clients.contains_key(&credential))
    }

    /// Who asks. `None` when nobody known does and only known ones may.
    pub fn admit(&self, headers: &HeaderMap) -> Option<CredentialId> {
        let is_known = |id: &CredentialId| self.clients.contains_key(id) || self.stored.has(*id);
        let known = presented(headers).find(is_known);
        let anybody = || presented(headers).next().unwrap_or(CredentialId::of_key(""));
        known.or_else(|| self.is_open().then(anybody))
    }

    /// Who asks for something that one of these scopes allows. Keys of the file may do everything but what an operator
    /// may.
    pub fn authorise(&self, headers: &HeaderMap, scopes: &[KeyScope]) -> Result<CredentialId, Refusal> {
        let credential = self.admit(headers).ok_or_else(|| match presented(headers).next() {
            Some(_) if self.clients.is_empty() && !self.stored.was_read() => Refusal::KeysUnread,
            _ => Refusal::UnknownKey,
        })?;
        self.check(credential, scopes)?;
        Ok(credential)
    }

    /// Refuses a key of the store that none of these scopes allow, that is over, or whose budget is used up.
    pub fn check(&self, credential: CredentialId, scopes: &[KeyScope]) -> Result<(), Refusal> {
        self.stored.check(credential, scopes, now().0)
    }

    /// Makes the headers carry the key that goes to `provider`: the one that the file gives in place of the client's, or
    /// the client's own. Keys that stand for others here never leave.
    pub fn exchange(
        &self,
        credential: CredentialId,
        provider: Provider,
        headers: &mut HeaderMap,
    ) -> Result<(), Refusal> {
        if !self.is_open() || !self.stored.is_empty() {
            credentials::strike(headers, |key| self.stands_for_others(CredentialId::of_bytes(key)));
        }
        let Some(upstream) = self.upstream(credential).filter(|upstream| upstream.is_mapped()) else {
            return Ok(());
        };
        let Some(key) = upstream.key(provider) else {
            // A client may bring a key of its own for what the file says nothing about.
            return match credentials::CARRIERS.iter().any(|name| headers.contains_key(name)) {
                true => Ok(()),
                false => Err(Refusal::NoMappedKey { vendor: provider.name() }),
            };
        };
        for name in &credentials::CARRIERS {
            headers.remove(name);
        }
        match provider {
            Provider::OpenAi => {
                let bearer = [b"Bearer ".as_slice(), key.as_bytes()].concat();
                if let Ok(mut value) = HeaderValue::from_bytes(&bearer) {
                    value.set_sensitive(true);
                    headers.insert(header::AUTHORIZATION, value);
                }
            }
            Provider::Anthropic => drop(headers.insert(API_KEY, key.clone())),
            Provider::Google => drop(headers.insert(GOOGLE_KEY, key.clone())),
        }
        Ok(())
    }

    /// Whether requests of a client go to `provider` under a key that is not the client's.
    pub fn is_mapped(&self, credential: CredentialId, provider: Provider) -> bool {
        self.upstream(credential).is_some_and(|upstream| upstream.key(provider).is_some())
    }

    fn upstream(&self, credential: CredentialId) -> Option<Arc<UpstreamKeys>> {
        self.stored.upstream(credential).or_else(|| self.clients.get(&credential).map(|client| client.upstream.clone()))
    }

    /// Keys of the store are known to no provider.
    fn stands_for_others(&self, credential: CredentialId) -> bool {
        let by_file = || self.clients.get(&credential).is_some_and(|client| client.upstream.is_mapped());
        self.stored.has(credential) || by_file()
    }
}

/// The keys that a request shows, the one for the gateway first.
fn presented(headers: &HeaderMap) -> impl Iterator<Item = CredentialId> + '_ {
    let named = [headers::KEY, GOOGLE_KEY, API_KEY, header::AUTHORIZATION];
    named.into_iter().filter_map(|name| credentials::key_in(headers, &name)).map(CredentialId::of_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::HeaderName;

    fn with(name: &str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse::<HeaderName>().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn without_a_file_everybody_comes_in_under_their_own_name() {
        let keys = Keys::default();
        let one = keys.admit(&with("authorization", "Bearer a")).unwrap();
        assert_eq!(one, keys.admit(&with("x-api-key", "a")).unwrap());
        assert_ne!(one, keys.admit(&with("x-api-key", "b")).unwrap());
        assert!(keys.admit(&HeaderMap::new()).is_some());
    }

    #[test]
    fn with_a_file_only_known_keys_come_in() {
        let keys = Keys::parse("# us\n\none\ntwo openai=up-1\n", &|_| None).unwrap();
        assert!(keys.admit(&with("authorization", "Bearer one")).is_some());
        assert!(keys.admit(&with("x-foldline-key", "two")).is_some());
        assert!(keys.admit(&with("authorization", "Bearer three")).is_none());
        assert!(keys.admit(&HeaderMap::new()).is_none());
    }

    #[test]
    fn the_key_that_goes_out_is_the_one_of_the_file() {
        let keys = Keys::parse("two openai=up-1 anthropic=$VAR", &|name| Some(format!("of-{name}"))).unwrap();
        let mut headers = with("x-api-key", "two");
        let credential = keys.admit(&headers).unwrap();
        keys.exchange(credential, Provider::Anthropic, &mut headers).unwrap();
        assert_eq!(headers["x-api-key"], "of-VAR");
        keys.exchange(credential, Provider::OpenAi, &mut headers).unwrap();
        assert_eq!((headers.get("x-api-key"), headers["authorization"].as_bytes()), (None, b"Bearer up-1".as_slice()));
    }

    #[test]
    fn a_key_that_stands_for_others_never_leaves() {
        let keys = Keys::parse("two openai=up-1\nfour anthropic=up-2\nfive", &|_| None).unwrap();
        let mut headers = with("x-api-key", "two");
        let two = keys.admit(&headers).unwrap();
        let refused = keys.exchange(two, Provider::Anthropic, &mut headers).unwrap_err();
        assert_eq!((refused.name(), headers.len()), ("no_mapped_key", 0));
        // One's own key for what the file says nothing about, beside the one for the gateway.
        let mut headers = with("x-api-key", "own");
        headers.insert("authorization", "Bearer two".parse().unwrap());
        headers.insert("api-key", "four".parse().unwrap());
        headers.insert("cookie", "theme=dark; key=four".parse().unwrap());
        keys.exchange(two, Provider::Anthropic, &mut headers).unwrap();
        assert_eq!((headers.len(), headers["x-api-key"].as_bytes()), (1, b"own".as_slice()));
    }

    #[test]
    fn a_key_of_any_bytes_is_a_key() {
        let keys = Keys::default();
        let odd = |byte: u8| {
            let value = HeaderValue::from_bytes(&[b'k', byte]).unwrap();
            HeaderMap::from_iter([(HeaderName::from_static("x-api-key"), value)])
        };
        let (one, two) = (keys.admit(&odd(0xe9)).unwrap(), keys.admit(&odd(0xea)).unwrap());
        assert!(one != two && one != keys.admit(&HeaderMap::new()).unwrap());
    }

    #[test]
    fn an_operator_is_named_so() {
        let keys = Keys::parse("one\ntwo operator\nthree openai=k operator", &|_| None).unwrap();
        let is_operator = |key: &str| keys.is_operator(CredentialId::of_key(key));
        assert!(is_operator("two") && is_operator("three") && !is_operator("one") && !is_operator("nobody"));
        assert!(Keys::default().is_operator(CredentialId::of_key("anybody")));
    }

    #[test]
    fn a_bad_line_is_named_by_number_and_never_by_content() {
        for (text, word) in [
            ("k\nk2 secretword", "openai=KEY"),
            ("k\nk2 x=secretword", "unknown provider"),
            ("k\nk2 openai=$A", "not set"),
        ] {
            let error = Keys::parse(text, &|_| None).err().unwrap().to_string();
            assert!(error.starts_with("line 2") && error.contains(word) && !error.contains("secretword"), "{error}");
        }
    }
}
