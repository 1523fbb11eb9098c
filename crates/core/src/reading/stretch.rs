//! Messages as turns: who speaks, what is said, called and answered.

use super::body::Body;
use super::{Turn, payload};
use foldline_transcript::edit::Span;
use foldline_transcript::wire::{self, field, json};
use foldline_transcript::{Content, Format, Message, Part, PartKind, Place, Role, Transcript};
use std::borrow::Cow;

/// Who speaks in a line of a session file that is no message.
pub(super) const RECORD: &str = "record";
/// Who speaks in a line of a session file that belongs to a sub-agent.
const ASIDE: [(Role, &str); 2] = [(Role::User, "user, to a sub-agent"), (Role::Assistant, "sub-agent")];

/// The turns of a text that is a stretch of messages; `None` when it is none.
pub(super) fn turns(text: &str) -> Option<Vec<Turn<'_>>> {
    let transcript = wire::read_stretch(text).ok()?;
    if transcript.messages.is_empty() {
        return None;
    }
    Some(transcript.messages.iter().enumerate().map(|(at, message)| turn(&transcript, at + 1, message)).collect())
}

fn turn<'a>(transcript: &Transcript<'a>, number: usize, message: &Message) -> Turn<'a> {
    let mut body = Body::default();
    if message.role == Role::Meta {
        let role = aside(transcript, message, &mut body).unwrap_or(RECORD);
        if role == RECORD {
            body.value(Cow::Borrowed(transcript.raw(message.span)));
        }
        return body.turn(number, role);
    }
    parts(transcript, message, &mut body);
    body.turn(number, message.role.name())
}

/// The message of a sub-agent inside a line of a session file.
fn aside<'a>(transcript: &Transcript<'a>, line: &Message, body: &mut Body<'a>) -> Option<&'static str> {
    let message = field::value(transcript.text, line.span, "message")?;
    let inner = wire::read_one(transcript.raw(message), Format::Anthropic).ok()?;
    let message = inner.messages.first()?;
    let (_, role) = ASIDE.into_iter().find(|(role, _)| *role == message.role)?;
    parts(&inner, message, body);
    Some(role)
}

fn parts<'a>(transcript: &Transcript<'a>, message: &Message, body: &mut Body<'a>) {
    for index in message.parts.start as usize..message.parts.end as usize {
        if let Some(found) = transcript.parts.get(index) {
            part(transcript, index, found, body);
        }
    }
}

fn part<'a>(transcript: &Transcript<'a>, index: usize, part: &Part, body: &mut Body<'a>) {
    match part.kind {
        PartKind::Text if transcript.is_blank(part) => {}
        PartKind::Text => body.words(transcript.words(part)),
        PartKind::ToolCall => {
            body.mark(format!("calls {}", named(transcript.raw(part.name), "a tool")));
            match &part.content {
                Content::Absent => {}
                Content::Text(span) => body.value(json::decode(transcript.raw(span.inner()))),
                other => body.value(Cow::Borrowed(transcript.raw(other.span()))),
            }
        }
        PartKind::ToolResult => {
            let failed = if part.failed { ", failed" } else { "" };
            let subject = subject(transcript, index).map(|subject| format!(": {subject}")).unwrap_or_default();
            match named(transcript.tool_of(index), "") {
                tool if tool.is_empty() => body.mark(format!("result{failed}")),
                tool => body.mark(format!("result of {tool}{failed}{subject}")),
            }
            result(transcript, part, body);
        }
        PartKind::Media => body.mark(media(transcript, part.span)),
        PartKind::Reasoning => body.mark(format!("[reasoning, {}]", payload::size(part.content.span().inner().len()))),
        PartKind::Sealed => body.mark(format!("[signed reasoning, {}]", payload::size(part.span.len()))),
        PartKind::Opaque => unknown(transcript, part, body),
    }
}

/// What a call was about, in short: its first argument in words. Tells the results of several calls apart.
fn subject(transcript: &Transcript<'_>, result: usize) -> Option<String> {
    /// Longer arguments are contents.
    const LONGEST: usize = 120;
    let call = transcript.parts.get(transcript.exchanges.call_of(result)?)?;
    let arguments = match &call.content {
        Content::Text(span) => json::decode(transcript.raw(span.inner())),
        other => Cow::Borrowed(transcript.raw(other.span())),
    };
    let fields = match arguments.starts_with('{') {
        true => field::all(&arguments, Span::new(0, arguments.len())),
        false => return None,
    };
    let words = fields.iter().map(|(_, found)| found.value).find(|value| value.of(&arguments).starts_with('"'))?;
    let words = json::decode(words.inner().of(&arguments)).into_owned();
    let is_short = words.chars().count() <= LONGEST && !words.chars().any(char::is_control);
    (is_short && !words.trim().is_empty()).then_some(words)
}

fn result<'a>(transcript: &Transcript<'a>, part: &Part, body: &mut Body<'a>) {
    match &part.content {
        Content::Absent => {}
        Content::Text(_) => body.text_or_json(transcript.words(part)),
        Content::Json(span) => body.value(Cow::Borrowed(transcript.raw(*span))),
        Content::Blocks { .. } => {
            for block in transcript.inner_of(part) {
                match block.kind {
                    PartKind::Text => body.text_or_json(transcript.words(block)),
                    PartKind::Media => body.mark(media(transcript, block.span)),
                    _ => body.value(Cow::Borrowed(transcript.raw(block.span))),
                }
            }
        }
    }
}

/// A part that this version does not know: its JSON, under the name of its field if it is one.
fn unknown<'a>(transcript: &Transcript<'a>, part: &Part, body: &mut Body<'a>) {
    if part.place == Place::Field {
        let pair = transcript.raw(part.span);
        let key = pair.split('"').nth(1).unwrap_or_default();
        body.mark(format!("field {}", named(key, "without a name")));
        if payload::is_sealed_field(key) {
            return body.mark(format!("[{}]", payload::size(part.content.span().len())));
        }
    }
    match &part.content {
        Content::Text(span) => body.text_or_json(json::decode(transcript.raw(span.inner()))),
        Content::Absent => body.value(Cow::Borrowed(transcript.raw(part.span))),
        other => body.value(Cow::Borrowed(transcript.raw(other.span()))),
    }
}

fn media(transcript: &Transcript<'_>, block: Span) -> String {
    payload::media(transcript.text, block).unwrap_or_else(|| format!("[media, {}]", payload::size(block.len())))
}

/// A name for a line of ours: one line, not too long, or what stands for none.
fn named(raw: &str, none: &str) -> String {
    /// Names of tools have at most 64 characters with every provider.
    const LONGEST: usize = 100;
    let name: String = json::decode(raw).chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if name.trim().is_empty() { none.to_owned() } else { name }
}
