//! What each part of a transcript costs.

use super::sample::{Sampling, sampled};
use super::{Counter, Source};
use crate::edit::Span;
use crate::transcript::{Content, Part, PartKind, Reported, Role, Transcript};

/// A message costs a little beside its words: role and separators.
const MESSAGE_OVERHEAD: u32 = 4;

/// Ciphertext and signatures are no words; six characters of them stand for about one token of
/// what they hide.
const SEALED_CHARS_PER_TOKEN: usize = 6;

/// Field names and ids around a call or result: about four characters per token.
const ENVELOPE_CHARS_PER_TOKEN: usize = 4;

/// How to count.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// How texts are counted.
    pub counter: Counter,
    /// What an image costs, whatever its bytes.
    pub image_tokens: u32,
    /// Learnt ratio of reported to counted tokens.
    pub scale: f64,
}

impl Default for Measure {
    fn default() -> Measure {
        Measure { counter: Counter::Estimate, image_tokens: 1500, scale: 1.0 }
    }
}

impl Measure {
    /// Tokens of a plain text.
    pub fn text(&self, text: &str) -> u32 {
        self.scaled(self.counter.count(text))
    }

    /// Tokens of a message that says `text`.
    pub fn message(&self, text: &str) -> u32 {
        self.text(text) + MESSAGE_OVERHEAD
    }

    fn scaled(&self, tokens: u32) -> u32 {
        if self.scale == 1.0 { tokens } else { (f64::from(tokens) * self.scale).round() as u32 }
    }
}

/// What a transcript costs, piece by piece.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Tokens of each part.
    pub parts: Vec<u32>,
    /// Tokens of the messages before each index; one longer than the messages.
    before: Vec<u64>,
    /// System prompt and instructions outside the messages.
    pub system: u64,
    /// Tool schemas.
    pub tools: u64,
    /// Images in the transcript.
    pub images: u32,
    /// What is known to be there but not in the document (a session file leaves the system prompt out).
    pub unseen: u64,
    /// How the total is known.
    pub source: Source,
}

impl Counts {
    /// Tokens of one message.
    pub fn message(&self, index: usize) -> u64 {
        self.between(index, index + 1)
    }

    /// Tokens of the messages `from..to`.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        let at = |index: usize| self.before.get(index).or(self.before.last()).copied().unwrap_or_default();
        at(to).saturating_sub(at(from))
    }

    /// Tokens of all messages.
    pub fn messages(&self) -> u64 {
        self.before.last().copied().unwrap_or_default()
    }

    /// Tokens beside the messages: system prompt, tools, and what the file leaves out.
    pub fn outside(&self) -> u64 {
        self.system + self.tools + self.unseen
    }

    /// The same counts, with what a provider reported for the beginning as their base.
    pub fn with_reported(mut self, reported: Option<Reported>) -> Counts {
        if let Some(reported) = reported {
            let seen = self.system + self.tools + self.between(0, reported.message);
            self.unseen = reported.prompt.saturating_sub(seen);
            self.source = Source::Reported;
        }
        self
    }

    /// Tokens of the whole request.
    pub fn total(&self) -> u64 {
        self.outside() + self.messages()
    }
}

/// Counts one message; the sum over all messages is what [`measure`] counts for them.
pub fn measure_message(transcript: &Transcript<'_>, index: usize, measure: &Measure) -> u32 {
    let Some(message) = transcript.messages.get(index).filter(|message| message.role != Role::Meta) else {
        return 0;
    };
    let mut images = 0;
    let parts = transcript.parts_of(message).iter();
    let tokens: u32 = parts.map(|part| measure.scaled(part_tokens(transcript, part, measure, &mut images))).sum();
    tokens + MESSAGE_OVERHEAD
}

/// Counts a value outside the messages: a system prompt, tool schemas.
pub fn measure_value(raw: &str, measure: &Measure) -> u32 {
    measure.scaled(value_tokens(raw, measure.counter))
}

/// Counts a transcript.
pub fn measure(transcript: &Transcript<'_>, measure: &Measure) -> Counts {
    let mut images = 0;
    let parts: Vec<u32> = transcript
        .parts
        .iter()
        .map(|part| measure.scaled(part_tokens(transcript, part, measure, &mut images)))
        .collect();
    let mut sum = 0;
    let mut before = Vec::with_capacity(transcript.messages.len() + 1);
    for message in &transcript.messages {
        before.push(sum);
        if message.role != Role::Meta {
            let range = message.parts.start as usize..message.parts.end as usize;
            let content: u64 = parts.get(range).unwrap_or_default().iter().map(|&tokens| u64::from(tokens)).sum();
            sum += content + u64::from(MESSAGE_OVERHEAD);
        }
    }
    before.push(sum);
    let value = |span: Option<Span>| span.map_or(0, |span| u64::from(measure_value(transcript.raw(span), measure)));
    Counts {
        parts,
        before,
        system: value(transcript.system),
        tools: value(transcript.tools),
        images,
        unseen: 0,
        source: measure.counter.source(),
    }
}

fn part_tokens(transcript: &Transcript<'_>, part: &Part, measure: &Measure, images: &mut u32) -> u32 {
    let counter = measure.counter;
    let envelope = || (part.span.len().saturating_sub(part.content.span().len()) / ENVELOPE_CHARS_PER_TOKEN) as u32;
    match part.kind {
        PartKind::Media => {
            *images += 1;
            measure.image_tokens
        }
        PartKind::Text | PartKind::Reasoning | PartKind::Opaque => content_tokens(transcript, part, measure, images),
        PartKind::Sealed => {
            let words = match part.content {
                Content::Text(span) => counter.count_escaped(transcript.raw(span.inner())),
                _ => 0,
            };
            let visible = if words == 0 { 0 } else { part.content.span().len() };
            words + (part.span.len().saturating_sub(visible) / SEALED_CHARS_PER_TOKEN) as u32
        }
        PartKind::ToolCall => content_tokens(transcript, part, measure, images) + envelope(),
        // A result's envelope is an id and a type; a Chat message carries it outside the part.
        PartKind::ToolResult => content_tokens(transcript, part, measure, images) + envelope().min(32),
    }
}

fn content_tokens(transcript: &Transcript<'_>, part: &Part, measure: &Measure, images: &mut u32) -> u32 {
    match &part.content {
        Content::Absent => 0,
        Content::Text(span) => {
            let raw = transcript.raw(span.inner());
            closely_enough(transcript, *span, raw, |raw| measure.counter.count_escaped(raw))
        }
        Content::Json(span) => {
            closely_enough(transcript, *span, transcript.raw(*span), |raw| measure.counter.count(raw))
        }
        Content::Blocks { .. } => {
            transcript.inner_of(part).iter().map(|block| part_tokens(transcript, block, measure, images)).sum()
        }
    }
}

/// Counts a text in full, or by a sample where that is all that matters.
fn closely_enough(transcript: &Transcript<'_>, span: Span, raw: &str, count: impl Fn(&str) -> u32) -> u32 {
    match Sampling::of(transcript.text.len()).covers(span) {
        true => sampled(raw, count),
        false => count(raw),
    }
}

/// Tokens of a JSON value that is a string or something else.
fn value_tokens(raw: &str, counter: Counter) -> u32 {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) => counter.count_escaped(inside),
        None => counter.count(raw),
    }
}
