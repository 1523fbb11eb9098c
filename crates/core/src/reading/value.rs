//! JSON laid out for readers: keys and values on lines, strings decoded, lines inside strings as lines.

use super::body::Body;
use super::payload;
use foldline_transcript::edit::Span;
use foldline_transcript::wire::field;
use foldline_transcript::wire::json::{self, JsonKind, Scanner, decode};
use std::borrow::Cow;

/// A value this short that has no lines inside stays as it is written.
const SHORT: usize = 80;
/// Deeper values stay as they are written: the indent would be all there is.
const DEEPEST: usize = 16;

/// The lines of a JSON text that is an object or an array; `None` for anything else.
pub(super) fn lines(text: &str) -> Option<Vec<String>> {
    let mut whole = Scanner::new(text, 0);
    if !matches!(whole.peek().ok()?, JsonKind::Object | JsonKind::Array) {
        return None;
    }
    whole.skip().ok()?;
    if whole.next_byte().is_some() {
        return None;
    }
    let mut layout = Layout { text, lines: Vec::new() };
    layout.value(&mut Scanner::new(text, 0), Lead::none()).ok()?;
    Some(layout.lines)
}

struct Layout<'t> {
    text: &'t str,
    lines: Vec<String>,
}

/// What stands before a value.
#[derive(Clone, Debug)]
struct Lead {
    /// Indent, and a key or a dash.
    first: String,
    /// What it ends with.
    end: End,
    /// Levels that the lines below are indented by, where the value stands on lines of its own.
    depth: usize,
}

/// What a lead ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Nothing,
    Key,
    Dash,
}

impl Lead {
    fn none() -> Lead {
        Lead { first: String::new(), end: End::Nothing, depth: 0 }
    }

    /// For the value of a key, in an object at `depth`.
    fn key(before: String, key: &str, depth: usize) -> Lead {
        Lead { first: format!("{before}{key}: "), end: End::Key, depth: depth + 1 }
    }

    /// For an element, in an array at `depth`.
    fn dash(before: String, depth: usize) -> Lead {
        Lead { first: format!("{before}- "), end: End::Dash, depth: depth + 1 }
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

impl<'t> Layout<'t> {
    fn value(&mut self, scanner: &mut Scanner<'t>, lead: Lead) -> json::Result<()> {
        let kind = scanner.peek()?;
        let mut ahead = scanner.clone();
        let span = ahead.skip()?;
        match kind {
            JsonKind::String => self.string(&decode(span.inner().of(self.text)), &lead),
            JsonKind::Object | JsonKind::Array if !self.is_laid_out(kind, span, &lead) => self.plain(span, &lead),
            JsonKind::Object => return self.object(scanner, span, lead),
            JsonKind::Array => return self.array(scanner, lead),
            _ => self.plain(span, &lead),
        }
        *scanner = ahead;
        Ok(())
    }

    /// Whether an object or array gets lines of its own.
    fn is_laid_out(&self, kind: JsonKind, span: Span, lead: &Lead) -> bool {
        let raw = span.of(self.text);
        let is_empty = raw.get(1..raw.len() - 1).is_none_or(|inside| inside.trim().is_empty());
        let is_short = raw.len() <= SHORT && !raw.contains(['\\', '\n']) && lead.end != End::Nothing;
        let is_block = kind == JsonKind::Object && !field::word(self.text, span, "type").is_empty();
        !is_empty && lead.depth < DEEPEST && (!is_short || is_block)
    }

    fn object(&mut self, scanner: &mut Scanner<'t>, span: Span, lead: Lead) -> json::Result<()> {
        if let Some(told) = self.block(span, &lead) {
            scanner.skip()?;
            if let Some(told) = told {
                self.lines.push(format!("{}{told}", lead.first));
            }
            return Ok(());
        }
        let mut first = self.open(&lead);
        scanner.object(|scanner, key| {
            let before = std::mem::replace(&mut first, indent(lead.depth));
            let lead = Lead::key(before, key, lead.depth);
            if payload::is_sealed_field(key) && scanner.peek()? == JsonKind::String {
                let hidden = scanner.string()?;
                self.lines.push(format!("{}[{}]", lead.first, payload::size(hidden.inner().len())));
                return Ok(());
            }
            self.value(scanner, lead)
        })?;
        Ok(())
    }

    /// An object that is a content block of a provider: media and reasoning are told, a text is its words.
    fn block(&mut self, span: Span, lead: &Lead) -> Option<Option<String>> {
        if let Some(media) = payload::media(self.text, span) {
            return Some(Some(media));
        }
        match field::word(self.text, span, "type") {
            "thinking" | "redacted_thinking" | "reasoning" => {
                Some(Some(format!("[signed reasoning, {}]", payload::size(span.len()))))
            }
            "text" | "input_text" | "output_text" => {
                let words =
                    field::value(self.text, span, "text").filter(|value| value.of(self.text).starts_with('"'))?;
                self.string(&decode(words.inner().of(self.text)), lead);
                Some(None)
            }
            _ => None,
        }
    }

    fn array(&mut self, scanner: &mut Scanner<'t>, lead: Lead) -> json::Result<()> {
        let mut first = self.open(&lead);
        scanner.array(|scanner| {
            let before = std::mem::replace(&mut first, indent(lead.depth));
            self.value(scanner, Lead::dash(before, lead.depth))
        })?;
        Ok(())
    }

    /// What stands before the first field or element: they follow a dash on its line, and a key on the next one.
    fn open(&mut self, lead: &Lead) -> String {
        match lead.end {
            End::Key => {
                self.lines.push(lead.first.trim_end().to_owned());
                indent(lead.depth)
            }
            End::Dash | End::Nothing => lead.first.clone(),
        }
    }

    fn string(&mut self, words: &str, lead: &Lead) {
        if words.is_empty() {
            return self.lines.push(format!("{}\"\"", lead.first));
        }
        let mut body = Body::default();
        body.words(Cow::Borrowed(words));
        match body.lines.as_slice() {
            [only] if only.text.is_empty() => self.lines.push(lead.first.trim_end().to_owned()),
            [only] => self.lines.push(format!("{}{}", lead.first, only.text)),
            several => {
                if lead.end != End::Nothing {
                    self.lines.push(lead.first.trim_end().to_owned());
                }
                let indent = indent(lead.depth);
                self.lines.extend(several.iter().map(|line| format!("{indent}{}", line.text)));
            }
        }
    }

    /// A value as it is written, on one line.
    fn plain(&mut self, span: Span, lead: &Lead) {
        let raw = span.of(self.text);
        let on_one_line: Cow<'_, str> = if raw.contains('\n') {
            Cow::Owned(raw.split_whitespace().collect::<Vec<_>>().join(" "))
        } else {
            raw.into()
        };
        self.lines.push(format!("{}{}", lead.first, payload::without(&on_one_line)));
    }
}
