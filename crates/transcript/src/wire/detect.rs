//! Detects the format of a document from its elements.

use super::blocks::text_inside;
use super::json::{JsonError, JsonKind, Result, Scanner};
use crate::transcript::{Format, Shape};

/// What was found out about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Whose format it is.
    pub format: Format,
    /// How the messages lie in it.
    pub shape: Shape,
    /// The field of a body that holds the messages; `line` or `message` for other shapes, as errors name it.
    pub field: &'static str,
}

/// The fields under which a body can hold its messages, in the order in which they are believed.
const LISTS: [&str; 4] = ["messages", "input", "conversations", "contents"];

/// Finds shape and format; `wanted` overrides the format.
pub(super) fn detect(text: &str, wanted: Option<Format>) -> Result<Detected> {
    let mut scanner = Scanner::new(text, 0);
    let found = match scanner.next_byte() {
        None => {
            return Err(scanner.error(
                "not a transcript: the input is empty; expected an object with `messages`, \
         `input` or `contents`, an array of messages, or JSON lines",
            ));
        }
        Some(b'[') => {
            let mut evidence = Evidence::default();
            unless_stopped(look_at_list(&mut scanner, &mut evidence))?;
            Detected { format: evidence.format(), shape: Shape::List, field: "message" }
        }
        Some(b'{') if is_lines(text, &scanner) => detect_lines(&mut scanner, wanted)?,
        Some(b'{') => detect_body(&mut scanner)?,
        Some(_) => {
            let found = scanner.peek()?.with_article();
            return Err(scanner.error(format!("not a transcript: expected an object or array, found {found}")));
        }
    };
    Ok(Detected { format: wanted.unwrap_or(found.format), ..found })
}

/// What speaks against a document being of the format that somebody says it has; `None` when nothing does. Plain texts
/// can be of several formats, and blocks of another provider contradict nothing beside calls of the right form.
pub(super) fn contradiction(text: &str, said: Format) -> Result<Option<String>> {
    let found = detect(text, None)?;
    if found.format == said {
        return Ok(None);
    }
    let mut evidence = Evidence::default();
    let mut scanner = Scanner::new(text, 0);
    scanner.next_byte();
    match found.shape {
        Shape::Lines => {
            while scanner.next_byte().is_some() {
                look_at_element(&mut scanner, &mut evidence)?;
            }
        }
        Shape::List => drop(scanner.array(|scanner| look_at_element(scanner, &mut evidence))?),
        Shape::Body => drop(scanner.object(|scanner, key| match scanner.peek()? {
            JsonKind::Array if key == found.field => {
                scanner.array(|scanner| look_at_element(scanner, &mut evidence)).map(drop)
            }
            _ => scanner.skip().map(drop),
        })?),
    }
    let elsewhere = match (said, found.shape) {
        (Format::ClaudeCode, shape) => shape != Shape::Lines,
        (_, Shape::Body) => list_of(said) != found.field,
        _ => false,
    };
    let bare = evidence.any_role && matches!(said, Format::ShareGpt | Format::ClaudeCode | Format::Gemini);
    let foreign = Format::NAMES.iter().any(|(format, _)| evidence.speaks_for(*format));
    let contradicted = elsewhere || !evidence.speaks_for(said) && (bare || foreign);
    Ok(contradicted.then(|| format!("the content is in {} format, not {}", found.format, said)))
}

/// The field that holds the messages in a body of this format.
const fn list_of(format: Format) -> &'static str {
    match format {
        Format::OpenAiResponses => "input",
        Format::ShareGpt => "conversations",
        Format::Gemini => "contents",
        Format::OpenAiChat | Format::Anthropic | Format::ClaudeCode => "messages",
    }
}

/// JSON lines: a complete value on the first line, and another one after it or a shape that only
/// lines have. A pretty-printed body has its first newline inside the value.
fn is_lines(text: &str, scanner: &Scanner<'_>) -> bool {
    let rest = text.get(scanner.offset()..).unwrap_or_default();
    // `str::lines` looks for its ends four times slower, and a body is one line of megabytes.
    let first_line = memchr::memchr(b'\n', rest.as_bytes()).and_then(|end| rest.get(..end)).unwrap_or(rest);
    let mut line = Scanner::new(first_line, 0);
    let mut has_list = false;
    // A message or item may have an `input` of its own.
    let mut is_element = false;
    let after = rest.get(first_line.len()..).unwrap_or_default().trim_start();
    let complete = line.object(|line, key| {
        let is_list = LISTS.contains(&key) && matches!(line.peek()?, JsonKind::Array | JsonKind::String);
        has_list |= is_list;
        // Nothing follows and the list of a body begins: the rest, which may be long, tells nothing more.
        if is_list && after.is_empty() && key == LISTS[0] {
            return Err(enough());
        }
        is_element |= matches!(key, "role" | "call_id");
        line.skip().map(drop)
    });
    complete.is_ok() && (!after.is_empty() || !has_list || is_element)
}

/// The format of messages without a document around them.
pub(super) fn detect_stretch(text: &str) -> Result<Detected> {
    let mut scanner = Scanner::new(text, 0);
    let mut evidence = Evidence::default();
    while scanner.next_in_stretch().is_some() && !evidence.is_decided() {
        if scanner.peek()? != JsonKind::Object {
            return Err(scanner.error("expected a message object with a `role`"));
        }
        evidence.look_at(&mut scanner)?;
    }
    match evidence.any_role || evidence.is_decided() {
        true => Ok(Detected { format: evidence.format(), shape: Shape::Lines, field: "message" }),
        false => Err(scanner.error("expected messages with a `role`")),
    }
}

fn detect_lines(scanner: &mut Scanner<'_>, wanted: Option<Format>) -> Result<Detected> {
    let mut evidence = Evidence::default();
    let mut lines = 0;
    while scanner.next_byte().is_some() && !evidence.is_decided() {
        // What follows damage is found again, with its place, when the lines are read.
        if scanner.peek()? != JsonKind::Object || evidence.look_at(scanner).is_err() {
            break;
        }
        lines += 1;
    }
    if wanted.is_none() && !evidence.any_role && !evidence.is_decided() {
        if let (0..=1, Some(error)) = (lines, no_list(scanner.text())) {
            return Err(error);
        }
        let message = if lines <= 1 {
            "expected a field `messages`, `input` or `contents`, a message with a `role`, or JSON lines of messages"
        } else {
            "expected JSON lines with a `role`, or lines of a Claude Code session"
        };
        return Err(JsonError { offset: 0, message: message.into(), element: None });
    }
    Ok(Detected { format: evidence.format(), shape: Shape::Lines, field: "line" })
}

/// What is wrong with a body whose messages are no list.
fn no_list(text: &str) -> Option<JsonError> {
    let mut scanner = Scanner::new(text, 0);
    scanner.next_byte()?;
    let mut wrong = None;
    let _ = scanner.object(|scanner, key| {
        if LISTS.contains(&key) {
            let message = format!("`{key}` must be an array of messages, found {}", scanner.peek()?.with_article());
            wrong.get_or_insert_with(|| scanner.error(message));
        }
        scanner.skip().map(drop)
    });
    wrong
}

fn detect_body(scanner: &mut Scanner<'_>) -> Result<Detected> {
    let start = scanner.offset();
    let mut evidence = Evidence::default();
    let mut field = None;
    let looked = scanner.object(|scanner, key| {
        if let Some(rank) = LISTS.iter().position(|list| *list == key)
            && matches!(scanner.peek()?, JsonKind::Array | JsonKind::String)
            && field.is_none_or(|known| rank <= known)
        {
            field = Some(rank);
            if scanner.peek()? == JsonKind::Array {
                evidence =
                    Evidence { claude: evidence.claude, anthropic: evidence.said_anthropic, ..Evidence::default() };
                // No list is believed more than the first; behind another one it may still come, unless that one is
                // beyond doubt.
                if rank == 0 {
                    return look_at_list(scanner, &mut evidence);
                }
                unless_stopped(look_at_list(&mut scanner.clone(), &mut evidence))?;
                if evidence.items || evidence.gemini {
                    return Err(enough());
                }
            }
            return scanner.skip().map(drop);
        }
        match key {
            "system" | "anthropic_version" => {
                evidence.said_anthropic = true;
                evidence.anthropic = true;
            }
            "model" => {
                let model = text_inside(scanner)?;
                evidence.claude = model.of(scanner.text()).to_ascii_lowercase().contains("claude");
                return Ok(());
            }
            _ => {}
        }
        scanner.skip().map(drop)
    });
    unless_stopped(looked)?;
    let Some(field) = field.and_then(|rank| LISTS.get(rank).copied()) else {
        let message = "expected a field `messages`, `input` or `contents` with an array; this object has none";
        let none = JsonError { offset: start, message: message.into(), element: None };
        return Err(no_list(scanner.text()).unwrap_or(none));
    };
    let format = match field {
        "input" => Format::OpenAiResponses,
        "conversations" => Format::ShareGpt,
        "contents" => Format::Gemini,
        _ => evidence.format(),
    };
    Ok(Detected { format, shape: Shape::Body, field })
}

/// The offset of the error that ends a look when enough is known: no text is that long.
const STOP: usize = usize::MAX;

/// Ends a look.
fn enough() -> JsonError {
    JsonError { offset: STOP, message: "".into(), element: None }
}

fn unless_stopped<T>(looked: Result<T>) -> Result<()> {
    match looked {
        Err(error) if error.offset != STOP => Err(error),
        _ => Ok(()),
    }
}

/// Looks at elements until the format is certain, then stops: the reader goes over all of them anyway.
fn look_at_list(scanner: &mut Scanner<'_>, evidence: &mut Evidence) -> Result<()> {
    scanner
        .array(|scanner| {
            look_at_element(scanner, evidence)?;
            match evidence.is_decided() {
                true => Err(enough()),
                false => Ok(()),
            }
        })
        .map(drop)
}

fn look_at_element(scanner: &mut Scanner<'_>, evidence: &mut Evidence) -> Result<()> {
    match scanner.peek()? {
        JsonKind::Object => evidence.look_at(scanner),
        _ => scanner.skip().map(drop),
    }
}

/// What speaks for which format.
#[derive(Default)]
struct Evidence {
    any_role: bool,
    system_message: bool,
    /// The body says so beside its messages.
    said_anthropic: bool,
    anthropic: bool,
    claude: bool,
    chat: bool,
    items: bool,
    turns: bool,
    envelope: bool,
    gemini: bool,
    /// Calls or results as one format alone writes them; the flags above are also set by less.
    chat_calls: bool,
    anthropic_calls: bool,
    call_items: bool,
}

impl Evidence {
    fn is_decided(&self) -> bool {
        self.anthropic || self.chat || self.items || self.turns || self.envelope || self.gemini
    }

    fn format(&self) -> Format {
        match () {
            () if self.envelope => Format::ClaudeCode,
            () if self.gemini => Format::Gemini,
            () if self.turns => Format::ShareGpt,
            () if self.items => Format::OpenAiResponses,
            () if self.chat => Format::OpenAiChat,
            () if self.anthropic => Format::Anthropic,
            () if self.claude && !self.system_message => Format::Anthropic,
            // Plain texts only: valid in both, and Chat is what most tools write.
            () => Format::OpenAiChat,
        }
    }

    /// Whether something is written as this format alone writes it.
    fn speaks_for(&self, format: Format) -> bool {
        match format {
            Format::OpenAiChat => self.chat_calls,
            Format::OpenAiResponses => self.call_items,
            Format::Anthropic => self.anthropic_calls,
            Format::ClaudeCode => self.envelope,
            Format::ShareGpt => self.turns,
            Format::Gemini => self.gemini,
        }
    }

    fn look_at(&mut self, scanner: &mut Scanner<'_>) -> Result<()> {
        scanner
            .object(|scanner, key| {
                match key {
                    "role" => {
                        self.any_role = true;
                        let role = text_inside(scanner)?;
                        match role.of(scanner.text()) {
                            role @ ("tool" | "function" | "developer") => {
                                self.chat = true;
                                self.chat_calls |= role != "developer";
                            }
                            // Anthropic clients put this role between messages, too.
                            "system" => self.system_message = true,
                            "model" => self.gemini = true,
                            _ => {}
                        }
                        return Ok(());
                    }
                    "tool_calls" | "tool_call_id" => {
                        self.chat = true;
                        self.chat_calls = true;
                    }
                    "parts" => self.gemini = true,
                    "from" | "value" => self.turns = true,
                    "type" => {
                        let kind = text_inside(scanner)?;
                        let kind = kind.of(scanner.text());
                        self.call_items |= kind.ends_with("_call") || kind.ends_with("_call_output");
                        self.items |= self.call_items || kind == "message" && !self.envelope || kind == "reasoning";
                        return Ok(());
                    }
                    "message" => {
                        self.envelope |= scanner.peek()? == JsonKind::Object;
                    }
                    "content" if scanner.peek()? == JsonKind::Array => {
                        return scanner.array(|scanner| self.look_at_block(scanner)).map(drop);
                    }
                    _ => {}
                }
                scanner.skip().map(drop)
            })
            .map(drop)
    }

    fn look_at_block(&mut self, scanner: &mut Scanner<'_>) -> Result<()> {
        if scanner.peek()? != JsonKind::Object {
            return scanner.skip().map(drop);
        }
        scanner
            .object(|scanner, key| {
                if key != "type" {
                    return scanner.skip().map(drop);
                }
                let kind = text_inside(scanner)?;
                match kind.of(scanner.text()) {
                    kind @ ("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document") => {
                        self.anthropic = true;
                        self.anthropic_calls |= kind.starts_with("tool_");
                    }
                    "image_url" | "input_audio" => self.chat = true,
                    "input_text" | "output_text" | "input_image" => self.items = true,
                    _ => {}
                }
                Ok(())
            })
            .map(drop)
    }
}
