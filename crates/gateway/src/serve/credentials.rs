//! Which provider a key belongs to and which provider a request is for. A key is sent only to its own provider; an
//! ambiguous key is not sent.

use super::answer::Refusal;
use super::query::decoded;
use super::route::{Provider, is_googles};
use super::upstream::Base;
use http::Uri;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::PathAndQuery;

/// Where Anthropic's clients put their key.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Where Google's clients put theirs.
pub const GOOGLE_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The headers that carry keys.
pub static CARRIERS: [HeaderName; 3] = [header::AUTHORIZATION, API_KEY, GOOGLE_KEY];

/// The parameter of an address in which Google takes a key, too.
const PARAMETER: &str = "key";

/// First words of paths under which only OpenAI has something, or those who copy it.
const OPENAI: &[&str] = &[
    "assistants",
    "audio",
    "batches",
    "chat",
    "chatkit",
    "completions",
    "containers",
    "conversations",
    "edits",
    "embeddings",
    "engines",
    "evals",
    "fine-tunes",
    "fine_tuning",
    "images",
    "moderations",
    "organization",
    "realtime",
    "responses",
    "threads",
    "uploads",
    "vector_stores",
    "videos",
];

/// The same for Anthropic.
const ANTHROPIC: &[&str] = &["complete", "messages", "organizations"];

/// Paths of Anthropic's own clients.
const ANTHROPIC_UNDER: &[&str] = &["/api/hello", "/api/claude", "/api/oauth", "/api/event_logging"];

/// For whom a request is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// For this vendor.
    One(Provider),
    /// It speaks of both, and carries a key that one of them must not see.
    Doubt,
}

/// For whom a request for `operation` is meant: its path says, or else its headers and the look of its keys.
pub fn destination(operation: &str, headers: &HeaderMap) -> Destination {
    if let Some(vendor) = of_path(operation) {
        return Destination::One(vendor);
    }
    let named = headers.keys().filter_map(of_header);
    let shaped = CARRIERS.iter().filter_map(|name| of_key(key_in(headers, name)?));
    let spoken_of: Vec<Provider> = named.chain(shaped).collect();
    let mut vendors = Provider::ALL.into_iter().filter(|vendor| spoken_of.contains(vendor));
    let carried: Vec<&HeaderName> = CARRIERS.iter().filter(|name| headers.contains_key(*name)).collect();
    match (vendors.next(), vendors.next(), carried.as_slice()) {
        (Some(vendor), None, _) => Destination::One(vendor),
        (Some(_), Some(_), [_, ..]) => Destination::Doubt,
        // Keys that look like nobody's: by the header that they stand in.
        (None, _, [_, _, ..]) => Destination::Doubt,
        (None, _, [only]) if **only == API_KEY => Destination::One(Provider::Anthropic),
        _ => Destination::One(Provider::OpenAi),
    }
}

fn of_path(operation: &str) -> Option<Provider> {
    if ANTHROPIC_UNDER.iter().any(|path| operation.starts_with(path)) {
        return Some(Provider::Anthropic);
    }
    let first = operation.trim_start_matches('/').split('/').next().unwrap_or_default();
    if OPENAI.contains(&first) {
        Some(Provider::OpenAi)
    } else {
        ANTHROPIC.contains(&first).then_some(Provider::Anthropic)
    }
}

fn of_header(name: &HeaderName) -> Option<Provider> {
    let name = name.as_str();
    if name.starts_with("anthropic-") || name.starts_with("x-claude-") {
        Some(Provider::Anthropic)
    } else if name.starts_with("x-goog-") {
        Some(Provider::Google)
    } else {
        (name.starts_with("openai-") || name.starts_with("chatgpt-")).then_some(Provider::OpenAi)
    }
}

/// Whose key this is by its look, quotes apart; many look like nobody's.
fn of_key(key: &[u8]) -> Option<Provider> {
    let quotes = key.iter().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    let key = key.get(quotes..).unwrap_or_default();
    let begins = |starts: &[&str]| starts.iter().any(|start| key.starts_with(start.as_bytes()));
    if begins(&["sk-ant-"]) {
        Some(Provider::Anthropic)
    } else if begins(&["AIza", "AQ.", "ya29."]) {
        Some(Provider::Google)
    } else {
        // The letters stand in the middle of all keys that OpenAI has given out: its name in base64.
        let is_openai = begins(&["sk-proj-", "sk-svcacct-", "sk-admin-"])
            || (begins(&["sk-"]) && memchr::memmem::find(key, b"T3BlbkFJ").is_some());
        is_openai.then_some(Provider::OpenAi)
    }
}

/// The key in a header, without the word before it. Any bytes are a key.
pub fn key_in<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let value = headers.get(name)?.as_bytes().trim_ascii();
    let key = match value.iter().position(|byte| *byte == b' ') {
        Some(at) if *name == header::AUTHORIZATION => value.get(at..).unwrap_or_default().trim_ascii(),
        _ => value,
    };
    (!key.is_empty()).then_some(key)
}

/// Puts a key of Google's in the address of a request into the header for it: addresses end up in logs, and what is said
/// about keys is said about headers.
pub fn lift_key(parts: &mut Parts) -> Result<(), Refusal> {
    let Some(query) = parts.uri.query() else { return Ok(()) };
    let is_googles = is_googles(parts.uri.path());
    let mut kept: Vec<&str> = Vec::new();
    let mut lifted: Option<HeaderValue> = None;
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = (name == PARAMETER).then(|| decoded(value)).flatten();
        let Some(key) = key.filter(|key| is_googles || of_key(key.as_bytes()) == Some(Provider::Google)) else {
            kept.push(pair);
            continue;
        };
        let mut key = HeaderValue::from_str(key.trim()).map_err(|_| Refusal::InvalidPath)?;
        key.set_sensitive(true);
        let known = lifted.as_ref().or(parts.headers.get(GOOGLE_KEY));
        if known.is_some_and(|known| *known != key) {
            return Err(Refusal::SeveralKeys);
        }
        lifted = Some(key);
    }
    let Some(key) = lifted else { return Ok(()) };
    let path = match kept.is_empty() {
        true => parts.uri.path().to_owned(),
        false => format!("{}?{}", parts.uri.path(), kept.join("&")),
    };
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    uri.path_and_query = Some(PathAndQuery::try_from(path).map_err(|_| Refusal::InvalidPath)?);
    parts.uri = Uri::from_parts(uri).map_err(|_| Refusal::InvalidPath)?;
    parts.headers.insert(GOOGLE_KEY, key);
    Ok(())
}

/// Takes out the keys that must not go to `provider`. Refuses when that leaves none of several, or the only one is
/// another vendor's. `base` says where each provider is.
pub fn screen<'b>(
    headers: &mut HeaderMap,
    provider: Provider,
    base: impl Fn(Provider) -> &'b Base,
) -> Result<(), Refusal> {
    if CARRIERS.iter().any(|name| headers.get_all(name).iter().nth(1).is_some()) {
        return Err(Refusal::SeveralKeys);
    }
    let ours = base(provider);
    // Whoever sends both vendors' requests to one place means that place to have the keys.
    let may_have = |vendor: Provider| vendor == provider || ours.vendor() == Some(vendor) || ours.is_at(base(vendor));
    let may_go = |name: &HeaderName, key: &[u8]| {
        let vendor = of_key(key).or((*name == GOOGLE_KEY).then_some(Provider::Google));
        vendor.is_none_or(may_have)
    };
    let carried = CARRIERS.iter().filter(|name| headers.contains_key(*name)).count();
    let foreign: Vec<&HeaderName> =
        CARRIERS.iter().filter(|name| key_in(headers, name).is_some_and(|key| !may_go(name, key))).collect();
    let strays = strays(headers, |vendor| !may_have(vendor));
    if foreign.len() == carried && carried + strays.len() > 0 {
        return Err(Refusal::WrongProviderKey { vendor: provider.name(), host: ours.host().to_owned() });
    }
    for name in foreign.into_iter().chain(&strays) {
        headers.remove(name);
    }
    // Of two, the one in the place of the other vendor's keys is not for this one.
    let has_own = match provider {
        Provider::OpenAi => headers.contains_key(header::AUTHORIZATION),
        Provider::Anthropic => false,
        Provider::Google => headers.contains_key(header::AUTHORIZATION) || headers.contains_key(GOOGLE_KEY),
    };
    if has_own {
        headers.remove(API_KEY);
    }
    Ok(())
}

/// Headers that are not for keys and carry one all the same, of a vendor that `is_foreign`: `api-key`, cookies.
fn strays(headers: &HeaderMap, is_foreign: impl Fn(Provider) -> bool) -> Vec<HeaderName> {
    let carries = |value: &HeaderValue| words(value).filter_map(of_key).any(&is_foreign);
    let is_carrier = |name: &HeaderName| CARRIERS.contains(name);
    headers.iter().filter(|(name, value)| !is_carrier(name) && carries(value)).map(|(name, _)| name.clone()).collect()
}

/// The words of a header, of which a key may be one: `sid=…; key=…`.
fn words(value: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    let separates = |byte: &u8| matches!(byte, b' ' | b'=' | b';' | b',' | b'"' | b'\'' | b':');
    value.as_bytes().split(separates).filter(|word| !word.is_empty())
}

/// Takes out every header whose value is a key of which `is_secret` says that it must not leave.
pub fn strike(headers: &mut HeaderMap, is_secret: impl Fn(&[u8]) -> bool) {
    let named: Vec<HeaderName> = headers
        .iter()
        .filter(|(_, value)| is_secret(value.as_bytes().trim_ascii()) || words(value).any(&is_secret))
        .map(|(name, _)| name.clone())
        .collect();
    for name in named {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect()
    }

    fn base(url: &str, provider: Provider) -> Base {
        Base::parse(url, provider).unwrap()
    }

    #[test]
    fn paths_come_before_headers_and_headers_with_keys_before_places() {
        use Provider::{Anthropic, OpenAi};
        let to = |path: &str, pairs: &[(&str, &str)]| destination(path, &map(pairs));
        assert_eq!(to("/models", &[("authorization", "Bearer k")]), Destination::One(OpenAi));
        assert_eq!(to("/models", &[("x-api-key", "k")]), Destination::One(Anthropic));
        assert_eq!(to("/unknown", &[("authorization", "Bearer sk-ant-oat01-x")]), Destination::One(Anthropic));
        assert_eq!(
            to("/unknown", &[("authorization", "Bearer t"), ("anthropic-beta", "b")]),
            Destination::One(Anthropic)
        );
        assert_eq!(
            to("/unknown", &[("authorization", "Bearer sk-proj-x"), ("x-api-key", "k")]),
            Destination::One(OpenAi)
        );
        assert_eq!(to("/unknown", &[("authorization", "Bearer a"), ("x-api-key", "b")]), Destination::Doubt);
        assert_eq!(
            to("/unknown", &[("authorization", "Bearer sk-proj-x"), ("anthropic-beta", "b")]),
            Destination::Doubt
        );
        assert_eq!(to("/embeddings", &[("x-api-key", "k")]), Destination::One(OpenAi));
        assert_eq!(to("/messages/batches", &[("authorization", "Bearer k")]), Destination::One(Anthropic));
    }

    #[test]
    fn keys_of_another_vendor_are_not_sent() {
        let openai = base("https://api.openai.com/v1", Provider::OpenAi);
        let anthropic = base("https://api.anthropic.com", Provider::Anthropic);
        let google = base("https://generativelanguage.googleapis.com", Provider::Google);
        let at = |provider: Provider| match provider {
            Provider::OpenAi => &openai,
            Provider::Anthropic => &anthropic,
            Provider::Google => &google,
        };
        let sent = |provider: Provider, pairs: &[(&str, &str)]| {
            let mut headers = map(pairs);
            screen(&mut headers, provider, at)
                .map(|()| headers.keys().map(|n| n.as_str().to_owned()).collect::<Vec<_>>())
        };
        let wrong = |sent: Result<Vec<String>, Refusal>| sent.unwrap_err().name();
        assert_eq!(wrong(sent(Provider::OpenAi, &[("authorization", "Bearer sk-ant-api03-x")])), "wrong_provider_key");
        assert_eq!(wrong(sent(Provider::Anthropic, &[("x-api-key", "sk-proj-x")])), "wrong_provider_key");
        assert_eq!(
            sent(Provider::OpenAi, &[("authorization", "Bearer k"), ("x-api-key", "a")]).unwrap(),
            ["authorization"]
        );
        let both = [("authorization", "Bearer sk-ant-oat01-x"), ("x-api-key", "sk-ant-api03-x")];
        assert_eq!(sent(Provider::Anthropic, &both).unwrap().len(), 2);
        let mixed = [("authorization", "Bearer sk-proj-x"), ("x-api-key", "sk-ant-api03-x")];
        assert_eq!(sent(Provider::Anthropic, &mixed).unwrap(), ["x-api-key"]);

        // Quotes hide nothing, and other headers are no way around.
        assert_eq!(
            wrong(sent(Provider::OpenAi, &[("authorization", "Bearer \"sk-ant-api03-x\"")])),
            "wrong_provider_key"
        );
        assert_eq!(wrong(sent(Provider::OpenAi, &[("api-key", "sk-ant-api03-x")])), "wrong_provider_key");
        let stray = [("authorization", "Bearer k"), ("cookie", "a=b; sessionKey=sk-ant-sid01-x"), ("accept", "*/*")];
        assert_eq!(sent(Provider::OpenAi, &stray).unwrap(), ["authorization", "accept"]);
        assert_eq!(sent(Provider::Anthropic, &stray).unwrap().len(), 3);

        let google = ("x-goog-api-key", "AIzaSy-x");
        assert_eq!(sent(Provider::Google, &[google]).unwrap(), ["x-goog-api-key"]);
        assert_eq!(sent(Provider::Google, &[("authorization", "Bearer ya29.x")]).unwrap(), ["authorization"]);
        for provider in [Provider::OpenAi, Provider::Anthropic] {
            assert_eq!(wrong(sent(provider, &[google])), "wrong_provider_key");
            assert_eq!(wrong(sent(provider, &[("x-goog-api-key", "k")])), "wrong_provider_key");
            assert_eq!(wrong(sent(provider, &[("authorization", "Bearer AIzaSy-x")])), "wrong_provider_key");
            assert_eq!(sent(provider, &[("authorization", "Bearer k"), google]).unwrap(), ["authorization"]);
        }
        for foreign in ["sk-proj-x", "sk-ant-api03-x"] {
            assert_eq!(wrong(sent(Provider::Google, &[("x-goog-api-key", foreign)])), "wrong_provider_key");
            let both = [("authorization", foreign), ("x-api-key", foreign), google];
            assert_eq!(sent(Provider::Google, &both).unwrap(), ["x-goog-api-key"]);
        }
    }

    #[test]
    fn a_key_in_the_address_becomes_a_header() {
        let lifted = |uri: &str, pairs: &[(&str, &str)]| {
            let mut parts = http::Request::builder().uri(uri).body(()).unwrap().into_parts().0;
            parts.headers = map(pairs);
            lift_key(&mut parts).map(|()| {
                let key = parts.headers.get(GOOGLE_KEY).map(|key| key.to_str().unwrap().to_owned());
                (parts.uri.to_string(), key.unwrap_or_default())
            })
        };
        let is = |uri: &str, key: &str| Ok((uri.to_owned(), key.to_owned()));
        let call = "/v1beta/models/m:generateContent";
        assert_eq!(lifted(&format!("{call}?key=k%2D1&alt=sse"), &[]), is(&format!("{call}?alt=sse"), "k-1"));
        assert_eq!(lifted(&format!("{call}?key=k"), &[("x-goog-api-key", "k")]), is(call, "k"));
        assert_eq!(lifted(&format!("{call}?key=k"), &[("x-goog-api-key", "l")]), Err(Refusal::SeveralKeys));
        assert_eq!(lifted("/v1/models?key=AIzaSy-x", &[]), is("/v1/models", "AIzaSy-x"));
        assert_eq!(lifted("/v1/models?key=other", &[]), is("/v1/models?key=other", ""));
    }

    #[test]
    fn one_place_for_both_gets_all_keys() {
        let openai = base("http://127.0.0.1:4000/v1", Provider::OpenAi);
        let anthropic = base("http://127.0.0.1:4000", Provider::Anthropic);
        let mut headers = map(&[("authorization", "Bearer sk-ant-api03-x")]);
        let at = |provider: Provider| if provider == Provider::OpenAi { &openai } else { &anthropic };
        assert_eq!(screen(&mut headers, Provider::OpenAi, at), Ok(()));
        // Anthropic's own place for those who speak like OpenAI.
        let compatible = base("https://api.anthropic.com/v1", Provider::OpenAi);
        let elsewhere = base("https://gate.example", Provider::Anthropic);
        let at = |provider: Provider| if provider == Provider::OpenAi { &compatible } else { &elsewhere };
        assert_eq!(screen(&mut headers, Provider::OpenAi, at), Ok(()));
    }
}
