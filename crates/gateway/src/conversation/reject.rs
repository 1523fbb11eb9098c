//! The provider rejected what a checkpoint made of a request, and did not mind the request as it came: the checkpoint is
//! not used again, and the conversation is folded anew when it is time.

use super::inner::{Inner, name};
use super::prepared::Turn;

/// Drops the checkpoint of a turn that was rejected.
pub(super) fn reject(inner: &Inner, turn: &Turn) {
    let (Some(root), Some(rejected)) = (turn.root, turn.checkpoint.as_deref()) else {
        return;
    };
    let mut memory = inner.memory();
    memory.reject(&root, rejected);
    if let Some(session) = memory.session(&turn.session) {
        session.record.with_lane(&name(&root), |lane| {
            if lane.latest.as_deref() == Some(rejected) {
                lane.latest = None;
            }
            // What was reported for it, and what it waits for, will not come.
            lane.base = None;
            lane.state.landed = None;
            lane.state.awaiting_usage = false;
            lane.state.settled = None;
            // A provider that minds every fold is not offered one every turn.
            lane.state.strikes = lane.state.strikes.saturating_add(1);
        });
        session.is_dirty = true;
    }
}
