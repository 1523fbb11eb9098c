//! Contents of Google's Gemini API: a role and parts, each of which holds one thing. Every field is read in both
//! spellings that the API takes, `functionCall` and `function_call`.

use super::blocks::{literal, opaque, text_inside};
use super::field::{self, Field};
use super::items::{Gathered, NOTABLE_FIELD};
use super::json::{JsonKind, Result, Scanner};
use crate::edit::Span;
use crate::transcript::{Content, Message, Part, PartKind, Place, Role};

/// The fields of a part of which it has exactly one, in both spellings.
const DATA: [[&str; 2]; 9] = [
    ["text", "text"],
    ["functionCall", "function_call"],
    ["functionResponse", "function_response"],
    ["inlineData", "inline_data"],
    ["fileData", "file_data"],
    ["executableCode", "executable_code"],
    ["codeExecutionResult", "code_execution_result"],
    ["toolCall", "tool_call"],
    ["toolResponse", "tool_response"],
];

/// The signature of a part, in both spellings.
pub(crate) const SIGNATURE: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// The object of a call inside its part.
pub(crate) const CALL: [&str; 2] = ["functionCall", "function_call"];

/// The object of a result inside its part.
pub(crate) const RESPONSE: [&str; 2] = ["functionResponse", "function_response"];

/// A field in either spelling.
pub(crate) fn find(text: &str, object: Span, spellings: [&str; 2]) -> Option<Field> {
    spellings.into_iter().find_map(|key| field::find(text, object, key))
}

/// The object in a part's field, in either spelling.
pub(crate) fn object_in(text: &str, part: Span, spellings: [&str; 2]) -> Option<Span> {
    find(text, part, spellings).map(|field| field.value).filter(|value| value.of(text).starts_with('{'))
}

/// Whether a part says what it is.
pub(crate) fn has_data(text: &str, part: Span) -> bool {
    part.of(text).starts_with('{')
        && field::all(text, part).iter().any(|(name, field)| {
            let first = if name == "text" || SIGNATURE.contains(&name.as_str()) { '"' } else { '{' };
            let is_known = |spellings: &[&str; 2]| spellings.contains(&name.as_str());
            (DATA.iter().any(is_known) || is_known(&SIGNATURE)) && field.value.of(text).starts_with(first)
        })
}

impl Gathered {
    /// A content: `{"role": …, "parts": […]}`. Without a role it is the user's.
    pub(super) fn read_gemini(&mut self, scanner: &mut Scanner<'_>) -> Result<Message> {
        let first = self.parts.len();
        let mut role = Span::default();
        let mut content = Content::Absent;
        let span = scanner.object(|scanner, key| {
            match key {
                "role" => role = text_inside(scanner)?,
                "parts" => {
                    self.parts.truncate(first);
                    content = self.read_parts(scanner)?;
                }
                _ => {
                    let value = scanner.skip()?;
                    if value.len() > NOTABLE_FIELD {
                        self.parts.push(Part { place: Place::Field, ..opaque(value) });
                    }
                }
            }
            Ok(())
        })?;
        let role = match role.of(scanner.text()) {
            // The role of results, in the API's first years.
            "" | "user" | "function" => Role::User,
            "model" => Role::Assistant,
            _ => Role::Other,
        };
        Ok(Message { role, span, parts: first as u32..self.parts.len() as u32, content, reply: Span::default() })
    }

    fn read_parts(&mut self, scanner: &mut Scanner<'_>) -> Result<Content> {
        match scanner.peek()? {
            JsonKind::Array => {
                let first = self.parts.len() as u32;
                let span = scanner.array(|scanner| {
                    let part = match scanner.peek()? {
                        JsonKind::Object => read_part(scanner, &mut self.inner)?,
                        _ => opaque(scanner.skip()?),
                    };
                    self.parts.push(part);
                    Ok(())
                })?;
                Ok(Content::Blocks { span, inner: first..self.parts.len() as u32 })
            }
            JsonKind::Null => {
                scanner.skip()?;
                Ok(Content::Absent)
            }
            _ => Ok(Content::Json(scanner.skip()?)),
        }
    }
}

fn read_part(scanner: &mut Scanner<'_>, inner: &mut Vec<Part>) -> Result<Part> {
    let mut text = Span::default();
    let mut is_thought = false;
    let mut is_signed = false;
    let mut data = None;
    let span = scanner.object(|scanner, key| {
        let is_object = scanner.peek()? == JsonKind::Object;
        match key {
            "text" => text = literal(scanner)?,
            "thought" => is_thought = scanner.skip()?.of(scanner.text()) == "true",
            _ if SIGNATURE.contains(&key) => is_signed = !literal(scanner)?.inner().is_empty(),
            _ if CALL.contains(&key) && is_object => data = Some(read_call(scanner)?),
            _ if RESPONSE.contains(&key) && is_object => data = Some(read_response(scanner, inner)?),
            "inlineData" | "inline_data" | "fileData" | "file_data" if is_object => data = Some(read_media(scanner)?),
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    if let Some(data) = data {
        return Ok(Part { span, ..data });
    }
    let is_empty = text.inner().is_empty();
    let kind = match (is_thought, is_signed) {
        // The last part of a streamed reply can be a signature and no words.
        (_, true) if is_thought || is_empty => PartKind::Sealed,
        (true, _) if !text.is_empty() => PartKind::Reasoning,
        _ if !text.is_empty() => PartKind::Text,
        _ => PartKind::Opaque,
    };
    let content = if text.is_empty() { Content::Json(span) } else { Content::Text(text) };
    Ok(Part { kind, content, ..opaque(span) })
}

fn read_call(scanner: &mut Scanner<'_>) -> Result<Part> {
    let mut call = Part { kind: PartKind::ToolCall, content: Content::Absent, ..opaque(Span::default()) };
    scanner.object(|scanner, key| {
        match key {
            "id" => call.id = text_inside(scanner)?,
            "name" => call.name = text_inside(scanner)?,
            "args" => {
                let value = scanner.skip()?;
                call.content = match value.of(scanner.text()) {
                    "null" => Content::Absent,
                    raw if raw.starts_with('"') => Content::Text(value),
                    _ => Content::Json(value),
                };
            }
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    Ok(call)
}

fn read_media(scanner: &mut Scanner<'_>) -> Result<Part> {
    let mut media = Part { kind: PartKind::Media, ..opaque(Span::default()) };
    let span = scanner.object(|scanner, key| {
        match key {
            "mimeType" | "mime_type" => media.name = text_inside(scanner)?,
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    Ok(Part { content: Content::Json(span), ..media })
}

/// A result. What it says is a string in `response`, or that object; with media beside it, the result as a whole.
fn read_response(scanner: &mut Scanner<'_>, inner: &mut Vec<Part>) -> Result<Part> {
    let mut result = Part { kind: PartKind::ToolResult, content: Content::Absent, ..opaque(Span::default()) };
    let first = inner.len();
    let span = scanner.object(|scanner, key| {
        match key {
            "id" => result.id = text_inside(scanner)?,
            "name" => result.name = text_inside(scanner)?,
            "response" if scanner.peek()? == JsonKind::Object => {
                let answer = read_answer(scanner)?;
                result.content = answer.content;
                result.failed = answer.failed;
            }
            "response" => {
                let value = scanner.skip()?;
                if value.of(scanner.text()) != "null" {
                    result.content = Content::Json(value);
                }
            }
            "parts" if scanner.peek()? == JsonKind::Array => {
                inner.truncate(first);
                scanner.array(|scanner| {
                    let start = scanner.offset();
                    let span = scanner.skip()?;
                    let mut scanner = Scanner::new(scanner.text(), start);
                    let part = match scanner.peek()? {
                        // One level deep: what stands in a result holds no results.
                        JsonKind::Object => read_part(&mut scanner, &mut Vec::new())?,
                        _ => opaque(span),
                    };
                    inner.push(part);
                    Ok(())
                })?;
            }
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    if inner.len() > first {
        if !matches!(result.content, Content::Absent) {
            let words = Part { kind: PartKind::Text, content: result.content, ..opaque(span) };
            inner.insert(first, words);
        }
        result.content = Content::Blocks { span, inner: first as u32..inner.len() as u32 };
    }
    Ok(result)
}

/// What a tool said.
struct Answer {
    content: Content,
    failed: bool,
}

/// The string that is most of a response, such as `{"output": "…"}`, or the response itself.
fn read_answer(scanner: &mut Scanner<'_>) -> Result<Answer> {
    let mut longest = Span::default();
    let mut fields = 0;
    let mut failed = false;
    let span = scanner.object(|scanner, key| {
        fields += 1;
        let is_string = scanner.peek()? == JsonKind::String;
        let value = scanner.skip()?;
        if is_string && value.len() > longest.len() {
            longest = value;
        }
        failed |= key == "error" && !matches!(value.of(scanner.text()), "null" | "\"\"");
        Ok(())
    })?;
    let is_most = !longest.is_empty() && (fields == 1 || longest.len() * 2 > span.len());
    Ok(Answer { content: if is_most { Content::Text(longest) } else { Content::Json(span) }, failed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Format;
    use crate::wire::read;

    const BODY: &str = r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"temperature":0,"maxOutputTokens":900},
        "tools":[{"functionDeclarations":[]}],"contents":[
        {"parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]},
        {"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Hm","thought":true,"thoughtSignature":"s"},
            {"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"c2ln"},{"function_call":{"name":"read"}}]},
        {"role":"function","parts":[{"functionResponse":{"name":"read","response":{"output":"one","lines":1}}},
            {"function_response":{"name":"read","response":{"error":"two"}}}]},
        {"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"text":"","thoughtSignature":"c2ln"}]}]}"#;

    #[test]
    fn contents_are_read_in_both_spellings() {
        let read = read(BODY, None).unwrap();
        assert_eq!(read.format, Format::Gemini);
        assert_eq!(read.max_output, Some(900));
        assert!(read.system.is_some() && read.tools.is_some());
        let kinds: Vec<PartKind> = read.parts.iter().map(|part| part.kind).collect();
        use PartKind::{Media, Opaque, Reasoning, Sealed, Text, ToolCall, ToolResult};
        let expected = [Text, Media, Reasoning, Sealed, ToolCall, ToolCall, ToolResult, ToolResult, Opaque, Sealed];
        assert_eq!(kinds, expected);
        assert_eq!(
            read.messages.iter().map(|message| message.role).collect::<Vec<_>>(),
            [Role::User, Role::Assistant, Role::User, Role::Assistant]
        );
        assert_eq!((read.exchanges.result_of(4), read.exchanges.result_of(5)), (Some(6), Some(7)), "in order");
        assert_eq!(read.words(&read.parts[6]), r#"{"output":"one","lines":1}"#);
        assert_eq!((read.words(&read.parts[7]).as_ref(), read.parts[7].failed), ("two", true));
        assert_eq!(read.raw(read.parts[1].name), "image/png");
    }

    #[test]
    fn ids_come_before_names() {
        let body = r#"[{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}},{"functionCall":{"id":"2","name":"f"}},{"functionCall":{"name":"g"}}]},
            {"role":"user","parts":[{"functionResponse":{"id":"2","name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"id":"9","name":"g","response":{}}}]}]"#;
        let read = read(body, None).unwrap();
        let results: Vec<Option<usize>> = (0..3).map(|call| read.exchanges.result_of(call)).collect();
        assert_eq!(results, [Some(4), Some(3), Some(5)]);
    }

    #[test]
    fn a_result_with_media_is_read_as_a_whole() {
        let body = r#"[{"parts":[{"functionResponse":{"name":"f","response":{"output":"seen"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]}}]}]"#;
        let read = read(body, None).unwrap();
        assert_eq!(read.words(&read.parts[0]), "seen");
        assert_eq!(read.inner_of(&read.parts[0]).iter().filter(|part| part.kind == PartKind::Media).count(), 1);
    }
}
