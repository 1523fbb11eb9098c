//! How a handoff is recognised: ours, and those of other compactors.

use super::foreign;
use super::host;
use foldline_transcript::{Part, PartKind, Role, Transcript};
use std::borrow::Cow;

/// How our handoffs begin.
pub const OPENING: &str = "[FOLDLINE HANDOFF";
/// How they end; what follows is live.
pub const CLOSING: &str = "[END OF FOLDLINE HANDOFF";

/// What comes before the handles of the folded messages.
pub(crate) const ORIGINALS: &str = "Originals by episode: ";
/// What comes before the folder that paths are relative to.
pub(crate) const ROOT: &str = "Paths are relative to ";
/// What says above the first section that the chronicle is the user's words, message by message.
pub(crate) const USERS_WORDS: &str = "the user's words";
/// What comes before the names of sections that have nothing to say.
pub(crate) const NOTHING: &str = "No entries of their own (see Completed Actions):";

/// A handoff in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'t> {
    /// What the host had put before it.
    pub before: &'t str,
    /// The handoff from its mark on.
    pub text: &'t str,
    /// What it says, without its framing.
    pub body: Cow<'t, str>,
    /// What else the text says.
    pub own: Cow<'t, str>,
    /// Who made it.
    pub maker: Maker,
}

/// Who made a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// We did.
    Foldline,
    /// Another compactor, or the client itself.
    Other,
}

/// The handoff in a text that is one, or begins with one. The standing context of the host may come before ours.
pub fn record(text: &str) -> Option<Record<'_>> {
    let start = start_of_ours(text);
    let Some(start) = start else {
        return foreign::record(text);
    };
    let (before, text) = text.split_at_checked(start)?;
    let (inside, own) = match text.find(CLOSING) {
        Some(closing) => {
            let (inside, tail) = text.split_at(closing);
            (inside, tail.find('\n').and_then(|end| tail.get(end..)).unwrap_or_default())
        }
        None => (text, ""),
    };
    // The framing is everything before the first heading.
    let body = match inside.find("\n## ") {
        Some(at) => inside.get(at + 1..).unwrap_or_default(),
        None => inside.split_once(']').map_or(inside, |(_, body)| body),
    };
    let (body, own) = (Cow::Borrowed(body.trim()), Cow::Borrowed(own.trim_start()));
    Some(Record { before, text, body, own, maker: Maker::Foldline })
}

fn start_of_ours(text: &str) -> Option<usize> {
    let words = text.trim_start();
    let start = match words.starts_with(OPENING) {
        true => 0,
        false if words.starts_with(['<', '#', 'T']) && words.contains(OPENING) => host::leading(text),
        false => return None,
    };
    let start = start + text.get(start..)?.len() - text.get(start..)?.trim_start().len();
    text.get(start..)?.starts_with(OPENING).then_some(start)
}

/// Whether a text is, or begins with, a handoff.
pub fn is_handoff_text(text: &str) -> bool {
    record(text).is_some()
}

/// Whether the message at `index` is or carries a handoff.
pub fn is_handoff(transcript: &Transcript<'_>, index: usize) -> bool {
    handoff_part(transcript, index).is_some()
}

/// The part of a message that is a handoff, or begins with one.
pub fn handoff_part(transcript: &Transcript<'_>, index: usize) -> Option<usize> {
    let handoffs = transcript.handoffs.get_or_init(|| find_handoffs(transcript));
    let place = handoffs.binary_search_by_key(&index, |(message, _)| *message as usize).ok()?;
    handoffs.get(place).map(|(_, part)| *part as usize)
}

/// Whether a client asked for a handoff in the message at `index`, and the next message is the answer.
pub fn asks_for_handoff(transcript: &Transcript<'_>, index: usize) -> bool {
    handoff_part(transcript, index + 1).is_some()
        && transcript.messages.get(index).is_some_and(|message| message.role == Role::User)
        && asks(transcript, index)
}

fn asks(transcript: &Transcript<'_>, index: usize) -> bool {
    let mut texts = transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text);
    texts.next().is_some_and(|part| transcript.words(part).trim() == foreign::ASKED) && texts.next().is_none()
}

fn find_handoffs(transcript: &Transcript<'_>) -> Vec<(u32, u32)> {
    let is_text = |part: &u32| {
        transcript
            .parts
            .get(*part as usize)
            .is_some_and(|part| part.kind == PartKind::Text && !transcript.is_blank(part))
    };
    let is_handoff = |part: &u32| {
        is_text(part)
            && transcript.parts.get(*part as usize).is_some_and(|part| {
                // Most texts are ruled out by their first byte.
                let raw = transcript.raw(part.content.span().inner()).trim_start();
                may_be_handoff(raw) && is_handoff_text(&transcript.words(part))
            })
    };
    let numbered = transcript.messages.iter().zip(0..);
    numbered
        .filter_map(|(message, index)| {
            let mut parts = message.parts.start..message.parts.end;
            let is_answer = message.role == Role::Assistant
                && index > 0
                && asks(transcript, index as usize - 1)
                && !parts.clone().any(|part| is_call(transcript, part));
            let part = if is_answer { parts.find(is_text) } else { parts.find(is_handoff) };
            Some((index, part?))
        })
        .collect()
}

fn is_call(transcript: &Transcript<'_>, part: u32) -> bool {
    transcript.parts.get(part as usize).is_some_and(|part| part.kind == PartKind::ToolCall)
}

fn may_be_handoff(raw: &str) -> bool {
    match raw.as_bytes().first() {
        Some(b'[' | b'\\') => true,
        Some(b'<' | b'#') => raw.starts_with(foreign::SNAPSHOT) || raw.contains(OPENING),
        Some(b'T' | b'A') => foreign::begins_one(raw) || raw.contains(OPENING),
        _ => false,
    }
}

/// Whether the message at `index` is a handoff and nothing else: no words or media of its own are merged with it.
pub fn is_only_handoff(transcript: &Transcript<'_>, index: usize) -> bool {
    is_handoff(transcript, index) && !speaks_beside(transcript, index)
}

fn speaks_beside(transcript: &Transcript<'_>, index: usize) -> bool {
    let handoff = handoff_part(transcript, index);
    let Some(message) = transcript.messages.get(index) else {
        return false;
    };
    (message.parts.start as usize..message.parts.end as usize).any(|part_index| {
        let Some(part) = transcript.parts.get(part_index) else {
            return false;
        };
        match part.kind {
            PartKind::Media => true,
            // What a host writes beside a handoff is nobody's words.
            PartKind::Text => {
                let is_before = handoff.is_some_and(|handoff| part_index < handoff);
                let own = own_words(transcript, part);
                !(own.trim().is_empty()
                    || host::without_envelopes(&own).trim().is_empty()
                    || is_before && host::is_host_text(&own))
            }
            _ => false,
        }
    })
}

/// The record that a part of a transcript is known to hold.
pub fn record_in<'t>(transcript: &Transcript<'_>, part: &Part, words: &'t str) -> Option<Record<'t>> {
    let handoffs = transcript.handoffs.get_or_init(|| find_handoffs(transcript));
    let is_known = || {
        let known = handoffs.iter().filter_map(|(_, known)| transcript.parts.get(*known as usize));
        known.into_iter().any(|known| known.span == part.span && !part.span.is_empty())
    };
    // An answer to a client that asked for a handoff is one without any mark.
    record(words).or_else(|| is_known().then(|| foreign::whole(words)))
}

/// What a text part says beside a handoff that it begins with.
pub fn own_words<'a>(transcript: &Transcript<'a>, part: &Part) -> Cow<'a, str> {
    let words = transcript.words(part);
    let own = record_in(transcript, part, &words).map(|record| record.own.into_owned());
    own.map_or(words, Cow::Owned)
}

/// What stands before and after a handoff in its text.
pub(crate) fn around(transcript: &Transcript<'_>, part: &Part) -> (String, String) {
    let words = transcript.words(part);
    match record_in(transcript, part, &words) {
        Some(record) => (record.before.to_owned(), record.own.into_owned()),
        None => (String::new(), words.into_owned()),
    }
}

/// The handles of originals that a handoff names, each with the episodes it holds.
pub fn originals(text: &str) -> Vec<String> {
    let line = text.lines().take(8).find_map(|line| line.strip_prefix(ORIGINALS));
    let list = line.and_then(|line| line.split_once(". `")).map_or("", |(list, _)| list);
    list.split(", ").filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

/// The folder that the paths of a handoff are relative to.
pub fn root(text: &str) -> Option<&str> {
    let line = text.lines().take(12).find_map(|line| line.strip_prefix(ROOT))?;
    line.strip_suffix(" unless they say otherwise.")
}
