//! Undo of the latest prune or fold of a session.
//!
//! Its checkpoints are not used again, so the next request is forwarded without it; the fold before it, if there was one,
//! applies again. The conversation is not folded again until it no longer fits, reaches the safety net, or has
//! grown by `min_growth`.

use super::incoming::{SessionId, Timestamp};
use super::shared::Shared;
use super::state::ConversationEvent;
use foldline_store::StoreError;

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// The next request is forwarded without the fold.
    Done {
        /// Tokens that the fold had removed.
        tokens: u64,
    },
    /// The session is unknown.
    NoSession,
    /// Nothing is folded.
    Nothing,
    /// Without the fold the next request would not fit the window.
    TooLarge {
        /// Estimated tokens of the next request.
        tokens: u64,
        /// The window.
        window: u64,
    },
}

/// Undoes the latest fold of a session that is in memory, and stores the decision.
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
        session.apply(&root, vec![ConversationEvent::TakenBack]);
        saved
    };
    shared.flush(now.0)?;
    Ok(Undo::Done { tokens })
}
