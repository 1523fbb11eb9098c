//! How the vendors write an answer, whole and as a stream.

use http::Uri;
use serde_json::{Value, json};

/// Whose API a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
}

/// How an answer is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In one piece.
    Whole,
    /// As events.
    Events,
    /// As a list of pieces.
    List,
}

impl Dialect {
    /// The dialect of a path.
    pub fn of(path: &str) -> Dialect {
        match path.trim_end_matches('/') {
            path if path.ends_with("/messages") => Dialect::Anthropic,
            path if path.ends_with("/responses") => Dialect::Responses,
            path if path.contains("/models/") && path.contains(':') => Dialect::Gemini,
            _ => Dialect::Chat,
        }
    }

    /// How a request with this address and body wants its answer.
    pub fn delivery(self, uri: &Uri, asked: &Value) -> Delivery {
        let is_stream = match self {
            Dialect::Gemini => uri.path().ends_with(":streamGenerateContent"),
            _ => asked.get("stream").and_then(Value::as_bool).unwrap_or(false),
        };
        match (self, is_stream) {
            (_, false) => Delivery::Whole,
            (Dialect::Gemini, true) if !uri.query().unwrap_or_default().contains("alt=sse") => Delivery::List,
            (_, true) => Delivery::Events,
        }
    }

    /// The model that a request asks for.
    pub fn model(self, uri: &Uri, asked: &Value) -> String {
        let in_path = || uri.path().rsplit('/').next()?.split(':').next();
        let in_body = || asked.get("model").and_then(Value::as_str);
        let model = if self == Dialect::Gemini { in_path() } else { in_body() };
        model.unwrap_or("scripted").to_owned()
    }

    /// A whole answer.
    pub fn whole(self, model: &str, text: &str, prompt: usize) -> String {
        let output = tokens(text);
        match self {
            Dialect::Chat => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
                "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output },
            }),
            Dialect::Responses => self.response(model, "completed", text, prompt),
            Dialect::Gemini => contents(model, &json!([{ "text": text }]), Some("STOP"), (prompt, output)),
            Dialect::Anthropic => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": model,
                "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": { "input_tokens": prompt, "output_tokens": output },
            }),
        }
        .to_string()
    }

    /// What a stream begins with.
    pub fn opening(self, model: &str, prompt: usize) -> String {
        match self {
            Dialect::Chat => chunk(model, &json!({ "role": "assistant", "content": "" }), None),
            Dialect::Responses => event(
                "response.created",
                &json!({
                    "type": "response.created", "sequence_number": 0, "response": self.response(model, "in_progress", "", prompt),
                }),
            ),
            Dialect::Gemini => data(&contents(model, &json!([{ "text": "" }]), None, (prompt, 0))),
            Dialect::Anthropic => {
                let message = json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
                    "stop_reason": null, "usage": { "input_tokens": prompt, "output_tokens": 1 },
                });
                let start = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
                event("message_start", &json!({ "type": "message_start", "message": message }))
                    + &event("content_block_start", &start)
                    + &event("ping", &json!({ "type": "ping" }))
            }
        }
    }

    /// A piece of the words.
    pub fn piece(self, model: &str, words: &str) -> String {
        match self {
            Dialect::Chat => chunk(model, &json!({ "content": words }), None),
            Dialect::Responses => event(
                "response.output_text.delta",
                &json!({
                    "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
                    "sequence_number": 1, "delta": words,
                }),
            ),
            Dialect::Gemini => data(&contents(model, &json!([{ "text": words }]), None, (0, 0))),
            Dialect::Anthropic => event(
                "content_block_delta",
                &json!({
                    "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": words },
                }),
            ),
        }
    }

    /// What a stream ends with.
    pub fn closing(self, model: &str, text: &str, prompt: usize) -> String {
        let output = tokens(text);
        match self {
            Dialect::Chat => {
                let usage = json!({
                    "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [],
                    "usage": { "prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output },
                });
                chunk(model, &json!({}), Some("stop")) + &format!("data: {usage}\n\ndata: [DONE]\n\n")
            }
            Dialect::Responses => event(
                "response.completed",
                &json!({
                    "type": "response.completed", "sequence_number": 9, "response": self.response(model, "completed", text, prompt),
                }),
            ),
            Dialect::Gemini => data(&contents(model, &json!([{ "text": "" }]), Some("STOP"), (prompt, output))),
            Dialect::Anthropic => {
                let delta = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": output } });
                event("content_block_stop", &json!({ "type": "content_block_stop", "index": 0 }))
                    + &event("message_delta", &delta)
                    + &event("message_stop", &json!({ "type": "message_stop" }))
            }
        }
    }

    /// An error in the middle of a stream.
    pub fn fault(self, kind: &str) -> String {
        let error = json!({ "type": kind, "code": kind, "message": format!("{kind} happened") });
        match self {
            Dialect::Chat => format!("data: {}\n\n", json!({ "error": error })),
            Dialect::Responses => {
                event("error", &json!({ "type": "error", "code": kind, "message": format!("{kind} happened") }))
            }
            Dialect::Gemini => {
                data(&json!({ "error": { "code": 500, "status": kind, "message": format!("{kind} happened") } }))
            }
            Dialect::Anthropic => event("error", &json!({ "type": "error", "error": error })),
        }
    }

    fn response(self, model: &str, status: &str, text: &str, prompt: usize) -> Value {
        let output = tokens(text);
        let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
        let message =
            json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content });
        json!({
            "id": "resp_1", "object": "response", "model": model, "status": status,
            "output": if text.is_empty() { json!([]) } else { json!([message]) },
            "usage": { "input_tokens": prompt, "output_tokens": output, "total_tokens": prompt + output },
        })
    }
}

/// A reply of Gemini, or a piece of one. Tokens are those of the prompt and of the reply.
pub(crate) fn contents(model: &str, parts: &Value, finish: Option<&str>, (prompt, output): (usize, usize)) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({
        "candidates": [candidate], "modelVersion": model, "responseId": "resp_1",
        "usageMetadata": { "promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output },
    })
}

fn data(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

pub(crate) fn chunk(model: &str, delta: &Value, finish: Option<&str>) -> String {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

pub(crate) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
