//! The provider rejected a rewritten request but accepted the original: discard the checkpoint, so that the
//! conversation is folded again.

use super::prepared::Turn;
use super::shared::{Shared, name};
use super::state::ConversationEvent;

/// Drops the checkpoint of a turn that was rejected.
pub(super) fn reject(shared: &Shared, turn: &Turn) {
    let (Some(root), Some(rejected)) = (turn.root, turn.checkpoint.as_deref()) else {
        return;
    };
    let mut memory = shared.memory();
    memory.reject(&root, rejected);
    if let Some(session) = memory.session(&turn.session) {
        let event = ConversationEvent::Rejected { checkpoint: rejected.to_owned() };
        session.apply(&name(&root), vec![event]);
    }
}
