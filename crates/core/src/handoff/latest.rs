//! A folded conversation as one text: for clients that take a summary instead of messages.

use super::render::{Turns, tell};
use crate::inserted::{CLOSING, ROOT, Section, USERS_WORDS, handoff_part, record_in};
use crate::ledger::{self, Stretches, Weights, Wishes};
use crate::tokens::Measure;
use foldline_transcript::{Role, Transcript};

/// Tokens that may be told of what stands beside the handoff.
const MOST_BESIDE: u32 = 6_000;
/// Room for headings and whatever else the record does not have yet.
const LEAST_ROOM: u32 = 300;

/// The latest handoff of a conversation with what stands before and after it told in the same record, so that the next fold reads
/// all of it back; `None` where there is no handoff.
pub fn latest(transcript: &Transcript<'_>) -> Option<String> {
    let (at, part) =
        (0..transcript.messages.len()).rev().find_map(|index| Some((index, handoff_part(transcript, index)?)))?;
    let part = transcript.parts.get(part)?;
    let words = transcript.words(part);
    let record = record_in(transcript, part, &words)?;
    let all: Vec<usize> = (0..transcript.messages.len()).filter(|&index| is_told(transcript, index)).collect();
    if all == [at] && record.own.trim().is_empty() {
        return Some(record.text.to_owned());
    }
    let wishes = Wishes { focus: None, pins: &[], weights: &Weights::default() };
    let mut ledger = ledger::gather(transcript, Stretches { folded: &all, live: &[] }, wishes);
    // No original has what stands beside the handoff.
    ledger.episodes.iter_mut().filter(|episode| episode.is_new).for_each(|episode| episode.turns = None);
    let measure = Measure::default();
    let beside: u32 = all.iter().filter(|&&index| index != at).map(|&index| tokens(transcript, index, &measure)).sum();
    let (opening, closing) = frame(record.text);
    let turns = if opening.contains(USERS_WORDS) { Turns::Unnamed } else { Turns::Named };
    let room = LEAST_ROOM + measure.text(record.text) + beside.min(MOST_BESIDE);
    let sections = tell(&ledger, room, &measure, turns);
    Some(format!("{}{sections}\n{closing}", with_root(opening, &ledger.root)))
}

/// Whether a message is part of what happened.
fn is_told(transcript: &Transcript<'_>, index: usize) -> bool {
    transcript.messages.get(index).is_some_and(|message| !message.role.is_instruction() && message.role != Role::Meta)
}

fn tokens(transcript: &Transcript<'_>, index: usize, measure: &Measure) -> u32 {
    transcript.messages.get(index).map_or(0, |message| measure.text(transcript.raw(message.span)))
}

/// What a handoff says of itself and of the active task, and its last line.
fn frame(handoff: &str) -> (&str, &str) {
    let task = format!("\n## {}\n", Section::ActiveTask.title());
    let first = handoff.find("\n## ").unwrap_or(handoff.len());
    let end = match handoff.get(first..).filter(|rest| rest.starts_with(&task)) {
        Some(rest) => rest.get(1..).and_then(|rest| rest.find("\n## ")).map_or(handoff.len(), |end| first + 1 + end),
        None => first,
    };
    let closing = handoff.find(CLOSING).and_then(|at| handoff.get(at..)?.lines().next()).unwrap_or_default();
    (handoff.get(..end).unwrap_or_default(), closing)
}

/// The opening with the folder that paths are relative to now.
fn with_root(opening: &str, root: &str) -> String {
    let mut lines: Vec<&str> = opening.lines().filter(|line| !line.starts_with(ROOT)).collect();
    let line = format!("{ROOT}{root} unless they say otherwise.");
    if !root.is_empty() {
        lines.insert(lines.len().min(2), &line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::{Format, wire};
    use serde_json::json;

    #[test]
    fn requests_before_the_handoff_and_all_that_followed_are_told_with_it() {
        let body = r#"{"messages":[
            {"role":"user","content":"Ship PAY-3391 first."},
            {"role":"assistant","content":"[FOLDLINE HANDOFF · reference only]\n\n## Key Decisions\n- The import reads feed v7.\n\n[END OF FOLDLINE HANDOFF]"},
            {"role":"user","content":"How far are you?"},
            {"role":"assistant","content":"Half of it."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        let places = ["Ship PAY-3391 first.", "How far are you?", "Half of it.", "- The import reads feed v7.", "[END"]
            .map(|words| told.find(words));
        assert!(told.starts_with("[FOLDLINE HANDOFF") && places.is_sorted() && places[0].is_some(), "{told}");
        let again =
            json!({ "messages": [{ "role": "assistant", "content": told }, { "role": "user", "content": "Go on." }] });
        let again = latest(&wire::read(&again.to_string(), Some(Format::Anthropic)).unwrap()).unwrap();
        for words in [
            "- The import reads feed v7.",
            "User: Ship PAY-3391 first.",
            "User: How far are you?",
            "Half of it.",
            "User: Go on.",
        ] {
            assert_eq!(again.matches(words).count(), 1, "{words}: {again}");
        }
    }

    #[test]
    fn a_request_in_the_message_of_the_handoff_is_told_with_it() {
        let body = r#"{"messages":[
            {"role":"user","content":[
                {"type":"text","text":"[FOLDLINE HANDOFF · reference only]\n\n## Goal\nThe import.\n\n[END OF FOLDLINE HANDOFF]"},
                {"type":"text","text":"Ship PAY-3391 first."}]},
            {"role":"assistant","content":"Half of it."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        assert!(told.contains("Ship PAY-3391 first.") && told.contains("Half of it."), "{told}");
    }

    #[test]
    fn a_request_that_the_handoff_names_is_told_in_its_place() {
        let body = r#"{"messages":[
            {"role":"user","content":"Ship PAY-3391 first.\n## Goal\nThen the rest."},
            {"role":"assistant","content":"[FOLDLINE HANDOFF · reference only]\nOriginals by episode: 1 fl-0123456789ab. `foldline recall HANDLE` prints them.\n\n## Completed Actions\n1. User [1:9]: the message beside this record, \"Ship PAY-3391 first. …\"\n   - $ make\n\n[END OF FOLDLINE HANDOFF]"},
            {"role":"user","content":"Go on."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        assert!(told.contains("1. User [1:9]: Ship PAY-3391 first.\n   "), "{told}");
        assert!(told.contains("Then the rest.\n   - $ make"), "{told}");
        assert!(!told.contains("\n## Goal") && !told.contains("beside this record"), "{told}");
    }

    #[test]
    fn a_conversation_without_a_handoff_has_none() {
        let body = r#"{"messages":[{"role":"user","content":"Hello."}]}"#;
        assert_eq!(latest(&wire::read(body, Some(Format::Anthropic)).unwrap()), None);
    }
}
