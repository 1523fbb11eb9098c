//! Conversation turns independent of the wire format.

use super::mark::{Artefact, synthetic};
use super::sharegpt;
use foldline_transcript::{Content, Format, Part, PartKind, Role, Transcript};
use serde_json::Value;

/// Who has the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    Human,
    Model,
    Tool,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    /// JSON text, as the model wrote it.
    pub arguments: String,
}

/// A tool's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub id: String,
    pub name: String,
    pub text: String,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub speaker: Speaker,
    pub is_synthetic: bool,
    pub thoughts: Vec<String>,
    pub texts: Vec<String>,
    pub calls: Vec<Call>,
    pub answers: Vec<Answer>,
}

impl Turn {
    fn of(speaker: Speaker) -> Turn {
        Turn {
            speaker,
            is_synthetic: false,
            thoughts: Vec::new(),
            texts: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.thoughts.is_empty() && self.texts.is_empty() && self.calls.is_empty() && self.answers.is_empty()
    }
}

/// The turns of a transcript. Items of one reply are one turn, and so are answers that follow each other.
pub(super) fn turns(transcript: &Transcript<'_>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    if let Some(system) = transcript.system.map(|span| transcript.raw(span)) {
        let mut turn = Turn::of(Speaker::System);
        turn.texts.push(system_words(system));
        turns.push(turn);
    }
    let artefacts = synthetic(transcript);
    for (index, message) in transcript.messages.iter().enumerate() {
        for part_index in message.parts.start as usize..message.parts.end as usize {
            let Some(part) = transcript.parts.get(part_index) else { continue };
            let Some(mut turn) = turn_of(transcript, part_index, part, message.role) else { continue };
            turn.is_synthetic = artefacts.iter().any(|artefact| match artefact {
                Artefact::Handoff(message) => *message == index,
                Artefact::MergedHandoff(part) | Artefact::Result(part) => *part == part_index,
            });
            add(&mut turns, turn);
        }
    }
    turns.retain(|turn| !turn.is_empty());
    sharegpt::number_calls(&mut turns);
    turns
}

/// Speakers take turns: what one says in a row is one turn, synthetic where a part of it is. Only answers stand apart,
/// each with its own label.
fn add(turns: &mut Vec<Turn>, turn: Turn) {
    let joins = |last: &Turn| {
        last.speaker == turn.speaker && (turn.speaker != Speaker::Tool || last.is_synthetic == turn.is_synthetic)
    };
    match turns.last_mut().filter(|last| joins(last)) {
        Some(last) => {
            last.is_synthetic |= turn.is_synthetic;
            last.thoughts.extend(turn.thoughts);
            last.texts.extend(turn.texts);
            last.calls.extend(turn.calls);
            last.answers.extend(turn.answers);
        }
        None => turns.push(turn),
    }
}

fn turn_of(transcript: &Transcript<'_>, part_index: usize, part: &Part, role: Role) -> Option<Turn> {
    let speaker = match role {
        Role::System | Role::Developer => Speaker::System,
        Role::Assistant => Speaker::Model,
        Role::Tool => Speaker::Tool,
        Role::User => Speaker::Human,
        Role::Other | Role::Meta => return None,
    };
    let words = transcript.words(part).into_owned();
    let mut turn = Turn::of(speaker);
    match part.kind {
        PartKind::Text if words.trim().is_empty() => return None,
        PartKind::Text | PartKind::ToolResult if transcript.format == Format::ShareGpt => {
            sharegpt::read(&words, &mut turn);
        }
        PartKind::Text => turn.texts.push(words),
        PartKind::Reasoning => turn.thoughts.push(words),
        // Plain words of signed reasoning are words; ciphertext is nothing to learn from.
        PartKind::Sealed => match part.content {
            Content::Text(_) if !words.trim().is_empty() => turn.thoughts.push(words),
            _ => return None,
        },
        PartKind::ToolCall => turn.calls.push(Call {
            id: transcript.raw(part.id).to_owned(),
            name: transcript.raw(part.name).to_owned(),
            arguments: words,
        }),
        PartKind::ToolResult => {
            turn.speaker = Speaker::Tool;
            turn.answers.push(Answer {
                id: transcript.raw(part.id).to_owned(),
                name: transcript.tool_of(part_index).to_owned(),
                text: words,
            });
        }
        PartKind::Media => turn.texts.push("[image]".to_owned()),
        PartKind::Opaque => return None,
    }
    Some(turn)
}

/// The words of a `system` field: a string, text blocks, or an object with such blocks as `parts`.
fn system_words(raw: &str) -> String {
    let value = serde_json::from_str(raw).map(|mut value: Value| match value.get_mut("parts") {
        Some(parts) => parts.take(),
        None => value,
    });
    match value {
        Ok(Value::String(words)) => words,
        Ok(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => raw.to_owned(),
    }
}
