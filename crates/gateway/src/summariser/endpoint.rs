//! An endpoint: URL, dialect, model, key.

use super::key::Key;
use foldline_core::policy::Dialect;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Scheme, Uri};
use secrecy::ExposeSecret;
use std::borrow::Cow;

/// A model behind an address.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where requests go, path included.
    pub url: Uri,
    /// How it is spoken to; never `auto`.
    pub dialect: Dialect,
    /// The model's name.
    pub model: String,
    /// The key, if it needs one.
    pub key: Option<Key>,
    /// Further headers, such as those with which a client came.
    pub headers: HeaderMap,
}

/// An address that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("summarizer.url: {0}")]
pub struct AddressError(String);

/// What the paths of the dialects end with. Gemini has the model before it.
const PATHS: [(Dialect, &str); 5] = [
    (Dialect::OpenAiChat, "/chat/completions"),
    (Dialect::OpenAiResponses, "/responses"),
    (Dialect::Anthropic, "/messages"),
    (Dialect::Gemini, ":streamGenerateContent"),
    (Dialect::Gemini, ":generateContent"),
];

/// The headers that carry keys.
const KEYS: [HeaderName; 3] =
    [AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

/// No vendor's keys are shorter.
const SHORTEST_KEY: usize = 8;

impl Endpoint {
    /// The endpoint at a base address, as vendors state it, or at the full address of a route.
    pub fn at(base: &str, dialect: Dialect, model: &str, key: Option<Key>) -> Result<Endpoint, AddressError> {
        let uri: Uri =
            base.parse().map_err(|_| AddressError("invalid URL; expected for example https://host/v1".to_owned()))?;
        if !matches!(uri.scheme(), Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS) {
            return Err(AddressError("expected a URL that starts with http:// or https://".to_owned()));
        }
        let host = uri.host().unwrap_or_default();
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let words = format!("the URL of {host} contains a password; use summarizer.key_env or summarizer.key_file");
            return Err(AddressError(words));
        }
        let path = uri.path().trim_end_matches('/');
        let stated = PATHS.iter().find(|(_, end)| path.ends_with(end)).map(|(dialect, _)| *dialect);
        let dialect = match dialect {
            Dialect::Auto => stated.unwrap_or_else(|| told_by(host, path)),
            chosen => chosen,
        };
        let path = match stated {
            Some(_) => path.to_owned(),
            None if dialect == Dialect::Gemini => {
                format!("{}/models/{model}{}", with_version(path, dialect), end_of(dialect))
            }
            None => format!("{}{}", with_version(path, dialect), end_of(dialect)),
        };
        // Without being asked for events, Gemini streams a list.
        let events = path.ends_with(":streamGenerateContent").then_some("alt=sse");
        let stated = uri.query().filter(|query| !query.is_empty());
        let query: Vec<&str> = stated.into_iter().chain(events.filter(|events| stated != Some(events))).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let mut parts = uri.into_parts();
        parts.path_and_query = format!("{path}{query}").parse().ok();
        let url = Uri::from_parts(parts).map_err(|error| AddressError(error.to_string()))?;
        Ok(Endpoint { url, dialect, model: model.to_owned(), key, headers: HeaderMap::new() })
    }

    /// The same endpoint with another model.
    pub(super) fn with_model(mut self, model: &str) -> Endpoint {
        let path = self.url.path_and_query().map_or("", |path| path.as_str());
        if self.dialect == Dialect::Gemini
            && let Some((base, rest)) = path.split_once("/models/")
            && let Some((_, end)) = rest.split_once(':')
        {
            let path = format!("{base}/models/{model}:{end}").parse().ok();
            let mut parts = self.url.clone().into_parts();
            parts.path_and_query = path;
            self.url = Uri::from_parts(parts).unwrap_or(self.url);
        }
        model.clone_into(&mut self.model);
        self
    }

    /// The host, for people.
    pub fn host(&self) -> &str {
        self.url.host().unwrap_or_default()
    }

    /// Whether a request that goes to `target` with these headers goes to this endpoint, in the same name.
    pub(crate) fn is_at(&self, target: &Uri, headers: &HeaderMap) -> bool {
        let same_place = (target.scheme(), target.authority(), target.path())
            == (self.url.scheme(), self.url.authority(), self.url.path());
        let ours = self.credentials();
        same_place && KEYS.iter().all(|name| headers.get(name) == ours.get(name))
    }

    /// A text of the server without our key, which some servers repeat. A key that is shorter than any real one is left
    /// alone: it is a placeholder for servers that need none, and its letters stand in every text.
    pub(super) fn without_key<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.key.as_ref().map(ExposeSecret::expose_secret) {
            Some(key) if key.len() >= SHORTEST_KEY && text.contains(key) => Cow::Owned(text.replace(key, "***")),
            _ => Cow::Borrowed(text),
        }
    }

    /// Where its list of models is.
    pub(super) fn models(&self) -> Uri {
        let path = self.url.path();
        let base = match self.dialect {
            Dialect::Gemini => path.split("/models/").next().unwrap_or(path),
            _ => PATHS.iter().find_map(|(_, end)| path.strip_suffix(end)).unwrap_or(path),
        };
        let mut parts = self.url.clone().into_parts();
        let query = self.url.query().filter(|query| *query != "alt=sse");
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        parts.path_and_query = format!("{base}/models{query}").parse().ok();
        Uri::from_parts(parts).unwrap_or_else(|_| self.url.clone())
    }

    /// The headers that prove who asks.
    pub(super) fn credentials(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        if self.dialect == Dialect::Anthropic && !headers.contains_key("anthropic-version") {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.key {
            let (name, value) = match self.dialect {
                Dialect::Anthropic => (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned()),
                Dialect::Gemini => (HeaderName::from_static("x-goog-api-key"), key.expose_secret().to_owned()),
                _ => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
            };
            if let Ok(mut value) = HeaderValue::try_from(value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers
    }
}

fn end_of(dialect: Dialect) -> &'static str {
    PATHS.iter().find(|(of, _)| *of == dialect).map_or("/chat/completions", |(_, end)| end)
}

/// Addresses of the Anthropic API say so, Google has one; everybody else speaks Chat Completions.
fn told_by(host: &str, path: &str) -> Dialect {
    if host.ends_with("anthropic.com") || path.ends_with("/anthropic") || path.ends_with("/anthropic/v1") {
        Dialect::Anthropic
    } else if host == "generativelanguage.googleapis.com" && !path.contains("/openai") {
        Dialect::Gemini
    } else {
        Dialect::OpenAiChat
    }
}

/// A bare address gets the version that its vendor uses.
fn with_version(path: &str, dialect: Dialect) -> String {
    let has_version = path
        .rsplit('/')
        .next()
        .is_some_and(|last| last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
    match has_version || (!path.is_empty() && dialect != Dialect::Anthropic) {
        true => path.to_owned(),
        false if dialect == Dialect::Gemini => format!("{path}/v1beta"),
        false => format!("{path}/v1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(base: &str) -> (String, Dialect) {
        let endpoint = Endpoint::at(base, Dialect::Auto, "m", None).unwrap();
        (endpoint.url.to_string(), endpoint.dialect)
    }

    #[test]
    fn addresses_are_completed_as_vendors_state_them() {
        for (base, url, dialect) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions", Dialect::OpenAiChat),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions", Dialect::OpenAiChat),
            ("https://api.openai.com/v1/responses", "https://api.openai.com/v1/responses", Dialect::OpenAiResponses),
            ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages", Dialect::Anthropic),
            ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages", Dialect::Anthropic),
            ("https://proxy.example/anthropic", "https://proxy.example/anthropic/v1/messages", Dialect::Anthropic),
            (
                "https://generativelanguage.googleapis.com",
                "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
                Dialect::Gemini,
            ),
            (
                "https://h.example/v1beta/models/x:generateContent",
                "https://h.example/v1beta/models/x:generateContent",
                Dialect::Gemini,
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
                Dialect::OpenAiChat,
            ),
            (
                "https://x.example/openai/deployments/d?api-version=2",
                "https://x.example/openai/deployments/d/chat/completions?api-version=2",
                Dialect::OpenAiChat,
            ),
        ] {
            assert_eq!(at(base), (url.to_owned(), dialect));
        }
    }

    #[test]
    fn another_model_of_gemini_has_another_address() {
        let endpoint = Endpoint::at("http://h", Dialect::Gemini, "one", None).unwrap().with_model("two");
        assert_eq!(endpoint.url, "http://h/v1beta/models/two:streamGenerateContent?alt=sse");
        assert_eq!(endpoint.model, "two");
    }

    #[test]
    fn a_list_of_models_is_beside_every_route() {
        for (base, models) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/models"),
            ("https://api.anthropic.com", "https://api.anthropic.com/v1/models"),
            ("https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta/models"),
        ] {
            assert_eq!(Endpoint::at(base, Dialect::Auto, "m", None).unwrap().models().to_string(), models);
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused_without_repeating_a_password() {
        for base in ["", "nonsense", "ftp://host/x", "host:80"] {
            assert!(Endpoint::at(base, Dialect::Auto, "m", None).is_err(), "{base}");
        }
        let error = Endpoint::at("https://me:hunter22@host/v1", Dialect::Auto, "m", None).unwrap_err().to_string();
        assert!(error.contains("host") && !error.contains("hunter22"), "{error}");
    }

    #[test]
    fn a_request_is_at_home_only_with_the_same_address_and_the_same_key() {
        let url = "http://h:1/v1/chat/completions";
        let endpoint = Endpoint::at("http://h:1/v1", Dialect::Auto, "m", Some("k".to_owned().into())).unwrap();
        let with = |bearer: &str| {
            let value = HeaderValue::try_from(format!("Bearer {bearer}")).unwrap();
            HeaderMap::from_iter([(AUTHORIZATION, value)])
        };
        let at = |url: &str, headers: &HeaderMap| endpoint.is_at(&url.parse().unwrap(), headers);
        assert!(at(url, &with("k")) && at(&format!("{url}?beta=true"), &with("k")));
        assert!(!at(url, &with("other")) && !at(url, &HeaderMap::new()));
        assert!(!at("http://h:2/v1/chat/completions", &with("k")) && !at("http://h:1/v1/responses", &with("k")));
    }

    #[test]
    fn a_placeholder_for_a_key_masks_nothing() {
        let endpoint =
            |key: &str| Endpoint::at("http://x", Dialect::Auto, "m", Some(Key::from(key.to_owned()))).unwrap();
        assert_eq!(endpoint("x").without_key("fix the next index"), "fix the next index");
        let key = "k".repeat(SHORTEST_KEY);
        assert_eq!(endpoint(&key).without_key(&format!("bad key {key}")), "bad key ***");
    }

    #[test]
    fn keys_do_not_show_in_debug_output() {
        let key = format!("{}{}", "very-", "secret");
        let endpoint = Endpoint::at("http://h/v1", Dialect::Auto, "m", Some(key.clone().into())).unwrap();
        assert!(!format!("{endpoint:?} {:?}", endpoint.credentials()).contains(&key));
    }
}
