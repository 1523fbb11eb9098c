//! A provider that refuses what its vendor refuses.

use crate::act::Act;
use crate::dialect::Dialect;
use crate::reply::Reply;
use crate::server::Received;
use foldline_core::Format;
use foldline_transcript::validate::{Rule, validate};
use foldline_transcript::wire;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A judge of requests that counts what it refuses. Clones count together.
#[derive(Clone, Debug)]
pub struct Strict {
    window: usize,
    is_lenient: bool,
    refused: Arc<AtomicUsize>,
    given: Arc<Mutex<Given>>,
}

/// What a provider remembers of its own answers.
#[derive(Debug, Default)]
struct Given {
    /// Items of the Responses API, and the reasoning that has to come back with each.
    reasoning: HashMap<String, String>,
    /// Signatures, and the reasoning that each was given to.
    signed: HashMap<String, String>,
}

impl Strict {
    /// One with a window of so many tokens, four bytes each.
    pub fn new(window: usize) -> Strict {
        Strict { window, is_lenient: false, refused: Arc::default(), given: Arc::default() }
    }

    /// The same judge, but it takes what real clients write themselves and vendors are not known to refuse: neighbours of
    /// one role, and results that Gemini gets twice, as gemini-cli sends them when it resumes a session.
    pub fn lenient_with_clients(self) -> Strict {
        Strict { is_lenient: true, ..self }
    }

    /// What it says to a request: `words`, or an error.
    pub fn judge(&self, request: &Received, words: &str) -> Act {
        self.refusal(request).map_or_else(|| Act::say(words), |(_, act)| act)
    }

    /// Why it refuses a request, and its answer then.
    pub fn refusal(&self, request: &Received) -> Option<(String, Act)> {
        let (reason, act) = self.fault(request)?;
        self.refused.fetch_add(1, Ordering::Relaxed);
        Some((reason, act))
    }

    /// From now on, what was given has to come back as it was.
    pub fn remember(&self, reply: &Reply) {
        if reply.call.is_some() {
            let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            given.reasoning.extend(reply.item_ids().map(|id| (id, reply.reasoning_id())));
            given.signed.insert(reply.signature(), reply.reasoning());
        }
    }

    /// How many requests it refused.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    fn fault(&self, request: &Received) -> Option<(String, Act)> {
        let format = match Dialect::of(request.uri.path()) {
            Dialect::Chat => Format::OpenAiChat,
            Dialect::Responses => Format::OpenAiResponses,
            Dialect::Anthropic => Format::Anthropic,
            Dialect::Gemini => Format::Gemini,
        };
        let malformed = |reason: String| {
            let act = Act::error(422, "invalid_request_error", &reason);
            Some((reason, act))
        };
        let text = request.text();
        let transcript = match wire::read(&text, Some(format)) {
            Ok(transcript) => transcript,
            Err(error) => return malformed(error.to_string()),
        };
        let is_minded = |rule: Rule| match rule {
            Rule::SameRoleNeighbours => !self.is_lenient,
            Rule::DuplicateResult => !(self.is_lenient && format == Format::Gemini),
            _ => true,
        };
        if let Some(violation) = validate(&transcript).iter().find(|violation| is_minded(violation.rule)) {
            return malformed(format!("{violation:?}"));
        }
        if let Some(reason) = self.broken_promise(&request.json()) {
            return malformed(reason);
        }
        let tokens = text.len() / 4;
        // What is only counted may have any size.
        let is_counted = request.uri.path().ends_with(":countTokens");
        (tokens > self.window && !is_counted).then(|| self.too_long(format, tokens))
    }

    /// Something of its own that comes back otherwise than it was given.
    fn broken_promise(&self, body: &Value) -> Option<String> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let items = || body["input"].as_array().into_iter().flatten();
        let is_there = |id: &String| items().any(|item| item["type"] == "reasoning" && item["id"] == *id);
        let unmet = items().filter_map(|item| item["id"].as_str()).find_map(|id| {
            let reasoning = given.reasoning.get(id).filter(|reasoning| !is_there(reasoning))?;
            Some(format!("Item '{id}' was provided without its required 'reasoning' item: '{reasoning}'."))
        });
        let messages = body["messages"].as_array().into_iter().flatten();
        let mut blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
        let is_forged = |block: &&Value| {
            let signature = block["signature"].as_str().unwrap_or_default();
            block["type"] == "thinking" && given.signed.get(signature).is_some_and(|was| block["thinking"] != **was)
        };
        unmet.or_else(|| blocks.find(is_forged).map(|_| "Invalid `signature` in `thinking` block".to_owned()))
    }

    fn too_long(&self, format: Format, tokens: usize) -> (String, Act) {
        let window = self.window;
        let (kind, words) = match format {
            Format::Gemini => (
                "INVALID_ARGUMENT",
                format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."),
            ),
            Format::OpenAiChat | Format::OpenAiResponses => (
                "context_length_exceeded",
                format!(
                    "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
                ),
            ),
            _ => ("invalid_request_error", format!("prompt is too long: {tokens} tokens > {window} maximum")),
        };
        let act = Act::error(400, kind, &words);
        (words, act)
    }
}
