//! How likely a name is needed again: what it is worth in a handoff.

use super::Usage;
use super::names::NameKind;
use crate::transcript::Transcript;

/// Within so many bytes of the end all names are equally young.
const RECENT_BYTES: f32 = 3_000.0;
/// Counts up to here are looked up: there are hundreds of thousands of names, and roots are slow.
const COUNTED: usize = 64;

/// The likelihood of need, by what agents needed later in recorded sessions (`foldline eval`). Being written by the
/// agent itself tells most, then how often a name came up; of two names that are no longer in sight, the younger one is
/// needed a little more often.
pub(super) struct Need {
    /// By message.
    recency: Vec<f32>,
    /// By how many messages have a name, and by how many of the agent's have it.
    frequency: [f32; COUNTED],
    written: [f32; COUNTED],
}

impl Need {
    pub(super) fn of(transcript: &Transcript<'_>, folded: &[usize]) -> Need {
        let last = folded.last().map_or(0, |&last| last + 1);
        let messages = transcript.messages.get(..last).unwrap_or_default();
        let end = messages.last().map_or(0, |last| last.span.end);
        let recency = |end_of_message: u32| 1.0 / fourth_root(1.0 + (end - end_of_message) as f32 / RECENT_BYTES);
        Need {
            recency: messages.iter().map(|message| recency(message.span.end.min(end))).collect(),
            frequency: std::array::from_fn(|count| fourth_root(count as f32)),
            written: std::array::from_fn(|count| if count > 0 { 2.5 * (count as f32).sqrt() } else { 1.0 }),
        }
    }

    pub(super) fn weight(&self, kind: NameKind, usage: &Usage) -> f32 {
        let kind = match kind {
            NameKind::Path => 1.5,
            NameKind::Identifier => 1.6,
            NameKind::Hash => 0.8,
            NameKind::Word => 0.04,
        };
        let by = |table: &[f32; COUNTED], count: u32| table.get(COUNTED.min(count as usize + 1) - 1).copied();
        let recency = self.recency.get(usage.last as usize).copied().unwrap_or(1.0);
        let frequency = by(&self.frequency, usage.messages).unwrap_or(1.0);
        let written = by(&self.written, usage.written).unwrap_or(1.0);
        let asked = if usage.asked { 1.2 } else { 1.0 };
        kind * recency * frequency * written * asked
    }
}

/// Square roots are exact everywhere; other powers differ from machine to machine in the last digit.
fn fourth_root(number: f32) -> f32 {
    number.sqrt().sqrt()
}
