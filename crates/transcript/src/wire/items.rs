//! One element of a conversation: a message, a Responses item, a session line, a trajectory turn.

use super::blocks::{literal, read_content, text_inside};
use super::json::{JsonError, JsonKind, Result, Scanner};
use crate::edit::Span;
use crate::transcript::{Content, Format, Link, Message, Part, PartKind, Place, Reported, Role};

/// Unknown fields above this many bytes are counted as content; smaller ones are scaffolding.
pub(super) const NOTABLE_FIELD: usize = 96;

/// What is gathered while elements are read.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) messages: Vec<Message>,
    pub(super) parts: Vec<Part>,
    pub(super) inner: Vec<Part>,
    pub(super) links: Vec<Link>,
    pub(super) reported: Option<Reported>,
}

impl Gathered {
    /// Reads the element that comes next.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'_>, format: Format) -> Result<()> {
        if scanner.peek()? != JsonKind::Object {
            return Err(scanner.error("expected a message object with a `role`"));
        }
        match format {
            Format::ClaudeCode => self.read_line(scanner),
            Format::Gemini => {
                let message = self.read_gemini(scanner)?;
                self.messages.push(message);
                Ok(())
            }
            _ => {
                let message = self.read_item(scanner, format)?;
                self.messages.push(message);
                Ok(())
            }
        }
    }

    /// A prompt that is a bare string: one user message.
    pub(super) fn read_prompt(&mut self, scanner: &mut Scanner<'_>) -> Result<Span> {
        let span = scanner.string()?;
        self.parts.push(Part { kind: PartKind::Text, content: Content::Text(span), ..part(Place::Whole, span) });
        self.messages.push(Message {
            role: Role::User,
            span,
            parts: 0..1,
            content: Content::Text(span),
            reply: Span::default(),
        });
        Ok(span)
    }

    /// A line of a session file: an envelope around a message, or a record of another kind.
    fn read_line(&mut self, scanner: &mut Scanner<'_>) -> Result<()> {
        let mut link = Link::default();
        let mut message = None;
        let mut sidechain = false;
        let first = self.parts.len();
        let span = scanner.object(|scanner, key| {
            match key {
                "uuid" => link.own = literal(scanner)?,
                "parentUuid" => link.parent = scanner.skip()?,
                "isSidechain" => sidechain = scanner.skip()?.of(scanner.text()) == "true",
                "message" if scanner.peek()? == JsonKind::Object => {
                    message = Some(self.read_item(scanner, Format::Anthropic)?);
                }
                _ => drop(scanner.skip()?),
            }
            Ok(())
        })?;
        self.links.push(link);
        self.messages.push(match message {
            Some(message) if !sidechain => Message { span, ..message },
            _ => {
                self.parts.truncate(first);
                let end = first as u32;
                Message { role: Role::Meta, span, parts: end..end, content: Content::Absent, reply: Span::default() }
            }
        });
        Ok(())
    }

    fn read_item(&mut self, scanner: &mut Scanner<'_>, format: Format) -> Result<Message> {
        let first = self.parts.len();
        let start = scanner.offset();
        let mut fields = Fields::default();
        let span = scanner.object(|scanner, key| {
            let at = key_start(scanner);
            match key {
                "role" => fields.role = text_inside(scanner)?,
                "from" if format == Format::ShareGpt => fields.role = text_inside(scanner)?,
                "type" => fields.kind = text_inside(scanner)?,
                "id" => fields.id = text_inside(scanner)?,
                "call_id" if format == Format::OpenAiResponses => fields.call_id = text_inside(scanner)?,
                "tool_call_id" => fields.call_id = text_inside(scanner)?,
                "name" => fields.name = text_inside(scanner)?,
                _ if holds_content(key, format) => {
                    let before = self.parts.len();
                    fields.content = read_content(scanner, &mut self.parts, Some(&mut self.inner))?;
                    fields.blocks = before..self.parts.len();
                }
                "arguments" | "input" | "action" if format == Format::OpenAiResponses => {
                    fields.arguments = scanner.skip()?
                }
                "tool_calls" if scanner.peek()? == JsonKind::Array => drop(self.read_calls(scanner)?),
                "usage" if scanner.peek()? == JsonKind::Object => {
                    let message = self.messages.len();
                    self.reported = read_usage(scanner, message)?.or(self.reported);
                }
                _ => {
                    let value = scanner.skip()?;
                    self.push_field(scanner, key, Span::new(at, value.end as usize), value, &mut fields);
                }
            }
            Ok(())
        })?;
        debug_assert_eq!(span.start as usize, start);
        let role = self.interpret(scanner, format, span, first, &fields)?;
        Ok(Message {
            role,
            span,
            parts: first as u32..self.parts.len() as u32,
            content: fields.content,
            reply: fields.id,
        })
    }

    /// A field beside the content: reasoning, a legacy call, or something we do not know.
    fn push_field(&mut self, scanner: &Scanner<'_>, key: &str, span: Span, value: Span, fields: &mut Fields) {
        let raw = value.of(scanner.text());
        let kind = match key {
            "reasoning_content" | "reasoning" if raw.starts_with('"') => PartKind::Reasoning,
            "reasoning_details"
            | "thinking_blocks"
            | "codex_reasoning_items"
            | "codex_message_items"
            | "encrypted_content"
            | "thought_signature" => PartKind::Sealed,
            "function_call" if raw.starts_with('{') => {
                let mut scanner = Scanner::new(scanner.text(), value.start as usize);
                if let Ok(mut call) = read_function(&mut scanner) {
                    call.place = Place::Field;
                    call.span = span;
                    call.id = call.name;
                    self.parts.push(call);
                }
                return;
            }
            "summary" => {
                fields.summary = value;
                return;
            }
            _ if value.len() > NOTABLE_FIELD => PartKind::Opaque,
            _ => return,
        };
        if raw == "null" || raw == "\"\"" || raw == "[]" {
            return;
        }
        let content = if raw.starts_with('"') { Content::Text(value) } else { Content::Json(value) };
        self.parts.push(Part { kind, content, ..part(Place::Field, span) });
    }

    fn read_calls(&mut self, scanner: &mut Scanner<'_>) -> Result<Span> {
        scanner.array(|scanner| {
            if scanner.peek()? != JsonKind::Object {
                return Err(scanner.error("expected a tool call: an object with `id` and `function`"));
            }
            let mut id = Span::default();
            let mut call = None;
            let span = scanner.object(|scanner, key| {
                match key {
                    "id" => id = text_inside(scanner)?,
                    "function" | "custom" if scanner.peek()? == JsonKind::Object => {
                        call = Some(read_function(scanner)?);
                    }
                    _ => drop(scanner.skip()?),
                }
                Ok(())
            })?;
            let call = call.unwrap_or_else(|| part(Place::Call, span));
            self.parts.push(Part { kind: PartKind::ToolCall, place: Place::Call, span, id, ..call });
            Ok(())
        })
    }

    /// What the element is, now that all its fields are known.
    fn interpret(
        &mut self,
        scanner: &Scanner<'_>,
        format: Format,
        span: Span,
        first: usize,
        fields: &Fields,
    ) -> Result<Role> {
        let text = scanner.text();
        let kind = fields.kind.of(text);
        let named = role_named(fields.role.of(text), format);
        if format == Format::OpenAiResponses && !(kind.is_empty() || kind == "message") {
            return Ok(self.interpret_item(text, kind, span, first, fields));
        }
        let Some(role) = named else {
            return Err(JsonError {
                offset: span.start as usize,
                message: "expected a `role`; this object has none".into(),
                element: None,
            });
        };
        let is_result = role == Role::Tool;
        match &fields.content {
            Content::Text(literal) => {
                let kind = if is_result { PartKind::ToolResult } else { PartKind::Text };
                let id = if fields.call_id.is_empty() { fields.name } else { fields.call_id };
                self.parts.push(Part {
                    kind,
                    content: fields.content.clone(),
                    id: if is_result { id } else { Span::default() },
                    name: if is_result { fields.name } else { Span::default() },
                    ..part(Place::Whole, *literal)
                });
            }
            Content::Blocks { span, .. } if is_result => {
                // The blocks of a tool message are the inside of one result.
                let from = self.inner.len() as u32;
                self.inner.extend(self.parts.drain(fields.blocks.clone()));
                let content = Content::Blocks { span: *span, inner: from..self.inner.len() as u32 };
                let id = if fields.call_id.is_empty() { fields.name } else { fields.call_id };
                self.parts.push(Part {
                    kind: PartKind::ToolResult,
                    content,
                    id,
                    name: fields.name,
                    ..part(Place::Whole, *span)
                });
            }
            Content::Json(span) if is_result => self.parts.push(Part {
                kind: PartKind::ToolResult,
                content: fields.content.clone(),
                id: if fields.call_id.is_empty() { fields.name } else { fields.call_id },
                name: fields.name,
                ..part(Place::Whole, *span)
            }),
            Content::Absent if is_result => self.parts.push(Part {
                kind: PartKind::ToolResult,
                id: fields.call_id,
                name: fields.name,
                ..part(Place::Whole, Span::default())
            }),
            _ => {}
        }
        Ok(role)
    }

    /// A Responses item other than a message.
    fn interpret_item(&mut self, text: &str, kind: &str, span: Span, first: usize, fields: &Fields) -> Role {
        // Whatever blocks or fields were read belong to the item as a whole.
        let blocks: Vec<Part> = self.parts.drain(first..).collect();
        let id = if fields.call_id.is_empty() { fields.id } else { fields.call_id };
        let item = part(Place::Item, span);
        let (role, item) = match kind {
            "reasoning" => {
                let content = if fields.summary.is_empty() { span } else { fields.summary };
                (Role::Assistant, Part { kind: PartKind::Sealed, content: Content::Json(content), ..item })
            }
            _ if kind.ends_with("_output") => {
                let content = match &fields.content {
                    Content::Blocks { span, .. } => {
                        let from = self.inner.len() as u32;
                        self.inner.extend(blocks.into_iter().filter(|block| block.place == Place::Block));
                        Content::Blocks { span: *span, inner: from..self.inner.len() as u32 }
                    }
                    other => other.clone(),
                };
                (Role::Tool, Part { kind: PartKind::ToolResult, content, id, ..item })
            }
            _ if kind.ends_with("_call") && !fields.call_id.is_empty() => {
                let name = if fields.name.is_empty() { fields.kind } else { fields.name };
                let content = arguments(text, fields.arguments);
                (Role::Assistant, Part { kind: PartKind::ToolCall, content, id, name, ..item })
            }
            _ if kind.ends_with("_call") => {
                (Role::Assistant, Part { content: Content::Json(span), name: fields.kind, ..item })
            }
            _ => (Role::Other, Part { content: Content::Json(span), name: fields.kind, ..item }),
        };
        self.parts.push(item);
        role
    }
}

/// The fields of an element that mean something in any format.
struct Fields {
    role: Span,
    kind: Span,
    id: Span,
    call_id: Span,
    name: Span,
    arguments: Span,
    summary: Span,
    content: Content,
    blocks: std::ops::Range<usize>,
}

impl Default for Fields {
    fn default() -> Fields {
        let none = Span::default();
        Fields {
            role: none,
            kind: none,
            id: none,
            call_id: none,
            name: none,
            arguments: none,
            summary: none,
            content: Content::Absent,
            blocks: 0..0,
        }
    }
}

fn part(place: Place, span: Span) -> Part {
    Part {
        kind: PartKind::Opaque,
        place,
        span,
        content: Content::Absent,
        id: Span::default(),
        name: Span::default(),
        marked: false,
        failed: false,
    }
}

/// `{"name": …, "arguments": …}` of a function call.
fn read_function(scanner: &mut Scanner<'_>) -> Result<Part> {
    let mut name = Span::default();
    let mut value = Span::default();
    let span = scanner.object(|scanner, key| {
        match key {
            "name" => name = text_inside(scanner)?,
            "arguments" | "input" => value = scanner.skip()?,
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    let content = arguments(scanner.text(), value);
    Ok(Part { kind: PartKind::ToolCall, name, content, ..part(Place::Call, span) })
}

fn arguments(text: &str, value: Span) -> Content {
    match value.of(text).as_bytes().first() {
        None => Content::Absent,
        Some(b'"') => Content::Text(value),
        Some(_) => Content::Json(value),
    }
}

fn read_usage(scanner: &mut Scanner<'_>, message: usize) -> Result<Option<Reported>> {
    let mut prompt = 0;
    let mut output = 0;
    scanner.object(|scanner, key| {
        let value = scanner.skip()?;
        let number = value.of(scanner.text()).parse::<u64>().unwrap_or_default();
        match key {
            "input_tokens" | "prompt_tokens" | "cache_creation_input_tokens" | "cache_read_input_tokens" => {
                prompt += number;
            }
            "output_tokens" | "completion_tokens" => output = number,
            _ => {}
        }
        Ok(())
    })?;
    Ok((prompt > 0).then_some(Reported { message, prompt, output }))
}

/// Whether a field of this name is what the element says, in this format.
fn holds_content(key: &str, format: Format) -> bool {
    match key {
        "content" => true,
        "value" => format == Format::ShareGpt,
        "output" => format == Format::OpenAiResponses,
        _ => false,
    }
}

/// The role behind a word. Trajectories have words of their own, which providers refuse.
fn role_named(name: &str, format: Format) -> Option<Role> {
    Some(match name {
        "" => return None,
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        "human" if format == Format::ShareGpt => Role::User,
        "gpt" | "model" | "function_call" if format == Format::ShareGpt => Role::Assistant,
        "observation" if format == Format::ShareGpt => Role::Tool,
        _ => Role::Other,
    })
}

/// Where the key of the value at the scanner's position begins.
fn key_start(scanner: &Scanner<'_>) -> usize {
    let before = scanner.text().get(..scanner.offset()).unwrap_or_default().as_bytes();
    let mut at = before.len();
    // Back over the colon to the key's closing quote, then to its opening one; an escaped
    // quote inside a key only makes the span start late, which a removal then refuses.
    while at > 0 && before.get(at - 1) != Some(&b'"') {
        at -= 1;
    }
    at = at.saturating_sub(1);
    while at > 0 && before.get(at - 1) != Some(&b'"') {
        at -= 1;
    }
    at.saturating_sub(1)
}
