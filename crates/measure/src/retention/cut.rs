//! Cuts a session into the part that is compacted and the part that shows what was needed.

use super::page::Page;
use foldline_core::planning::Cuts;
use foldline_transcript::Transcript;
use foldline_transcript::rewrite::Rewrite;

/// The share of a session's text that is compacted.
pub const SHARE: f64 = 0.6;

/// A part with fewer messages than this is no history.
const FEWEST: usize = 4;

/// Where a session is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first message of the second part.
    pub message: usize,
    /// The first part: a document in the session's format, with everything beside the messages as it was.
    pub first: String,
}

/// A session that has no two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{messages} messages are too few to cut in two parts of at least {FEWEST}")]
pub struct TooShort {
    /// Its messages.
    pub messages: usize,
}

/// Cuts a session, which `page` shows, at the first boundary from `share` of its text on that separates no call
/// from its result. The transcript should be sound: an unanswered call holds everything after it together.
pub fn cut(transcript: &Transcript<'_>, page: &Page, share: f64) -> Result<Cut, TooShort> {
    let messages = transcript.messages.len();
    let goal = page.len() as f64 * share;
    let mut read = 0.0;
    let crossing = page.blocks().iter().find(|block| {
        read += page.words(block).len() as f64 + 1.0;
        read >= goal
    });
    // One output that is half of the text must not swallow a part.
    let latest = messages.saturating_sub(FEWEST);
    let wanted = crossing.map_or(0, |block| block.message + 1).max(FEWEST).min(latest);
    let cuts = Cuts::find(transcript);
    let is_whole = |at: &usize| (FEWEST..=latest).contains(at);
    let boundaries = [cuts.at_or_after(wanted), cuts.at_or_before(wanted)];
    let message = boundaries.into_iter().find(is_whole).ok_or(TooShort { messages })?;
    let mut rewrite = Rewrite::default();
    (message..messages).for_each(|index| rewrite.remove(index));
    Ok(Cut { message, first: rewrite.apply(transcript) })
}
