//! What the request headers say about the conversation: session, sub-agent, purpose.

use super::headers;
use crate::conversation::{Bypass, PurposeHint};
use http::header::{HeaderMap, HeaderName};
use serde_json::Value;

/// Headers that name a session, most telling first: ours, Claude Code, Codex, opencode, goose, vibe, pi.
const SESSION: &[&str] = &[
    "x-foldline-session",
    "x-claude-code-session-id",
    "thread-id",
    "session-id",
    "x-session-id",
    "agent-session-id",
    "x-affinity",
    "session_id",
];

/// The header that names a sub-agent of a session.
const AGENT: HeaderName = HeaderName::from_static("x-claude-code-agent-id");

/// A JSON header in which Codex says what a request is for.
const TURN: HeaderName = HeaderName::from_static("x-codex-turn-metadata");

/// A name longer than this is no name.
const LONGEST: usize = 256;

/// What the headers say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The session.
    pub session: Option<String>,
    /// The sub-agent.
    pub agent: Option<String>,
    /// What matters most.
    pub focus: Option<String>,
    /// What the request is for.
    pub purpose: PurposeHint,
    /// Whether to leave it alone.
    pub bypass: Bypass,
}

impl Hints {
    /// Reads the headers.
    pub fn of(headers: &HeaderMap) -> Hints {
        let text =
            |name: &HeaderName| headers::text(headers, name).filter(|value| value.len() <= LONGEST).map(str::to_owned);
        Hints {
            session: SESSION.iter().find_map(|name| text(&HeaderName::from_static(name))),
            agent: text(&AGENT),
            focus: text(&headers::FOCUS),
            purpose: purpose(headers),
            bypass: if headers::says_yes(headers, &headers::BYPASS) { Bypass::Wanted } else { Bypass::No },
        }
    }
}

fn purpose(headers: &HeaderMap) -> PurposeHint {
    let turn = headers.get(TURN).and_then(|value| serde_json::from_slice::<Value>(value.as_bytes()).ok());
    match turn.as_ref().and_then(|turn| turn.get("request_kind")).and_then(Value::as_str) {
        Some("turn") => PurposeHint::Turn,
        Some("compaction") => PurposeHint::Compaction,
        Some(_) => PurposeHint::Side,
        None => PurposeHint::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(pairs: &[(&str, &str)]) -> Hints {
        Hints::of(&pairs.iter().map(|(n, v)| (n.parse::<HeaderName>().unwrap(), v.parse().unwrap())).collect())
    }

    #[test]
    fn each_clients_header_names_its_session() {
        for name in ["X-Claude-Code-Session-Id", "thread-id", "session_id", "x-affinity"] {
            assert_eq!(hints(&[(name, "s1")]).session.as_deref(), Some("s1"), "{name}");
        }
        let both = hints(&[("session-id", "b"), ("x-foldline-session", "a")]);
        assert_eq!(both.session.as_deref(), Some("a"));
    }

    #[test]
    fn codex_says_when_it_compacts() {
        let of = |json: &str| hints(&[("x-codex-turn-metadata", json)]).purpose;
        assert_eq!(of(r#"{"request_kind":"compaction"}"#), PurposeHint::Compaction);
        assert_eq!(of(r#"{"request_kind":"turn"}"#), PurposeHint::Turn);
        assert_eq!(of("nonsense"), PurposeHint::None);
    }
}
