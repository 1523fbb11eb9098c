//! Whose a key is, and for whom a request is meant. A key goes to its own vendor, and nowhere while that is in doubt.

use super::answer::Refusal;
use super::route::Provider;
use super::upstream::Base;
use http::header::{self, HeaderMap, HeaderName};

/// Where Anthropic's clients put their key.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers that carry keys.
pub static CARRIERS: [HeaderName; 2] = [header::AUTHORIZATION, API_KEY];

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
pub enum Addressee {
    /// For this vendor.
    One(Provider),
    /// It speaks of both, and carries a key that one of them must not see.
    Doubt,
}

/// For whom a request for `operation` is meant: its path says, or else its headers and the look of its keys.
pub fn addressee(operation: &str, headers: &HeaderMap) -> Addressee {
    if let Some(vendor) = of_path(operation) {
        return Addressee::One(vendor);
    }
    let (mut openai, mut anthropic) = (false, false);
    let named = headers.keys().filter_map(of_header);
    let shaped = CARRIERS.iter().filter_map(|name| of_key(key_in(headers, name)?));
    for vendor in named.chain(shaped) {
        match vendor {
            Provider::OpenAi => openai = true,
            Provider::Anthropic => anthropic = true,
        }
    }
    let (bearer, api_key) = (headers.contains_key(header::AUTHORIZATION), headers.contains_key(API_KEY));
    match (openai, anthropic) {
        (true, false) => Addressee::One(Provider::OpenAi),
        (false, true) => Addressee::One(Provider::Anthropic),
        (true, true) if bearer || api_key => Addressee::Doubt,
        // Keys that look like nobody's: by the header that they stand in.
        (false, false) if bearer && api_key => Addressee::Doubt,
        (false, false) if api_key => Addressee::One(Provider::Anthropic),
        _ => Addressee::One(Provider::OpenAi),
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
    } else {
        (name.starts_with("openai-") || name.starts_with("chatgpt-")).then_some(Provider::OpenAi)
    }
}

/// Whose key this is by its look; many look like nobody's.
fn of_key(key: &[u8]) -> Option<Provider> {
    let begins = |starts: &[&str]| starts.iter().any(|start| key.starts_with(start.as_bytes()));
    if begins(&["sk-ant-"]) {
        Some(Provider::Anthropic)
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

/// Takes out the keys that must not go to `provider`. Refuses when that leaves none of several, or the only one is
/// another vendor's. `bases` are where the provider and the other one are.
pub fn screen(headers: &mut HeaderMap, provider: Provider, bases: (&Base, &Base)) -> Result<(), Refusal> {
    if CARRIERS.iter().any(|name| headers.get_all(name).iter().nth(1).is_some()) {
        return Err(Refusal::Keys);
    }
    let (ours, theirs) = bases;
    // Whoever sends both vendors' requests to one place means that place to have the keys.
    let is_shared = ours.is_at(theirs);
    let may_go = |key: &[u8]| {
        let vendor = of_key(key);
        is_shared || vendor.is_none_or(|vendor| vendor == provider || ours.vendor() == Some(vendor))
    };
    let carried = CARRIERS.iter().filter(|name| headers.contains_key(*name)).count();
    let foreign: Vec<&HeaderName> =
        CARRIERS.iter().filter(|name| key_in(headers, name).is_some_and(|key| !may_go(key))).collect();
    if carried > 0 && foreign.len() == carried {
        return Err(Refusal::WrongVendor { vendor: provider.name(), host: ours.host().to_owned() });
    }
    for name in foreign {
        headers.remove(name);
    }
    // Of two, the one in the place of the other vendor's keys is not for this one.
    if provider == Provider::OpenAi && headers.contains_key(header::AUTHORIZATION) {
        headers.remove(API_KEY);
    }
    Ok(())
}

/// Takes out every header whose value is a key of which `is_secret` says that it must not leave.
pub fn strike(headers: &mut HeaderMap, is_secret: impl Fn(&[u8]) -> bool) {
    let named: Vec<HeaderName> = headers
        .iter()
        .filter(|(_, value)| {
            let value = value.as_bytes().trim_ascii();
            let last = value.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
            is_secret(value) || is_secret(last)
        })
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
        let to = |path: &str, pairs: &[(&str, &str)]| addressee(path, &map(pairs));
        assert_eq!(to("/models", &[("authorization", "Bearer k")]), Addressee::One(OpenAi));
        assert_eq!(to("/models", &[("x-api-key", "k")]), Addressee::One(Anthropic));
        assert_eq!(to("/unknown", &[("authorization", "Bearer sk-ant-oat01-x")]), Addressee::One(Anthropic));
        assert_eq!(
            to("/unknown", &[("authorization", "Bearer t"), ("anthropic-beta", "b")]),
            Addressee::One(Anthropic)
        );
        assert_eq!(
            to("/unknown", &[("authorization", "Bearer sk-proj-x"), ("x-api-key", "k")]),
            Addressee::One(OpenAi)
        );
        assert_eq!(to("/unknown", &[("authorization", "Bearer a"), ("x-api-key", "b")]), Addressee::Doubt);
        assert_eq!(to("/unknown", &[("authorization", "Bearer sk-proj-x"), ("anthropic-beta", "b")]), Addressee::Doubt);
        assert_eq!(to("/embeddings", &[("x-api-key", "k")]), Addressee::One(OpenAi));
        assert_eq!(to("/messages/batches", &[("authorization", "Bearer k")]), Addressee::One(Anthropic));
    }

    #[test]
    fn keys_of_another_vendor_are_not_sent() {
        let openai = base("https://api.openai.com/v1", Provider::OpenAi);
        let anthropic = base("https://api.anthropic.com", Provider::Anthropic);
        let sent = |provider: Provider, pairs: &[(&str, &str)]| {
            let mut headers = map(pairs);
            let bases = if provider == Provider::OpenAi { (&openai, &anthropic) } else { (&anthropic, &openai) };
            screen(&mut headers, provider, bases)
                .map(|()| headers.keys().map(|n| n.as_str().to_owned()).collect::<Vec<_>>())
        };
        let wrong = |sent: Result<Vec<String>, Refusal>| sent.unwrap_err().name();
        assert_eq!(wrong(sent(Provider::OpenAi, &[("authorization", "Bearer sk-ant-api03-x")])), "wrong_vendor");
        assert_eq!(wrong(sent(Provider::Anthropic, &[("x-api-key", "sk-proj-x")])), "wrong_vendor");
        assert_eq!(
            sent(Provider::OpenAi, &[("authorization", "Bearer k"), ("x-api-key", "a")]).unwrap(),
            ["authorization"]
        );
        let both = [("authorization", "Bearer sk-ant-oat01-x"), ("x-api-key", "sk-ant-api03-x")];
        assert_eq!(sent(Provider::Anthropic, &both).unwrap().len(), 2);
        let mixed = [("authorization", "Bearer sk-proj-x"), ("x-api-key", "sk-ant-api03-x")];
        assert_eq!(sent(Provider::Anthropic, &mixed).unwrap(), ["x-api-key"]);
    }

    #[test]
    fn one_place_for_both_gets_all_keys() {
        let openai = base("http://127.0.0.1:4000/v1", Provider::OpenAi);
        let anthropic = base("http://127.0.0.1:4000", Provider::Anthropic);
        let mut headers = map(&[("authorization", "Bearer sk-ant-api03-x")]);
        assert_eq!(screen(&mut headers, Provider::OpenAi, (&openai, &anthropic)), Ok(()));
        // Anthropic's own place for those who speak like OpenAI.
        let compatible = base("https://api.anthropic.com/v1", Provider::OpenAi);
        let elsewhere = base("https://gate.example", Provider::Anthropic);
        assert_eq!(screen(&mut headers, Provider::OpenAi, (&compatible, &elsewhere)), Ok(()));
    }
}
