//! What a conversation consists of: a view of spans on the source text.
//!
//! A [`Part`] says where something is and what kind it is; its words are
//! decoded when somebody asks. What this version does not know is [`PartKind::Opaque`], what is
//! signed or encrypted is [`PartKind::Sealed`]; neither is ever offered for rewriting.

use crate::edit::Span;
use crate::wire::{self, WireError, json};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

/// Whose wire format a transcript is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI Chat Completions: `messages` with `tool_calls` and `tool` messages.
    OpenAiChat,
    /// OpenAI Responses: `input` items paired by `call_id`.
    OpenAiResponses,
    /// Anthropic Messages: content blocks.
    Anthropic,
    /// A Claude Code session file: JSON lines with an envelope around Anthropic messages.
    ClaudeCode,
    /// ShareGPT trajectories: `from` and `value`.
    ShareGpt,
    /// Google Gemini: `contents` with `parts`.
    Gemini,
}

impl Format {
    /// All formats with their names on the command line.
    pub const NAMES: [(Format, &'static str); 6] = [
        (Format::OpenAiChat, "openai-chat"),
        (Format::OpenAiResponses, "openai-responses"),
        (Format::Anthropic, "anthropic"),
        (Format::ClaudeCode, "claude-code"),
        (Format::ShareGpt, "sharegpt"),
        (Format::Gemini, "gemini"),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Format::NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the messages lie in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list inside a request body; all other fields stay as they are.
    Body,
    /// A bare array.
    List,
    /// One JSON value per line.
    Lines,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions of the operator.
    System,
    /// The same, in OpenAI's newer word.
    Developer,
    /// The person, or what the client says for them.
    User,
    /// The model.
    Assistant,
    /// A tool's answer.
    Tool,
    /// A role this version does not know; carried as it is.
    Other,
    /// A record of a session file that is no message.
    Meta,
}

impl Role {
    /// Whether it carries standing instructions.
    pub fn is_instruction(self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }

    /// The word in the transcript.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other => "other",
            Role::Meta => "meta",
        }
    }
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// Words.
    Text,
    /// The model asks for a tool.
    ToolCall,
    /// What the tool answered.
    ToolResult,
    /// An image, a document, a sound.
    Media,
    /// Reasoning in plain words, without signature.
    Reasoning,
    /// Signed or encrypted reasoning: never altered.
    Sealed,
    /// Something this version does not know.
    Opaque,
}

/// Where a part's content is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// No content at all.
    Absent,
    /// A string literal, quotes included.
    Text(Span),
    /// Any other JSON value.
    Json(Span),
    /// An array of blocks; `inner` are their places in [`Structure::inner`].
    Blocks {
        /// The array.
        span: Span,
        /// The blocks.
        inner: Range<u32>,
    },
}

impl Content {
    /// The value's span; empty when absent.
    pub fn span(&self) -> Span {
        match self {
            Content::Absent => Span::default(),
            Content::Text(span) | Content::Json(span) | Content::Blocks { span, .. } => *span,
        }
    }
}

/// How a part hangs in its message; it decides how it can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The string that is the message's whole content.
    Whole,
    /// An element of the content array.
    Block,
    /// An element of the `tool_calls` array.
    Call,
    /// A field of the message.
    Field,
    /// The item itself.
    Item,
}

/// One part of a message.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// How it hangs in its message.
    pub place: Place,
    /// The whole element: the block, the literal, the `"key": value` pair, the item.
    pub span: Span,
    /// What it says: a text, a call's arguments, a result's output.
    pub content: Content,
    /// The call id, without quotes; empty when there is none.
    pub id: Span,
    /// The tool's name or the media type, without quotes; empty when there is none.
    pub name: Span,
    /// Whether a cache mark sits on it.
    pub marked: bool,
    /// Whether the tool said that it failed.
    pub failed: bool,
}

/// One message, item or line.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The whole element.
    pub span: Span,
    /// Its parts in [`Structure::parts`].
    pub parts: Range<u32>,
    /// Its content value as a whole: string, array or absent.
    pub content: Content,
    /// The id of the API reply it belongs to (session files split one reply over several lines).
    pub reply: Span,
}

/// Links of a session file's line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// The `uuid` literal, with quotes.
    pub own: Span,
    /// The `parentUuid` value: a literal or `null`.
    pub parent: Span,
}

/// A view on one document: its text, and where everything stands in it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Transcript<'a> {
    /// The source.
    pub text: &'a str,
    structure: Arc<Structure>,
}

impl Deref for Transcript<'_> {
    type Target = Structure;

    fn deref(&self) -> &Structure {
        &self.structure
    }
}

/// A document together with its transcript, whether it owns the text or borrows it.
#[derive(Clone, Debug)]
pub struct Parsed<'a> {
    text: Cow<'a, str>,
    structure: Arc<Structure>,
}

impl<'a> Parsed<'a> {
    /// Reads a document; see [`wire::read`](crate::wire::read).
    pub fn read(text: impl Into<Cow<'a, str>>, format: Option<Format>) -> Result<Parsed<'a>, WireError> {
        let text = text.into();
        let structure = wire::read(&text, format)?.structure;
        Ok(Parsed { text, structure })
    }

    /// The document that a transcript was read from.
    pub fn of(transcript: &Transcript<'a>) -> Parsed<'a> {
        Parsed { text: Cow::Borrowed(transcript.text), structure: Arc::clone(&transcript.structure) }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, with a text of its own.
    pub fn into_owned(self) -> Parsed<'static> {
        Parsed { text: Cow::Owned(self.text.into_owned()), structure: self.structure }
    }

    /// The text, and where everything stands in it.
    pub fn into_parts(self) -> (Cow<'a, str>, Arc<Structure>) {
        (self.text, self.structure)
    }

    /// Where everything stands in it.
    pub fn transcript(&self) -> Transcript<'_> {
        Transcript { text: &self.text, structure: Arc::clone(&self.structure) }
    }
}

/// Where the parts of a conversation stand in its text.
#[derive(Debug)]
pub struct Structure {
    /// Whose format it is.
    pub format: Format,
    /// How the messages lie in it.
    pub shape: Shape,
    /// The messages in order.
    pub messages: Vec<Message>,
    /// All parts, message after message.
    pub parts: Vec<Part>,
    /// Blocks inside tool results.
    pub inner: Vec<Part>,
    /// Call and result pairs.
    pub exchanges: Exchanges,
    /// The array of messages, brackets included; the whole document for lines.
    pub list: Span,
    /// The model's name, if the body says it.
    pub model: Option<String>,
    /// `max_tokens` and its relatives, if the body says it.
    pub max_output: Option<u32>,
    /// The value of `system` or `instructions`.
    pub system: Option<Span>,
    /// The value of `tools` (or `functions`).
    pub tools: Option<Span>,
    /// Cache marks outside the messages.
    pub outer_marks: u32,
    /// What else a body says beside its messages: keys and values, in order.
    pub fields: Vec<(String, Span)>,
    /// Tokens that a provider reported for this conversation, if the file records it.
    pub reported: Option<Reported>,
    /// Links of lines, for session files only (parallel to `messages`).
    pub links: Vec<Link>,
    /// Messages with a handoff and the part that is one, in order: looked for once, asked for at every boundary.
    pub handoffs: OnceLock<Vec<(u32, u32)>>,
}

/// Usage that a session file records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The message that carries it: what came before it was the prompt.
    pub message: usize,
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Tokens of the reply.
    pub output: u64,
}

impl Structure {
    /// The parts of a message.
    pub fn parts_of(&self, message: &Message) -> &[Part] {
        self.parts.get(message.parts.start as usize..message.parts.end as usize).unwrap_or_default()
    }

    /// The parts of the message at `index`.
    pub fn parts_at(&self, index: usize) -> &[Part] {
        self.messages.get(index).map_or(&[], |message| self.parts_of(message))
    }

    /// The blocks inside a tool result.
    pub fn inner_of(&self, part: &Part) -> &[Part] {
        match &part.content {
            Content::Blocks { inner, .. } => {
                self.inner.get(inner.start as usize..inner.end as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The message that a part belongs to.
    pub fn message_of(&self, part_index: usize) -> usize {
        self.messages.partition_point(|message| message.parts.end as usize <= part_index)
    }
}

impl<'a> Transcript<'a> {
    /// The transcript of a text with its structure; it says nothing sensible about any other text.
    pub fn new(text: &'a str, structure: Arc<Structure>) -> Transcript<'a> {
        Transcript { text, structure }
    }

    /// Where everything stands in the text.
    pub fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    /// The source of a span.
    pub fn raw(&self, span: Span) -> &'a str {
        span.of(self.text)
    }

    /// What a part says, decoded: its string, or its text blocks one after the other.
    pub fn words(&self, part: &Part) -> Cow<'a, str> {
        match &part.content {
            Content::Absent => Cow::Borrowed(""),
            Content::Text(span) => json::decode(self.raw(span.inner())),
            Content::Json(span) => Cow::Borrowed(self.raw(*span)),
            Content::Blocks { .. } => {
                let mut texts = self
                    .inner_of(part)
                    .iter()
                    .filter(|block| block.kind == PartKind::Text)
                    .map(|block| self.words(block));
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => only,
                    (Some(first), Some(second)) => {
                        let mut all = first.into_owned();
                        for text in std::iter::once(second).chain(texts) {
                            all.push('\n');
                            all.push_str(&text);
                        }
                        Cow::Owned(all)
                    }
                }
            }
        }
    }

    /// The tool that a call or a result belongs to.
    pub fn tool_of(&self, part_index: usize) -> &'a str {
        let Some(part) = self.parts.get(part_index) else {
            return "";
        };
        if part.kind == PartKind::ToolResult
            && let Some(call) = self.exchanges.call_of(part_index)
            && let Some(call) = self.parts.get(call)
        {
            return self.raw(call.name);
        }
        self.raw(part.name)
    }

    /// Whether there is a message, beside records that a client keeps in its session file.
    pub fn has_begun(&self) -> bool {
        self.messages.iter().any(|message| message.role != Role::Meta)
    }

    /// Whether a person (or their client) says something here: a user message with words or
    /// media of its own, not only tool results.
    pub fn speaks(&self, index: usize) -> bool {
        let Some(message) = self.messages.get(index) else {
            return false;
        };
        message.role == Role::User
            && self.parts_of(message).iter().any(|part| match part.kind {
                PartKind::Text => !self.is_blank(part),
                PartKind::Media => true,
                _ => false,
            })
    }

    /// Whether a text part has nothing but white space.
    pub fn is_blank(&self, part: &Part) -> bool {
        match &part.content {
            Content::Text(span) => is_blank_literal(self.raw(span.inner())),
            Content::Absent => true,
            _ => false,
        }
    }
}

/// Whether the inside of a string literal is white space only.
fn is_blank_literal(raw: &str) -> bool {
    let start = raw.trim_start();
    start.is_empty() || (start.starts_with('\\') && json::decode(raw).trim().is_empty())
}

/// Which result answers which call. A result belongs to the latest unanswered call of its id
/// before it: some servers use the same ids again in every turn. Where ids can be left out, names stand for them, and the
/// results of one message answer its calls in their order.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    /// Per part: the other half, or `NONE`.
    other: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Calls that wait, by the name of their tool: those of the latest message that calls it.
#[derive(Default)]
struct ByName<'a> {
    calls: FxHashMap<&'a str, Waiting>,
}

#[derive(Default)]
struct Waiting {
    message: usize,
    all: VecDeque<u32>,
    without_id: VecDeque<u32>,
}

impl<'a> ByName<'a> {
    fn open(&mut self, text: &'a str, call: &Part, message: usize, index: u32) {
        let waiting = self.calls.entry(call.name.of(text)).or_default();
        if waiting.message != message {
            *waiting = Waiting { message, ..Waiting::default() };
        }
        waiting.all.push_back(index);
        if call.id.is_empty() {
            waiting.without_id.push_back(index);
        }
    }

    /// The first call that `is_open`; a result with an id of its own answers no call with another.
    fn take(&mut self, text: &str, result: &Part, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        let waiting = self.calls.get_mut(result.name.of(text))?;
        let calls = if result.id.is_empty() { &mut waiting.all } else { &mut waiting.without_id };
        std::iter::from_fn(|| calls.pop_front()).find(|&call| is_open(call))
    }
}

impl Exchanges {
    /// Pairs the calls and results of `parts`, the parts of `messages`.
    pub fn pair(text: &str, format: Format, messages: &[Message], parts: &[Part]) -> Exchanges {
        let mut exchanges = Exchanges { other: vec![NONE; parts.len()] };
        let mut open: FxHashMap<&str, u32> = FxHashMap::default();
        let mut by_name = ByName::default();
        let has_names = format == Format::Gemini;
        for (index, part) in parts.iter().enumerate() {
            let id = part.id.of(text);
            match part.kind {
                PartKind::ToolCall => {
                    if !(has_names && id.is_empty()) {
                        open.insert(id, index as u32);
                    }
                    if has_names {
                        let message = messages.partition_point(|message| message.parts.end as usize <= index);
                        by_name.open(text, part, message, index as u32);
                    }
                }
                PartKind::ToolResult => {
                    let mut call = open.remove(id);
                    if call.is_none() && has_names {
                        call = by_name.take(text, part, |call| exchanges.other_of(call as usize).is_none());
                    }
                    if let Some(call) = call {
                        exchanges.join(call, index as u32);
                    }
                }
                _ => {}
            }
        }
        exchanges
    }

    fn join(&mut self, call: u32, result: u32) {
        for (half, other) in [(call, result), (result, call)] {
            if let Some(slot) = self.other.get_mut(half as usize) {
                *slot = other;
            }
        }
    }

    /// The other half of a pair.
    pub fn other_of(&self, part_index: usize) -> Option<usize> {
        self.other.get(part_index).copied().filter(|&other| other != NONE).map(|other| other as usize)
    }

    /// The call that a result answers.
    pub fn call_of(&self, result_index: usize) -> Option<usize> {
        self.other_of(result_index).filter(|&call| call < result_index)
    }

    /// The result that answers a call.
    pub fn result_of(&self, call_index: usize) -> Option<usize> {
        self.other_of(call_index).filter(|&result| result > call_index)
    }
}
