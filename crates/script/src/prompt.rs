//! A prompt as its provider reads it: tools, instructions and messages, block by block; and what its cache has of it.

use crate::dialect::Dialect;
use crate::server::Received;
use foldline_core::cache::{Mark, Traffic};
use foldline_core::models::{ApiFamily, CacheTtl, ModelProfile, ModelTable};
use foldline_measure::cache::{Block, Rules, Simulator};
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

/// The blocks of a request.
#[derive(Debug, Default)]
pub struct Prompt {
    blocks: Vec<Block>,
    marks: Vec<Mark>,
    /// Digests of the blocks of messages.
    messages: Vec<u64>,
}

impl Prompt {
    /// Reads a request.
    pub fn of(request: &Received) -> Prompt {
        let body = request.json();
        let mut prompt = Prompt::default();
        let (system, messages) = match Dialect::of(request.uri.path()) {
            Dialect::Anthropic => ("system", "messages"),
            Dialect::Chat => ("", "messages"),
            Dialect::Responses => ("instructions", "input"),
            Dialect::Gemini => ("systemInstruction", "contents"),
        };
        for section in ["tools", system] {
            match &body[section] {
                Value::Array(values) => {
                    for value in values {
                        prompt.push("", value);
                    }
                }
                Value::Null => {}
                value => _ = prompt.push("", value),
            }
        }
        for message in body[messages].as_array().into_iter().flatten() {
            for (role, block) in prompt_blocks(message) {
                let digest = prompt.push(&role, &block);
                prompt.messages.push(digest);
            }
        }
        if !body["cache_control"].is_null() {
            prompt.mark(&body["cache_control"]);
        }
        prompt
    }

    /// Tokens, four bytes each.
    pub fn tokens(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.upto)
    }

    /// Whether its messages are those of an earlier prompt and what came since.
    pub fn extends(&self, earlier: &Prompt) -> bool {
        self.messages.starts_with(&earlier.messages)
    }

    fn push(&mut self, role: &str, value: &Value) -> u64 {
        let mut plain = value.clone();
        let mark = plain.as_object_mut().and_then(|fields| fields.remove("cache_control"));
        let text = plain.to_string();
        let mut hasher = DefaultHasher::new();
        (role, &text).hash(&mut hasher);
        let digest = hasher.finish();
        self.blocks.push(Block::after(self.blocks.last().copied(), digest, (text.len() / 4 + 1) as u64));
        if let Some(mark) = mark {
            self.mark(&mark);
        }
        digest
    }

    fn mark(&mut self, mark: &Value) {
        let ttl = if mark["ttl"] == "1h" { CacheTtl::OneHour } else { CacheTtl::FiveMinutes };
        self.marks.extend(self.blocks.len().checked_sub(1).map(|block| Mark { block, ttl }));
    }
}

/// The blocks of a message with its role. A text alone is a block of text; items of other kinds are whole.
fn prompt_blocks(message: &Value) -> Vec<(String, Value)> {
    let role = message["role"].as_str().unwrap_or_default().to_owned();
    let is_plain = message.as_object().is_some_and(|fields| {
        fields.keys().all(|key| matches!(key.as_str(), "role" | "content" | "type" | "id" | "status" | "parts"))
    });
    match message.get("content").or(message.get("parts")) {
        Some(Value::Array(blocks)) if is_plain => blocks.iter().map(|block| (role.clone(), block.clone())).collect(),
        Some(Value::String(text)) if is_plain => vec![(role, serde_json::json!({"type": "text", "text": text}))],
        _ => vec![(role, message.clone())],
    }
}

/// The caches of all models of a provider.
#[derive(Debug)]
pub struct Caches {
    start: Instant,
    of: HashMap<String, Simulator>,
}

impl Default for Caches {
    fn default() -> Caches {
        Caches { start: Instant::now(), of: HashMap::new() }
    }
}

impl Caches {
    /// What a request costs, by class, without its answer.
    pub fn request(&mut self, request: &Received, prompt: &Prompt) -> Traffic {
        let (model, family) = asked_of(request);
        let at = self.start.elapsed().as_secs_f64();
        let cache = self.of.entry(model.name.clone()).or_insert_with(|| Simulator::new(Rules::of(&model, family)));
        cache.request(at, &prompt.blocks, &prompt.marks)
    }
}

/// The model that a request is for, and whose API it speaks.
pub fn asked_of(request: &Received) -> (ModelProfile, ApiFamily) {
    let dialect = Dialect::of(request.uri.path());
    let family = match dialect {
        Dialect::Anthropic => ApiFamily::Anthropic,
        Dialect::Gemini => ApiFamily::Google,
        Dialect::Chat | Dialect::Responses => ApiFamily::OpenAi,
    };
    let model = dialect.model(&request.uri, &request.json());
    (ModelTable::embedded().profile(&model, family), family)
}
