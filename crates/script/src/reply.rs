//! What a model answers besides words: reasoning and a call of a tool, in each dialect, with what the prompt cost.

use crate::act::Act;
use crate::dialect::{Delivery, Dialect, chunk, event};
use crate::server::Received;
use foldline_core::cache::Traffic;
use serde_json::{Value, json};

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// One answer. Its ids follow from its number.
#[derive(Clone, Debug)]
pub struct Reply {
    /// How manieth answer it is.
    pub number: usize,
    /// What the model says.
    pub text: String,
    /// The call that it makes, after reasoning.
    pub call: Option<Call>,
}

impl Reply {
    /// The answer in the dialect and delivery of a request.
    pub fn act(&self, request: &Received, traffic: Traffic) -> Act {
        let asked = request.json();
        let dialect = Dialect::of(request.uri.path());
        let delivery = dialect.delivery(&request.uri, &asked);
        let model = dialect.model(&request.uri, &asked);
        let is_stream = delivery == Delivery::Events;
        let body = match dialect {
            Dialect::Anthropic => self.messages(&model, is_stream, asked.get("thinking").is_some(), traffic),
            Dialect::Responses => self.responses(&model, is_stream, traffic),
            Dialect::Chat => self.chat(&model, is_stream, traffic),
            Dialect::Gemini => self.gemini(&model, delivery, traffic),
        };
        let content_type = if is_stream { "text/event-stream" } else { "application/json" };
        Act::Raw { status: 200, headers: Vec::new(), content_type: content_type.to_owned(), body }
    }

    /// Tokens of the answer, four bytes each.
    pub fn tokens(&self) -> u64 {
        let call = self.call.as_ref().map_or(0, |call| call.arguments.to_string().len() + self.reasoning().len());
        ((self.text.len() + call) / 4) as u64
    }

    /// What the model thinks before a call.
    pub fn reasoning(&self) -> String {
        format!("Call {} is the next one of the list.", self.number)
    }

    /// The id of the reasoning item of the Responses API.
    pub fn reasoning_id(&self) -> String {
        format!("rs_{:06}", self.number)
    }

    /// The ids of the items that need that reasoning.
    pub fn item_ids(&self) -> [String; 2] {
        [format!("msg_{:06}", self.number), format!("fc_{:06}", self.number)]
    }

    /// What a provider signs reasoning with.
    pub fn signature(&self) -> String {
        format!("c2lnbmVk{:06}", self.number)
    }

    fn call_id(&self) -> String {
        format!("call_{:06}", self.number)
    }

    fn messages(&self, model: &str, is_stream: bool, thinks: bool, traffic: Traffic) -> String {
        let mut blocks = Vec::new();
        if thinks && self.call.is_some() {
            blocks.push(json!({"type": "thinking", "thinking": self.reasoning(), "signature": self.signature()}));
        }
        if !self.text.is_empty() {
            blocks.push(json!({"type": "text", "text": self.text}));
        }
        if let Some(call) = &self.call {
            blocks.push(json!({"type": "tool_use", "id": self.call_id(), "name": call.tool, "input": call.arguments}));
        }
        let stop = if self.call.is_some() { "tool_use" } else { "end_turn" };
        let usage = json!({
            "input_tokens": traffic.input, "cache_read_input_tokens": traffic.cache_read,
            "cache_creation_input_tokens": traffic.written(), "output_tokens": self.tokens(),
        });
        let message = |content: Value, stop: Value| {
            json!({
                "id": format!("msg_{:06}", self.number), "type": "message", "role": "assistant", "model": model,
                "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage,
            })
        };
        if !is_stream {
            return message(Value::from(blocks), json!(stop)).to_string();
        }
        let start = json!({"type": "message_start", "message": message(json!([]), Value::Null)});
        let mut out = event("message_start", &start);
        for (index, block) in blocks.iter().enumerate() {
            let (opening, deltas) = opened(block);
            let start = json!({"type": "content_block_start", "index": index, "content_block": opening});
            out += &event("content_block_start", &start);
            for delta in deltas {
                let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
                out += &event("content_block_delta", &delta);
            }
            out += &event("content_block_stop", &json!({"type": "content_block_stop", "index": index}));
        }
        let end =
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage});
        out + &event("message_delta", &end) + &event("message_stop", &json!({"type": "message_stop"}))
    }

    fn responses(&self, model: &str, is_stream: bool, traffic: Traffic) -> String {
        let [message, call] = self.item_ids();
        let mut items = Vec::new();
        if self.call.is_some() {
            let thought = json!([{"type": "summary_text", "text": self.reasoning()}]);
            items.push(json!({
                "type": "reasoning", "id": self.reasoning_id(), "summary": thought,
                "encrypted_content": self.signature().repeat(20),
            }));
        }
        if !self.text.is_empty() {
            let content = json!([{"type": "output_text", "text": self.text, "annotations": []}]);
            items.push(json!({
                "type": "message", "id": message, "role": "assistant", "status": "completed", "content": content,
            }));
        }
        if let Some(Call { tool, arguments }) = &self.call {
            items.push(json!({
                "type": "function_call", "id": call, "call_id": self.call_id(), "name": tool,
                "arguments": arguments.to_string(), "status": "completed",
            }));
        }
        let (prompt, output) = (traffic.prompt(), self.tokens());
        let response = |status: &str, items: &[Value]| {
            json!({
                "id": format!("resp_{:06}", self.number), "object": "response", "created_at": 1, "model": model,
                "status": status, "output": items,
                "usage": {
                    "input_tokens": prompt, "input_tokens_details": {"cached_tokens": traffic.cache_read},
                    "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": prompt + output,
                },
            })
        };
        if !is_stream {
            return response("completed", &items).to_string();
        }
        let mut number = 0;
        let mut next = |name: &str, mut data: Value| {
            data["type"] = json!(name);
            data["sequence_number"] = json!(number);
            number += 1;
            event(name, &data)
        };
        let mut out = next("response.created", json!({"response": response("in_progress", &[])}));
        for (index, item) in items.iter().enumerate() {
            out += &next("response.output_item.added", json!({"output_index": index, "item": begun(item)}));
            if item["type"] == "message" {
                let delta = json!({
                    "item_id": item["id"], "output_index": index, "content_index": 0, "delta": self.text, "logprobs": [],
                });
                out += &next("response.output_text.delta", delta);
            }
            out += &next("response.output_item.done", json!({"output_index": index, "item": item}));
        }
        out + &next("response.completed", json!({"response": response("completed", &items)}))
    }

    fn chat(&self, model: &str, is_stream: bool, traffic: Traffic) -> String {
        let calls = self.call.as_ref().map(|Call { tool, arguments }| {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            json!([{"index": 0, "id": self.call_id(), "type": "function", "function": function}])
        });
        let finish = if calls.is_some() { "tool_calls" } else { "stop" };
        let (prompt, output) = (traffic.prompt(), self.tokens());
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": traffic.cache_read},
        });
        let mut message = json!({"role": "assistant", "content": self.text});
        if let Some(calls) = &calls {
            message["tool_calls"] = calls.clone();
        }
        if !is_stream {
            return json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
                "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage,
            })
            .to_string();
        }
        let end = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [],
            "usage": usage,
        });
        chunk(model, &message, None)
            + &chunk(model, &json!({}), Some(finish))
            + &format!("data: {end}\n\ndata: [DONE]\n\n")
    }

    fn gemini(&self, model: &str, delivery: Delivery, traffic: Traffic) -> String {
        let mut parts = vec![json!({"text": self.text})];
        if let Some(Call { tool, arguments }) = &self.call {
            // Google's models name their calls by the tool alone.
            let call = json!({"name": tool, "args": arguments});
            parts.push(json!({"functionCall": call, "thoughtSignature": self.signature()}));
        }
        let (prompt, output) = (traffic.prompt(), self.tokens());
        let piece = |parts: &[Value], is_last: bool| {
            let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
            if is_last {
                candidate["finishReason"] = json!("STOP");
            }
            json!({
                "candidates": [candidate],
                "usageMetadata": {
                    "promptTokenCount": prompt, "cachedContentTokenCount": traffic.cache_read,
                    "candidatesTokenCount": output, "totalTokenCount": prompt + output,
                },
                "modelVersion": model, "responseId": format!("resp_{:06}", self.number),
            })
        };
        let last = parts.len() - 1;
        let pieces = parts.iter().enumerate().map(|(at, part)| piece(std::slice::from_ref(part), at == last));
        match delivery {
            Delivery::Whole => piece(&parts, true).to_string(),
            Delivery::Events => pieces.map(|piece| format!("data: {piece}\r\n\r\n")).collect(),
            Delivery::List => Value::from_iter(pieces).to_string(),
        }
    }
}

/// A block of the Messages API as its stream opens it, and what is streamed into it.
fn opened(block: &Value) -> (Value, Vec<Value>) {
    let mut opening = block.clone();
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("thinking") => {
            (opening["thinking"], opening["signature"]) = (json!(""), json!(""));
            let thinking = json!({"type": "thinking_delta", "thinking": text("thinking")});
            (opening, vec![thinking, json!({"type": "signature_delta", "signature": text("signature")})])
        }
        Some("tool_use") => {
            opening["input"] = json!({});
            let input = json!({"type": "input_json_delta", "partial_json": block["input"].to_string()});
            (opening, vec![input])
        }
        _ => {
            opening["text"] = json!("");
            (opening, vec![json!({"type": "text_delta", "text": text("text")})])
        }
    }
}

/// An item of the Responses API as its stream announces it.
fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    match item["type"].as_str() {
        Some("message") => (begun["content"], begun["status"]) = (json!([]), json!("in_progress")),
        Some("function_call") => (begun["arguments"], begun["status"]) = (json!(""), json!("in_progress")),
        _ => {}
    }
    begun
}
