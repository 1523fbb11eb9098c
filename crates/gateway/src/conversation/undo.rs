//! Taking back the latest prune or fold of a session.
//!
//! Its checkpoints are not used again, so the next request goes out as it would have without it: with the fold before
//! in force, if there was one. The conversation is then left alone until it no longer fits, reaches the safety net, or has
//! grown as it must between two folds.

use super::ask::{SessionId, Timestamp};
use super::shared::Shared;
use super::state::ConversationEvent;
use foldline_store::StoreError;

/// What came of taking back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// The next request goes out without the fold.
    Done {
        /// Tokens that it had saved.
        tokens: u64,
    },
    /// Nobody knows the session.
    NoSession,
    /// Nothing of it is folded.
    Nothing,
    /// Without the fold it would not fit its window.
    TooLarge {
        /// Tokens that the next request would have, about.
        tokens: u64,
        /// The window.
        window: u64,
    },
}

/// Takes back the latest fold of a session that is in memory, and writes that down.
pub(super) fn undo(shared: &Shared, id: &SessionId, now: Timestamp) -> Result<Undo, StoreError> {
    let tokens = {
        let mut memory = shared.memory();
        let Some(session) = memory.session(id) else { return Ok(Undo::NoSession) };
        let window = session.record.window;
        let Some(conversation) = session.record.latest_folded() else { return Ok(Undo::Nothing) };
        let saved = conversation.latest_fold().map_or(0, |mark| mark.tokens.0.saturating_sub(mark.tokens.1));
        let landed = conversation.latest_fold().map_or(0, |mark| mark.tokens.1);
        let now_at = conversation.base.as_ref().map_or(landed, |base| base.prompt);
        if window > 0 && now_at + saved >= window {
            return Ok(Undo::TooLarge { tokens: now_at + saved, window });
        }
        let root = conversation.root().to_owned();
        session.record.with_conversation(&root, |conversation| conversation.apply(ConversationEvent::TakenBack));
        session.is_dirty = true;
        saved
    };
    shared.flush(now.0)?;
    Ok(Undo::Done { tokens })
}
