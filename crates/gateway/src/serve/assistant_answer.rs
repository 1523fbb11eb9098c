//! Assistant messages written by the gateway, in each dialect, streamed or not.

use super::Body;
use super::answer::{json_answer, text_answer};
use super::headers;
use crate::conversation::Dialect;
use foldline_transcript::wire::json::Scanner;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

/// Whether an answer is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As one JSON body.
    Whole,
    /// As events.
    Stream,
    /// As a list of pieces.
    List,
}

/// What a request asks for.
pub fn streams(body: &str) -> Delivery {
    let mut delivery = Delivery::Whole;
    let read = Scanner::new(body, 0).object(|scanner, key| {
        let value = scanner.skip()?.of(body);
        if key == "stream" {
            delivery = if value == "true" { Delivery::Stream } else { Delivery::Whole };
        }
        Ok(())
    });
    if read.is_ok() { delivery } else { Delivery::Whole }
}

/// How our answers are told apart from a model's.
const ID: &str = "foldline";

/// The answer.
pub fn answer(dialect: Dialect, model: &str, words: &str, delivery: Delivery) -> Response<Body> {
    let mut response = match delivery {
        Delivery::Whole => json_answer(StatusCode::OK, &whole(dialect, model, words)),
        Delivery::Stream => {
            text_answer(StatusCode::OK, "text/event-stream; charset=utf-8", events(dialect, model, words))
        }
        Delivery::List => json_answer(StatusCode::OK, &json!([whole(dialect, model, words)])),
    };
    response.headers_mut().insert(headers::OUTCOME, HeaderValue::from_static("command"));
    response
}

/// The answer to Codex' request for a compaction: one item, which holds the conversation, and the tokens that it has now.
pub fn compaction(model: &str, content: &str, tokens: u64, delivery: Delivery) -> Response<Body> {
    let item = json!({ "id": format!("cmp_{ID}"), "type": "compaction", "encrypted_content": content });
    let mut done = response(model, "completed", &json!([item]));
    done["usage"]["input_tokens"] = tokens.into();
    done["usage"]["total_tokens"] = tokens.into();
    let mut answer = match delivery {
        Delivery::Whole | Delivery::List => json_answer(StatusCode::OK, &done),
        Delivery::Stream => {
            let mut list = [
                json!({ "type": "response.created", "response": response(model, "in_progress", &json!([])) }),
                json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                json!({ "type": "response.completed", "response": done }),
            ];
            for (number, event) in list.iter_mut().enumerate() {
                event["sequence_number"] = json!(number);
            }
            text_answer(StatusCode::OK, "text/event-stream; charset=utf-8", named(&list))
        }
    };
    answer.headers_mut().insert(headers::OUTCOME, HeaderValue::from_static("compaction"));
    answer
}

fn whole(dialect: Dialect, model: &str, words: &str) -> Value {
    match dialect {
        Dialect::Chat => json!({
            "id": format!("chatcmpl-{ID}"), "object": "chat.completion", "created": 0, "model": model,
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": words, "refusal": null },
                          "logprobs": null, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 },
        }),
        Dialect::Responses => response(model, "completed", &json!([item("completed", &json!([content(words)]))])),
        Dialect::Messages => json!({
            "id": format!("msg_{ID}"), "type": "message", "role": "assistant", "model": model,
            "content": [{ "type": "text", "text": words }], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": { "input_tokens": 0, "output_tokens": 0 },
        }),
        Dialect::Gemini => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": words }] }, "finishReason": "STOP", "index": 0 }],
            "usageMetadata": { "promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0 },
            "modelVersion": model, "responseId": ID,
        }),
    }
}

fn events(dialect: Dialect, model: &str, words: &str) -> String {
    match dialect {
        Dialect::Chat => {
            let chunk = |delta: Value, finish: Value| {
                let chunk = json!({
                    "id": format!("chatcmpl-{ID}"), "object": "chat.completion.chunk", "created": 0, "model": model,
                    "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }],
                });
                format!("data: {chunk}\n\n")
            };
            let said = chunk(json!({ "role": "assistant", "content": words }), Value::Null);
            said + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n"
        }
        Dialect::Gemini => format!("data: {}\r\n\r\n", whole(dialect, model, words)),
        Dialect::Messages => {
            let mut message = whole(dialect, model, words);
            message["content"] = json!([]);
            message["stop_reason"] = Value::Null;
            named(&[
                json!({ "type": "message_start", "message": message }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": words } }),
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
                        "usage": { "output_tokens": 0 } }),
                json!({ "type": "message_stop" }),
            ])
        }
        Dialect::Responses => {
            let at = |mut event: Value| {
                event["item_id"] = json!(format!("msg_{ID}"));
                event["output_index"] = json!(0);
                event["content_index"] = json!(0);
                event
            };
            let done = item("completed", &json!([content(words)]));
            let mut list = vec![
                json!({ "type": "response.created", "response": response(model, "in_progress", &json!([])) }),
                json!({ "type": "response.output_item.added", "output_index": 0, "item": item("in_progress", &json!([])) }),
                at(json!({ "type": "response.content_part.added", "part": content("") })),
                at(json!({ "type": "response.output_text.delta", "delta": words, "logprobs": [] })),
                at(json!({ "type": "response.output_text.done", "text": words, "logprobs": [] })),
                at(json!({ "type": "response.content_part.done", "part": content(words) })),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": done }),
                json!({ "type": "response.completed", "response": response(model, "completed", &json!([done])) }),
            ];
            for (number, event) in list.iter_mut().enumerate() {
                event["sequence_number"] = json!(number);
            }
            named(&list)
        }
    }
}

/// Events whose name is their type.
fn named(events: &[Value]) -> String {
    let lines = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    lines.collect()
}

fn content(words: &str) -> Value {
    json!({ "type": "output_text", "text": words, "annotations": [], "logprobs": [] })
}

fn item(status: &str, content: &Value) -> Value {
    json!({ "id": format!("msg_{ID}"), "type": "message", "role": "assistant", "status": status, "content": content })
}

fn response(model: &str, status: &str, output: &Value) -> Value {
    json!({
        "id": format!("resp_{ID}"), "object": "response", "created_at": 0, "model": model, "status": status,
        "output": output, "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "temperature": 1.0, "top_p": 1.0,
        "usage": { "input_tokens": 0, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 0,
                   "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 0 },
    })
}
