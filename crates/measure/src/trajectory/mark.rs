//! Recognises synthetic content: handoffs, placeholders, stub results.

use foldline_core::handoff;
use foldline_core::planning;
use foldline_transcript::repair::MISSING_RESULT;
use foldline_transcript::{PartKind, Role, Transcript};

/// How results begin that other compactors put in place of the real ones.
const FOREIGN_RESULTS: [&str; 4] =
    ["[Duplicate tool output", "[Old tool output cleared", "[Result from earlier conversation", "[screenshot removed"];

/// Something that a compactor wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artefact {
    /// A message that is a handoff and nothing else.
    Handoff(usize),
    /// A part that begins with a handoff, in a message that says more.
    MergedHandoff(usize),
    /// A result that is a placeholder, a reduced output or a stub.
    Result(usize),
}

/// Everything in a transcript that a compactor wrote, in order.
pub fn synthetic(transcript: &Transcript<'_>) -> Vec<Artefact> {
    let mut found = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate() {
        if handoff::is_only_handoff(transcript, index) {
            found.push(Artefact::Handoff(index));
            continue;
        }
        if let Some(part) = handoff::handoff_part(transcript, index) {
            found.push(Artefact::MergedHandoff(part));
        }
        let parts = message.parts.start as usize..message.parts.end as usize;
        found.extend(parts.filter(|&part| is_stub(transcript, part, message.role)).map(Artefact::Result));
    }
    found
}

fn is_stub(transcript: &Transcript<'_>, part_index: usize, role: Role) -> bool {
    let Some(part) = transcript.parts.get(part_index) else {
        return false;
    };
    // ShareGPT knows no results, only what a tool says.
    if part.kind != PartKind::ToolResult && role != Role::Tool {
        return false;
    }
    let words = transcript.words(part);
    let words = super::sharegpt::answer_of(&words).trim_start();
    planning::is_reduced_text(words)
        || words.starts_with(MISSING_RESULT)
        || FOREIGN_RESULTS.iter().any(|mark| words.starts_with(mark))
}
