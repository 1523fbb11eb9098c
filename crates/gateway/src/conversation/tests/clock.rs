//! What depends on the time that has passed: cold caches, summarisers that are left alone.

use super::super::*;
use super::world::{Client, Provider, settings, turn, with_model};
use foldline_core::summary::{Failure, FailureClass, Summary};

const PROVIDER: Provider = Provider { window: 200_000, ratio: 1.0 };
const MINUTE: i64 = 60_000;

/// A conversation far below every mark, whose last request came at a time; and what becomes of one later.
fn after_a_pause(pause: i64, economy: bool) -> Outcome {
    let mut settings = settings(200_000, None);
    settings.policy.compression.economy = economy;
    let gateway = Conversations::open(settings).unwrap();
    let mut client = Client::new(Dialect::Messages);
    client.model = "claude-sonnet-4-5".to_owned();
    client.user("Do it.");
    let mut outcome = Outcome::Unchanged;
    for step in 0..24 {
        (_, outcome) = turn(&gateway, &client, &PROVIDER, MINUTE + step * 1_000);
        client.work(step as usize);
    }
    assert_eq!(outcome, Outcome::Unchanged, "below the trigger, with a warm cache");
    turn(&gateway, &client, &PROVIDER, 2 * MINUTE + pause).1
}

#[test]
fn money_folds_a_conversation_whose_cache_has_gone_cold() {
    assert_eq!(after_a_pause(20 * MINUTE, true), Outcome::Folded);
    assert_eq!(after_a_pause(MINUTE, true), Outcome::Unchanged, "the cache is warm");
    assert_eq!(after_a_pause(20 * MINUTE, false), Outcome::Unchanged, "money does not decide here");
}

#[test]
fn a_summariser_that_failed_is_left_alone_for_a_while() {
    let gateway = Conversations::open(with_model(settings(32_000, None))).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    let provider = Provider { window: 32_000, ratio: 1.0 };
    let mut asked = Vec::new();
    for step in 0..200 {
        let now = MINUTE + step * 1_000;
        client.work(step as usize);
        let body = client.body();
        let mut prepared = gateway.prepare(&client.ask(&body, now)).unwrap();
        let usage = provider.answer(Dialect::Chat, &prepared.body).unwrap();
        gateway.observe(&prepared.turn, usage, Timestamp(now));
        let Some(mut task) = prepared.background.take() else { continue };
        let summary = match gateway.plan(&mut task).unwrap() {
            Planned::NeedsSummary(_) => {
                asked.push(now);
                Some(Summary::Failed(Failure::new(FailureClass::Timeout, "slow")))
            }
            _ => None,
        };
        gateway.run(task, summary, Timestamp(now)).unwrap();
    }
    assert!(gateway.totals().sums.folds >= 5, "folds go on without it");
    assert_eq!(asked.len(), 2, "after one minute, then after five: {asked:?}");
    assert!(asked[1] - asked[0] >= MINUTE);
}
