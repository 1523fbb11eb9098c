//! A provider that refuses what its vendor would refuse.

use crate::act::Act;
use crate::dialect::Dialect;
use crate::server::Received;
use foldline_core::Format;
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A judge of requests that counts what it refuses. Clones count together.
#[derive(Clone, Debug)]
pub struct Strict {
    window: usize,
    refused: Arc<AtomicUsize>,
}

impl Strict {
    /// One with a window of so many tokens, four bytes each.
    pub fn new(window: usize) -> Strict {
        Strict { window, refused: Arc::default() }
    }

    /// What it says to a request: `words`, or an error.
    pub fn judge(&self, request: &Received, words: &str) -> Act {
        match self.fault(request) {
            None => Act::say(words),
            Some(refusal) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                refusal
            }
        }
    }

    /// How many requests it refused.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    fn fault(&self, request: &Received) -> Option<Act> {
        let format = match Dialect::of(request.uri.path()) {
            Dialect::Chat => Format::OpenAiChat,
            Dialect::Responses => Format::OpenAiResponses,
            Dialect::Anthropic => Format::Anthropic,
            Dialect::Gemini => Format::Gemini,
        };
        let text = request.text();
        let transcript = match wire::read(&text, Some(format)) {
            Ok(transcript) => transcript,
            Err(error) => return Some(Act::error(422, "invalid_request_error", &error.to_string())),
        };
        if let Some(violation) = validate(&transcript).first() {
            return Some(Act::error(422, "invalid_request_error", &format!("{violation:?}")));
        }
        let tokens = text.len() / 4;
        // What is only counted may have any size.
        let is_counted = request.uri.path().ends_with(":countTokens");
        (tokens > self.window && !is_counted).then(|| self.too_long(format, tokens))
    }

    fn too_long(&self, format: Format, tokens: usize) -> Act {
        let window = self.window;
        match format {
            Format::Gemini => Act::error(
                400,
                "INVALID_ARGUMENT",
                &format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."),
            ),
            _ => Act::error(
                400,
                "invalid_request_error",
                &format!("prompt is too long: {tokens} tokens > {window} maximum"),
            ),
        }
    }
}
