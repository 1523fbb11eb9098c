//! Whether to act on a request now, beside it, or not at all.

use foldline_core::planner::{Size, Trigger, decide};
use foldline_core::policy::Budgets;
use foldline_core::{Policy, SessionState};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Forward it.
    Forward,
    /// Forward it, and fold beside it.
    Beside,
    /// Fold it before it is forwarded.
    Fold(Trigger),
}

/// What else happens to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    /// A fold is under way.
    Fold,
}

/// Chooses. A turn never waits for a model: with one, the engine's trigger only starts a fold beside the
/// conversation, and what happens before the request leaves is written without it.
pub(super) fn choose(size: Size, policy: &Policy, budgets: &Budgets, state: &SessionState, beside: Beside) -> Move {
    let acts = |trigger| decide(size, policy, budgets, state, trigger).acts();
    let wants_model = policy.summarizer.url.is_some();
    let is_stopped = state.strikes >= policy.compression.max_strikes;
    let is_too_much = size.tokens >= u64::from(budgets.effective_window) || size.bytes > budgets.max_body_bytes;
    // Where folds have stopped helping, the provider has the last word; its refusal folds harder.
    if policy.compression.enabled && is_too_much && !is_stopped {
        return Move::Fold(Trigger::Overflow);
    }
    if acts(Trigger::Hygiene) {
        return Move::Fold(Trigger::Hygiene);
    }
    match (acts(Trigger::Engine), beside) {
        (true, Beside::Nothing) if !wants_model => Move::Fold(Trigger::Engine),
        (_, Beside::Nothing) if acts(Trigger::Background) => Move::Beside,
        _ => Move::Forward,
    }
}
