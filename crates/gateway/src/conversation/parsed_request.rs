//! A parsed request: its messages, their chained digests, and the session it belongs to.

use super::error::PrepareError;
use super::incoming::{Dialect, IncomingTurn, SessionId};
use foldline_store::Key;
use foldline_transcript::identity::{self, Digest};
use foldline_transcript::wire::{self, field, json};
use foldline_transcript::{Message, Role, Shape, Transcript};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Labels are for people and lists; a client that sends more is cut.
const LONGEST_LABEL: usize = 120;

/// A request that was read, and what identifies it.
#[derive(Debug)]
pub(super) struct ParsedRequest<'a> {
    pub(super) transcript: Transcript<'a>,
    pub(super) identity: Arc<Identity>,
}

/// What identifies a request. No text of it.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) dialect: Dialect,
    /// The model, where the address names it.
    pub(super) model: Option<String>,
    /// Standing instructions at the start. They are forwarded as they come and are part of no checkpoint.
    pub(super) lead: usize,
    /// Entry `i` names the first `i` messages after the lead.
    pub(super) chain: Vec<Digest>,
    /// Whether the provider holds the beginning of the conversation: then we do not see what a rewrite
    /// would have to fit to.
    pub(super) is_continued: bool,
    pub(super) session: SessionId,
    /// What the client calls the session; empty when it does not say.
    pub(super) label: String,
}

impl Deref for ParsedRequest<'_> {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.identity
    }
}

impl<'a> ParsedRequest<'a> {
    /// Reads a request.
    pub(super) fn of(ask: &IncomingTurn<'a>) -> Result<ParsedRequest<'a>, PrepareError> {
        let transcript = wire::read(ask.body, Some(ask.dialect.format()))?;
        if transcript.shape != Shape::Body {
            return Err(PrepareError::NoConversation);
        }
        let outer = Outer::of(&transcript);
        let seed = seed(ask);
        let lead = identity::leading_instructions(&transcript);
        let chain = identity::chain(&transcript, lead, &seed);
        let label = ask.session_hint.map(Cow::Borrowed).or(outer.session).map_or_else(String::new, |name| cut(&name));
        let session = match label.is_empty() {
            false => named(&seed, &label, ask.agent_hint),
            true => SessionId::of_digest(&identity::opening(&transcript, &seed)),
        };
        let identity = Identity {
            dialect: ask.dialect,
            model: ask.model.map(str::to_owned),
            lead,
            chain,
            is_continued: outer.is_continued,
            session,
            label,
        };
        Ok(ParsedRequest { transcript, identity: Arc::new(identity) })
    }

    /// The message that follows the first `position` ones.
    pub(super) fn message(&self, position: usize) -> Option<&Message> {
        self.transcript.messages.get(self.lead + position)
    }

    /// The role of the message that follows the first `position` ones.
    pub(super) fn role(&self, position: usize) -> Option<Role> {
        self.message(position).map(|message| message.role)
    }

    /// The model that is asked.
    pub(super) fn model(&self) -> &str {
        self.identity.model.as_deref().or(self.transcript.model.as_deref()).unwrap_or_default()
    }
}

impl Identity {
    /// Messages after the lead.
    pub(super) fn len(&self) -> usize {
        self.chain.len().saturating_sub(1)
    }

    /// The name of the first `position` messages.
    pub(super) fn key(&self, position: usize) -> Option<Key> {
        self.chain.get(position).copied().map(Key)
    }

    /// The name of the first message: what all turns of a conversation share.
    pub(super) fn root(&self) -> Option<Key> {
        self.key(1)
    }
}

/// Keeps what belongs to one credential and one API apart from all else.
fn seed(ask: &IncomingTurn<'_>) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("foldline 2026 chain of messages");
    hasher.update(ask.credential.as_bytes());
    hasher.update(ask.dialect.name().as_bytes());
    *hasher.finalize().as_bytes()
}

/// A session that its client named. A sub-agent is a session of its own.
fn named(seed: &Digest, label: &str, agent: Option<&str>) -> SessionId {
    let mut hasher = blake3::Hasher::new_derive_key("foldline 2026 name of a session");
    hasher.update(seed);
    for name in [label, agent.unwrap_or_default()] {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    SessionId::of_digest(hasher.finalize().as_bytes())
}

fn cut(label: &str) -> String {
    label.chars().filter(|c| !c.is_control()).take(LONGEST_LABEL).collect()
}

/// What a body says beside its messages that matters here.
#[derive(Default)]
struct Outer<'a> {
    is_continued: bool,
    session: Option<Cow<'a, str>>,
}

impl<'a> Outer<'a> {
    fn of(transcript: &Transcript<'a>) -> Outer<'a> {
        let mut outer = Outer::default();
        for (key, value) in &transcript.fields {
            let raw = transcript.raw(*value);
            match key.as_str() {
                "previous_response_id" | "conversation" | "cachedContent" | "cached_content" => {
                    outer.is_continued |= raw != "null";
                }
                "metadata" => {
                    let user = field::value(transcript.text, *value, "user_id");
                    let session = user.and_then(|user| session_of_user(transcript.raw(user)));
                    outer.session = session.or(outer.session.take());
                }
                "prompt_cache_key" => {
                    // Hermes puts a digest of instructions and tools here, which all its sessions share.
                    let key = string(raw).filter(|key| !key.starts_with("pck_"));
                    outer.session = outer.session.take().or(key);
                }
                _ => {}
            }
        }
        outer
    }
}

fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.is_empty()).then(|| json::decode(inside))
}

/// Claude Code writes its session into `metadata.user_id`: as a JSON object in a string, or behind a mark.
fn session_of_user(raw: &str) -> Option<Cow<'_, str>> {
    const MARK: &str = "_session_";
    let text = string(raw)?;
    if text.starts_with('{') {
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        return value.get("session_id")?.as_str().map(|session| Cow::Owned(session.to_owned()));
    }
    text.rfind(MARK).and_then(|at| text.get(at + MARK.len()..)).map(|session| Cow::Owned(session.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::incoming::{CredentialId, Timestamp};
    use super::*;

    fn ask(dialect: Dialect, body: &str) -> IncomingTurn<'_> {
        IncomingTurn::plain(dialect, body, CredentialId::of_key("k"), Timestamp(0))
    }

    #[test]
    fn a_session_is_named_by_its_client_or_by_how_it_begins() {
        let plain = r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}]}"#;
        let longer = r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
        let other = r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"c"}]}"#;
        let id = |ask: &IncomingTurn<'_>| ParsedRequest::of(ask).unwrap().session.clone();
        let chat = |body| ask(Dialect::Chat, body);
        assert_eq!(id(&chat(plain)), id(&chat(longer)));
        assert_ne!(id(&chat(plain)), id(&chat(other)));
        let hinted =
            |body, session, agent| IncomingTurn { session_hint: Some(session), agent_hint: agent, ..chat(body) };
        assert_eq!(id(&hinted(plain, "x", None)), id(&hinted(other, "x", None)));
        assert_ne!(id(&hinted(plain, "x", None)), id(&hinted(plain, "x", Some("sub"))));
        let stranger = IncomingTurn { credential: CredentialId::of_key("l"), ..hinted(plain, "x", None) };
        assert_ne!(id(&hinted(plain, "x", None)), id(&stranger));
    }

    #[test]
    fn a_body_names_its_session_where_headers_do_not() {
        let messages = r#""messages":[{"role":"user","content":"a"}]"#;
        let label = |outer: &str| {
            let body = format!("{{{outer}{messages}}}");
            ParsedRequest::of(&ask(Dialect::Messages, &body)).unwrap().label.clone()
        };
        assert_eq!(label(r#""metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s-1\"}"},"#), "s-1");
        assert_eq!(label(r#""metadata":{"user_id":"user_1_account__session_s-2"},"#), "s-2");
        assert_eq!(label(r#""prompt_cache_key":"thread-3","#), "thread-3");
        assert_eq!(label(r#""prompt_cache_key":"pck_shared","#), "");
        assert_eq!(label(r#""metadata":{"user_id":"somebody"},"#), "");
    }

    #[test]
    fn a_conversation_that_the_provider_holds_is_recognised() {
        let continued = |outer: &str| {
            let body = format!(r#"{{{outer}"input":[{{"role":"user","content":"a"}}]}}"#);
            ParsedRequest::of(&ask(Dialect::Responses, &body)).unwrap().is_continued
        };
        assert!(continued(r#""previous_response_id":"resp_1","#) && continued(r#""conversation":{"id":"c"},"#));
        assert!(!continued("") && !continued(r#""previous_response_id":null,"#));
        let cached = r#"{"cachedContent":"cachedContents/c","contents":[{"parts":[{"text":"a"}]}]}"#;
        assert!(ParsedRequest::of(&ask(Dialect::Gemini, cached)).unwrap().is_continued);
    }

    #[test]
    fn a_model_in_the_address_is_the_model() {
        let body = r#"{"contents":[{"parts":[{"text":"a"}]}]}"#;
        let named = IncomingTurn { model: Some("gemini-3-pro"), ..ask(Dialect::Gemini, body) };
        assert_eq!(ParsedRequest::of(&named).unwrap().model(), "gemini-3-pro");
    }
}
