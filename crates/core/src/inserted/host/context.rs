//! The standing context that a fold would take away, in its newest version.

use super::super::mark as handoff;
use super::envelope::{envelopes, is_host_text, without_envelopes};
use super::table::Newer;
use foldline_transcript::{PartKind, Role, Transcript};

/// A newer list replaces an older one when it repeats at least this share of its lines.
const REPEATED: f64 = 0.5;

/// What is known of one kind of context.
struct Version {
    kind: String,
    text: String,
    is_live: bool,
}

/// The standing context of messages that go, each kind in its newest version, in the order in which the kinds came up.
/// What stays in a live message in the same or a newer version is left out. `carried` is the request among the folded
/// messages that stays alive.
pub(crate) fn host_context(
    transcript: &Transcript<'_>,
    folded: &[usize],
    live: &[usize],
    carried: Option<usize>,
) -> Vec<String> {
    let mut versions: Vec<Version> = Vec::new();
    let first_reply = first_reply(transcript);
    for index in 0..transcript.messages.len() {
        let is_live = live.contains(&index);
        if !(is_live || folded.binary_search(&index).is_ok()) {
            continue;
        }
        each_text(transcript, index, |text, is_before_handoff| {
            if !text.contains(['<', '#']) && !is_host_text(text) {
                return;
            }
            let is_in_front = is_in_front(transcript, index, first_reply);
            let has_words = || is_in_front && speaks_beside(transcript, index, text);
            for envelope in envelopes(text) {
                let Some(newer) = envelope.stands(is_in_front) else {
                    continue;
                };
                if !envelope.is_known && !is_before_handoff && !has_words() {
                    continue;
                }
                // A request that is carried leaves the handoff behind, and what stands before it.
                let stays = is_live && !(is_before_handoff && carried == Some(index));
                let text = text.get(envelope.span).unwrap_or_default().trim().to_owned();
                note(&mut versions, Version { kind: envelope.kind, text, is_live: stays }, newer);
            }
        });
    }
    versions.into_iter().filter(|one| !one.is_live).map(|one| one.text).collect()
}

/// Takes note of a version: it takes the place of the one that it replaces.
fn note(versions: &mut Vec<Version>, version: Version, newer: Newer) {
    let same_text = versions.iter_mut().find(|one| one.kind == version.kind && one.text == version.text);
    if let Some(same) = same_text {
        same.is_live |= version.is_live;
        return;
    }
    let replaces = |one: &Version| {
        one.kind == version.kind
            && match newer {
                Newer::Replaces => true,
                Newer::ReplacesWhatItRepeats => repeats(&version.text, &one.text),
            }
    };
    let mut places = (0..versions.len()).filter(|&at| versions.get(at).is_some_and(replaces));
    let first = places.next();
    let others: Vec<usize> = places.collect();
    others.into_iter().rev().for_each(|at| drop(versions.remove(at)));
    match first.and_then(|at| versions.get_mut(at)) {
        Some(older) => *older = version,
        None => versions.push(version),
    }
}

/// Whether a list has most of the lines of an older one; the sentence above it says nothing about that.
fn repeats(newer: &str, older: &str) -> bool {
    let lines = || older.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('<')).skip(1);
    let all = lines().count();
    let again = lines().filter(|line| newer.lines().any(|other| other.trim() == *line)).count();
    again as f64 >= all as f64 * REPEATED
}

/// Calls `found` with each text of a user's message, and whether it stands before a handoff in it.
fn each_text(transcript: &Transcript<'_>, index: usize, mut found: impl FnMut(&str, bool)) {
    let Some(message) = transcript.messages.get(index).filter(|message| message.role == Role::User) else {
        return;
    };
    let handoff = handoff::handoff_part(transcript, index);
    for at in message.parts.start as usize..message.parts.end as usize {
        let Some(part) = transcript.parts.get(at).filter(|part| part.kind == PartKind::Text) else {
            continue;
        };
        let words = transcript.words(part);
        if Some(at) != handoff {
            found(&words, handoff.is_some_and(|handoff| at < handoff));
            continue;
        }
        let (before, after) = handoff::around(transcript, part);
        found(&before, true);
        found(&after, false);
    }
}

/// Whether a message stands where hosts lay down what holds for all that follows: before the assistant's first words, or
/// beside a handoff, which begins the conversation again.
fn is_in_front(transcript: &Transcript<'_>, index: usize, first_reply: usize) -> bool {
    let before = || (0..index).rev().find(|&before| transcript.messages.get(before).is_some_and(is_speaker));
    index < first_reply
        || handoff::is_handoff(transcript, index)
        || before().is_some_and(|before| handoff::is_only_handoff(transcript, before))
}

fn is_speaker(message: &foldline_transcript::Message) -> bool {
    !message.role.is_instruction() && message.role != Role::Meta
}

fn first_reply(transcript: &Transcript<'_>) -> usize {
    let reply = transcript.messages.iter().position(|message| message.role == Role::Assistant);
    reply.unwrap_or(transcript.messages.len())
}

/// Whether somebody speaks in a message beside a wrapper that nobody knows.
fn speaks_beside(transcript: &Transcript<'_>, index: usize, text: &str) -> bool {
    let mut speaks = !is_host_text(text);
    each_text(transcript, index, |other, _| {
        speaks |= other != text && !without_envelopes(other).trim().is_empty();
    });
    speaks
}

/// What a person says in a text of a user's message: nothing where it is a wrapper beside their words, or before a
/// handoff.
pub(crate) fn said<'w>(transcript: &Transcript<'_>, index: usize, words: &'w str) -> &'w str {
    if !words.trim_start().starts_with('<') || !is_host_text(words) {
        return words;
    }
    let mut is_before_handoff = false;
    each_text(transcript, index, |text, is_before| is_before_handoff |= is_before && text == words);
    let is_host = is_before_handoff
        || is_in_front(transcript, index, first_reply(transcript)) && speaks_beside(transcript, index, words);
    if is_host { "" } else { words }
}
