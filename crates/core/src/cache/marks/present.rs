//! Cache marks that messages carry: how many there are, what they say, and a stretch of messages without them.

use super::FIELD;
use foldline_transcript::edit::{Edits, Span};
use foldline_transcript::validate::marks_in_messages;
use foldline_transcript::wire::field;
use foldline_transcript::{Part, Transcript};

/// Marks on the messages from index `from` on.
pub fn count(transcript: &Transcript<'_>, from: usize) -> usize {
    marks_in_messages(transcript).iter().filter(|(message, _)| *message >= from).count()
}

/// The value of the first mark on the messages from index `from` on, else of the last one before them.
pub fn example<'a>(transcript: &Transcript<'a>, from: usize) -> Option<&'a str> {
    let marks = marks_in_messages(transcript);
    let (before, after) = marks.split_at(marks.partition_point(|(message, _)| *message < from));
    let (_, part) = after.first().or(before.last())?;
    value(transcript, part)
}

/// What the mark of a block says.
pub(super) fn value<'a>(transcript: &Transcript<'a>, part: &Part) -> Option<&'a str> {
    field::value(transcript.text, part.span, FIELD).map(|span| transcript.raw(span))
}

/// The messages `from..to` as they stand in the source, without marks.
pub fn unmarked(transcript: &Transcript<'_>, from: usize, to: usize) -> String {
    let (Some(first), Some(last)) =
        (transcript.messages.get(from), to.checked_sub(1).and_then(|last| transcript.messages.get(last)))
    else {
        return String::new();
    };
    let mut edits = Edits::new();
    for (_, part) in marks_in_messages(transcript).iter().filter(|(message, _)| (from..to).contains(message)) {
        if let Some(field) = field::find(transcript.text, part.span, FIELD) {
            edits.delete(field.removal);
        }
    }
    edits.sort();
    let mut out = String::new();
    edits.splice_into(transcript.text, Span { start: first.span.start, end: last.span.end }, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::Format;
    use foldline_transcript::wire;

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
}
