//! Content blocks, in the words of all providers: what each `type` means to us.

use super::json::{JsonKind, Result, Scanner};
use crate::edit::Span;
use crate::transcript::{Content, Part, PartKind, Place};

/// Reads a content value: a string, an array of blocks, `null`, or something else.
/// Blocks are pushed to `parts`; blocks inside tool results to `inner`, or passed over without one.
pub(super) fn read_content(
    scanner: &mut Scanner<'_>,
    parts: &mut Vec<Part>,
    mut inner: Option<&mut Vec<Part>>,
) -> Result<Content> {
    match scanner.peek()? {
        JsonKind::String => Ok(Content::Text(scanner.string()?)),
        JsonKind::Array => {
            let first = parts.len() as u32;
            let span = scanner.array(|scanner| {
                let part = match scanner.peek()? {
                    JsonKind::Object => read_block(scanner, inner.as_deref_mut())?,
                    _ => opaque(scanner.skip()?),
                };
                parts.push(part);
                Ok(())
            })?;
            Ok(Content::Blocks { span, inner: first..parts.len() as u32 })
        }
        JsonKind::Null => {
            scanner.skip()?;
            Ok(Content::Absent)
        }
        _ => Ok(Content::Json(scanner.skip()?)),
    }
}

pub(super) fn opaque(span: Span) -> Part {
    Part {
        kind: PartKind::Opaque,
        place: Place::Block,
        span,
        content: Content::Json(span),
        id: Span::default(),
        name: Span::default(),
        marked: false,
        failed: false,
    }
}

/// The fields of a block that mean something, wherever the provider puts them.
#[derive(Default)]
struct Fields {
    kind: Span,
    id: Span,
    result_id: Span,
    name: Span,
    text: Span,
    reasoning: Span,
    input: Span,
    content: Option<Content>,
    marked: bool,
    failed: bool,
}

fn read_block(scanner: &mut Scanner<'_>, mut inner: Option<&mut Vec<Part>>) -> Result<Part> {
    let mut fields = Fields::default();
    let span = scanner.object(|scanner, key| {
        match key {
            "type" => fields.kind = text_inside(scanner)?,
            "id" => fields.id = text_inside(scanner)?,
            "tool_use_id" => fields.result_id = text_inside(scanner)?,
            "name" => fields.name = text_inside(scanner)?,
            "text" => fields.text = literal(scanner)?,
            "thinking" | "data" => fields.reasoning = literal(scanner)?,
            "input" => fields.input = scanner.skip()?,
            "content" => fields.content = Some(read_inner(scanner, inner.as_deref_mut())?),
            "cache_control" => fields.marked = scanner.skip()?.of(scanner.text()) != "null",
            "is_error" => fields.failed = scanner.skip()?.of(scanner.text()) == "true",
            _ => drop(scanner.skip()?),
        }
        Ok(())
    })?;
    let mut part = opaque(span);
    part.marked = fields.marked;
    part.failed = fields.failed;
    match fields.kind.of(scanner.text()) {
        "text" | "input_text" | "output_text" if !fields.text.is_empty() => {
            part.kind = PartKind::Text;
            part.content = Content::Text(fields.text);
        }
        "tool_use" => {
            part.kind = PartKind::ToolCall;
            part.id = fields.id;
            part.name = fields.name;
            part.content = Content::Json(fields.input);
        }
        "tool_result" => {
            part.kind = PartKind::ToolResult;
            part.id = fields.result_id;
            part.content = fields.content.unwrap_or(Content::Absent);
        }
        "thinking" | "redacted_thinking" => {
            part.kind = PartKind::Sealed;
            part.content =
                if fields.reasoning.is_empty() { Content::Json(span) } else { Content::Text(fields.reasoning) };
        }
        kind if is_media(kind) => {
            part.kind = PartKind::Media;
            part.name = fields.kind;
        }
        _ => {}
    }
    Ok(part)
}

/// Blocks inside a tool result, one level deep: results hold texts and images, and a document
/// cannot make the reader recurse.
fn read_inner(scanner: &mut Scanner<'_>, inner: Option<&mut Vec<Part>>) -> Result<Content> {
    match inner {
        Some(inner) => read_content(scanner, inner, None),
        None => Ok(Content::Json(scanner.skip()?)),
    }
}

/// The block types of the three providers that carry a payload other than text.
pub fn is_media(kind: &str) -> bool {
    matches!(
        kind,
        "image"
            | "image_url"
            | "input_image"
            | "output_image"
            | "document"
            | "file"
            | "input_file"
            | "input_audio"
            | "audio"
            | "video"
            | "video_url"
    )
}

/// The inside of a string value; empty for any other value.
pub(super) fn text_inside(scanner: &mut Scanner<'_>) -> Result<Span> {
    Ok(literal(scanner)?.inner())
}

/// A string literal with its quotes; empty for any other value.
pub(super) fn literal(scanner: &mut Scanner<'_>) -> Result<Span> {
    match scanner.peek()? {
        JsonKind::String => scanner.string(),
        _ => {
            scanner.skip()?;
            Ok(Span::default())
        }
    }
}
