//! What each part of a transcript costs.

use super::sample::{Sampling, of_whole, stretches};
use super::side_by_side::SideBySide;
use super::{Counter, Source, Spelling};
use foldline_transcript::edit::Span;
use foldline_transcript::{Content, Part, PartKind, Reported, Role, Transcript};

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
    let mut count = |text: &Text<'_>| text.tokens(measure.counter);
    let mut walk = Walk { transcript, measure, images: 0, count: &mut count };
    let parts = transcript.parts_of(message).iter();
    parts.map(|part| measure.scaled(walk.part(part))).sum::<u32>() + MESSAGE_OVERHEAD
}

/// Counts a value outside the messages: a system prompt, tool schemas.
pub fn measure_value(raw: &str, measure: &Measure) -> u32 {
    measure.scaled(value_tokens(raw, measure.counter))
}

/// Counts a transcript.
pub fn measure(transcript: &Transcript<'_>, measure: &Measure) -> Counts {
    let (parts, images) = match measure.counter {
        Counter::Estimate => {
            let mut estimates = estimates(transcript, measure).into_iter();
            part_tokens(transcript, measure, &mut |_| estimates.next().unwrap_or_default())
        }
        counter => part_tokens(transcript, measure, &mut |text| text.tokens(counter)),
    };
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

/// Tokens of each part, and the number of images; `count` is asked about every text in the order of the document.
fn part_tokens<'a>(
    transcript: &Transcript<'a>,
    measure: &Measure,
    count: &mut dyn FnMut(&Text<'a>) -> u32,
) -> (Vec<u32>, u32) {
    let mut walk = Walk { transcript, measure, images: 0, count };
    let parts = transcript.parts.iter().map(|part| measure.scaled(walk.part(part))).collect();
    (parts, walk.images)
}

/// The estimates of all texts, in the order of the document: short ones are counted side by side.
fn estimates(transcript: &Transcript<'_>, measure: &Measure) -> Vec<u32> {
    let mut walks = SideBySide::new();
    let mut samples = Vec::new();
    part_tokens(transcript, measure, &mut |text| {
        let Text { raw, spelling, extent } = *text;
        match extent {
            Extent::Sample => {
                let sum = walks.begin(0);
                samples.push((sum, raw));
                stretches(raw).for_each(|stretch| walks.add(sum, stretch, spelling));
            }
            Extent::Whole if SideBySide::takes(raw) => {
                let sum = walks.begin(0);
                walks.add(sum, raw, spelling);
            }
            Extent::Whole => drop(walks.begin(text.tokens(Counter::Estimate))),
        }
        0
    });
    let mut sums = walks.finish();
    for (sum, raw) in samples {
        if let Some(tokens) = sums.get_mut(sum) {
            *tokens = of_whole(raw, *tokens).into();
        }
    }
    sums.into_iter().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)).collect()
}

/// A text of a transcript, and how closely it is counted.
struct Text<'a> {
    raw: &'a str,
    spelling: Spelling,
    extent: Extent,
}

#[derive(Clone, Copy)]
enum Extent {
    Whole,
    /// By a sample, where that is all that matters.
    Sample,
}

impl Text<'_> {
    fn tokens(&self, counter: Counter) -> u32 {
        let count = |raw| counter.count_spelled(raw, self.spelling);
        match self.extent {
            Extent::Whole => count(self.raw),
            Extent::Sample => of_whole(self.raw, stretches(self.raw).map(|stretch| u64::from(count(stretch))).sum()),
        }
    }
}

/// A walk over parts that asks somebody else what their texts cost.
struct Walk<'w, 'a> {
    transcript: &'w Transcript<'a>,
    measure: &'w Measure,
    images: u32,
    count: &'w mut dyn FnMut(&Text<'a>) -> u32,
}

impl<'a> Walk<'_, 'a> {
    fn part(&mut self, part: &Part) -> u32 {
        let envelope = || (part.span.len().saturating_sub(part.content.span().len()) / ENVELOPE_CHARS_PER_TOKEN) as u32;
        match part.kind {
            PartKind::Media => {
                self.images += 1;
                self.measure.image_tokens
            }
            PartKind::Text | PartKind::Reasoning | PartKind::Opaque => self.content(part),
            PartKind::Sealed => {
                let words = match part.content {
                    Content::Text(span) => self.text(span.inner(), Spelling::Escaped, Extent::Whole),
                    _ => 0,
                };
                let visible = if words == 0 { 0 } else { part.content.span().len() };
                words + (part.span.len().saturating_sub(visible) / SEALED_CHARS_PER_TOKEN) as u32
            }
            PartKind::ToolCall => self.content(part) + envelope(),
            // A result's envelope is an id and a type; a Chat message carries it outside the part.
            PartKind::ToolResult => self.content(part) + envelope().min(32),
        }
    }

    fn content(&mut self, part: &Part) -> u32 {
        match &part.content {
            Content::Absent => 0,
            Content::Text(span) => self.text(span.inner(), Spelling::Escaped, self.extent(*span)),
            Content::Json(span) => self.text(*span, Spelling::Plain, self.extent(*span)),
            Content::Blocks { .. } => self.transcript.inner_of(part).iter().map(|block| self.part(block)).sum(),
        }
    }

    fn text(&mut self, span: Span, spelling: Spelling, extent: Extent) -> u32 {
        (self.count)(&Text { raw: self.transcript.raw(span), spelling, extent })
    }

    fn extent(&self, span: Span) -> Extent {
        match Sampling::of(self.transcript.text.len()).covers(span) {
            true => Extent::Sample,
            false => Extent::Whole,
        }
    }
}

/// Tokens of a JSON value that is a string or something else.
fn value_tokens(raw: &str, counter: Counter) -> u32 {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) => counter.count_escaped(inside),
        None => counter.count(raw),
    }
}
