//! How calls, answers and thoughts stand in the words of ShareGPT turns: between tags.

use super::turn::{Answer, Call, Speaker, Turn};
use serde_json::{Value, json};

const CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const ANSWER: (&str, &str) = ("<tool_response>", "</tool_response>");
const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// Reads the words of a turn into it.
pub(super) fn read(words: &str, turn: &mut Turn) {
    match turn.speaker {
        Speaker::Tool => {
            let (rest, answers) = taken_out(words, ANSWER);
            turn.answers.extend(answers.iter().map(|inside| read_answer(inside)));
            if answers.is_empty() {
                turn.answers.push(Answer { id: String::new(), name: String::new(), text: rest });
            }
        }
        Speaker::Model => {
            let (rest, thoughts) = taken_out(words, THOUGHT);
            let (rest, calls) = taken_out(&rest, CALL);
            turn.thoughts.extend(thoughts.into_iter().map(str::to_owned).filter(|thought| !thought.is_empty()));
            turn.calls.extend(calls.iter().map(|inside| read_call(inside)));
            turn.texts.extend(Some(rest).filter(|rest| !rest.is_empty()));
        }
        Speaker::System | Speaker::Human => turn.texts.push(words.to_owned()),
    }
}

/// What a tool says, without the tag and the envelope around it.
pub(super) fn answer_of(words: &str) -> &str {
    let Some(inside) = words.trim_start().strip_prefix(ANSWER.0) else {
        return words;
    };
    // The content is the last field of the envelope; its mark, if it has one, is its beginning.
    match inside.find("\"content\":") {
        Some(at) => inside.get(at + 10..).unwrap_or_default().trim_start().trim_start_matches('"'),
        None => inside,
    }
}

fn read_call(inside: &str) -> Call {
    let value: Value = serde_json::from_str(inside).unwrap_or(Value::Null);
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match value.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
        None => inside.to_owned(),
    };
    Call { id: String::new(), name, arguments }
}

fn read_answer(inside: &str) -> Answer {
    let value: Value = serde_json::from_str(inside).unwrap_or(Value::Null);
    let field = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let text = match value.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(content) => content.to_string(),
        None => inside.to_owned(),
    };
    Answer { id: field("tool_call_id"), name: field("name"), text }
}

/// A text without what stands between tags, and that.
fn taken_out<'a>(text: &'a str, (open, close): (&str, &str)) -> (String, Vec<&'a str>) {
    let (mut rest, mut inside) = (String::new(), Vec::new());
    let mut left = text;
    while let Some((before, after)) = left.split_once(open) {
        let Some((within, behind)) = after.split_once(close) else { break };
        rest.push_str(before);
        inside.push(within.trim());
        left = behind;
    }
    rest.push_str(left);
    (rest.trim().to_owned(), inside)
}

/// Calls and answers without ids get some, by their order: turns pair them by place.
pub(super) fn number_calls(turns: &mut [Turn]) {
    let mut number = 0;
    let mut open: Vec<(String, String)> = Vec::new();
    for turn in turns {
        if !turn.calls.is_empty() {
            open.clear();
        }
        for call in &mut turn.calls {
            number += 1;
            if call.id.is_empty() {
                call.id = format!("call_{number}");
            }
            open.push((call.id.clone(), call.name.clone()));
        }
        for answer in &mut turn.answers {
            let place = open.iter().position(|(id, _)| answer.id.is_empty() || *id == answer.id).unwrap_or(0);
            if place < open.len() && (answer.id.is_empty() || answer.name.is_empty()) {
                let (id, name) = open.remove(place);
                answer.id = id;
                answer.name = name;
            }
        }
    }
}

/// The words of a turn.
pub(super) fn write(turn: &Turn) -> String {
    let mut blocks: Vec<String> = Vec::new();
    if turn.speaker == Speaker::Model && !turn.thoughts.is_empty() {
        blocks.push(format!("{}\n{}\n{}", THOUGHT.0, turn.thoughts.join("\n"), THOUGHT.1));
    }
    blocks.extend(turn.texts.iter().cloned());
    for call in &turn.calls {
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
        let call = json!({"name": call.name, "arguments": arguments});
        blocks.push(format!("{}\n{call}\n{}", CALL.0, CALL.1));
    }
    for answer in &turn.answers {
        let answer = json!({"tool_call_id": answer.id, "name": answer.name, "content": answer.text});
        blocks.push(format!("{}\n{answer}\n{}", ANSWER.0, ANSWER.1));
    }
    blocks.join("\n")
}
