//! An incoming turn: the request body and what the HTTP side knows about its sender.

use foldline_core::Format;
use foldline_core::reading::Site;
use std::fmt;

/// Whose API a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Google Gemini.
    Gemini,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 4] = [Dialect::Chat, Dialect::Responses, Dialect::Messages, Dialect::Gemini];

    /// The format of its transcripts.
    pub fn format(self) -> Format {
        match self {
            Dialect::Chat => Format::OpenAiChat,
            Dialect::Responses => Format::OpenAiResponses,
            Dialect::Messages => Format::Anthropic,
            Dialect::Gemini => Format::Gemini,
        }
    }

    /// The name in events and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Chat => "chat",
            Dialect::Responses => "responses",
            Dialect::Messages => "messages",
            Dialect::Gemini => "gemini",
        }
    }
}

/// Who asks: the digest of a client's key, never the key. What one credential stores, another cannot see.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CredentialId([u8; 32]);

impl CredentialId {
    /// The identity behind a key. Clients without a key share the identity of the empty one.
    pub fn of_key(key: &str) -> CredentialId {
        CredentialId::of_bytes(key.as_bytes())
    }

    /// The digest of an account's name. No key has the same.
    pub fn of_account(name: &str) -> CredentialId {
        CredentialId(blake3::derive_key("foldline 2026 account of a client", name.as_bytes()))
    }

    /// The digest of a key that may be any bytes.
    pub fn of_bytes(key: &[u8]) -> CredentialId {
        CredentialId(blake3::derive_key("foldline 2026 credential of a client", key))
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As the store knows a client key.
    pub fn key(&self) -> foldline_store::Key {
        foldline_store::Key(self.0)
    }

    /// The identity behind a client key of the store.
    pub fn of_stored(key: foldline_store::Key) -> CredentialId {
        CredentialId(key.0)
    }

    /// The namespace of its originals and checkpoints in the store.
    pub fn namespace(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Debug for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "credential {}", hex(&self.0[..4]))
    }
}

/// Whose originals and sessions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Those of one client.
    Client(CredentialId),
    /// All in the store: who may read the file may read all of it.
    Owner,
}

impl Whom {
    /// The client, where it is one.
    pub fn credential(&self) -> Option<&CredentialId> {
        match self {
            Whom::Client(credential) => Some(credential),
            Whom::Owner => None,
        }
    }
}

impl From<&CredentialId> for Whom {
    fn from(credential: &CredentialId) -> Whom {
        Whom::Client(*credential)
    }
}

/// A session for people: the same for all requests that a client sends under one session of its own.
/// It is a function of the credential too, so that two clients never share one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    /// How session ids begin.
    const PREFIX: &'static str = "fs-";

    pub(super) fn of_digest(digest: &[u8; 32]) -> SessionId {
        SessionId(format!("{}{}", SessionId::PREFIX, hex(&digest[..8])))
    }

    /// Reads an id; `None` for what cannot be one.
    pub fn parse(text: &str) -> Option<SessionId> {
        let digits = text.strip_prefix(SessionId::PREFIX)?;
        (digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
            .then(|| SessionId(text.to_owned()))
    }

    /// The id as text, safe in addresses and headers.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Milliseconds since 1970, as a value: nothing here reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

/// What a client says a request is for, where its headers say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurposeHint {
    /// Nothing is said; the body tells.
    #[default]
    None,
    /// A turn of the conversation.
    Turn,
    /// The client's own compaction.
    Compaction,
    /// A title or another small question beside the conversation.
    Side,
}

/// Whether the sender wants to be left alone (`x-foldline-bypass: 1`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// Treat the request as any other.
    #[default]
    No,
    /// Forward it as it is.
    Wanted,
}

/// Where the model that writes handoffs is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummariserAt {
    /// At another address or with another key, if there is one at all.
    #[default]
    Elsewhere,
    /// At the address, and with the key, that the request itself goes to: it finds the conversation in its cache.
    Here,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct IncomingTurn<'a> {
    /// Whose API it speaks.
    pub dialect: Dialect,
    /// The body, decompressed.
    pub body: &'a str,
    /// The model, where the address names it and not the body.
    pub model: Option<&'a str>,
    /// Who asks.
    pub credential: CredentialId,
    /// The session that a header names.
    pub session_hint: Option<&'a str>,
    /// The sub-agent that a header names.
    pub agent_hint: Option<&'a str>,
    /// What the user cares about most (`x-foldline-focus`).
    pub focus: Option<&'a str>,
    /// What the headers say it is for.
    pub purpose: PurposeHint,
    /// Whether to leave it alone.
    pub bypass: Bypass,
    /// Where the model that writes handoffs is asked.
    pub writer: SummariserAt,
    /// Where the agent behind it finds the gateway's own pages; none when it has no way there.
    pub site: Option<&'a Site>,
    /// When it came.
    pub now: Timestamp,
}

impl<'a> IncomingTurn<'a> {
    /// A request of which no header says anything.
    pub fn plain(dialect: Dialect, body: &'a str, credential: CredentialId, now: Timestamp) -> IncomingTurn<'a> {
        IncomingTurn {
            dialect,
            body,
            model: None,
            credential,
            session_hint: None,
            agent_hint: None,
            focus: None,
            purpose: PurposeHint::None,
            bypass: Bypass::No,
            writer: SummariserAt::Elsewhere,
            site: None,
            now,
        }
    }
}

/// Lower-case hex digits. Every request spells several digests, and a formatter takes a hundred times longer.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    let mut out = String::with_capacity(2 * bytes.len());
    out.extend(digits.map(|digit| DIGITS[usize::from(digit)]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_reads_back_and_nothing_else_does() {
        let id = SessionId::of_digest(&[7; 32]);
        assert_eq!(SessionId::parse(id.as_str()), Some(id));
        for wrong in ["", "fs-", "fs-0123456789abcdeg", "fs-0123456789ABCDEF", "0123456789abcdef"] {
            assert_eq!(SessionId::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_credential_shows_neither_key_nor_digest_in_full() {
        let key = "a key of a client";
        let shown = format!("{:?}", CredentialId::of_key(key));
        assert!(!shown.contains(key) && shown.len() < 24, "{shown}");
    }
}
