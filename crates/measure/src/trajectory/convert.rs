//! Writing a conversation in the form that trainers read.

use super::sharegpt;
use super::turn::{Speaker, Turn, turns};
use foldline_transcript::Transcript;
use serde_json::{Map, Value, json};

/// A form for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `{"conversations": [{"from", "value"}]}`, calls and answers between tags.
    ShareGpt,
    /// `{"messages": [...]}` as Chat Completions has them.
    OpenAiChat,
}

/// Whether synthetic turns get a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// They get the field `"synthetic": true`.
    Write,
    /// They look like all others.
    Omit,
}

/// Writes a transcript as one line of JSON. Images become a placeholder, signatures go: neither form has a place for them.
pub fn convert(transcript: &Transcript<'_>, target: Target, labels: Labels) -> String {
    let turns = turns(transcript);
    let value = match target {
        Target::ShareGpt => {
            json!({"conversations": turns.iter().map(|turn| labelled(share(turn), turn, labels)).collect::<Vec<_>>()})
        }
        Target::OpenAiChat => {
            let messages: Vec<Value> = turns.iter().flat_map(|turn| chat(turn, labels)).collect();
            json!({"messages": messages})
        }
    };
    value.to_string()
}

fn labelled(mut message: Map<String, Value>, turn: &Turn, labels: Labels) -> Value {
    if turn.is_synthetic && labels == Labels::Write {
        message.insert("synthetic".into(), true.into());
    }
    Value::Object(message)
}

fn share(turn: &Turn) -> Map<String, Value> {
    let from = match turn.speaker {
        Speaker::System => "system",
        Speaker::Human => "human",
        Speaker::Model => "gpt",
        Speaker::Tool => "tool",
    };
    fields([("from", from.into()), ("value", sharegpt::write(turn).into())])
}

fn chat(turn: &Turn, labels: Labels) -> Vec<Value> {
    let role = match turn.speaker {
        Speaker::System => "system",
        Speaker::Human => "user",
        Speaker::Model => "assistant",
        Speaker::Tool => {
            let messages = turn.answers.iter().map(|answer| {
                let text = Value::from(answer.text.as_str());
                fields([("role", "tool".into()), ("tool_call_id", answer.id.as_str().into()), ("content", text)])
            });
            return messages.map(|message| labelled(message, turn, labels)).collect();
        }
    };
    let content = match turn.texts.is_empty() {
        true if !turn.calls.is_empty() => Value::Null,
        _ => turn.texts.join("\n").into(),
    };
    let mut message = fields([("role", role.into()), ("content", content)]);
    if !turn.thoughts.is_empty() {
        message.insert("reasoning_content".into(), turn.thoughts.join("\n").into());
    }
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .map(|call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}))
        .collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    vec![labelled(message, turn, labels)]
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
