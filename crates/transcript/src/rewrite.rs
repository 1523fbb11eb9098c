//! Rewriting a transcript: edits inside messages, messages that go, messages that come.
//!
//! The list of messages is put together again with the separators that the source has, so a
//! message that is not named keeps its bytes and its surroundings.

use crate::edit::{Edits, Span};
use crate::transcript::{Place, Shape, Transcript};
use std::collections::BTreeMap;

/// What shall change in one transcript.
#[derive(Clone, Debug, Default)]
pub struct Rewrite {
    /// Edits inside messages that stay, and outside the list of messages.
    pub edits: Edits,
    /// Messages that go, by index.
    removed: Vec<usize>,
    /// Parts that go out of messages that stay, by index.
    removed_parts: Vec<usize>,
    /// Messages that come, by the index before which they stand.
    inserted: BTreeMap<usize, Vec<String>>,
}

impl Rewrite {
    /// Whether nothing shall change.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.removed.is_empty() && self.removed_parts.is_empty() && self.inserted.is_empty()
    }

    /// Takes the message at `index` out.
    pub fn remove(&mut self, index: usize) {
        self.removed.push(index);
    }

    /// Whether the message at `index` goes.
    pub fn removes(&self, index: usize) -> bool {
        self.removed.contains(&index)
    }

    /// Puts a message (as JSON) before the message at `index`; after the last one if there is none.
    pub fn insert(&mut self, index: usize, message: String) {
        self.inserted.entry(index).or_default().push(message);
    }

    /// Takes one part out of a message that keeps others, or the message if it is all there is.
    pub fn remove_part(&mut self, transcript: &Transcript<'_>, part_index: usize) {
        match transcript.parts.get(part_index).map(|part| part.place) {
            Some(Place::Block | Place::Call | Place::Field) => self.removed_parts.push(part_index),
            Some(Place::Whole | Place::Item) => self.remove(transcript.message_of(part_index)),
            None => {}
        }
    }

    /// The document with all changes made.
    pub fn apply(mut self, transcript: &Transcript<'_>) -> String {
        let text = transcript.text;
        self.delete_parts(transcript);
        self.edits.sort();
        self.removed.sort_unstable();
        let mut out = String::with_capacity(text.len());
        let (Some(first), Some(last)) = (transcript.messages.first(), transcript.messages.last()) else {
            return self.edits.splice(text);
        };
        let list = Span { start: first.span.start, end: last.span.end };
        self.edits.splice_into(text, Span { start: 0, end: list.start }, &mut out);
        self.write_list(transcript, &mut out);
        self.edits.splice_into(text, Span { start: list.end, end: text.len() as u32 }, &mut out);
        out
    }

    /// Turns removed parts into edits, whole runs of neighbours at once so that commas come out right.
    fn delete_parts(&mut self, transcript: &Transcript<'_>) {
        self.removed_parts.sort_unstable();
        self.removed_parts.dedup();
        let mut at = 0;
        while let Some(&first) = self.removed_parts.get(at) {
            let mut last = first;
            at += 1;
            while self.removed_parts.get(at) == Some(&(last + 1)) && are_siblings(transcript, last, last + 1) {
                last += 1;
                at += 1;
            }
            if let Some(span) = span_of_run(transcript, first, last) {
                self.edits.delete(span);
            }
        }
    }

    fn write_list(&self, transcript: &Transcript<'_>, out: &mut String) {
        let separator = default_separator(transcript);
        let mut empty = true;
        let mut removed = self.removed.iter().copied().peekable();
        let mut end_of_previous = None;
        for (index, message) in transcript.messages.iter().enumerate() {
            for new in self.inserted.get(&index).into_iter().flatten() {
                if !empty {
                    out.push_str(separator);
                }
                out.push_str(new);
                empty = false;
            }
            let mut goes = false;
            while removed.next_if_eq(&index).is_some() {
                goes = true;
            }
            if !goes {
                if !empty {
                    let gap = end_of_previous.map(|start| Span { start, end: message.span.start });
                    out.push_str(gap.map_or(separator, |gap| gap.of(transcript.text)));
                }
                self.edits.splice_into(transcript.text, message.span, out);
                empty = false;
            }
            end_of_previous = Some(message.span.end);
        }
        for new in self.inserted.range(transcript.messages.len()..).flat_map(|(_, new)| new) {
            if !empty {
                out.push_str(separator);
            }
            out.push_str(new);
            empty = false;
        }
    }
}

/// What stands between two messages in this document.
fn default_separator<'a>(transcript: &Transcript<'a>) -> &'a str {
    match (transcript.messages.as_slice(), transcript.shape) {
        ([first, second, ..], _) => Span { start: first.span.end, end: second.span.start }.of(transcript.text),
        (_, Shape::Lines) => "\n",
        (_, Shape::Body | Shape::List) => ",",
    }
}

/// Whether two neighbouring parts are elements of one array.
fn are_siblings(transcript: &Transcript<'_>, left: usize, right: usize) -> bool {
    let (Some(one), Some(two)) = (transcript.parts.get(left), transcript.parts.get(right)) else {
        return false;
    };
    one.place == two.place
        && matches!(one.place, Place::Block | Place::Call)
        && transcript.message_of(left) == transcript.message_of(right)
}

/// What to delete so that the parts `first..=last` are gone and the array or object stays well formed.
fn span_of_run(transcript: &Transcript<'_>, first: usize, last: usize) -> Option<Span> {
    let start = transcript.parts.get(first)?.span;
    let end = transcript.parts.get(last)?.span;
    let run = Span { start: start.start, end: end.end };
    if transcript.parts.get(first)?.place == Place::Field {
        return Some(with_separator(transcript.text, run));
    }
    if are_siblings(transcript, last, last + 1) {
        let next = transcript.parts.get(last + 1)?.span;
        return Some(Span { end: next.start, ..run });
    }
    match first.checked_sub(1).filter(|&previous| are_siblings(transcript, previous, first)) {
        Some(previous) => Some(Span { start: transcript.parts.get(previous)?.span.end, ..run }),
        None => Some(run),
    }
}

/// `span` and the comma that separates it from its neighbour: the one after it, else the one before.
fn with_separator(text: &str, span: Span) -> Span {
    let bytes = text.as_bytes();
    let is_space = |at: usize| matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t'));
    let mut after = span.end as usize;
    while is_space(after) {
        after += 1;
    }
    if bytes.get(after) == Some(&b',') {
        after += 1;
        while is_space(after) {
            after += 1;
        }
        return Span::new(span.start as usize, after);
    }
    let mut before = span.start as usize;
    while before > 0 && is_space(before - 1) {
        before -= 1;
    }
    if before > 0 && bytes.get(before - 1) == Some(&b',') {
        return Span::new(before - 1, span.end as usize);
    }
    span
}
