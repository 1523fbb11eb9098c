//! How a handoff is recognised: ours, and those of other compactors.

use crate::transcript::{Part, PartKind, Transcript};
use std::borrow::Cow;

/// How our handoffs begin.
pub const OPENING: &str = "[FOLDLINE HANDOFF";
/// How they end; what follows is live.
pub const CLOSING: &str = "[END OF FOLDLINE HANDOFF";

/// What comes before the handles of the folded messages.
pub(super) const ORIGINALS: &str = "Originals by episode: ";
/// What comes before the folder that paths are relative to.
pub(super) const ROOT: &str = "Paths are relative to ";
/// What comes before the names of sections that have nothing to say.
pub(super) const NOTHING: &str = "No entries of their own (see Completed Actions):";

/// Openings of handoffs that other compactors leave, so that they are updated and not stacked.
pub(super) const FOREIGN: [&str; 3] =
    ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT — for reference only"];

/// Whether a text is, or begins with, a handoff.
pub fn is_handoff_text(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(OPENING) || FOREIGN.iter().any(|mark| text.starts_with(mark))
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

fn find_handoffs(transcript: &Transcript<'_>) -> Vec<(u32, u32)> {
    let is_handoff = |part: &u32| {
        transcript.parts.get(*part as usize).is_some_and(|part| {
            // Marks start with a bracket: most texts are ruled out by their first byte.
            part.kind == PartKind::Text
                && transcript.raw(part.content.span().inner()).trim_start().starts_with('[')
                && is_handoff_text(&transcript.words(part))
        })
    };
    let numbered = transcript.messages.iter().zip(0..);
    numbered
        .filter_map(|(message, index)| Some((index, (message.parts.start..message.parts.end).find(is_handoff)?)))
        .collect()
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
            PartKind::Text if Some(part_index) == handoff => !split(&transcript.words(part)).1.trim().is_empty(),
            PartKind::Text => !transcript.is_blank(part),
            _ => false,
        }
    })
}

/// What a text part says beside a handoff that it begins with.
pub fn own_words<'a>(transcript: &Transcript<'a>, part: &Part) -> Cow<'a, str> {
    let words = transcript.words(part);
    match is_handoff_text(&words) {
        true => Cow::Owned(split(&words).1.to_owned()),
        false => words,
    }
}

/// The body of a handoff without its framing, and what follows it in the same text.
pub fn split(text: &str) -> (Cow<'_, str>, &str) {
    let (inside, rest) = match find_closing(text) {
        Some((start, end)) => {
            let (inside, tail) = text.split_at(start);
            (inside, tail.get(end - start..).unwrap_or_default())
        }
        None => (text, ""),
    };
    // The framing is everything before the first heading.
    let body = match inside.find("\n## ") {
        Some(at) => inside.get(at + 1..).unwrap_or_default(),
        // Without headings the opening mark itself is the framing.
        None => inside.split_once(']').map_or(inside, |(_, body)| body.trim_start_matches(':')),
    };
    (Cow::Borrowed(body.trim()), rest.trim_start())
}

/// The line that ends a handoff, ours or a foreign one.
fn find_closing(text: &str) -> Option<(usize, usize)> {
    let start = text.find(CLOSING).or_else(|| text.find("--- END OF CONTEXT SUMMARY"))?;
    let end = text.get(start..)?.find('\n').map_or(text.len(), |length| start + length);
    Some((start, end))
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
