//! How a message of ours is written in each provider's words: the only place that writes JSON
//! of messages. What comes from the source goes in verbatim; only texts of our own are encoded.

use super::field;
use super::json;
use crate::edit::Span;
use crate::rewrite::Rewrite;
use crate::transcript::{Content, Format, Message, Part, PartKind, Place, Role, Transcript};

/// Stands between two texts that become one string: a paragraph of its own for each.
const BLANK_LINE: &str = "\\n\\n";

/// What a session file says around a message. Other formats have no use for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Envelope<'a> {
    /// The `uuid` literal (with quotes) of the line before; none at the root.
    pub parent: Option<&'a str>,
    /// Why the line is there.
    pub purpose: Purpose,
}

/// Why a line of ours stands in a session file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// It stands for folded messages.
    #[default]
    Summary,
    /// It holds the conversation together and says nothing of its own.
    Note,
}

/// On which side of a message's own words a text is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before them.
    Front,
    /// After them.
    Back,
}

/// A message of `role` that says `text`.
pub fn text_message(format: Format, role: Role, text: &str, envelope: Envelope<'_>) -> String {
    texts_message(format, role, &[text], envelope)
}

/// A message of `role` that says these texts, each in a block of its own where messages have blocks.
pub fn texts_message(format: Format, role: Role, texts: &[&str], envelope: Envelope<'_>) -> String {
    let content = match format {
        Format::OpenAiChat | Format::ShareGpt => json::encode(&texts.join("\n\n")),
        _ => {
            let blocks: Vec<String> = texts.iter().map(|text| text_block(format, role, &json::encode(text))).collect();
            array(&blocks)
        }
    };
    message(format, role, &content, envelope)
}

/// A message of `role` with these blocks, each a JSON object.
pub fn block_message(format: Format, role: Role, blocks: &[String], envelope: Envelope<'_>) -> String {
    message(format, role, &array(blocks), envelope)
}

/// The user message that is left of another when its tool results are taken out; `None` when
/// nothing is left.
pub fn own_words(transcript: &Transcript<'_>, index: usize, envelope: Envelope<'_>) -> Option<String> {
    let source = transcript.messages.get(index)?;
    let content = match &source.content {
        Content::Text(literal) if source.role != Role::Tool => transcript.raw(*literal).to_owned(),
        Content::Blocks { .. } if source.role != Role::Tool => {
            let kept: Vec<&str> = blocks_of(transcript, source)
                .filter(|block| block.kind != PartKind::ToolResult)
                .map(|block| transcript.raw(block.span))
                .collect();
            if kept.is_empty() {
                return None;
            }
            array(&kept)
        }
        _ => return None,
    };
    Some(message(transcript.format, Role::User, &content, envelope))
}

/// A result in place of one that is missing: a message or an item where results are such, a block
/// where they are blocks. `None` where no text can stand for a result.
pub fn stub_result(transcript: &Transcript<'_>, call_index: usize, text: &str) -> Option<String> {
    let call = transcript.parts.get(call_index)?;
    let id = transcript.raw(call.id);
    let literal = json::encode(text);
    match transcript.format {
        Format::Anthropic | Format::ClaudeCode => {
            Some(format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{literal}}}"#))
        }
        Format::OpenAiChat if call.place == Place::Field => {
            Some(format!(r#"{{"role":"function","name":"{id}","content":{literal}}}"#))
        }
        Format::OpenAiChat => Some(format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{literal}}}"#)),
        Format::OpenAiResponses => {
            let kind = field::word(transcript.text, call.span, "type");
            Pairing::of_call(kind).and_then(|pairing| pairing.stub(id, &literal))
        }
        Format::Gemini => {
            let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
            let name = transcript.raw(call.name);
            let response = response_of(&literal);
            Some(format!(r#"{{"functionResponse":{{{id}"name":"{name}","response":{response}}}}}"#))
        }
        Format::ShareGpt => None,
    }
}

/// The value that makes a result say `text`, for the span of its content.
pub fn result_value(transcript: &Transcript<'_>, result: &Part, text: &str) -> String {
    let literal = json::encode(text);
    match (transcript.format, &result.content) {
        (Format::Gemini, Content::Json(_)) => response_of(&literal),
        // Media beside the words go with them: what is left is a result without.
        (Format::Gemini, Content::Blocks { span, .. }) => {
            let fields = field::all(transcript.text, *span).into_iter().filter(|(name, _)| name != "parts");
            let fields: Vec<String> = fields
                .map(|(name, field)| match name.as_str() {
                    "response" => format!(r#""response":{}"#, response_of(&literal)),
                    _ => transcript.raw(field.pair).to_owned(),
                })
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        _ => literal,
    }
}

/// An object that says what a string literal says, as Gemini takes results.
pub(crate) fn response_of(literal: &str) -> String {
    format!(r#"{{"output":{literal}}}"#)
}

/// A Responses call and the item that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    call: &'static str,
    result: &'static str,
    stub: StubShape,
}

/// What a result must hold to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StubShape {
    /// `call_id` and a text.
    Text,
    /// The same, under `id`.
    TextById,
    /// A list of what each command printed.
    Commands,
    /// A status and a text.
    Status,
    /// A screenshot, which no text can replace.
    Screenshot,
}

/// The items that the provider demands in pairs. Kinds that are not here are left alone.
const PAIRINGS: [Pairing; 6] = [
    Pairing { call: "function_call", result: "function_call_output", stub: StubShape::Text },
    Pairing { call: "custom_tool_call", result: "custom_tool_call_output", stub: StubShape::Text },
    Pairing { call: "local_shell_call", result: "local_shell_call_output", stub: StubShape::TextById },
    Pairing { call: "shell_call", result: "shell_call_output", stub: StubShape::Commands },
    Pairing { call: "apply_patch_call", result: "apply_patch_call_output", stub: StubShape::Status },
    Pairing { call: "computer_call", result: "computer_call_output", stub: StubShape::Screenshot },
];

impl Pairing {
    /// The pairing of a call of this `type`.
    pub(crate) fn of_call(kind: &str) -> Option<Pairing> {
        PAIRINGS.into_iter().find(|pairing| pairing.call == kind)
    }

    /// The pairing of a result of this `type`.
    pub(crate) fn of_result(kind: &str) -> Option<Pairing> {
        PAIRINGS.into_iter().find(|pairing| pairing.result == kind)
    }

    fn stub(self, id: &str, literal: &str) -> Option<String> {
        let kind = self.result;
        Some(match self.stub {
            StubShape::Text => format!(r#"{{"type":"{kind}","call_id":"{id}","output":{literal}}}"#),
            StubShape::TextById => format!(r#"{{"type":"{kind}","id":"{id}","output":{literal}}}"#),
            StubShape::Commands => format!(
                r#"{{"type":"{kind}","call_id":"{id}","output":[{{"stdout":"","stderr":{literal},"outcome":{{"type":"exit","exit_code":1}}}}]}}"#
            ),
            StubShape::Status => {
                format!(r#"{{"type":"{kind}","call_id":"{id}","status":"failed","output":{literal}}}"#)
            }
            StubShape::Screenshot => return None,
        })
    }
}

/// Puts `text` before or after what a message says. A string stays a string where only strings are
/// usual; an array gets one more block. Results and signed reasoning keep the front of a message,
/// calls its end, because their providers want them there.
pub fn add_text(transcript: &Transcript<'_>, rewrite: &mut Rewrite, index: usize, text: &str, side: Side) {
    add_texts(transcript, rewrite, index, &[text], side);
}

/// As [`add_text`], several texts in their order, each a block of its own where messages have blocks.
pub fn add_texts(transcript: &Transcript<'_>, rewrite: &mut Rewrite, index: usize, texts: &[&str], side: Side) {
    let Some(target) = transcript.messages.get(index).filter(|_| !texts.is_empty()) else {
        return;
    };
    let format = transcript.format;
    let blocks_of_ours =
        || -> Vec<String> { texts.iter().map(|text| text_block(format, target.role, &json::encode(text))).collect() };
    match &target.content {
        Content::Text(literal) if matches!(format, Format::OpenAiChat | Format::ShareGpt) => {
            let inside = literal.inner();
            let mut words = String::new();
            json::encode_into(&texts.join("\n\n"), &mut words);
            let gap = if inside.is_empty() { "" } else { BLANK_LINE };
            match side {
                Side::Front => rewrite.edits.replace(at(inside.start), format!("{words}{gap}")),
                Side::Back => rewrite.edits.replace(at(inside.end), format!("{gap}{words}")),
            }
        }
        Content::Text(literal) => {
            let theirs = text_block(format, target.role, transcript.raw(*literal));
            let mut all = blocks_of_ours();
            match side {
                Side::Front => all.push(theirs),
                Side::Back => all.insert(0, theirs),
            }
            rewrite.edits.replace(*literal, array(&all));
        }
        Content::Blocks { span, .. } => {
            let block = blocks_of_ours().join(",");
            let blocks: Vec<&Part> = blocks_of(transcript, target).collect();
            match blocks.get(place_for_text(&blocks, side)) {
                Some(next) => rewrite.edits.replace(at(next.span.start), format!("{block},")),
                None => match blocks.last() {
                    Some(last) => rewrite.edits.replace(at(last.span.end), format!(",{block}")),
                    None => rewrite.edits.replace(at(span.start + 1), block),
                },
            }
        }
        Content::Absent | Content::Json(_) => {
            let content = match format {
                Format::OpenAiChat | Format::ShareGpt => json::encode(&texts.join("\n\n")),
                _ => array(&blocks_of_ours()),
            };
            set_content(transcript, rewrite, index, &content);
        }
    }
}

/// Before which block a text goes: after leading results and signed reasoning, before trailing calls.
fn place_for_text(blocks: &[&Part], side: Side) -> usize {
    match side {
        Side::Front => {
            let leads = |block: &&&Part| matches!(block.kind, PartKind::ToolResult | PartKind::Sealed);
            blocks.iter().take_while(leads).count()
        }
        Side::Back => {
            let calls = blocks.iter().rev().take_while(|block| block.kind == PartKind::ToolCall).count();
            blocks.len() - calls
        }
    }
}

/// Makes one message of neighbours of one role. Where calls are fields, the message that carries
/// them stays and takes the others' words in; elsewhere the first does. Fields that only the others
/// have come along.
pub fn merge(transcript: &Transcript<'_>, rewrite: &mut Rewrite, run: &[usize]) -> Option<usize> {
    let has_calls = |index: &&usize| transcript.parts_at(**index).iter().any(|part| matches!(part.place, Place::Call));
    let host = *run.iter().find(has_calls).or(run.first())?;
    set_content(transcript, rewrite, host, &joined_content(transcript, run));
    let text = transcript.text;
    if matches!(transcript.format, Format::OpenAiChat | Format::ShareGpt) {
        let object = transcript.messages.get(host)?.span;
        let mut known: Vec<String> = field::all(text, object).into_iter().map(|(name, _)| name).collect();
        known.extend(["content", "value"].map(str::to_owned));
        let end = object.end - 1;
        for &other in run.iter().filter(|&&other| other != host) {
            for (name, field) in field::all(text, transcript.messages.get(other)?.span) {
                if !known.contains(&name) {
                    rewrite.edits.replace(at(end), format!(",{}", transcript.raw(field.pair)));
                    known.push(name);
                }
            }
        }
    }
    for &other in run.iter().filter(|&&other| other != host) {
        rewrite.remove(other);
    }
    Some(host)
}

/// What all messages of a run say, as one content value.
fn joined_content(transcript: &Transcript<'_>, run: &[usize]) -> String {
    let messages = || run.iter().filter_map(|&index| transcript.messages.get(index));
    let are_strings = messages().all(|message| matches!(message.content, Content::Text(_) | Content::Absent));
    if are_strings && matches!(transcript.format, Format::OpenAiChat | Format::ShareGpt) {
        let texts: Vec<&str> = messages()
            .map(|message| transcript.raw(message.content.span().inner()))
            .filter(|text| !text.is_empty())
            .collect();
        if texts.is_empty() && messages().all(|message| message.content == Content::Absent) {
            return "null".to_owned();
        }
        return format!("\"{}\"", texts.join(BLANK_LINE));
    }
    let mut results = Vec::new();
    let mut blocks = Vec::new();
    for message in messages() {
        match &message.content {
            Content::Text(literal) if !json::decode(transcript.raw(literal.inner())).trim().is_empty() => {
                blocks.push(text_block(transcript.format, message.role, transcript.raw(*literal)));
            }
            Content::Blocks { .. } => {
                for block in blocks_of(transcript, message) {
                    let raw = transcript.raw(block.span).to_owned();
                    match block.kind {
                        PartKind::ToolResult => results.push(raw),
                        _ => blocks.push(raw),
                    }
                }
            }
            _ => {}
        }
    }
    results.append(&mut blocks);
    array(&results)
}

/// Replaces a message's content by a JSON value.
pub fn set_content(transcript: &Transcript<'_>, rewrite: &mut Rewrite, index: usize, content: &str) {
    let Some(target) = transcript.messages.get(index) else {
        return;
    };
    match &target.content {
        Content::Absent => {
            if let Some(object) = object_of(transcript, index) {
                let key = content_key(transcript.format);
                let edit = field::set(transcript.text, object, key, content);
                rewrite.edits.replace(edit.span, edit.text);
            }
        }
        present => rewrite.edits.replace(present.span(), content),
    }
}

/// The field that holds what a message says.
fn content_key(format: Format) -> &'static str {
    match format {
        Format::ShareGpt => "value",
        Format::Gemini => "parts",
        _ => "content",
    }
}

/// The object that holds role and content: the message, or what a session file's line wraps.
pub(crate) fn object_of(transcript: &Transcript<'_>, index: usize) -> Option<Span> {
    let span = transcript.messages.get(index)?.span;
    match transcript.format {
        Format::ClaudeCode => field::value(transcript.text, span, "message"),
        _ => Some(span),
    }
}

/// The elements of a message's content array.
pub(crate) fn blocks_of<'t>(transcript: &'t Transcript<'_>, message: &Message) -> impl Iterator<Item = &'t Part> {
    transcript.parts_of(message).iter().filter(|part| part.place == Place::Block)
}

/// A text block around a string literal.
pub fn text_block(format: Format, role: Role, literal: &str) -> String {
    let kind = match (format, role) {
        (Format::Gemini, _) => return format!(r#"{{"text":{literal}}}"#),
        (Format::OpenAiResponses, Role::Assistant) => "output_text",
        (Format::OpenAiResponses, _) => "input_text",
        _ => "text",
    };
    format!(r#"{{"type":"{kind}","text":{literal}}}"#)
}

/// A JSON array of values that are JSON already.
pub(crate) fn array<S: AsRef<str>>(values: &[S]) -> String {
    let mut out = String::from("[");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(value.as_ref());
    }
    out.push(']');
    out
}

/// The empty span before byte `offset`.
fn at(offset: u32) -> Span {
    Span { start: offset, end: offset }
}

fn message(format: Format, role: Role, content: &str, envelope: Envelope<'_>) -> String {
    let name = role.name();
    match format {
        Format::OpenAiChat | Format::Anthropic => format!(r#"{{"role":"{name}","content":{content}}}"#),
        Format::OpenAiResponses => {
            format!(r#"{{"type":"message","role":"{name}","content":{content}}}"#)
        }
        Format::Gemini => {
            let name = if role == Role::Assistant { "model" } else { "user" };
            format!(r#"{{"role":"{name}","parts":{content}}}"#)
        }
        Format::ShareGpt => {
            let from = match role {
                Role::User => "human",
                Role::Assistant => "gpt",
                _ => name,
            };
            format!(r#"{{"from":"{from}","value":{content}}}"#)
        }
        Format::ClaudeCode => {
            let message = format!(r#"{{"role":"{name}","content":{content}}}"#);
            let parent = envelope.parent.unwrap_or("null");
            let uuid = uuid_of(parent, &message);
            let mark = match envelope.purpose {
                Purpose::Summary => "isCompactSummary",
                Purpose::Note => "isMeta",
            };
            format!(r#"{{"type":"{name}","uuid":"{uuid}","parentUuid":{parent},"{mark}":true,"message":{message}}}"#)
        }
    }
}

/// A UUID of version 8 that follows from a line's content and place: the same input gives the same line.
fn uuid_of(parent: &str, message: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(parent.as_bytes()).update(b"\n").update(message.as_bytes());
    let hash = hasher.finalize().to_hex();
    let hex = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-a{}-{}", hex(0, 8), hex(8, 12), hex(13, 16), hex(17, 20), hex(20, 32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read;

    #[test]
    fn every_format_has_its_words_for_a_text() {
        let text = |format| text_message(format, Role::Assistant, "a\n\"b\"", Envelope::default());
        assert_eq!(text(Format::OpenAiChat), r#"{"role":"assistant","content":"a\n\"b\""}"#);
        assert_eq!(text(Format::ShareGpt), r#"{"from":"gpt","value":"a\n\"b\""}"#);
        assert_eq!(text(Format::Anthropic), r#"{"role":"assistant","content":[{"type":"text","text":"a\n\"b\""}]}"#);
        assert_eq!(text(Format::Gemini), r#"{"role":"model","parts":[{"text":"a\n\"b\""}]}"#);
        assert_eq!(
            text(Format::OpenAiResponses),
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a\n\"b\""}]}"#
        );
        for (format, _) in Format::NAMES {
            let document = text(format);
            let transcript = read(&document, Some(format)).unwrap();
            assert_eq!(transcript.messages[0].role, Role::Assistant);
            assert_eq!(transcript.words(&transcript.parts[0]), "a\n\"b\"");
        }
    }

    #[test]
    fn a_session_line_has_a_uuid_of_its_content() {
        let line = |text, parent| {
            text_message(Format::ClaudeCode, Role::User, text, Envelope { parent, purpose: Purpose::Summary })
        };
        let uuid = |line: &str| field::word(line, Span::new(0, line.len()), "uuid").to_owned();
        let one = uuid(&line("x", None));
        assert_eq!(one, uuid(&line("x", None)));
        assert_ne!(one, uuid(&line("y", None)));
        assert_ne!(one, uuid(&line("x", Some("\"u1\""))));
        let groups: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        assert_eq!(one.as_bytes()[14], b'8');
        assert!(line("x", Some("\"u1\"")).contains(r#""parentUuid":"u1","isCompactSummary":true"#));
    }

    /// The first message after a text was added to it.
    fn with_text(format: Format, message: &str, side: Side) -> String {
        let document = format!("[{message}]");
        let transcript = read(&document, Some(format)).unwrap();
        let mut rewrite = Rewrite::default();
        add_text(&transcript, &mut rewrite, 0, "new", side);
        let after = rewrite.apply(&transcript);
        after[1..after.len() - 1].to_owned()
    }

    #[test]
    fn a_text_joins_a_string_or_a_list() {
        let chat = |message: &str, side| with_text(Format::OpenAiChat, message, side);
        assert_eq!(
            chat(r#"{"role":"user","content":"old"}"#, Side::Front),
            r#"{"role":"user","content":"new\n\nold"}"#
        );
        assert_eq!(chat(r#"{"role":"user","content":"old"}"#, Side::Back), r#"{"role":"user","content":"old\n\nnew"}"#);
        assert_eq!(chat(r#"{"role":"user","content":""}"#, Side::Back), r#"{"role":"user","content":"new"}"#);
        assert_eq!(
            chat(r#"{"role":"assistant","content":null}"#, Side::Back),
            r#"{"role":"assistant","content":"new"}"#
        );
        let blocks = |content: &str| {
            with_text(Format::Anthropic, &format!(r#"{{"role":"user","content":{content}}}"#), Side::Front)
        };
        assert_eq!(
            blocks(r#"[{"type":"tool_result","tool_use_id":"c"}, {"type":"text","text":"old"}]"#),
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}, {"type":"text","text":"new"},{"type":"text","text":"old"}]}"#
        );
        assert_eq!(
            blocks(r#""old""#),
            r#"{"role":"user","content":[{"type":"text","text":"new"},{"type":"text","text":"old"}]}"#
        );
        assert_eq!(
            with_text(Format::OpenAiResponses, r#"{"role":"assistant","content":[]}"#, Side::Back),
            r#"{"role":"assistant","content":[{"type":"output_text","text":"new"}]}"#
        );
    }

    #[test]
    fn own_words_leave_the_results_behind() {
        let document = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text", "text":"x"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"d"}]}]"#;
        let transcript = read(document, Some(Format::Anthropic)).unwrap();
        let words = own_words(&transcript, 0, Envelope::default());
        assert_eq!(words.as_deref(), Some(r#"{"role":"user","content":[{"type":"text", "text":"x"}]}"#));
        assert_eq!(own_words(&transcript, 1, Envelope::default()), None);
    }
}
