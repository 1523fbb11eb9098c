//! The start of a streamed reply: a provider may answer 200 and report in its first event that the request is too
//! long. Until an event was forwarded, the request can be resent.

use crate::conversation::{SizeRefusal, read_refusal};
use bytes::{Bytes, BytesMut};
use foldline_transcript::wire::events::{self, Events};
use memchr::memmem;
use serde_json::Value;

/// Looks at events until one tells.
pub struct StreamStart {
    events: Events,
    held: BytesMut,
    preamble: Preamble,
}

/// What is done with events that come before any work has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// They go to the client at once.
    Pass,
    /// They wait for the event that follows, because the request is so large that it may be a refusal.
    Hold,
}

/// What the beginning tells.
#[derive(Debug, PartialEq)]
pub enum Beginning {
    /// Nothing yet; these bytes may go to the client.
    Unclear(Bytes),
    /// An ordinary reply; these bytes are its beginning.
    Ordinary(Bytes),
    /// The request was refused for its size; these bytes say so.
    Refused(SizeRefusal, Bytes),
}

/// An event larger than this is an answer, not a refusal.
const LONGEST: usize = 64 << 10;

/// Events of Responses and Messages that say only that the request has arrived.
const PREAMBLE: &[&[u8]] =
    &[b"response.created", b"response.in_progress", b"response.queued", b"message_start", b"ping"];

/// A chunk of Chat Completions that is longer than this says something.
const LONGEST_GREETING: usize = 4 << 10;

/// What the changes of a chunk may hold without saying anything yet.
const SAYS_NOTHING: &[&str] = &["role", "content", "refusal", "reasoning_content"];

impl StreamStart {
    /// Looks at a reply.
    pub fn new(preamble: Preamble) -> StreamStart {
        StreamStart { events: Events::default(), held: BytesMut::new(), preamble }
    }

    /// Looks at a piece.
    pub fn feed(&mut self, bytes: &[u8]) -> Beginning {
        self.events.feed(bytes);
        let mut pass = BytesMut::new();
        while let Some(event) = self.events.next_event().map(<[u8]>::to_vec) {
            let payload = events::payload(&event);
            let name = events::name(&event);
            if payload.is_empty() {
                pass.extend_from_slice(&event);
            } else if PREAMBLE.contains(&name) || (name.is_empty() && is_greeting(&payload)) {
                match self.preamble {
                    Preamble::Hold => self.held.extend_from_slice(&event),
                    Preamble::Pass => return self.ordinary(pass, &event),
                }
            } else {
                return match self.refusal(name, &payload) {
                    Some(refusal) => {
                        pass.extend_from_slice(&self.held.split());
                        pass.extend_from_slice(&event);
                        pass.extend_from_slice(&self.events.rest());
                        Beginning::Refused(refusal, pass.freeze())
                    }
                    None => self.ordinary(pass, &event),
                };
            }
        }
        if self.events.pending() > LONGEST { self.ordinary(pass, &[]) } else { Beginning::Unclear(pass.freeze()) }
    }

    /// All that is held back, for when the wait is over.
    pub fn finish(&mut self) -> Bytes {
        self.held.extend_from_slice(&self.events.rest());
        self.held.split().freeze()
    }

    fn ordinary(&mut self, mut pass: BytesMut, event: &[u8]) -> Beginning {
        pass.extend_from_slice(&self.held.split());
        pass.extend_from_slice(event);
        pass.extend_from_slice(&self.events.rest());
        Beginning::Ordinary(pass.freeze())
    }

    /// An event that reports an error is read as the error reply that it stands for.
    fn refusal(&self, name: &[u8], payload: &[u8]) -> Option<SizeRefusal> {
        let names_error = matches!(name, b"error" | b"response.failed");
        let carries_error = name.is_empty() && memmem::find(payload, b"\"error\"").is_some();
        if names_error || carries_error { read_refusal(STATUS, payload) } else { None }
    }
}

/// Whether an event without a name only says that the request has arrived: by its type, or as a chunk of Chat Completions
/// that names the speaker and says nothing.
fn is_greeting(payload: &[u8]) -> bool {
    let Some(chunk) =
        (payload.len() <= LONGEST_GREETING).then(|| serde_json::from_slice::<Value>(payload).ok()).flatten()
    else {
        return false;
    };
    if chunk.get("type").and_then(Value::as_str).is_some_and(|kind| PREAMBLE.contains(&kind.as_bytes())) {
        return true;
    }
    let Some(choices) = chunk.get("choices").and_then(Value::as_array) else {
        return false;
    };
    let is_empty = |value: &Value| value.is_null() || value.as_str().is_some_and(str::is_empty);
    chunk.get("error").is_none_or(Value::is_null)
        && !choices.is_empty()
        && choices.iter().all(|choice| {
            choice.get("finish_reason").is_none_or(Value::is_null)
                && choice.get("delta").and_then(Value::as_object).is_some_and(|delta| {
                    delta.contains_key("role")
                        && delta.iter().all(|(name, value)| {
                            SAYS_NOTHING.contains(&name.as_str()) && (name == "role" || is_empty(value))
                        })
                })
        })
}

/// The status that a refusal has where it is not sent within a stream.
const STATUS: u16 = 400;
