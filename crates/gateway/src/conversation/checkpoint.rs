//! Checkpoints: the messages that replace the first messages of a conversation, how they are cut out of a compacted
//! request, and how they are inserted into later requests.
//!
//! A request is `lead + messages`. A checkpoint of position `k` replaces the first `k` messages; lead and
//! rest stay as the client sent them. It is cut as short as possible: everything at the end of the
//! compacted request that the client sent in the same bytes stays out of it. So a history that is rewound
//! within the tail still fits.

use super::incoming::Dialect;
use super::parsed_request::ParsedRequest;
use foldline_core::cache::marks::{self, Carrier, Spot};
use foldline_core::tokens::{Measure, measure_message};
use foldline_store::Key;
use foldline_transcript::identity;
use foldline_transcript::wire;
use foldline_transcript::{Role, Transcript};
use serde::{Deserialize, Serialize};

/// What is known of a checkpoint without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CheckpointFacts {
    /// Messages that it stands for.
    pub(super) position: usize,
    /// The role of the message that followed them; a history that goes on in another role was rewound to
    /// this very place, and what was written to stand before the one may not stand before the other.
    pub(super) follower: Option<u8>,
    /// Messages that come instead.
    pub(super) messages: usize,
    /// Their tokens, estimated.
    pub(super) tokens: u64,
    /// Whether signed reasoning after it can be trusted.
    pub(super) seals: SignedReasoningState,
}

/// What signed reasoning in the messages after a checkpoint is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SignedReasoningState {
    /// To the rewritten conversation: it stays.
    Sound,
    /// Some of it to the conversation as it was before: the fold was made beside it.
    Stale,
}

/// A checkpoint with its text.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) key: Key,
    pub(super) facts: CheckpointFacts,
    /// The messages that come instead, as they stand in a list.
    pub(super) text: String,
    /// Where a cache mark can stand at its end.
    spot: Option<Spot>,
}

impl CheckpointFacts {
    /// Whether what follows in a request may follow this checkpoint.
    pub(super) fn fits(&self, parsed: &ParsedRequest<'_>) -> bool {
        self.follower.is_none_or(|role| parsed.role(self.position).map(code) == Some(role))
    }
}

impl Checkpoint {
    /// A checkpoint out of the store.
    pub(super) fn new(key: Key, facts: CheckpointFacts, text: String, dialect: Dialect) -> Checkpoint {
        // Offsets in the list are one more than in its inside.
        let list = format!("[{text}]");
        let spot = wire::read(&list, Some(dialect.format()))
            .ok()
            .and_then(|inside| Spot::on_message(&inside, inside.messages.len().checked_sub(1)?, Carrier::Native))
            .and_then(|spot| spot.shifted(1));
        Checkpoint { key, facts, text, spot }
    }

    /// Cuts a checkpoint out of a compacted request. `None` when there is nothing to replace.
    pub(super) fn cut(
        parsed: &ParsedRequest<'_>,
        compacted: &Transcript<'_>,
        measure: &Measure,
        seals: SignedReasoningState,
    ) -> Option<Checkpoint> {
        // Instructions that the client put further in come first once the messages before them are folded. They are no
        // part of its lead, and nobody sends them again where the checkpoint stands.
        let lead = parsed.lead.min(identity::leading_instructions(compacted));
        let messages = compacted.messages.len().checked_sub(lead)?;
        let same = (1..=messages.min(parsed.len().checked_sub(1)?))
            .take_while(|&back| {
                let ours = compacted.messages.get(compacted.messages.len() - back);
                let theirs = parsed.message(parsed.len() - back);
                matches!((ours, theirs), (Some(ours), Some(theirs))
                    if compacted.raw(ours.span) == parsed.transcript.raw(theirs.span))
            })
            .count();
        let end = compacted.messages.len() - same;
        let text = marks::unmarked(compacted, lead, end);
        if text.is_empty() {
            return None;
        }
        let position = parsed.len() - same;
        let facts = CheckpointFacts {
            position,
            follower: parsed.role(position).map(code),
            messages: end - lead,
            tokens: (lead..end).map(|index| u64::from(measure_message(compacted, index, measure))).sum(),
            seals,
        };
        Some(Checkpoint::new(parsed.key(position)?, facts, text, parsed.dialect))
    }

    /// The request with its first messages replaced.
    pub(super) fn swap(&self, parsed: &ParsedRequest<'_>, marks: Marks) -> Option<String> {
        let text = parsed.transcript.text;
        let position = self.facts.position;
        let first = parsed.message(0)?.span.start as usize;
        let last = parsed.message(position.checked_sub(1)?)?.span.end as usize;
        let marked = self.marked(parsed, marks);
        let ours = marked.as_deref().unwrap_or(&self.text);
        let mut out = String::with_capacity(text.len() + ours.len() + first - last.min(text.len()));
        out.push_str(text.get(..first)?);
        out.push_str(ours);
        // The separator before the rest, or the end of the list.
        out.push_str(text.get(last..)?);
        Some(out)
    }

    /// The text with a mark at its end. Marks in what is replaced are gone; a client that uses marks gets
    /// one at the seam instead, where there is room: the prefix that changes least is worth it most.
    fn marked(&self, parsed: &ParsedRequest<'_>, marks: Marks) -> Option<String> {
        let transcript = &parsed.transcript;
        if marks == Marks::Plain || parsed.dialect != Dialect::Messages {
            return None;
        }
        let rest = parsed.lead + self.facts.position;
        let outer = transcript.outer_marks as usize;
        let kept = outer + marks::count(transcript, rest);
        let uses_marks = outer + marks::count(transcript, 0) > 0;
        if !uses_marks || kept >= marks::MOST {
            return None;
        }
        let value = marks::example(transcript, rest).unwrap_or(r#"{"type":"ephemeral"}"#);
        Some(self.spot?.marked(&self.text, value))
    }
}

/// Whether a swap puts a mark at the seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// For the provider.
    AtTheSeam,
    /// For the engine.
    Plain,
}

/// A role as a number in records.
fn code(role: Role) -> u8 {
    match role {
        Role::System => 0,
        Role::Developer => 1,
        Role::User => 2,
        Role::Assistant => 3,
        Role::Tool => 4,
        Role::Other => 5,
        Role::Meta => 6,
    }
}
