//! What is done in memory on the way is what would be done on a thread that may block.

use super::super::*;
use super::world::{Client, Provider, settings};

const WINDOW: u32 = 16_000;
const TURNS: usize = 120;

/// What came of a loop: what was sent, what became of it, and all that was counted.
struct Log {
    sent: Vec<(String, Outcome, (u64, u64))>,
    totals: Totals,
    at_once: usize,
}

/// Runs a loop, at once wherever that is possible or never.
fn run(dialect: Dialect, prepare: impl for<'a> Fn(&Conversations, &IncomingTurn<'a>) -> Option<Prepared<'a>>) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Conversations::open(settings(WINDOW, Some(&folder.path().join("s.db")))).unwrap();
    let provider = Provider { window: WINDOW.into(), ratio: 1.1 };
    let mut client = Client::new(dialect);
    client.user("Rebuild the parts one by one.");
    let mut log = Log { sent: Vec::new(), totals: Totals::default(), at_once: 0 };
    for step in 0..TURNS {
        let now = 1_000 + step as i64 * 10;
        let body = client.body();
        let ask = client.ask(&body, now);
        let quick = prepare(&gateway, &ask);
        log.at_once += usize::from(quick.is_some());
        let is_quick = quick.is_some();
        let prepared = quick.unwrap_or_else(|| gateway.prepare(&ask).unwrap());
        assert!(!is_quick || prepared.compacted.is_none(), "a fold is not made at once");
        let usage = provider.answer(dialect, &prepared.body).unwrap();
        if !is_quick || !gateway.observe_at_once(&prepared.turn, usage, Timestamp(now)) {
            gateway.observe(&prepared.turn, usage, Timestamp(now));
        }
        log.sent.push((prepared.body.into_owned(), prepared.outcome, prepared.tokens));
        client.work(step);
    }
    log.totals = gateway.totals();
    log
}

#[test]
fn what_is_made_ready_at_once_is_what_is_made_ready_with_time() {
    for dialect in Dialect::ALL {
        let patient = run(dialect, |_, _| None);
        let quick = run(dialect, |gateway, ask| gateway.prepare_at_once(ask));
        assert!(patient.sent == quick.sent, "{dialect:?}");
        assert_eq!(patient.totals, quick.totals, "{dialect:?}");
        let folds = usize::try_from(quick.totals.sums.folds + quick.totals.sums.prunes).unwrap();
        assert!(folds >= 3, "{dialect:?}: {folds}");
        // All but the first turn, those that fold, and those after a fold whose text is not held.
        assert!(quick.at_once >= TURNS - 1 - 2 * folds, "{dialect:?}: {} at once, {folds} folds", quick.at_once);
        assert!(quick.at_once < TURNS, "{dialect:?}");
    }
}

#[test]
fn what_is_only_in_the_store_is_not_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Conversations::open(settings(WINDOW, Some(&folder.path().join("s.db")))).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Rebuild the parts.");
    let body = client.body();
    let ask = client.ask(&body, 1_000);
    let gateway = open();
    assert!(gateway.prepare_at_once(&ask).is_none(), "nobody has looked whether it is known");
    gateway.prepare(&ask).unwrap();
    assert!(gateway.prepare_at_once(&ask).is_some());
    drop(gateway);
    assert!(open().prepare_at_once(&ask).is_none(), "after a restart it is in the store");
    let unreadable = IncomingTurn { body: "{", ..ask };
    assert!(open().prepare_at_once(&unreadable).is_none());
}
