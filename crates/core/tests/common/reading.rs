//! Reads results back with a plain JSON parser, independent of the engine's reader.

use foldline_core::{Format, Transcript};
use serde_json::Value;

/// One message, item or line.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub role: String,
    /// Words, block by block.
    pub texts: Vec<String>,
    /// Call id and arguments.
    pub calls: Vec<(String, Value)>,
    /// Call id and text.
    pub results: Vec<(String, String)>,
    /// Images, also inside results.
    pub images: usize,
}

/// The messages of a document.
pub fn said(format: Format, body: &str) -> Vec<Said> {
    elements(body).iter().filter_map(|element| one(format, element)).collect()
}

/// The elements of a document as JSON.
pub fn elements(body: &str) -> Vec<Value> {
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(object)) => ["messages", "input", "conversations", "contents"]
            .iter()
            .find_map(|key| object.get(*key)?.as_array().cloned())
            .unwrap_or_else(|| vec![Value::Object(object.clone())]),
        _ => body
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect(),
    }
}

fn one(format: Format, element: &Value) -> Option<Said> {
    let element = match format {
        Format::ClaudeCode => element.get("message")?,
        _ => element,
    };
    let mut said = Said::default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    said.role = match element.get("role").or(element.get("from")).and_then(Value::as_str) {
        Some("human") => "user".to_owned(),
        Some("gpt" | "model") => "assistant".to_owned(),
        Some(role) => role.to_owned(),
        None => String::new(),
    };
    match element["type"].as_str() {
        Some("function_call") => {
            "assistant".clone_into(&mut said.role);
            let arguments = serde_json::from_str(element["arguments"].as_str()?).unwrap_or(Value::Null);
            said.calls.push((text(&element["call_id"]), arguments));
        }
        Some("function_call_output") => {
            "tool".clone_into(&mut said.role);
            said.results.push((text(&element["call_id"]), words(&element["output"], &mut said.images)));
        }
        _ => {}
    }
    for part in element["parts"].as_array().into_iter().flatten() {
        said.images += usize::from(part.get("inlineData").is_some());
        if let Some(words) = part.get("text").filter(|_| part["thought"] != true) {
            said.texts.push(text(words));
        }
        if let Some(call) = part.get("functionCall") {
            said.calls.push((text(&call["id"]), call["args"].clone()));
        }
        if let Some(result) = part.get("functionResponse") {
            said.images += result["parts"].as_array().map_or(0, Vec::len);
            let response = &result["response"];
            let words = response.get("output").or(response.get("error")).unwrap_or(&Value::Null);
            said.results.push((text(&result["id"]), text(words)));
        }
    }
    let content = element.get("content").or(element.get("value")).unwrap_or(&Value::Null);
    if said.role == "tool" {
        if let Some(id) = element.get("tool_call_id") {
            said.results.push((text(id), words(content, &mut said.images)));
        }
        return Some(said);
    }
    for call in element["tool_calls"].as_array().into_iter().flatten() {
        let arguments = serde_json::from_str(call["function"]["arguments"].as_str()?).unwrap_or(Value::Null);
        said.calls.push((text(&call["id"]), arguments));
    }
    match content {
        Value::String(text) => said.texts.push(text.clone()),
        Value::Array(blocks) => {
            for block in blocks {
                match block["type"].as_str().unwrap_or_default() {
                    "text" | "input_text" | "output_text" => said.texts.push(text(&block["text"])),
                    "tool_use" => said.calls.push((text(&block["id"]), block["input"].clone())),
                    "tool_result" => {
                        said.results.push((text(&block["tool_use_id"]), words(&block["content"], &mut said.images)))
                    }
                    "image" | "image_url" | "input_image" => said.images += 1,
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Some(said)
}

fn words(value: &Value, images: &mut usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            *images +=
                blocks.iter().filter(|block| block["type"].as_str().is_some_and(|kind| kind.contains("image"))).count();
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The text of the handoff in a document, if there is one.
pub fn handoff(format: Format, body: &str) -> Option<String> {
    said(format, body).into_iter().flat_map(|said| said.texts).find(|text| text.starts_with("[FOLDLINE HANDOFF"))
}

/// What stands in one section of a handoff.
pub fn section<'a>(handoff: &'a str, title: &str) -> &'a str {
    let heading = format!("\n## {title}\n");
    let Some((_, rest)) = handoff.split_once(&heading) else {
        return "";
    };
    rest.split("\n## ").next().unwrap_or(rest).split("\n[END OF").next().unwrap_or(rest).trim()
}

/// All handles that a text shows.
pub fn handles(text: &str) -> Vec<String> {
    text.match_indices("fl-")
        .filter_map(|(at, _)| text.get(at..at + 15))
        .filter(|handle| handle[3..].bytes().all(|byte| byte.is_ascii_hexdigit()))
        .map(str::to_owned)
        .collect()
}

/// The source of each message.
pub fn raws<'a>(transcript: &Transcript<'a>) -> Vec<&'a str> {
    transcript.messages.iter().map(|message| transcript.raw(message.span)).collect()
}
