//! A recorded Anthropic session in the other wire formats.
//!
//! Real sessions are messy, and the mess is carried over: blank texts, orphan results and interrupted
//! calls come out as what they would be there. Blocks keep their order; nothing is repaired.

use foldline_core::Format;
use serde_json::{Map, Value, json};

/// The model that converted sessions name: known to the table, without a price step.
const OPENAI_MODEL: &str = "gpt-5";

/// The signature of the first call of every reply: whoever signs one must sign all.
const SIGNATURE: &str = "c2lnbmVk";

/// The session in `format`; as it is for all that speak Anthropic blocks.
pub fn to(format: Format, session: &Value) -> Value {
    match format {
        Format::OpenAiChat => to_chat(session),
        Format::OpenAiResponses => to_responses(session),
        Format::Gemini => to_gemini(session),
        _ => session.clone(),
    }
}

/// How many elements a message becomes in `format`.
pub fn elements(message: &Value, format: Format) -> usize {
    match format {
        Format::OpenAiChat => chat_messages(message).len(),
        Format::OpenAiResponses => items(message).len(),
        _ => 1,
    }
}

/// As a Chat Completions request.
pub fn to_chat(session: &Value) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = system_of(session) {
        messages.push(json!({"role": "system", "content": system}));
    }
    messages.extend(messages_of(session).iter().flat_map(chat_messages));
    json!({"model": OPENAI_MODEL, "messages": messages, "stream": true})
}

/// As a Responses request.
pub fn to_responses(session: &Value) -> Value {
    let input: Vec<Value> = messages_of(session).iter().flat_map(items).collect();
    match system_of(session) {
        Some(system) => json!({"model": OPENAI_MODEL, "instructions": system, "input": input, "store": false}),
        None => json!({"model": OPENAI_MODEL, "input": input, "store": false}),
    }
}

/// As a Gemini request.
pub fn to_gemini(session: &Value) -> Value {
    let mut names = Map::new();
    let contents: Vec<Value> = messages_of(session).iter().map(|message| content(message, &mut names)).collect();
    match system_of(session) {
        Some(system) => json!({"systemInstruction": {"parts": [{"text": system}]}, "contents": contents}),
        None => json!({"contents": contents}),
    }
}

/// A message as a content. `names` are those of the tools that were called, by the id of the call.
fn content(message: &Value, names: &mut Map<String, Value>) -> Value {
    let role = if text(message, "role") == "assistant" { "model" } else { "user" };
    let mut is_signed = false;
    let mut parts = Vec::new();
    for block in blocks(message) {
        let part = match text(&block, "type") {
            "tool_use" => {
                let (id, name) = (text(&block, "id"), text(&block, "name"));
                names.insert(id.to_owned(), name.into());
                let args = block.get("input").cloned().unwrap_or_else(|| json!({}));
                let mut part = json!({"functionCall": {"id": id, "name": name, "args": args}});
                if !std::mem::replace(&mut is_signed, true) {
                    part["thoughtSignature"] = SIGNATURE.into();
                }
                part
            }
            "tool_result" => response(&block, names),
            "thinking" => json!({"text": text(&block, "thinking"), "thought": true}),
            "redacted_thinking" => continue,
            "image" => inline(&block),
            _ => json!({"text": text(&block, "text")}),
        };
        parts.push(part);
    }
    json!({"role": role, "parts": parts})
}

fn response(block: &Value, names: &Map<String, Value>) -> Value {
    let id = text(block, "tool_use_id");
    let inner = match block.get("content") {
        Some(Value::Array(inner)) => inner.clone(),
        Some(Value::String(words)) => vec![json!({"type": "text", "text": words})],
        _ => Vec::new(),
    };
    let (images, words): (Vec<&Value>, Vec<&Value>) = inner.iter().partition(|block| text(block, "type") == "image");
    let words = words.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n");
    let key = if block.get("is_error") == Some(&Value::Bool(true)) { "error" } else { "output" };
    let name = names.get(id).and_then(Value::as_str).unwrap_or("unknown");
    let mut response = json!({"id": id, "name": name, "response": {key: words}});
    if !images.is_empty() {
        response["parts"] = images.into_iter().map(inline).collect();
    }
    json!({"functionResponse": response})
}

fn inline(image: &Value) -> Value {
    let source = image.get("source").unwrap_or(&Value::Null);
    match text(source, "type") {
        "url" => json!({"fileData": {"mimeType": "image/*", "fileUri": text(source, "url")}}),
        _ => json!({"inlineData": {"mimeType": text(source, "media_type"), "data": text(source, "data")}}),
    }
}

fn messages_of(session: &Value) -> &[Value] {
    session.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn system_of(session: &Value) -> Option<String> {
    let system = session.get("system")?;
    match system.as_array() {
        Some(blocks) => Some(blocks.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n\n")),
        None => system.as_str().map(str::to_owned),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The blocks of a message; a string is a single text block.
fn blocks(message: &Value) -> Vec<Value> {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(Value::String(words)) => vec![json!({"type": "text", "text": words})],
        _ => Vec::new(),
    }
}

fn chat_messages(message: &Value) -> Vec<Value> {
    match text(message, "role") {
        "assistant" => vec![chat_reply(&blocks(message))],
        "user" => chat_turn(&blocks(message)),
        _ => vec![message.clone()],
    }
}

/// Results become messages of their own; what stands between them stays between them.
fn chat_turn(blocks: &[Value]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut spoken = Vec::new();
    for block in blocks {
        if text(block, "type") == "tool_result" {
            if !spoken.is_empty() {
                messages.push(json!({"role": "user", "content": chat_content(&std::mem::take(&mut spoken))}));
            }
            let content = match block.get("content") {
                Some(Value::Array(inner)) => chat_content(inner),
                Some(Value::String(words)) => Value::from(words.as_str()),
                _ => Value::from(""),
            };
            messages.push(json!({"role": "tool", "tool_call_id": text(block, "tool_use_id"), "content": content}));
        } else {
            spoken.push(block.clone());
        }
    }
    if !spoken.is_empty() || messages.is_empty() {
        messages.push(json!({"role": "user", "content": chat_content(&spoken)}));
    }
    messages
}

/// A single text is a string, as most clients write it; everything else is a list of parts.
fn chat_content(blocks: &[Value]) -> Value {
    match blocks {
        [only] if text(only, "type") == "text" => Value::from(text(only, "text")),
        _ => blocks
            .iter()
            .map(|block| match text(block, "type") {
                "image" => json!({"type": "image_url", "image_url": {"url": image_address(block)}}),
                _ => json!({"type": "text", "text": text(block, "text")}),
            })
            .collect(),
    }
}

fn chat_reply(blocks: &[Value]) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let of_kind = |kind: &str| blocks.iter().filter(|block| text(block, "type") == kind).cloned().collect::<Vec<_>>();
    let words = of_kind("text");
    message.insert("content".into(), if words.is_empty() { Value::Null } else { chat_content(&words) });
    let thoughts = of_kind("thinking");
    if !thoughts.is_empty() {
        let thoughts: Vec<_> = thoughts.iter().map(|block| text(block, "thinking")).collect();
        message.insert("reasoning_content".into(), thoughts.join("\n").into());
    }
    let calls: Vec<Value> = of_kind("tool_use")
        .iter()
        .map(|block| {
            let function = json!({"name": text(block, "name"), "arguments": arguments(block)});
            json!({"id": text(block, "id"), "type": "function", "function": function})
        })
        .collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

fn items(message: &Value) -> Vec<Value> {
    let role = text(message, "role");
    let mut items: Vec<Value> = Vec::new();
    let mut spoken = Vec::new();
    for block in blocks(message) {
        if matches!(text(&block, "type"), "text" | "image") {
            spoken.push(item_part(role, &block));
            continue;
        }
        speak(role, &mut spoken, &mut items);
        items.extend(item(&block));
    }
    speak(role, &mut spoken, &mut items);
    items
}

fn speak(role: &str, spoken: &mut Vec<Value>, items: &mut Vec<Value>) {
    if !spoken.is_empty() {
        items.push(json!({"type": "message", "role": role, "content": std::mem::take(spoken)}));
    }
}

fn item_part(role: &str, block: &Value) -> Value {
    match (text(block, "type"), role) {
        ("image", _) => json!({"type": "input_image", "image_url": image_address(block)}),
        (_, "assistant") => json!({"type": "output_text", "text": text(block, "text"), "annotations": []}),
        _ => json!({"type": "input_text", "text": text(block, "text")}),
    }
}

fn item(block: &Value) -> Option<Value> {
    Some(match text(block, "type") {
        "thinking" => json!({
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text(block, "thinking")}],
            "encrypted_content": text(block, "signature"),
        }),
        "redacted_thinking" => json!({"type": "reasoning", "summary": [], "encrypted_content": text(block, "data")}),
        "tool_use" => json!({
            "type": "function_call",
            "call_id": text(block, "id"),
            "name": text(block, "name"),
            "arguments": arguments(block),
        }),
        "tool_result" => {
            let output = match block.get("content") {
                Some(Value::Array(inner)) => inner.iter().map(|block| item_part("user", block)).collect(),
                Some(Value::String(words)) => Value::from(words.as_str()),
                _ => Value::from(""),
            };
            json!({"type": "function_call_output", "call_id": text(block, "tool_use_id"), "output": output})
        }
        _ => return None,
    })
}

fn arguments(call: &Value) -> String {
    call.get("input").map_or_else(|| "{}".to_owned(), Value::to_string)
}

fn image_address(block: &Value) -> String {
    let source = block.get("source").unwrap_or(&Value::Null);
    match text(source, "type") {
        "url" => text(source, "url").to_owned(),
        _ => format!("data:{};base64,{}", text(source, "media_type"), text(source, "data")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Value {
        json!({"system": "Be brief.", "messages": [
            {"role": "user", "content": "Look at a.rs"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": ""},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.rs"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "fn main() {}"}]},
                {"type": "tool_result", "tool_use_id": "t0", "content": "an orphan"},
                {"type": "text", "text": "And?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            ]},
        ]})
    }

    #[test]
    fn a_session_becomes_a_chat_with_its_mess() {
        assert_eq!(
            to_chat(&session())["messages"],
            json!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Look at a.rs"},
                {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "fn main() {}"},
                {"role": "tool", "tool_call_id": "t0", "content": "an orphan"},
                {"role": "user", "content": [
                    {"type": "text", "text": "And?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
            ])
        );
    }

    #[test]
    fn a_session_becomes_items_in_the_same_order() {
        let body = to_responses(&session());
        assert_eq!(body["instructions"], "Be brief.");
        let kinds: Vec<_> = body["input"].as_array().unwrap().iter().map(|item| text(item, "type")).collect();
        assert_eq!(
            kinds,
            [
                "message",
                "reasoning",
                "message",
                "function_call",
                "function_call_output",
                "function_call_output",
                "message"
            ]
        );
        assert_eq!(body["input"][6]["content"][1]["image_url"], "data:image/png;base64,AAAA");
    }

    #[test]
    fn a_session_becomes_contents_of_gemini() {
        let body = to_gemini(&session());
        assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
        assert_eq!(
            body["contents"][1]["parts"],
            json!([{"text": "Hm.", "thought": true}, {"text": ""},
                {"functionCall": {"id": "t1", "name": "read", "args": {"path": "a.rs"}}, "thoughtSignature": SIGNATURE}])
        );
        assert_eq!(
            body["contents"][2]["parts"],
            json!([{"functionResponse": {"id": "t1", "name": "read", "response": {"output": "fn main() {}"}}},
                {"functionResponse": {"id": "t0", "name": "unknown", "response": {"output": "an orphan"}}},
                {"text": "And?"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}])
        );
    }

    #[test]
    fn elements_are_counted_as_they_are_written() {
        let session = session();
        for format in [Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini] {
            let counted: usize = messages_of(&session).iter().map(|message| elements(message, format)).sum();
            let body = to(format, &session);
            let written =
                body.get("messages").or(body.get("input")).or(body.get("contents")).and_then(Value::as_array).unwrap();
            let system = written.iter().filter(|message| text(message, "role") == "system").count();
            assert_eq!(counted, written.len() - system, "{format}");
        }
    }
}
