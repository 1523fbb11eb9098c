//! What a summariser reads: the ledger's record of the folded messages, as long as its window allows.

use crate::handoff;
use crate::inserted;
use crate::ledger::Ledger;
use crate::tokens::{Counter, Measure};
use foldline_redact::{Mode, redact};
use foldline_transcript::{PartKind, Role, Transcript};
use std::borrow::Cow;

/// Words of users are held for checking quotes up to this size.
const MOST_WORDS: usize = 512 * 1024;

/// The record in at most `room` tokens of a model whose vocabulary is not known.
pub(super) fn material(ledger: &Ledger, room: u32) -> String {
    let measure = Measure::default();
    let mut wanted = room - room / MARGIN;
    loop {
        let text = handoff::tell(ledger, wanted, &measure, handoff::Turns::Unnamed);
        if tokens(&text) <= room || wanted < MARGIN {
            return text;
        }
        wanted -= wanted / MARGIN;
    }
}

/// Everything the user says in `folded` and after, for checking quotes.
pub(super) fn user_words(transcript: &Transcript<'_>, folded: &[usize]) -> Vec<String> {
    let from = folded.first().copied().unwrap_or_default();
    let mut left = MOST_WORDS;
    let mut words = Vec::new();
    // Newest first: when the room is used up, what is missing is oldest.
    for index in (0..transcript.messages.len()).rev() {
        let Some(message) = transcript.messages.get(index).filter(|message| message.role == Role::User) else {
            continue;
        };
        for part in transcript.parts_of(message).iter().filter(|part| part.kind == PartKind::Text) {
            let text = if index < from { transcript.words(part) } else { inserted::own_words(transcript, part) };
            if text.len() > left {
                return words;
            }
            left -= text.len();
            words.push(redact(&text, Mode::Text).into_owned());
        }
    }
    words
}

/// A text without its middle.
pub(super) fn shortened(text: &str, length: usize) -> Cow<'_, str> {
    if text.len() <= length {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(length * 2 / 3)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - length / 3)..).unwrap_or_default();
    Cow::Owned(format!(
        "{}\n[… {} characters …]\n{}",
        head.trim_end(),
        text.len() - head.len() - tail.len(),
        tail.trim_start()
    ))
}

/// Estimates of an unknown vocabulary may be wrong by one part in so many.
const MARGIN: u32 = 6;

/// What a text costs a model whose vocabulary is not known: the estimate, and a margin for its error.
pub(super) fn tokens(text: &str) -> u32 {
    let counted = Counter::Estimate.count(text);
    counted + counted / MARGIN + 1
}
