//! When to fold: now, in the background, or not at all. The core decides whether a fold is due.

use super::state::Reports;
use foldline_core::Trigger;
use foldline_core::planning::{Situation, Verdict};

/// When to fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Not now: the request is forwarded.
    Never,
    /// Beside the request, which is forwarded.
    InBackground(Due),
    /// Before it is forwarded.
    Now(Due),
}

/// A fold that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) trigger: Trigger,
    pub(super) verdict: Verdict,
}

impl Schedule {
    /// For what a fold is made, if one is made now.
    pub(super) fn now(&self) -> Option<Trigger> {
        match self {
            Schedule::Now(due) => Some(due.trigger),
            Schedule::Never | Schedule::InBackground(_) => None,
        }
    }
}

/// What else happens to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackgroundWork {
    Nothing,
    /// A fold is under way.
    Fold,
}

/// Requests above this many bytes are folded beside the conversation also without a model. Below it a fold
/// takes 15 to 60 ms, and waiting for the trigger saves a quarter of the rewrites that folding at the pressure
/// mark would make.
const FELT_BYTES: u64 = 1 << 20;

/// Chooses. A turn never waits for a model: with one, the engine's trigger only starts a fold beside the
/// conversation, and what happens before the request leaves is written without it.
pub(super) fn schedule(situation: &Situation<'_>, background: BackgroundWork, reports: Reports) -> Schedule {
    let due = |trigger| {
        let verdict = situation.on_behalf_of(trigger).assess();
        verdict.acts().then_some(Due { trigger, verdict })
    };
    if let Some(due) = due(Trigger::TooLarge).or_else(|| due(Trigger::Hygiene)) {
        return Schedule::Now(due);
    }
    // An estimate alone does not change what went out before a crash; the next report decides.
    if background == BackgroundWork::Fold || reports == Reports::Lost {
        return Schedule::Never;
    }
    let would_be_felt = situation.policy.summarizer.url.is_some() || situation.size.bytes > FELT_BYTES;
    match would_be_felt {
        true => {
            due(Trigger::Background).or_else(|| due(Trigger::Engine)).map_or(Schedule::Never, Schedule::InBackground)
        }
        false => due(Trigger::Engine).map_or(Schedule::Never, Schedule::Now),
    }
}

/// A fold that somebody asked for.
pub(super) fn on_request(situation: &Situation<'_>) -> Schedule {
    let trigger = Trigger::Manual;
    Schedule::Now(Due { trigger, verdict: situation.on_behalf_of(trigger).assess() })
}

/// What is too large to be sent is folded, nothing else.
pub(super) fn only_if_needed(situation: &Situation<'_>) -> Schedule {
    let trigger = Trigger::TooLarge;
    let verdict = situation.on_behalf_of(trigger).assess();
    if verdict.acts() { Schedule::Now(Due { trigger, verdict }) } else { Schedule::Never }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::models::ModelProfile;
    use foldline_core::planning::Size;
    use foldline_core::policy::{AutoOr, BudgetInputs, Budgets, Preset};
    use foldline_core::{Policy, SessionState};

    /// What is done, and on whose behalf.
    #[derive(Debug, PartialEq, Eq)]
    enum Move {
        Forward,
        InBackground(Trigger),
        Fold(Trigger),
    }

    fn choose(
        size: Size,
        policy: &Policy,
        budgets: &Budgets,
        state: &SessionState,
        background: BackgroundWork,
    ) -> Move {
        let model = &ModelProfile::with_window(100_000);
        let (admitted, fixed, is_settled, target, idle, trigger) = (0, 0, false, None, None, Trigger::Engine);
        let situation =
            Situation { size, admitted, fixed, is_settled, policy, model, budgets, state, trigger, target, idle };
        match schedule(&situation, background, Reports::Known) {
            Schedule::Never => Move::Forward,
            Schedule::InBackground(due) => Move::InBackground(due.trigger),
            Schedule::Now(due) => Move::Fold(due.trigger),
        }
    }

    /// Window 100,000: trigger 50,000, pressure 42,500, safety net 85,000.
    fn chosen(tokens: u64, bytes: u64, model: Option<&str>, state: &SessionState, background: BackgroundWork) -> Move {
        let mut policy = Policy::of(Preset::Hermes);
        policy.summarizer.url = model.map(str::to_owned);
        let budgets = Budgets::of(&policy, &ModelProfile::with_window(100_000), BudgetInputs::default());
        choose(Size { tokens, messages: 40, bytes }, &policy, &budgets, state, background)
    }

    #[test]
    fn a_fold_that_lands_just_below_the_trigger_is_not_followed_by_the_next_at_once() {
        let at = |tokens, url: Option<&str>| {
            let mut policy = Policy::of(Preset::Hermes);
            policy.compression.min_growth = AutoOr::Fixed(0.3);
            let budgets = Budgets::of(&policy, &ModelProfile::with_window(100_000), BudgetInputs::default());
            policy.summarizer.url = url.map(str::to_owned);
            let size = Size { tokens, messages: 40, bytes: 200_000 };
            let state = SessionState { landed: Some(46_000), ..SessionState::default() };
            choose(size, &policy, &budgets, &state, BackgroundWork::Nothing)
        };
        assert_eq!(at(52_000, None), Move::Forward);
        assert_eq!(at(47_000, Some("url")), Move::Forward, "also where the pressure mark would start one");
        assert_eq!(at(61_000, None), Move::Fold(Trigger::Engine));
        assert_eq!(at(61_000, Some("url")), Move::InBackground(Trigger::Background));
        assert_eq!(at(85_000, None), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn without_a_model_small_requests_fold_at_the_trigger_and_large_ones_beside() {
        let calm = SessionState::default();
        let at = |tokens, bytes| chosen(tokens, bytes, None, &calm, BackgroundWork::Nothing);
        assert_eq!(at(45_000, 200_000), Move::Forward);
        assert_eq!(at(50_000, 200_000), Move::Fold(Trigger::Engine));
        assert_eq!(at(45_000, 2 << 20), Move::InBackground(Trigger::Background));
        assert_eq!(at(85_000, 2 << 20), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn with_a_model_no_turn_waits_before_the_safety_net() {
        let calm = SessionState::default();
        let at = |tokens, background| chosen(tokens, 200_000, Some("url"), &calm, background);
        assert_eq!(at(42_000, BackgroundWork::Nothing), Move::Forward);
        assert_eq!(at(43_000, BackgroundWork::Nothing), Move::InBackground(Trigger::Background));
        assert_eq!(at(60_000, BackgroundWork::Nothing), Move::InBackground(Trigger::Background));
        assert_eq!(at(60_000, BackgroundWork::Fold), Move::Forward);
        assert_eq!(at(85_000, BackgroundWork::Fold), Move::Fold(Trigger::Hygiene));
        assert_eq!(at(100_000, BackgroundWork::Fold), Move::Fold(Trigger::TooLarge));
    }

    #[test]
    fn after_a_fold_only_the_safety_net_acts_before_usage_is_reported() {
        let waiting = SessionState { awaiting_usage: true, ..SessionState::default() };
        assert_eq!(chosen(60_000, 200_000, None, &waiting, BackgroundWork::Nothing), Move::Forward);
        assert_eq!(chosen(60_000, 200_000, Some("url"), &waiting, BackgroundWork::Nothing), Move::Forward);
        assert_eq!(chosen(86_000, 200_000, None, &waiting, BackgroundWork::Nothing), Move::Fold(Trigger::Hygiene));
    }

    #[test]
    fn where_folds_do_not_help_the_provider_has_the_last_word() {
        let stopped = |strikes| SessionState { strikes, ..SessionState::default() };
        assert_eq!(chosen(60_000, 200_000, None, &stopped(2), BackgroundWork::Nothing), Move::Forward);
        assert_eq!(chosen(86_000, 200_000, None, &stopped(2), BackgroundWork::Nothing), Move::Fold(Trigger::Hygiene));
        assert_eq!(chosen(120_000, 200_000, None, &stopped(4), BackgroundWork::Nothing), Move::Forward);
    }
}
