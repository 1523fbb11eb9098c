//! What a reply says about itself: usage and why it ended. From a whole JSON body, or from one event of
//! a stream.

use super::json::{self, JsonKind, Scanner};
use crate::transcript::Format;

/// Tokens as the provider counted them, split by what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedUsage {
    /// Prompt tokens that no cache served and none was written with.
    pub input: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Tokens of the reply, hidden reasoning included.
    pub output: u64,
}

impl ReportedUsage {
    /// All prompt tokens.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

/// What is known of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its usage, if it was said.
    pub usage: Option<ReportedUsage>,
    /// Why it ended, in the provider's word.
    pub stop: Option<String>,
}

/// Reads a whole JSON reply.
pub fn read(format: Format, body: &str) -> Reply {
    let mut notes = Notes::default();
    // A reply that ends early still says what it said.
    let _ = scan(&mut Scanner::new(body, 0), format, &mut notes);
    notes.reply()
}

/// Numbers and words gathered from one object or from a whole stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    input: Option<u64>,
    cached_inside: u64,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    /// What Gemini counts beside the reply: its thoughts, and prompts of the provider's own tools.
    thoughts: Option<u64>,
    tool_use: Option<u64>,
    stop: Option<String>,
}

impl Notes {
    /// What the notes amount to.
    pub(super) fn reply(&self) -> Reply {
        Reply { usage: self.usage(), stop: self.stop.clone() }
    }

    pub(super) fn usage(&self) -> Option<ReportedUsage> {
        if self.input.is_none() && self.output.is_none() && self.thoughts.is_none() {
            return None;
        }
        let cache_read = self.cache_read.unwrap_or(self.cached_inside);
        Some(ReportedUsage {
            // OpenAI and Google count cached tokens among the prompt's, Anthropic beside them.
            input: (self.input.unwrap_or_default() + self.tool_use.unwrap_or_default())
                .saturating_sub(self.cached_inside),
            cache_read,
            cache_write: self.cache_write.unwrap_or_default(),
            output: self.output.unwrap_or_default() + self.thoughts.unwrap_or_default(),
        })
    }
}

/// Reads the object at the scanner: a reply, a chunk, or an event that wraps one.
pub(super) fn scan(scanner: &mut Scanner<'_>, format: Format, notes: &mut Notes) -> json::Result<()> {
    match scanner.peek()? {
        JsonKind::Object => {}
        // A stream of Gemini that was not asked for as events.
        JsonKind::Array if format == Format::Gemini => {
            return scanner.array(|scanner| scan(scanner, format, notes)).map(drop);
        }
        _ => return scanner.skip().map(drop),
    }
    scanner
        .object(|scanner, key| match key {
            "usage" | "usageMetadata" if scanner.peek()? == JsonKind::Object => read_usage(scanner, notes),
            // `message_start` of Messages, `response.…` of Responses.
            "message" if format == Format::Anthropic => scan(scanner, format, notes),
            "response" if format == Format::OpenAiResponses => scan(scanner, format, notes),
            "delta" if format == Format::Anthropic => scan(scanner, format, notes),
            "choices" | "candidates" if scanner.peek()? == JsonKind::Array => {
                scanner.array(|scanner| scan(scanner, format, notes)).map(drop)
            }
            "stop_reason" | "finish_reason" | "finishReason" => note_stop(scanner, notes),
            "status" if format == Format::OpenAiResponses => note_stop(scanner, notes),
            _ => scanner.skip().map(drop),
        })
        .map(drop)
}

fn note_stop(scanner: &mut Scanner<'_>, notes: &mut Notes) -> json::Result<()> {
    let value = scanner.skip()?.of(scanner.text());
    if let Some(word) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        notes.stop = Some(json::decode(word).into_owned());
    }
    Ok(())
}

/// Reads a usage object in anybody's words.
pub(super) fn read_usage(scanner: &mut Scanner<'_>, notes: &mut Notes) -> json::Result<()> {
    scanner
        .object(|scanner, key| {
            match key {
                // Some servers repeat usage with zeros before they know it; numbers only grow.
                "input_tokens" | "prompt_tokens" => grow(&mut notes.input, number(scanner)?),
                "output_tokens" | "completion_tokens" => grow(&mut notes.output, number(scanner)?),
                "cache_read_input_tokens" => grow(&mut notes.cache_read, number(scanner)?),
                "promptTokenCount" => grow(&mut notes.input, number(scanner)?),
                "candidatesTokenCount" => grow(&mut notes.output, number(scanner)?),
                "thoughtsTokenCount" => grow(&mut notes.thoughts, number(scanner)?),
                "toolUsePromptTokenCount" => grow(&mut notes.tool_use, number(scanner)?),
                "cachedContentTokenCount" => {
                    notes.cached_inside = notes.cached_inside.max(number(scanner)?.unwrap_or_default());
                }
                "cache_creation_input_tokens" => grow(&mut notes.cache_write, number(scanner)?),
                "prompt_tokens_details" | "input_tokens_details" if scanner.peek()? == JsonKind::Object => {
                    scanner.object(|scanner, key| {
                        let tokens = number(scanner)?.unwrap_or_default();
                        if key == "cached_tokens" {
                            notes.cached_inside = notes.cached_inside.max(tokens);
                        }
                        Ok(())
                    })?;
                }
                _ => drop(scanner.skip()?),
            }
            Ok(())
        })
        .map(drop)
}

fn grow(known: &mut Option<u64>, said: Option<u64>) {
    *known = (*known).max(said);
}

fn number(scanner: &mut Scanner<'_>) -> json::Result<Option<u64>> {
    Ok(scanner.skip()?.of(scanner.text()).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_says_its_usage() {
        let chat = r#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"content":"x"}}],
            "usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}"#;
        let reply = read(Format::OpenAiChat, chat);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 36, cache_read: 64, cache_write: 0, output: 7 }));
        assert_eq!(reply.stop.as_deref(), Some("tool_calls"));

        let responses = r#"{"status":"completed","output":[{"type":"message"}],
            "usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":10},"output_tokens":5}}"#;
        let reply = read(Format::OpenAiResponses, responses);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 40, cache_read: 10, cache_write: 0, output: 5 }));
        assert_eq!(reply.stop.as_deref(), Some("completed"));

        let messages = r#"{"type":"message","content":[{"type":"tool_use","input":{"usage":{"input_tokens":999}}}],
            "stop_reason":"tool_use","usage":{"input_tokens":3,"cache_creation_input_tokens":20,
            "cache_read_input_tokens":70,"output_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":20}}}"#;
        let reply = read(Format::Anthropic, messages);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 3, cache_read: 70, cache_write: 20, output: 9 }));
        assert_eq!(reply.usage.unwrap().prompt(), 93);
        assert_eq!(reply.stop.as_deref(), Some("tool_use"));

        let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"x"}],"role":"model"},"finishReason":"STOP","index":0}],
            "usageMetadata":{"promptTokenCount":120,"cachedContentTokenCount":100,"candidatesTokenCount":4,
            "thoughtsTokenCount":6,"totalTokenCount":130,"promptTokensDetails":[{"modality":"TEXT","tokenCount":120}]}}"#;
        let expected = Some(ReportedUsage { input: 20, cache_read: 100, cache_write: 0, output: 10 });
        assert_eq!(read(Format::Gemini, gemini).usage, expected);
        let pieces = r#"[{"candidates":[],"usageMetadata":{"promptTokenCount":120}},"#.to_owned() + gemini + "]";
        let reply = read(Format::Gemini, &pieces);
        assert_eq!((reply.usage, reply.stop.as_deref()), (expected, Some("STOP")));
    }

    #[test]
    fn what_is_no_reply_says_nothing() {
        for text in ["", "null", "[]", "<html>", r#"{"error":{"message":"no"}}"#, r#"{"usage":null}"#, r#"{"usage":{"#]
        {
            assert_eq!(read(Format::OpenAiChat, text), Reply::default(), "{text}");
        }
    }
}
