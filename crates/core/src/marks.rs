//! Cache marks on a stretch of messages: how many there are, the stretch without them, and where one more
//! can stand.

use crate::edit::{Edits, Span};
use crate::transcript::{Content, Part, PartKind, Place, Transcript};
use crate::wire::field;

/// The most that a request may have.
pub const MOST: usize = crate::validate::MOST_MARKS;

/// The field.
const FIELD: &str = "cache_control";

/// Marks on the messages from index `from` on.
pub fn count(transcript: &Transcript<'_>, from: usize) -> usize {
    blocks(transcript, from, transcript.messages.len()).filter(|part| part.marked).count()
}

/// The value of the first mark on the messages from index `from` on, else of the last one before them.
pub fn example<'a>(transcript: &Transcript<'a>, from: usize) -> Option<&'a str> {
    let value = |part: &Part| field::value(transcript.text, part.span, FIELD).map(|span| transcript.raw(span));
    let all = transcript.messages.len();
    blocks(transcript, from, all)
        .find(|part| part.marked)
        .and_then(value)
        .or_else(|| blocks(transcript, 0, from).filter(|part| part.marked).last().and_then(value))
}

/// The messages `from..to` as they stand in the source, without marks.
pub fn unmarked(transcript: &Transcript<'_>, from: usize, to: usize) -> String {
    let (Some(first), Some(last)) =
        (transcript.messages.get(from), to.checked_sub(1).and_then(|last| transcript.messages.get(last)))
    else {
        return String::new();
    };
    let mut edits = Edits::new();
    for part in blocks(transcript, from, to).filter(|part| part.marked) {
        if let Some(field) = field::find(transcript.text, part.span, FIELD) {
            edits.delete(field.removal);
        }
    }
    edits.sort();
    let mut out = String::new();
    edits.splice_into(transcript.text, Span { start: first.span.start, end: last.span.end }, &mut out);
    out
}

/// Where a mark can be put, and what stands around its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// What the mark goes into: nothing yet, or the string that must become a block.
    at: Span,
    before: &'static str,
    after: &'static str,
}

impl Spot {
    /// The last place of the messages before index `to` that can carry a mark, in offsets of the source.
    pub fn before(transcript: &Transcript<'_>, to: usize) -> Option<Spot> {
        let message = transcript.messages.get(to.checked_sub(1)?)?;
        match &message.content {
            Content::Text(literal) if !transcript.raw(*literal).is_empty() && literal.len() > 2 => {
                Some(Spot { at: *literal, before: r#"[{"type":"text","text":"#, after: "}]" })
            }
            Content::Blocks { .. } => {
                let last = transcript.parts_of(message).last()?;
                let can_carry =
                    matches!(last.kind, PartKind::Text | PartKind::ToolCall | PartKind::ToolResult | PartKind::Media);
                let end = last.span.end.checked_sub(1)? as usize;
                (can_carry && last.place == Place::Block).then_some(Spot {
                    at: Span::new(end, end),
                    before: "",
                    after: "",
                })
            }
            _ => None,
        }
    }

    /// The same spot in a text that begins `offset` bytes later.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Option<Spot> {
        let start = (self.at.start as usize).checked_sub(offset)?;
        Some(Spot { at: Span::new(start, start + self.at.len()), ..self })
    }

    /// The text with a mark of this value.
    pub fn marked(&self, text: &str, value: &str) -> String {
        let Spot { at, before, after } = self;
        let head = text.get(..at.start as usize).unwrap_or_default();
        let inside = at.of(text);
        let tail = text.get(at.end as usize..).unwrap_or_default();
        format!("{head}{before}{inside},\"{FIELD}\":{value}{after}{tail}")
    }
}

/// The blocks of some messages, and those inside their results.
fn blocks<'t>(transcript: &'t Transcript<'_>, from: usize, to: usize) -> impl Iterator<Item = &'t Part> {
    transcript
        .messages
        .get(from..to)
        .unwrap_or_default()
        .iter()
        .flat_map(|message| transcript.parts_of(message))
        .flat_map(|part| std::iter::once(part).chain(transcript.inner_of(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Format;
    use crate::wire;

    const BODY: &str = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
        {"role":"assistant","content":"b"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"c"}]},{"type":"text","text":"d"}]}]}"#;

    #[test]
    fn marks_are_counted_and_taken_out() {
        let transcript = wire::read(BODY, Some(Format::Anthropic)).unwrap();
        assert_eq!((count(&transcript, 0), count(&transcript, 1), count(&transcript, 3)), (2, 1, 0));
        assert_eq!(example(&transcript, 1), Some(r#"{"type":"ephemeral"}"#));
        assert_eq!(example(&transcript, 3), Some(r#"{"type":"ephemeral"}"#));
        let plain = unmarked(&transcript, 0, 3);
        assert!(
            !plain.contains(FIELD) && plain.starts_with(r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#)
        );
        assert!(plain.ends_with(r#"[{"type":"text","text":"c"}]},{"type":"text","text":"d"}]}"#), "{plain}");
    }

    #[test]
    fn a_mark_goes_on_the_last_block_or_makes_one_of_a_string() {
        let transcript = wire::read(BODY, Some(Format::Anthropic)).unwrap();
        for to in 1..=3 {
            let marked = Spot::before(&transcript, to).unwrap().marked(BODY, "{}");
            let after = wire::read(&marked, Some(Format::Anthropic)).unwrap();
            let last = after.parts_at(to - 1).last().unwrap();
            assert!(last.marked, "{marked}");
        }
        assert_eq!(Spot::before(&transcript, 0), None);
    }
}
