//! Request bodies and stream events of each vendor's API.

use super::classify;
use foldline_core::Format;
use foldline_core::policy::Dialect;
use foldline_core::summary::{Ask, Failure, FailureClass};
use serde_json::{Value, json};

/// What one event or body says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplyPiece {
    /// Words of the answer.
    pub words: String,
    /// Whether something was said that is no part of the answer: thoughts.
    pub thinks: bool,
    /// Whether the answer is complete with this.
    pub ends: bool,
    /// What went wrong, if something did.
    pub failure: Option<Failure>,
}

/// The format of its transcripts and replies.
pub(super) fn format(dialect: Dialect) -> Format {
    match dialect {
        Dialect::OpenAiChat | Dialect::Auto => Format::OpenAiChat,
        Dialect::OpenAiResponses => Format::OpenAiResponses,
        Dialect::Anthropic => Format::Anthropic,
        Dialect::Gemini => Format::Gemini,
    }
}

/// The body of a request.
pub(super) fn body(dialect: Dialect, model: &str, ask: &Ask) -> String {
    let (system, user, reply) = match ask {
        Ask::Document { body, .. } => return body.clone(),
        Ask::Prompt { system, user, reply } => (system, user, reply),
    };
    match dialect {
        // No limit for the reply: models that think count their thoughts against it, and names of the field differ.
        // What is too long is hung up on.
        Dialect::OpenAiChat | Dialect::Auto => json!({
            "model": model, "stream": true,
            "messages": [{ "role": "system", "content": system }, { "role": "user", "content": user }],
        }),
        Dialect::OpenAiResponses => json!({
            "model": model, "stream": true, "store": false, "instructions": system, "input": user,
        }),
        Dialect::Anthropic => json!({
            "model": model, "stream": true, "max_tokens": reply, "system": system,
            "messages": [{ "role": "user", "content": user }],
        }),
        // Model and stream are in the address.
        Dialect::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": system }] },
            "contents": [{ "role": "user", "parts": [{ "text": user }] }],
        }),
    }
    .to_string()
}

/// What an event of a stream that carries `data` says.
pub(super) fn event(dialect: Dialect, data: &str) -> ReplyPiece {
    if data.trim() == "[DONE]" {
        return ReplyPiece { ends: true, ..ReplyPiece::default() };
    }
    let Ok(data) = serde_json::from_str::<Value>(data) else {
        return broken("a stream event is not valid JSON");
    };
    match dialect {
        Dialect::Anthropic => anthropic_event(&data),
        Dialect::Gemini => gemini_piece(&data),
        Dialect::OpenAiResponses => responses_event(&data),
        Dialect::OpenAiChat | Dialect::Auto => chat_event(&data),
    }
}

/// What a whole body says, from servers that do not stream.
pub(super) fn whole(dialect: Dialect, body: &str) -> ReplyPiece {
    let Ok(data) = serde_json::from_str::<Value>(body) else {
        return broken("the reply is not valid JSON");
    };
    if let Some(failure) = failure_in(&data) {
        return failure;
    }
    let words = match dialect {
        Dialect::Anthropic => texts(&data, "content", "text"),
        Dialect::Gemini => gemini_piece(&data).words,
        Dialect::OpenAiResponses => {
            let items = data.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            items.iter().map(|item| texts(item, "content", "output_text")).collect()
        }
        Dialect::OpenAiChat | Dialect::Auto => data.pointer("/choices/0/message").map(content_of).unwrap_or_default(),
    };
    ReplyPiece { words, ends: true, ..ReplyPiece::default() }
}

fn chat_event(data: &Value) -> ReplyPiece {
    if let Some(failure) = failure_in(data) {
        return failure;
    }
    let Some(choice) = data.pointer("/choices/0") else {
        return ReplyPiece::default();
    };
    let delta = choice.get("delta").unwrap_or(&Value::Null);
    let has = |name: &str| delta.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    ReplyPiece {
        words: content_of(delta),
        thinks: has("reasoning_content") || has("reasoning"),
        ends: choice.get("finish_reason").is_some_and(Value::is_string),
        failure: None,
    }
}

fn responses_event(data: &Value) -> ReplyPiece {
    let kind = data.get("type").and_then(Value::as_str).unwrap_or_default();
    let delta = || data.get("delta").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind {
        "response.output_text.delta" => ReplyPiece { words: delta(), ..ReplyPiece::default() },
        "response.completed" | "response.incomplete" => ReplyPiece { ends: true, ..ReplyPiece::default() },
        "response.failed" => {
            let error = data.pointer("/response/error").unwrap_or(&Value::Null);
            ReplyPiece { failure: Some(classify::of_error(error)), ..ReplyPiece::default() }
        }
        "error" => {
            ReplyPiece { failure: Some(classify::of_error(data.get("error").unwrap_or(data))), ..ReplyPiece::default() }
        }
        kind => ReplyPiece { thinks: kind.starts_with("response.reasoning"), ..ReplyPiece::default() },
    }
}

fn anthropic_event(data: &Value) -> ReplyPiece {
    match data.get("type").and_then(Value::as_str).unwrap_or_default() {
        "content_block_delta" => {
            let delta = data.get("delta").unwrap_or(&Value::Null);
            let words = delta.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            ReplyPiece { thinks: words.is_empty(), words, ..ReplyPiece::default() }
        }
        "content_block_start" => {
            let words = data.pointer("/content_block/text").and_then(Value::as_str).unwrap_or_default();
            ReplyPiece { words: words.to_owned(), ..ReplyPiece::default() }
        }
        "message_stop" => ReplyPiece { ends: true, ..ReplyPiece::default() },
        "message_delta" => ReplyPiece {
            ends: data.pointer("/delta/stop_reason").is_some_and(Value::is_string),
            ..ReplyPiece::default()
        },
        "error" => failure_in(data).unwrap_or_else(|| broken("the stream reports an error without a message")),
        _ => ReplyPiece::default(),
    }
}

/// A piece of a stream, or all of a reply: both have the same form.
fn gemini_piece(data: &Value) -> ReplyPiece {
    if let Some(failure) = failure_in(data) {
        return failure;
    }
    if let Some(reason) = data.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
        let failure = Failure::new(FailureClass::Refused, &format!("the prompt was blocked: {reason}"));
        return ReplyPiece { failure: Some(failure), ..ReplyPiece::default() };
    }
    let parts = data.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    let (thoughts, said): (Vec<&Value>, Vec<&Value>) =
        parts.into_iter().flatten().partition(|part| part.get("thought").and_then(Value::as_bool) == Some(true));
    ReplyPiece {
        words: said.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        thinks: !thoughts.is_empty(),
        ends: data.pointer("/candidates/0/finishReason").is_some_and(Value::is_string),
        failure: None,
    }
}

fn failure_in(data: &Value) -> Option<ReplyPiece> {
    let error = data.get("error").filter(|error| !error.is_null())?;
    Some(ReplyPiece { failure: Some(classify::of_error(error)), ..ReplyPiece::default() })
}

/// The content of a chat message or delta: a string, or parts.
fn content_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(_)) => texts(message, "content", "text"),
        _ => String::new(),
    }
}

fn texts(holder: &Value, list: &str, kind: &str) -> String {
    let blocks = holder.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_kind = |block: &&Value| block.get("type").and_then(Value::as_str) == Some(kind);
    blocks.iter().filter(of_kind).filter_map(|block| block.get("text").and_then(Value::as_str)).collect()
}

fn broken(words: &str) -> ReplyPiece {
    ReplyPiece { failure: Some(Failure::new(FailureClass::BadReply, words)), ..ReplyPiece::default() }
}
