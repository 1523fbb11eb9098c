//! Generates short damaged transcripts from a seed.

use crate::convert;
use crate::generate::Dice;
use foldline_core::Format;
use serde_json::{Value, json};

/// The formats that are judged.
const FORMATS: [Format; 3] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses];

/// A transcript with up to this many damages.
const MOST_DAMAGES: usize = 5;

/// A request body in one of the formats.
pub fn transcript(seed: u64) -> (Format, String) {
    let mut dice = Dice::new(seed);
    let format = FORMATS.get(dice.below(FORMATS.len())).copied().unwrap_or(Format::Anthropic);
    let mut body = convert::to(
        format,
        &json!({"model": "m", "max_tokens": 64, "system": "Be brief.", "messages": session(&mut dice)}),
    );
    let key = if format == Format::OpenAiResponses { "input" } else { "messages" };
    if let Some(list) = body.get_mut(key).and_then(Value::as_array_mut) {
        if format == Format::OpenAiResponses {
            name_items(list, &mut dice);
        }
        for _ in 0..dice.below(MOST_DAMAGES + 1) {
            damage(list, format, &mut dice);
        }
    }
    (format, body.to_string())
}

/// A few requests with work and answers, in Anthropic's words.
fn session(dice: &mut Dice) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut calls = 0;
    for turn in 0..dice.between(1, 6) {
        let mut asked = vec![json!({"type": "text", "text": words(dice, turn)})];
        if turn == 0 && dice.happens(30) {
            asked.insert(
                0,
                json!({"type": "text", "text": "<system-reminder>\n# claudeMd\nCount in cents.\n</system-reminder>"}),
            );
        }
        messages.push(json!({"role": "user", "content": asked}));
        for _ in 0..dice.below(4) {
            let mut reply = Vec::new();
            if dice.happens(40) {
                reply.push(json!({"type": "thinking", "thinking": "Hm.", "signature": format!("sig{calls}")}));
            }
            if dice.happens(50) {
                reply.push(json!({"type": "text", "text": words(dice, turn)}));
            }
            let mut results = Vec::new();
            for _ in 0..dice.between(1, 4) {
                calls += 1;
                let id = format!("c{calls}");
                reply.push(
                    json!({"type": "tool_use", "id": id, "name": "run", "input": {"command": format!("make {calls}")}}),
                );
                let output = "line of an output\n".repeat(dice.below(60));
                let content = match dice.below(3) {
                    0 => json!([{"type": "text", "text": format!("{output}end")}]),
                    _ => Value::from(output),
                };
                results.push(json!({"type": "tool_result", "tool_use_id": id, "content": content}));
            }
            messages.push(json!({"role": "assistant", "content": reply}));
            messages.push(json!({"role": "user", "content": results}));
        }
        if dice.happens(85) {
            messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": words(dice, turn)}]}));
        }
    }
    messages
}

fn words(dice: &mut Dice, turn: usize) -> String {
    let more = "It goes on for a while, as such things do. ".repeat(dice.below(12));
    match dice.below(25) {
        0 => "What did we do so far?".to_owned(),
        1 => format!(
            "[FOLDLINE HANDOFF · reference only]\n\n## Goal\n{more}\n\n[END OF FOLDLINE HANDOFF · go on]\nStep {turn}."
        ),
        2 => format!("This session is being continued from a previous conversation.\n\nSummary:\n1. Goal:\n{more}"),
        3 => format!("<environment_context>\n<cwd>/srv/{turn}</cwd>\n</environment_context>"),
        _ => format!("Step {turn} of the work. {more}"),
    }
}

/// Gives replies of the Responses API the ids that bind them to their reasoning.
fn name_items(list: &mut [Value], dice: &mut Dice) {
    if dice.happens(30) {
        return;
    }
    for (at, item) in list.iter_mut().enumerate() {
        let stem = match item.get("type").and_then(Value::as_str) {
            Some("reasoning") => "rs",
            Some("function_call") => "fc",
            Some("message") if item.get("role").and_then(Value::as_str) == Some("assistant") => "msg",
            _ => continue,
        };
        if let Some(fields) = item.as_object_mut() {
            fields.insert("id".to_owned(), Value::from(format!("{stem}_{at}")));
        }
    }
}

/// One damage, such as clients, interrupted sessions and other programs leave.
fn damage(list: &mut Vec<Value>, format: Format, dice: &mut Dice) {
    let at = dice.below(list.len());
    let other = dice.below(list.len());
    match dice.below(17) {
        0 if list.len() > 1 => drop(list.remove(at)),
        1 => {
            let copy = list.get(at).cloned();
            list.extend(copy);
        }
        2 if !list.is_empty() => {
            let copy = list.get(at).cloned().unwrap_or_default();
            list.insert(other, copy);
        }
        3 if !list.is_empty() => list.swap(at, other),
        // An interrupted session ends anywhere, most often amid results.
        4 | 5 => list.truncate(at.max(1)),
        6 => drop(list.drain(..at.min(list.len().saturating_sub(1)))),
        7 => set(list, at, "content", odd_content(dice)),
        8 => set(
            list,
            at,
            "role",
            Value::from(dice.pick(&["user", "assistant", "system", "tool", "narrator", "developer"])),
        ),
        9 => drop_block(list, at, dice),
        10 => add_block(list, at, format, dice),
        11 => rename(list, at, dice),
        12 => set(list, at, "tool_calls", json!([])),
        13 => break_arguments(list, at, dice),
        14 => list.insert(at, odd_element(format, dice)),
        15 => mark_all(list, dice),
        _ => drop_last_result(list, format),
    }
}

fn set(list: &mut [Value], at: usize, key: &str, value: Value) {
    if let Some(fields) = list.get_mut(at).and_then(Value::as_object_mut) {
        // Only what has such a field can have it wrong.
        if fields.contains_key(key) || key == "tool_calls" && fields.get("role").is_some_and(|role| role == "assistant")
        {
            fields.insert(key.to_owned(), value);
        }
    }
}

fn odd_content(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => Value::from(""),
        1 => Value::from(" \n"),
        2 => Value::Null,
        3 => json!([]),
        4 => json!(7),
        5 => json!([{"type": "text", "text": ""}]),
        6 => json!([{"type": "text", "text": "said"}, {"no": "type"}]),
        _ => json!([{"type": "thinking", "thinking": "Hm.", "signature": "s"}]),
    }
}

fn content_of(list: &mut [Value], at: usize) -> Option<&mut Vec<Value>> {
    list.get_mut(at)?.get_mut("content")?.as_array_mut()
}

fn drop_block(list: &mut [Value], at: usize, dice: &mut Dice) {
    if let Some(blocks) = content_of(list, at).filter(|blocks| !blocks.is_empty()) {
        blocks.remove(dice.below(blocks.len()));
    }
}

fn add_block(list: &mut [Value], at: usize, format: Format, dice: &mut Dice) {
    let id = format!("c{}", dice.below(6));
    let block = match dice.below(6) {
        0 => json!({"type": "text", "text": " "}),
        1 => json!({"type": "tool_result", "tool_use_id": id, "content": "again"}),
        2 => json!({"type": "tool_use", "id": id, "name": "run", "input": {}}),
        3 if format == Format::Anthropic => json!({"type": "thinking", "thinking": "Hm.", "signature": "s"}),
        4 => json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": ""}]}),
        _ => json!({"type": "text", "text": "by the way"}),
    };
    if let Some(blocks) = content_of(list, at) {
        blocks.insert(dice.below(blocks.len() + 1), block);
    }
}

/// Calls `change` with every object in a value.
fn each_object(value: &mut Value, change: &mut impl FnMut(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            change(fields);
            fields.values_mut().for_each(|value| each_object(value, change));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| each_object(value, change)),
        _ => {}
    }
}

/// Another id for a call or a result.
fn rename(list: &mut [Value], at: usize, dice: &mut Dice) {
    let id = dice.pick(&["", "c1", "c2", "c3", "nobody"]);
    if let Some(element) = list.get_mut(at) {
        each_object(element, &mut |fields| {
            for key in ["tool_use_id", "tool_call_id", "call_id"] {
                if let Some(slot) = fields.get_mut(key) {
                    *slot = Value::from(id);
                }
            }
            let is_call = fields.contains_key("function") || fields.get("type").is_some_and(|kind| kind == "tool_use");
            if let Some(slot) = fields.get_mut("id").filter(|_| is_call) {
                *slot = Value::from(id);
            }
        });
    }
}

fn break_arguments(list: &mut [Value], at: usize, dice: &mut Dice) {
    let odd = match dice.below(4) {
        0 => Value::from("{\"command\": \"ma"),
        1 => Value::from("not json"),
        2 => json!([1]),
        _ => Value::Null,
    };
    if let Some(element) = list.get_mut(at) {
        each_object(element, &mut |fields| {
            for key in ["input", "arguments"] {
                if let Some(slot) = fields.get_mut(key) {
                    *slot = odd.clone();
                }
            }
        });
    }
}

fn odd_element(format: Format, dice: &mut Dice) -> Value {
    let id = format!("c{}", dice.below(8));
    match (format, dice.below(5)) {
        (_, 0) => json!({"role": "user", "content": "and another thing"}),
        (_, 1) => json!({"role": "assistant", "content": "I see."}),
        (Format::OpenAiChat, 2) => json!({"role": "tool", "tool_call_id": id, "content": "late"}),
        (Format::OpenAiChat, _) => json!({"role": "assistant", "content": "", "tool_calls": null}),
        (Format::OpenAiResponses, 2) => json!({"type": "function_call_output", "call_id": id, "output": "late"}),
        (Format::OpenAiResponses, 3) => {
            json!({"type": "reasoning", "id": format!("rs_x{id}"), "summary": [], "encrypted_content": "e"})
        }
        (Format::OpenAiResponses, _) => {
            json!({"type": "function_call", "call_id": id, "name": "run", "arguments": "{}"})
        }
        (_, 2) => json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "late"}]}),
        (_, 3) => json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {}}]}),
        _ => json!({"role": "system", "content": "Mind the gap."}),
    }
}

fn mark_all(list: &mut [Value], dice: &mut Dice) {
    let many = dice.between(1, 7);
    let mut marked = 0;
    for element in list {
        each_object(element, &mut |fields| {
            let is_block = fields.get("type").is_some_and(|kind| kind == "text");
            if is_block && marked < many && fields.get("text").is_some_and(|text| text != "") {
                fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
                marked += 1;
            }
        });
    }
}

/// The last results are there in part.
fn drop_last_result(list: &mut Vec<Value>, format: Format) {
    let is_result = |element: &Value| match format {
        Format::OpenAiChat => element.get("role").is_some_and(|role| role == "tool"),
        Format::OpenAiResponses => element.get("type").is_some_and(|kind| kind == "function_call_output"),
        _ => element.get("content").and_then(Value::as_array).is_some_and(|blocks| {
            blocks.first().and_then(|block| block.get("type")).is_some_and(|kind| kind == "tool_result")
        }),
    };
    let Some(last) = list.iter().rposition(is_result) else {
        return;
    };
    list.truncate(last + 1);
    match content_of(list, last).filter(|blocks| blocks.len() > 1 && format == Format::Anthropic) {
        Some(blocks) => drop(blocks.pop()),
        None => drop(list.pop()),
    }
}
