//! Identifies a client across changing tokens.
//!
//! Tokens of subscriptions are replaced every few hours. What a client stores here would be lost each time if it
//! belonged to the token, so it belongs to what does not change: the account that the token or the request names. That
//! alone proves nothing, since anybody can write it. So it serves in two ways only:
//!
//! - A turn finds the checkpoints of the account that it names. It goes to the provider under its own token, and the
//!   one thing that comes back is the provider's answer to that token.
//! - What we tell ourselves (originals, searches) is told to a token that a provider has accepted for that account.
//!
//! An account that a token does not name counts only together with something that nobody else knows: the long random
//! name of a device, or of a session.

use super::credentials::{self, API_KEY, GOOGLE_KEY};
use super::header_hints::Hints;
use super::headers;
use super::route::Provider;
use crate::conversation::CredentialId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{self, HeaderMap};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Tokens of which it is remembered whose they are.
const MOST_KNOWN: usize = 4_096;
/// Hexadecimal digits from which on nobody guesses a name: 128 bits.
const SECRET_DIGITS: usize = 32;
/// Claims of a token that are longer are no names.
const LONGEST_TOKEN: usize = 16 << 10;

/// Tokens that a provider has accepted, and whose they are.
#[derive(Default)]
pub struct AcceptedTokens {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    whose: HashMap<CredentialId, CredentialId>,
    order: VecDeque<CredentialId>,
}

impl AcceptedTokens {
    /// A provider has accepted a token in a request of somebody.
    pub fn note(&self, token: CredentialId, who: CredentialId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.whose.insert(token, who).is_none() {
            known.order.push_back(token);
        }
        if known.order.len() > MOST_KNOWN
            && let Some(oldest) = known.order.pop_front()
        {
            known.whose.remove(&oldest);
        }
    }

    /// Whose a token is; its own, where nothing else is known.
    pub fn whose(&self, token: CredentialId) -> CredentialId {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.whose.get(&token).copied().unwrap_or(token)
    }
}

/// Who sends a turn, where everybody is admitted: the key that it shows, or the account of a token that will be replaced.
pub fn of_turn(
    admitted: CredentialId,
    provider: Provider,
    headers: &HeaderMap,
    hints: &Hints,
    body: &[u8],
) -> CredentialId {
    if credentials::key_in(headers, &headers::KEY).is_some() {
        return admitted;
    }
    let token = [GOOGLE_KEY, API_KEY, header::AUTHORIZATION].iter().find_map(|name| credentials::key_in(headers, name));
    match token {
        Some(token) if token.starts_with(b"sk-ant-oat") => device(body).or_else(|| session(hints)).unwrap_or(admitted),
        Some(token) => account(token, provider).unwrap_or(admitted),
        None => admitted,
    }
}

fn named(kind: &str, parts: &[&str]) -> CredentialId {
    let parts: Vec<String> = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    CredentialId::of_account(&format!("{kind} {}", parts.join(" ")))
}

/// Whether a name is too long to be guessed.
fn is_secret(name: &str) -> bool {
    name.bytes().filter(u8::is_ascii_hexdigit).count() >= SECRET_DIGITS
}

/// The device and account that Claude Code writes into `metadata.user_id`, without its session.
fn device(body: &[u8]) -> Option<CredentialId> {
    #[derive(serde::Deserialize)]
    struct Body {
        metadata: Option<Metadata>,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        user_id: Option<String>,
    }
    memchr::memmem::find(body, b"user_id")?;
    let body: Body = serde_json::from_slice(body).ok()?;
    let user = body.metadata?.user_id?;
    if user.starts_with('{') {
        let user: Value = serde_json::from_str(&user).ok()?;
        let text = |name: &str| user.get(name).and_then(Value::as_str).unwrap_or_default();
        return is_secret(text("device_id")).then(|| named("device", &[text("device_id"), text("account_uuid")]));
    }
    let (person, _session) = user.rsplit_once("_session_")?;
    let (device, account) = person.split_once("_account_").unwrap_or((person, ""));
    let device = device.strip_prefix("user_").unwrap_or(device);
    is_secret(device).then(|| named("device", &[device, account]))
}

/// A session that its client gave a random name.
fn session(hints: &Hints) -> Option<CredentialId> {
    let session = hints.session.as_deref().filter(|session| is_secret(session))?;
    Some(named("session", &[session]))
}

/// The account that a token names in its claims: issuer, subject and organisation. One provider's word for it says nothing
/// about accounts of another, which may accept any token.
fn account(token: &[u8], provider: Provider) -> Option<CredentialId> {
    let token = std::str::from_utf8(token).ok().filter(|token| token.len() <= LONGEST_TOKEN)?;
    let mut parts = token.split('.');
    let (Some(_), Some(claims), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?).ok()?;
    let text = |claim: Option<&Value>| claim.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (issuer, subject) = (text(claims.get("iss")), text(claims.get("sub")));
    let openai = claims.get("https://api.openai.com/auth");
    let organisation = [
        text(openai.and_then(|auth| auth.get("chatgpt_account_id"))),
        text(claims.get("org_id")),
        text(claims.get("organization_id")),
        text(claims.get("account_id")),
    ];
    let [a, b, c, d] = &organisation;
    // A token for a moment has no subject that lasts.
    let kind = match provider {
        Provider::OpenAi => "account",
        Provider::Anthropic => "account anthropic",
        Provider::Google => "account google",
    };
    (!subject.is_empty()).then(|| named(kind, &[&issuer, &subject, a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::HeaderName;
    use serde_json::json;

    fn who(key: &str, session: Option<&str>, body: &str) -> CredentialId {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, format!("Bearer {key}").parse().unwrap())]);
        let hints = Hints { session: session.map(str::to_owned), ..Hints::default() };
        of_turn(CredentialId::of_key(key), Provider::OpenAi, &headers, &hints, body.as_bytes())
    }

    fn jwt(claims: &Value, signature: &str) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.{signature}", part(&json!({"alg": "RS256"})), part(claims))
    }

    #[test]
    fn a_key_that_lasts_is_the_person() {
        let device = "d".repeat(64);
        let body = json!({"metadata": {"user_id": format!("user_{device}_account_x_session_y")}}).to_string();
        assert_eq!(who("sk-ant-api03-k", None, &body), CredentialId::of_key("sk-ant-api03-k"));
        assert_eq!(who("sk-proj-k", Some(&device), &body), CredentialId::of_key("sk-proj-k"));
    }

    #[test]
    fn a_subscription_is_its_device_and_account_whatever_the_token() {
        let user = |device: &str, account: &str, session: &str| {
            let id = json!({"device_id": device, "account_uuid": account, "session_id": session}).to_string();
            json!({"metadata": {"user_id": id}, "messages": []}).to_string()
        };
        let (one, two) = ("0123456789abcdef".repeat(4), "fedcba9876543210".repeat(4));
        let me = who("sk-ant-oat01-a", None, &user(&one, "acc", "s1"));
        assert_eq!(me, who("sk-ant-oat01-b", Some("other"), &user(&one, "acc", "s2")));
        assert_ne!(me, who("sk-ant-oat01-b", None, &user(&one, "acc2", "s1")));
        assert_ne!(me, who("sk-ant-oat01-b", None, &user(&two, "acc", "s1")));
        // What others could know as well is nobody.
        assert_eq!(who("sk-ant-oat01-a", None, &user("laptop", "acc", "s1")), CredentialId::of_key("sk-ant-oat01-a"));
        let old = |session: &str| json!({"metadata": {"user_id": format!("user_{one}_account_acc_session_{session}")}});
        assert_eq!(me, who("sk-ant-oat01-c", None, &old("s").to_string()));
    }

    #[test]
    fn a_session_with_a_random_name_stands_in_for_a_device() {
        let id = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
        assert_eq!(who("sk-ant-oat01-a", Some(id), "{}"), who("sk-ant-oat01-b", Some(id), "{}"));
        assert_eq!(who("sk-ant-oat01-a", Some("main"), "{}"), CredentialId::of_key("sk-ant-oat01-a"));
    }

    #[test]
    fn a_token_with_claims_is_its_subject_and_organisation() {
        let claims = |sub: &str, account: &str, exp: u64| {
            json!({"iss": "https://auth.openai.com", "sub": sub, "exp": exp,
                   "https://api.openai.com/auth": {"chatgpt_account_id": account}})
        };
        let me = who(&jwt(&claims("u1", "a1", 1), "x"), None, "{}");
        assert_eq!(me, who(&jwt(&claims("u1", "a1", 2), "y"), None, "{}"));
        assert_ne!(me, who(&jwt(&claims("u2", "a1", 1), "x"), None, "{}"));
        assert_ne!(me, who(&jwt(&claims("u1", "a2", 1), "x"), None, "{}"));
        let token = jwt(&claims("u1", "a1", 1), "x");
        assert_ne!(Some(me), account(token.as_bytes(), Provider::Anthropic), "another provider may accept any token");
        let nameless = jwt(&json!({"iss": "i"}), "x");
        assert_eq!(who(&nameless, None, "{}"), CredentialId::of_key(&nameless));
    }

    #[test]
    fn a_key_for_the_gateway_comes_before_all_else() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, "Bearer sk-ant-oat01-a".parse().unwrap());
        headers.insert(HeaderName::from_static("x-foldline-key"), "me".parse().unwrap());
        let me = CredentialId::of_key("me");
        let hints = Hints { session: Some("0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0".to_owned()), ..Hints::default() };
        assert_eq!(of_turn(me, Provider::Anthropic, &headers, &hints, b"{}"), me);
    }

    #[test]
    fn a_token_is_nobody_elses_until_a_provider_accepts_it() {
        let accepted = AcceptedTokens::default();
        let (token, me) = (CredentialId::of_key("t"), CredentialId::of_account("me"));
        assert_eq!(accepted.whose(token), token);
        accepted.note(token, me);
        assert_eq!(accepted.whose(token), me);
    }
}
