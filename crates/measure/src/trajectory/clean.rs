//! Dropping or labelling what is synthetic, in the document itself.

use super::mark::{Artefact, synthetic};
use foldline_core::handoff;
use foldline_transcript::edit::Span;
use foldline_transcript::repair::repair;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire::{self, WireError, json};
use foldline_transcript::{Format, PartKind, Transcript};
use std::borrow::Cow;

/// What happens to synthetic content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synthetic {
    /// It goes, a stub result together with its call.
    Drop,
    /// Its message gets the field `"synthetic": true`.
    Label,
    /// It stays as it is.
    Keep,
}

/// A document after cleaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned<'a> {
    /// The document.
    pub text: Cow<'a, str>,
    /// Synthetic things that were dropped or labelled.
    pub synthetic: usize,
}

/// Deals with what is synthetic. What is left after dropping is made sound again.
pub fn clean<'a>(transcript: &Transcript<'a>, what: Synthetic) -> Result<Cleaned<'a>, WireError> {
    let found = synthetic(transcript);
    if found.is_empty() || what == Synthetic::Keep {
        return Ok(Cleaned { text: Cow::Borrowed(transcript.text), synthetic: 0 });
    }
    let mut rewrite = Rewrite::default();
    match what {
        Synthetic::Drop => found.iter().for_each(|artefact| drop_artefact(transcript, &mut rewrite, *artefact)),
        Synthetic::Label | Synthetic::Keep => label(transcript, &mut rewrite, &found),
    }
    let mut text = rewrite.apply(transcript);
    if what == Synthetic::Drop {
        let after = wire::read(&text, Some(transcript.format))?;
        if let Some(repaired) = repair(&after) {
            text = repaired.text;
        }
    }
    Ok(Cleaned { text: Cow::Owned(text), synthetic: found.len() })
}

fn drop_artefact(transcript: &Transcript<'_>, rewrite: &mut Rewrite, artefact: Artefact) {
    match artefact {
        Artefact::Handoff(message) => rewrite.remove(message),
        Artefact::MergedHandoff(part) => {
            if let Some(part) = transcript.parts.get(part) {
                let own = handoff::own_words(transcript, part);
                rewrite.edits.replace(part.content.span(), json::encode(&own));
            }
        }
        Artefact::Result(part) => drop_exchange(transcript, rewrite, part),
    }
}

/// A call without its answer is as synthetic as the stub was.
fn drop_exchange(transcript: &Transcript<'_>, rewrite: &mut Rewrite, result: usize) {
    let message = transcript.message_of(result);
    if transcript.format == Format::ShareGpt {
        rewrite.remove(message);
        let calls =
            |index: usize| transcript.parts_at(index).iter().any(|part| transcript.words(part).contains("<tool_call>"));
        if let Some(before) = message.checked_sub(1).filter(|&before| calls(before)) {
            rewrite.remove(before);
        }
        return;
    }
    for part in [Some(result), transcript.exchanges.call_of(result)].into_iter().flatten() {
        remove_part(transcript, rewrite, part);
    }
}

/// Takes a part out, and its message where nothing else is left in it.
fn remove_part(transcript: &Transcript<'_>, rewrite: &mut Rewrite, part_index: usize) {
    let message = transcript.message_of(part_index);
    let own = transcript.parts.get(part_index).map(|part| part.kind);
    let says_more = transcript.parts_at(message).iter().any(|part| match part.kind {
        PartKind::Text => !transcript.is_blank(part),
        PartKind::Media | PartKind::Opaque => true,
        // Several calls or results in one message: each is judged by itself, and repair takes what is left empty.
        kind => Some(kind) == own && transcript.parts_at(message).iter().filter(|part| part.kind == kind).count() > 1,
    });
    match says_more {
        true => rewrite.remove_part(transcript, part_index),
        false => rewrite.remove(message),
    }
}

fn label(transcript: &Transcript<'_>, rewrite: &mut Rewrite, found: &[Artefact]) {
    let message_of = |artefact: &Artefact| match artefact {
        Artefact::Handoff(message) => *message,
        Artefact::MergedHandoff(part) | Artefact::Result(part) => transcript.message_of(*part),
    };
    let mut messages: Vec<usize> = found.iter().map(message_of).collect();
    messages.dedup();
    for message in messages.iter().filter_map(|&index| transcript.messages.get(index)) {
        let inside = message.span.start as usize + 1;
        if !transcript.raw(message.span).starts_with("{\"synthetic\"") {
            rewrite.edits.replace(Span::new(inside, inside), "\"synthetic\":true,");
        }
    }
}
