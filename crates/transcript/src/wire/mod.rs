//! Wire formats: how each provider writes a conversation down. Readers only: output is the input
//! with edits, so there is nothing to serialise here but a string and a message we insert.

mod blocks;
pub mod compose;
mod detect;
pub mod events;
pub mod field;
pub(crate) mod gemini;
mod items;
pub mod json;
mod literal;
pub mod reply;
pub mod sse;

use crate::edit::Span;
use crate::transcript::{Exchanges, Format, Shape, Structure, Transcript};
use items::Gathered;
use json::{JsonError, JsonKind, Scanner};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub use blocks::is_media;
pub use detect::Detected;

/// Why a text is no transcript: what, where, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct WireError {
    /// What was found or expected.
    pub message: String,
    /// Byte offset in the input.
    pub offset: usize,
    /// Line and column, and the element of the conversation if there is one.
    pub place: String,
}

impl WireError {
    fn new(text: &str, list: &str, error: JsonError) -> WireError {
        let before = text.as_bytes().get(..error.offset).unwrap_or_default();
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = error.offset - before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1) + 1;
        let place = match error.element {
            Some(element) => format!("line {line}, column {column}, in {list}[{element}]"),
            None => format!("line {line}, column {column}"),
        };
        WireError { message: error.message.into_owned(), offset: error.offset, place }
    }
}

/// Reads a document as a transcript. `format` is found out when it is not given.
///
/// ```
/// let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#;
/// let transcript = foldline_transcript::wire::read(body, None)?;
/// assert_eq!(transcript.messages.len(), 1);
/// assert_eq!(transcript.format, foldline_transcript::Format::OpenAiChat);
/// # Ok::<(), foldline_transcript::wire::WireError>(())
/// ```
pub fn read(text: &str, format: Option<Format>) -> Result<Transcript<'_>, WireError> {
    let fail = |list: &str, error| WireError::new(text, list, error);
    if text.len() > u32::MAX as usize {
        let message = format!("the input has {} bytes; the maximum is {}", text.len(), u32::MAX);
        return Err(fail("", JsonError { offset: 0, message: message.into(), element: None }));
    }
    let found = detect::detect(text, format).map_err(|error| fail("", error))?;
    let mut reader = Reader { text, found: &found, gathered: Gathered::default(), body: BodyFields::default() };
    let list = match found.shape {
        Shape::Lines => reader.read_lines(),
        Shape::List => reader.read_list(),
        Shape::Body => reader.read_body(),
    }
    .map_err(|error| fail(found.field, error))?;
    Ok(reader.finish(list))
}

/// Refuses a document that is evidently of another format than `said`. Reading it as `said` would take its calls and
/// results for damage, and repair would remove them.
///
/// ```
/// use foldline_transcript::{Format, wire};
///
/// let body = r#"{"messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
/// let error = wire::check_format(body, Format::Anthropic).unwrap_err();
/// assert_eq!(error.message, "the content is in openai-chat format, not anthropic");
/// ```
pub fn check_format(text: &str, said: Format) -> Result<(), WireError> {
    let fail = |error| WireError::new(text, "", error);
    match detect::contradiction(text, said).map_err(fail)? {
        Some(message) => Err(fail(JsonError { offset: 0, message: message.into(), element: None })),
        None => Ok(()),
    }
}

/// Reads messages as they stand in a document, without what is around them: with commas between them, or on lines.
pub fn read_stretch(text: &str) -> Result<Transcript<'_>, WireError> {
    let fail = |error| WireError::new(text, "message", error);
    if text.len() > u32::MAX as usize {
        return Err(fail(JsonError { offset: 0, message: "over 4 GB".into(), element: None }));
    }
    let found = detect::detect_stretch(text).map_err(fail)?;
    let mut reader = Reader { text, found: &found, gathered: Gathered::default(), body: BodyFields::default() };
    let mut scanner = Scanner::new(text, 0);
    while scanner.next_in_stretch().is_some() {
        reader.read_element(&mut scanner).map_err(fail)?;
    }
    Ok(reader.finish(Span::new(0, text.len())))
}

/// Reads a single element in a known format, as a list of one.
pub fn read_one(text: &str, format: Format) -> Result<Transcript<'_>, WireError> {
    let found = Detected { format, shape: Shape::Lines, field: "message" };
    let mut reader = Reader { text, found: &found, gathered: Gathered::default(), body: BodyFields::default() };
    let list = reader.read_lines().map_err(|error| WireError::new(text, found.field, error))?;
    Ok(reader.finish(list))
}

struct Reader<'a, 'f> {
    text: &'a str,
    found: &'f Detected,
    gathered: Gathered,
    body: BodyFields<'a>,
}

/// What a request body says beside its messages.
#[derive(Default)]
struct BodyFields<'a> {
    model: Option<Cow<'a, str>>,
    max_output: Option<u32>,
    system: Option<Span>,
    tools: Option<Span>,
    marks: u32,
    fields: Vec<(String, Span)>,
}

impl<'a> Reader<'a, '_> {
    fn read_lines(&mut self) -> json::Result<Span> {
        let mut scanner = Scanner::new(self.text, 0);
        while scanner.next_byte().is_some() {
            self.read_element(&mut scanner)?;
        }
        Ok(Span::new(0, self.text.len()))
    }

    fn read_list(&mut self) -> json::Result<Span> {
        let mut scanner = Scanner::new(self.text, 0);
        scanner.next_byte();
        let list = scanner.array(|scanner| self.read_element(scanner))?;
        end_of_text(&mut scanner)?;
        Ok(list)
    }

    fn read_body(&mut self) -> json::Result<Span> {
        let mut scanner = Scanner::new(self.text, 0);
        let mut list = Span::default();
        scanner.object(|scanner, key| {
            match key {
                _ if key == self.found.field => {
                    self.gathered = Gathered::default();
                    list = match scanner.peek()? {
                        JsonKind::Array => scanner.array(|scanner| self.read_element(scanner))?,
                        JsonKind::String => self.gathered.read_prompt(scanner)?,
                        _ => return Err(scanner.error(format!("`{key}` must be an array of messages"))),
                    };
                }
                "model" => {
                    let model = blocks::text_inside(scanner)?;
                    self.body.model = (!model.is_empty()).then(|| json::decode(model.of(self.text)));
                }
                "max_tokens" | "max_completion_tokens" | "max_output_tokens" => {
                    let value = scanner.skip()?;
                    self.body.max_output = value.of(self.text).parse().ok().or(self.body.max_output);
                }
                "generationConfig" | "generation_config" if scanner.peek()? == JsonKind::Object => {
                    let config = scanner.skip()?;
                    let most = gemini::find(self.text, config, ["maxOutputTokens", "max_output_tokens"]);
                    let most = most.and_then(|field| field.value.of(self.text).parse().ok());
                    self.body.max_output = most.or(self.body.max_output);
                }
                "system" | "instructions" | "systemInstruction" | "system_instruction" => {
                    self.body.marks += count_marks(&mut scanner.clone())?;
                    self.body.system = some_value(self.text, scanner.skip()?);
                }
                "tools" | "functions" => {
                    self.body.marks += count_marks(&mut scanner.clone())?;
                    self.body.tools = some_value(self.text, scanner.skip()?);
                }
                "cache_control" => self.body.marks += u32::from(some_value(self.text, scanner.skip()?).is_some()),
                _ => {
                    let value = scanner.skip()?;
                    self.body.fields.push((key.to_owned(), value));
                }
            }
            Ok(())
        })?;
        end_of_text(&mut scanner)?;
        Ok(list)
    }

    fn read_element(&mut self, scanner: &mut Scanner<'a>) -> json::Result<()> {
        let element = self.gathered.messages.len();
        self.gathered.read(scanner, self.found.format).map_err(|error| JsonError { element: Some(element), ..error })
    }

    fn finish(self, list: Span) -> Transcript<'a> {
        let gathered = self.gathered;
        let structure = Structure {
            format: self.found.format,
            shape: self.found.shape,
            exchanges: Exchanges::pair(self.text, self.found.format, &gathered.messages, &gathered.parts),
            messages: gathered.messages,
            parts: gathered.parts,
            inner: gathered.inner,
            list,
            model: self.body.model.map(Cow::into_owned),
            max_output: self.body.max_output,
            system: self.body.system,
            tools: self.body.tools,
            outer_marks: self.body.marks,
            fields: self.body.fields,
            reported: gathered.reported,
            links: gathered.links,
            handoffs: OnceLock::new(),
        };
        Transcript::new(self.text, Arc::new(structure))
    }
}

fn end_of_text(scanner: &mut Scanner<'_>) -> json::Result<()> {
    match scanner.next_byte() {
        None => Ok(()),
        Some(_) => Err(scanner.error("unexpected text after the JSON value")),
    }
}

/// A value that says something: not `null`, not an empty string or array.
fn some_value(text: &str, value: Span) -> Option<Span> {
    (!matches!(value.of(text), "null" | "\"\"" | "[]")).then_some(value)
}

/// Cache marks on the elements of an array of objects.
fn count_marks(scanner: &mut Scanner<'_>) -> json::Result<u32> {
    let mut marks = 0;
    if scanner.peek()? == JsonKind::Array {
        scanner.array(|scanner| {
            if scanner.peek()? != JsonKind::Object {
                return scanner.skip().map(drop);
            }
            scanner
                .object(|scanner, key| {
                    let value = scanner.skip()?;
                    marks += u32::from(key == "cache_control" && value.of(scanner.text()) != "null");
                    Ok(())
                })
                .map(drop)
        })?;
    }
    Ok(marks)
}
