//! `POST /v1/compress` and `GET /v1/retrieve/{hash}`, as other gateways speak them (LiteLLM's guardrail, Kong): old tool
//! outputs of a list of messages made shorter, each with the hash under which it comes back.
//!
//! What an output becomes is a function of the output alone, so the same messages come out in the same bytes each time and
//! prompt caches keep hitting. Callers put messages back by their place: none is added, dropped or moved. What cannot be
//! kept is not made shorter.

use super::Body;
use super::answer::{Refusal, json_answer};
use super::connection::RequestGuard;
use super::endpoints::error;
use super::gateway::{Gateway, now};
use super::inbound;
use super::query::Parameters;
use super::turn::unpack;
use crate::conversation::{Conversations, CredentialId};
use foldline_core::output::{Output, shorten};
use foldline_core::reading::{PAGE_SIZES, Reach, Way};
use foldline_core::tokens::estimate;
use foldline_store::{Address, Digest, KeyScope, NewOriginal, Original, Recall, Wanted};
use foldline_transcript::recall::Handle;
use http::request::Parts;
use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::sync::Arc;

/// Hex digits of a hash: as many as LiteLLM looks for.
const HASH: usize = 24;
/// Lines around each one that fits a query.
const AROUND: usize = 3;

/// Answers `POST /v1/compress`.
pub async fn compress(
    gateway: &Arc<Gateway>,
    parts: Parts,
    body: Incoming,
    guard: &RequestGuard,
) -> Result<Response<Body>, Refusal> {
    let setup = gateway.setup();
    let credential = setup.keys.authorise(&parts.headers, &[KeyScope::Generate])?;
    let receiving = guard.receive();
    let wire = inbound::read(body, setup.bounds, &gateway.memory).await?;
    drop(receiving);
    let _place = gateway.acquire().await?;
    let plain = unpack(gateway, &parts, wire, setup.bounds).await?;
    let (conversations, above) = (gateway.conversations.clone(), setup.policy.compression.prune_above);
    let mut parsed = gateway.memory.lease();
    let work = tokio::task::spawn_blocking(move || -> Result<Option<Value>, Refusal> {
        parsed.grow_to(values(&plain).saturating_mul(VALUE_BYTES))?;
        let request = serde_json::from_slice(&plain).ok();
        let messages = request.and_then(|mut request: Value| request.get_mut("messages").map(Value::take));
        Ok(messages.filter(is_filled).map(|messages| shorter(&conversations, &credential, messages, above)))
    });
    Ok(match work.await {
        Ok(Err(refusal)) => return Err(refusal),
        Ok(Ok(Some(reply))) => json_answer(StatusCode::OK, &reply),
        Ok(Ok(None)) => error(StatusCode::BAD_REQUEST, r#"expected {"messages": [{"role": …, "content": …}, …]}"#),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the messages could not be read"),
    })
}

/// Answers `GET /v1/retrieve/{hash}`.
pub async fn retrieve(gateway: &Arc<Gateway>, hash: String, parts: Parts) -> Result<Response<Body>, Refusal> {
    let setup = gateway.setup();
    let credential = setup.keys.authorise(&parts.headers, &[KeyScope::Recall])?;
    let parameters = match Parameters::read(parts.uri.query(), &["query"]) {
        Ok(parameters) => parameters,
        Err(wrong) => return Ok(error(StatusCode::BAD_REQUEST, &wrong.to_string())),
    };
    let Ok(address) = hash.parse::<Address>() else {
        return Ok(error(StatusCode::BAD_REQUEST, "that is no hash; expected 24 hex digits"));
    };
    let conversations = gateway.conversations.clone();
    let found = tokio::task::spawn_blocking(move || conversations.recall(&credential, address, now()));
    Ok(match found.await {
        Ok(Ok(Recall::Found(original))) => {
            let content = fitting(&original, parameters.get("query"));
            json_answer(StatusCode::OK, &json!({ "hash": hash, "original_content": content.unwrap_or(original.text) }))
        }
        Ok(Ok(_)) => error(StatusCode::NOT_FOUND, "no original of yours has that hash"),
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the original could not be read"),
    })
}

/// What a value takes when it is parsed, however short it is: room in a list that doubles when it is full, and once more
/// because the messages are kept as they came.
const VALUE_BYTES: usize = 3 * size_of::<Value>();

/// How many values a text of JSON has, at most.
fn values(json: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b',' | b':' | b'[' | b'{' => count += 1,
            b'"' => at += string_length(json.get(at..).unwrap_or_default()),
            _ => {}
        }
    }
    count
}

/// Length of a string that has begun, with its closing quote.
fn string_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        match text.get(at) {
            Some(b'"') => return at + 1,
            _ => at += 2,
        }
    }
    text.len()
}

fn is_filled(messages: &Value) -> bool {
    messages.as_array().is_some_and(|messages| !messages.is_empty())
}

/// The reply for a list of messages.
fn shorter(conversations: &Conversations, credential: &CredentialId, messages: Value, above: u32) -> Value {
    let before = tokens(&messages);
    let mut made = messages.clone();
    let mut removed = Vec::new();
    each_output(&mut made, &mut |tool, text| shorten_text(tool, text, above, &mut removed));
    let originals: Vec<NewOriginal<'_>> =
        removed.iter().map(|(tool, text)| NewOriginal { handle: Handle::of(text), text, tool }).collect();
    // Handles lead somewhere, or nothing is changed.
    let is_kept = !originals.is_empty()
        && conversations.keep_originals(credential, &originals, now()).unwrap_or_else(|fault| {
            tracing::warn!(kind = "store", %fault, "outputs are left as they are");
            false
        });
    let (messages, hashes) = match is_kept {
        true => (made, removed.iter().map(|(_, text)| hash(text)).collect()),
        false => (messages, Vec::new()),
    };
    let after = tokens(&messages);
    json!({
        "messages": messages,
        "tokens_before": before,
        "tokens_after": after,
        "tokens_saved": before.saturating_sub(after),
        "compression_ratio": if before == 0 { 1.0 } else { f64::from(after) / f64::from(before) },
        "transforms_applied": if hashes.is_empty() { json!([]) } else { json!(["foldline"]) },
        "ccr_hashes": hashes,
    })
}

/// Calls `change` with every text that a tool printed, and the tool's name where it is known.
fn each_output(messages: &mut Value, change: &mut dyn FnMut(&str, &mut String)) {
    for message in messages.as_array_mut().into_iter().flatten() {
        let is_output = matches!(message.get("role").and_then(Value::as_str), Some("tool" | "function"));
        let tool = message.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(content) = message.get_mut("content") else { continue };
        if is_output {
            each_text(content, &tool, change);
            continue;
        }
        for block in content.as_array_mut().into_iter().flatten() {
            if block.get("type").and_then(Value::as_str) == Some("tool_result")
                && let Some(content) = block.get_mut("content")
            {
                each_text(content, "", change);
            }
        }
    }
}

/// The text of a content: itself, or that of its blocks.
fn each_text(content: &mut Value, tool: &str, change: &mut dyn FnMut(&str, &mut String)) {
    match content {
        Value::String(text) => change(tool, text),
        Value::Array(blocks) => {
            for block in blocks {
                if let Some(Value::String(text)) = block.get_mut("text") {
                    change(tool, text);
                }
            }
        }
        _ => {}
    }
}

fn shorten_text(tool: &str, text: &mut String, above: u32, removed: &mut Vec<(String, String)>) {
    if estimate(text) <= above {
        return;
    }
    let output = Output { tool, arguments: "", text };
    if let Some(short) = shorten(&output, |_| format!("; all of it: hash={}", hash(text))) {
        removed.push((tool.to_owned(), std::mem::replace(text, short.text)));
    }
}

fn hash(text: &str) -> String {
    Digest::of(text).hex(HASH)
}

fn tokens(messages: &Value) -> u32 {
    estimate(&messages.to_string())
}

/// The lines of an original that fit a query; `None` when it asks for all or nothing fits.
fn fitting(original: &Original, query: Option<&str>) -> Option<String> {
    let words: Vec<String> = query?.split_whitespace().map(escaped).collect();
    let pattern = Wanted::pattern(&format!("(?i){}", words.join("|"))).ok().filter(|_| !words.is_empty())?;
    let wanted = Wanted { pattern: Some(pattern), context: AROUND, page_size: *PAGE_SIZES.end(), ..Wanted::default() };
    wanted.page(original, "", &Way::of(Reach::Nothing)).ok().map(|page| page.to_string())
}

/// A word for a regular expression.
fn escaped(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_alphanumeric() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, count) in [(r#"[0,0,0]"#, 3), (r#"{"a":"x,y[\"{","b":[]}"#, 5), (r#""cut, off"#, 0), ("", 0)] {
            assert_eq!(values(json.as_bytes()), count, "{json}");
        }
    }
}
