//! A place that can carry a cache mark.

use super::{Carrier, FIELD};
use foldline_transcript::edit::{Edits, Span};
use foldline_transcript::{Content, Format, Message, Part, PartKind, Place, Role, Transcript};

/// Where a mark can be put, in offsets of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In an object, before the brace that closes it.
    Object(usize),
    /// On a string, which becomes a block.
    Text(Span),
}

impl Spot {
    /// On a message, where its content allows it.
    pub fn on_message(transcript: &Transcript<'_>, index: usize, carrier: Carrier) -> Option<Spot> {
        let message = transcript.messages.get(index)?;
        let itself = || Some(Spot::Object(message.span.end as usize - 1));
        match &message.content {
            _ if message.role == Role::Tool => itself().filter(|_| carrier == Carrier::Native),
            Content::Text(literal) if literal.len() > 2 => Some(Spot::Text(*literal)),
            Content::Blocks { .. } => {
                last_block(transcript, message).map(|part| Spot::Object(part.span.end as usize - 1))
            }
            // One that says nothing carries the mark itself.
            _ => itself().filter(|_| transcript.format == Format::OpenAiChat),
        }
    }

    /// On the system prompt.
    pub(super) fn on_system(transcript: &Transcript<'_>, carrier: Carrier) -> Option<Spot> {
        if let Some(span) = transcript.system {
            return Spot::on_value(transcript, span);
        }
        transcript.messages.first().filter(|message| message.role.is_instruction())?;
        Spot::on_message(transcript, 0, carrier)
    }

    /// On the last tool.
    pub(super) fn on_tools(transcript: &Transcript<'_>) -> Option<Spot> {
        let span = transcript.tools.filter(|_| transcript.format == Format::Anthropic)?;
        Spot::on_value(transcript, span)
    }

    /// On a string, or on the last object of a list.
    fn on_value(transcript: &Transcript<'_>, span: Span) -> Option<Spot> {
        let raw = transcript.raw(span);
        if raw.starts_with('"') && raw.len() > 2 {
            return Some(Spot::Text(span));
        }
        let inside = raw.strip_suffix(']').map(str::trim_end).filter(|inside| inside.ends_with('}'))?;
        Some(Spot::Object(span.start as usize + inside.len() - 1))
    }

    /// The same spot in a text that begins `offset` bytes later.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Option<Spot> {
        Some(match self {
            Spot::Object(brace) => Spot::Object(brace.checked_sub(offset)?),
            Spot::Text(span) => {
                let start = (span.start as usize).checked_sub(offset)?;
                Spot::Text(Span::new(start, start + span.len()))
            }
        })
    }

    /// Puts a mark of this value there.
    pub(super) fn mark(self, value: &str, edits: &mut Edits) {
        let mut insert = |at: usize, text: String| edits.replace(Span::new(at, at), text);
        match self {
            Spot::Object(brace) => insert(brace, format!(",\"{FIELD}\":{value}")),
            Spot::Text(span) => {
                insert(span.start as usize, r#"[{"type":"text","text":"#.to_owned());
                insert(span.end as usize, format!(",\"{FIELD}\":{value}}}]"));
            }
        }
    }

    /// The text with a mark of this value.
    pub fn marked(self, text: &str, value: &str) -> String {
        let mut edits = Edits::new();
        self.mark(value, &mut edits);
        edits.splice(text)
    }
}

/// The last block that a provider takes a mark on: signed reasoning takes none.
fn last_block<'t>(transcript: &'t Transcript<'_>, message: &Message) -> Option<&'t Part> {
    transcript.parts_of(message).iter().rev().find(|part| {
        part.place == Place::Block
            && matches!(part.kind, PartKind::Text | PartKind::ToolCall | PartKind::ToolResult | PartKind::Media)
            && !(part.kind == PartKind::Text && transcript.is_blank(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    const BODY: &str = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
        {"role":"assistant","content":"b"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"c"}]},{"type":"text","text":"d"}]}]}"#;

    #[test]
    fn a_mark_goes_on_the_last_block_or_makes_one_of_a_string() {
        let transcript = wire::read(BODY, Some(Format::Anthropic)).unwrap();
        for index in 0..3 {
            let marked = Spot::on_message(&transcript, index, Carrier::Native).unwrap().marked(BODY, "{}");
            let after = wire::read(&marked, Some(Format::Anthropic)).unwrap();
            let last = after.parts_at(index).last().unwrap();
            assert!(last.marked, "{marked}");
        }
        assert_eq!(Spot::on_message(&transcript, 3, Carrier::Native), None);
    }
}
