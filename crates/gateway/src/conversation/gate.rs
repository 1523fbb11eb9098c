//! Whether to act on a request now, beside it, or not at all.

use super::memory::Reports;
use foldline_core::Trigger;
use foldline_core::cache::Economics;
use foldline_core::planning::{Size, Verdict, decide, decide_by_money};
use foldline_core::policy::Budgets;
use foldline_core::{Policy, SessionState};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Forward it.
    Forward,
    /// Forward it, and fold beside it.
    Beside(Trigger),
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

/// Requests above this many bytes are folded beside the conversation also without a model. Below it a fold
/// takes 15 to 60 ms, and waiting for the trigger saves a quarter of the rewrites that folding at the pressure
/// mark would make.
const FELT_BYTES: u64 = 1 << 20;

/// What else is known about a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) beside: Beside,
    pub(super) reports: Reports,
    /// What a fold would cost and save, where money decides.
    pub(super) economics: Option<Economics>,
}

/// Chooses. A turn never waits for a model: with one, the engine's trigger only starts a fold beside the
/// conversation, and what happens before the request leaves is written without it.
pub(super) fn choose(size: Size, policy: &Policy, budgets: &Budgets, state: &SessionState, course: Course) -> Move {
    let acts = |trigger| decide(size, policy, budgets, state, trigger).acts();
    let is_stopped = state.strikes >= policy.compression.max_strikes;
    let is_too_much = size.tokens >= u64::from(budgets.effective_window) || size.bytes > budgets.max_body_bytes;
    // Where folds have stopped helping, the provider has the last word; its refusal folds harder.
    if policy.compression.enabled && is_too_much && !is_stopped {
        return Move::Fold(Trigger::Overflow);
    }
    if acts(Trigger::Hygiene) {
        return Move::Fold(Trigger::Hygiene);
    }
    // An estimate alone does not change what went out before a crash; the next report decides.
    if course.beside == Beside::Fold || course.reports == Reports::Lost {
        return Move::Forward;
    }
    let would_be_felt = policy.summarizer.url.is_some() || size.bytes > FELT_BYTES;
    if would_be_felt && acts(Trigger::Background) {
        return Move::Beside(Trigger::Background);
    }
    // Money has a measure of its own for how much must have been added.
    let pays = course.economics.as_ref().is_some_and(|economics| {
        let wait = Verdict::Wait(String::new());
        decide_by_money(wait, size.tokens, policy, state, Trigger::Engine, Some(economics)).acts()
    });
    match (would_be_felt, acts(Trigger::Engine) || pays) {
        (_, false) => Move::Forward,
        (true, true) => Move::Beside(Trigger::Engine),
        (false, true) => Move::Fold(Trigger::Engine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::models::ModelProfile;
    use foldline_core::policy::{AutoOr, BudgetInputs, Preset};

    /// Window 100,000: trigger 50,000, pressure 42,500, safety net 85,000.
    fn chosen(tokens: u64, bytes: u64, model: Option<&str>, state: &SessionState, beside: Beside) -> Move {
        let mut policy = Policy::of(Preset::Hermes);
        policy.summarizer.url = model.map(str::to_owned);
        let budgets = Budgets::of(&policy, &ModelProfile::with_window(100_000), BudgetInputs::default());
        let course = Course { beside, reports: Reports::Known, economics: None };
        choose(Size { tokens, messages: 40, bytes, ..Size::default() }, &policy, &budgets, state, course)
    }

    #[test]
    fn a_fold_that_lands_just_below_the_trigger_is_not_followed_by_the_next_at_once() {
        let at = |tokens, url: Option<&str>| {
            let mut policy = Policy::of(Preset::Hermes);
            policy.compression.min_growth = AutoOr::Fixed(0.3);
            let budgets = Budgets::of(&policy, &ModelProfile::with_window(100_000), BudgetInputs::default());
            policy.summarizer.url = url.map(str::to_owned);
            let course = Course { beside: Beside::Nothing, reports: Reports::Known, economics: None };
            let size = Size { tokens, messages: 40, bytes: 200_000, ..Size::default() };
            let state = SessionState { landed: Some(46_000), ..SessionState::default() };
            choose(size, &policy, &budgets, &state, course)
        };
        assert_eq!(at(52_000, None), Move::Forward);
        assert_eq!(at(47_000, Some("url")), Move::Forward, "also where the pressure mark would start one");
        assert_eq!(at(61_000, None), Move::Fold(Trigger::Engine));
        assert_eq!(at(61_000, Some("url")), Move::Beside(Trigger::Background));
        assert_eq!(at(85_000, None), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn without_a_model_small_requests_fold_at_the_trigger_and_large_ones_beside() {
        let calm = SessionState::default();
        let at = |tokens, bytes| chosen(tokens, bytes, None, &calm, Beside::Nothing);
        assert_eq!(at(45_000, 200_000), Move::Forward);
        assert_eq!(at(50_000, 200_000), Move::Fold(Trigger::Engine));
        assert_eq!(at(45_000, 2 << 20), Move::Beside(Trigger::Background));
        assert_eq!(at(85_000, 2 << 20), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn with_a_model_no_turn_waits_before_the_safety_net() {
        let calm = SessionState::default();
        let at = |tokens, beside| chosen(tokens, 200_000, Some("url"), &calm, beside);
        assert_eq!(at(42_000, Beside::Nothing), Move::Forward);
        assert_eq!(at(43_000, Beside::Nothing), Move::Beside(Trigger::Background));
        assert_eq!(at(60_000, Beside::Nothing), Move::Beside(Trigger::Background));
        assert_eq!(at(60_000, Beside::Fold), Move::Forward);
        assert_eq!(at(85_000, Beside::Fold), Move::Fold(Trigger::Hygiene));
        assert_eq!(at(100_000, Beside::Fold), Move::Fold(Trigger::Overflow));
    }

    #[test]
    fn after_a_fold_only_the_safety_net_acts_before_usage_is_reported() {
        let waiting = SessionState { awaiting_usage: true, ..SessionState::default() };
        assert_eq!(chosen(60_000, 200_000, None, &waiting, Beside::Nothing), Move::Forward);
        assert_eq!(chosen(60_000, 200_000, Some("url"), &waiting, Beside::Nothing), Move::Forward);
        assert_eq!(chosen(86_000, 200_000, None, &waiting, Beside::Nothing), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn where_folds_do_not_help_the_provider_has_the_last_word() {
        let stopped = |strikes| SessionState { strikes, ..SessionState::default() };
        assert_eq!(chosen(60_000, 200_000, None, &stopped(2), Beside::Nothing), Move::Forward);
        assert_eq!(chosen(86_000, 200_000, None, &stopped(2), Beside::Nothing), Move::Fold(Trigger::Hygiene));
        assert_eq!(chosen(120_000, 200_000, None, &stopped(4), Beside::Nothing), Move::Forward);
    }
}
