//! What goes wrong around us stays out of the conversation.

use super::super::*;
use super::world::{Client, Provider, settings, turn, with_model};
use std::time::{Duration, Instant};

const PROVIDER: Provider = Provider { window: 32_000, ratio: 1.0 };

/// A conversation that has folded, its gateway, and the next step of its work.
fn folded(path: &std::path::Path) -> (Conversations, Client, usize) {
    let gateway = Conversations::open(settings(32_000, Some(path))).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    for step in 0..60 {
        turn(&gateway, &client, &PROVIDER, step);
        client.work(step as usize);
        if gateway.totals().sums.folds > 0 {
            return (gateway, client, step as usize + 1);
        }
    }
    panic!("no fold in 60 turns");
}

#[test]
fn a_locked_store_costs_a_fold_and_not_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (gateway, mut client, next) = folded(&path);
    let lock = rusqlite_lock(&path);
    for step in next..next + 14 {
        client.work(step);
    }
    let body = client.body();
    let started = Instant::now();
    let prepared = gateway.prepare(&client.ask(&body, 100)).unwrap();
    assert!(started.elapsed() < Duration::from_millis(1_500), "{:?}", started.elapsed());
    assert_eq!(prepared.outcome, Outcome::FailedOpen);
    assert!(prepared.body.len() < body.len(), "what is known is still swapped");
    assert!(!prepared.warnings.is_empty());
    assert_eq!(gateway.totals().sums.failed_open, 1);
    let known = handles(&prepared.body);
    drop(prepared);
    // What does not fit the window is folded all the same, and held in memory.
    let mut longer = client.clone();
    for step in next + 14..next + 37 {
        longer.work(step);
    }
    let too_long = longer.body();
    let prepared = gateway.prepare(&longer.ask(&too_long, 110)).unwrap();
    assert_eq!((prepared.outcome, prepared.durability), (Outcome::Folded, Durability::Memory));
    assert!(PROVIDER.answer(Dialect::Chat, &prepared.body).is_ok());
    assert!(handles(&prepared.body).is_subset(&known), "no handle to what nobody kept");
    assert_eq!(gateway.totals().sums.failed_open, 2);
    let again = gateway.prepare(&longer.ask(&too_long, 120)).unwrap();
    assert_eq!(again.body, prepared.body, "the same bytes for as long as the process lives");
    // After a fold, one report comes before the next.
    gateway.observe(&again.turn, PROVIDER.answer(Dialect::Chat, &again.body).unwrap(), Timestamp(130));
    let held = again.body.clone().into_owned();
    drop((prepared, again));
    drop(lock);
    // Once the store can, it keeps that fold, too: a restart sends the same.
    gateway.flush(Timestamp(4_000)).unwrap();
    let restarted = Conversations::open(settings(32_000, Some(&path))).unwrap();
    assert_eq!(restarted.prepare(&longer.ask(&too_long, 4_500)).unwrap().body, held);
    let prepared = gateway.prepare(&client.ask(&body, 5_000)).unwrap();
    assert!(matches!(prepared.outcome, Outcome::Folded | Outcome::Pruned), "{:?}", prepared.outcome);
    assert_eq!(prepared.durability, Durability::Disk);
}

/// The handles that a text shows.
fn handles(text: &str) -> std::collections::BTreeSet<String> {
    text.match_indices("fl-").filter_map(|(at, _)| text.get(at..at + 15)).map(str::to_owned).collect()
}

/// Holds the write lock of a store, as a process does that is stuck in a transaction.
fn rusqlite_lock(path: &std::path::Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

#[test]
fn a_store_that_is_broken_while_it_is_open_is_a_fault_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(folded(&path));
    let gateway = Conversations::open(settings(32_000, Some(&path))).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("DROP TABLE checkpoints; DROP TABLE sessions").unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.").work(1);
    let body = client.body();
    let fault = gateway.prepare(&client.ask(&body, 100)).unwrap_err();
    assert_eq!(fault.name(), "store");
}

#[test]
fn a_damaged_checkpoint_is_a_fault_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (gateway, client, _) = folded(&path);
    drop(gateway);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE checkpoints SET bytes = x'00112233'").unwrap();
    let gateway = Conversations::open(settings(32_000, Some(&path))).unwrap();
    let body = client.body();
    assert_eq!(gateway.prepare(&client.ask(&body, 100)).unwrap_err().name(), "store");
}

#[test]
fn a_store_that_cannot_be_opened_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::write(&path, "this is no database, and long enough to be looked at. ".repeat(100)).unwrap();
    let error = Conversations::open(settings(32_000, Some(&path))).unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
    let readonly = folder.path().join("missing").join("s.db");
    std::fs::write(folder.path().join("missing"), "a file where a folder should be").unwrap();
    assert!(Conversations::open(settings(32_000, Some(&readonly))).is_err());
}

#[test]
fn what_is_no_conversation_is_a_fault() {
    let gateway = Conversations::open(settings(32_000, None)).unwrap();
    let client = Client::new(Dialect::Chat);
    for body in
        ["", "{", "[]", "null", r#"{"messages":3}"#, r#"{"messages":[1]}"#, r#"{"role":"user","content":"x"}"#, "\u{0}"]
    {
        let fault = gateway.prepare(&client.ask(body, 1)).unwrap_err();
        assert_eq!(fault.name(), "unreadable", "{body}");
    }
    let empty = r#"{"model":"m","messages":[]}"#;
    let prepared = gateway.prepare(&client.ask(empty, 1)).unwrap();
    assert_eq!((prepared.outcome, prepared.body.as_ref()), (Outcome::Unchanged, empty));
}

#[test]
fn a_task_that_is_dropped_frees_its_conversation() {
    let gateway = Conversations::open(with_model(settings(32_000, None))).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    let mut tasks = 0;
    for step in 0..40 {
        client.work(step);
        let body = client.body();
        let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
        if let Some(task) = prepared.background {
            assert_eq!(gateway.totals().in_flight, 1);
            assert!(gateway.prepare(&client.ask(&body, 1)).unwrap().background.is_none(), "one at a time");
            drop(task);
            assert_eq!(gateway.totals().in_flight, 0);
            tasks += 1;
        }
        let usage = PROVIDER.answer(Dialect::Chat, &prepared.body).unwrap();
        gateway.observe(&prepared.turn, usage, Timestamp(1));
    }
    assert!(tasks > 1, "{tasks}");
    assert!(gateway.totals().sums.folds > 0, "what is never done beside is done at the safety net");
}

#[test]
fn many_threads_share_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Conversations::open(with_model(settings(32_000, Some(&folder.path().join("s.db"))))).unwrap();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let gateway = gateway.clone();
            scope.spawn(move || {
                // Two threads each are on one conversation, sending the same bodies at the same time.
                let mut client = Client::new(Dialect::ALL[number % 3]);
                client.user("Do it.");
                for step in 0..40 {
                    client.work(step);
                    turn(&gateway, &client, &PROVIDER, step as i64);
                    if step % 10 == 0 {
                        gateway.flush(Timestamp(step as i64)).unwrap();
                    }
                }
            });
        }
    });
    let totals = gateway.totals();
    assert_eq!((totals.sums.requests, totals.in_flight), (240, 0));
    assert!(totals.sums.folds > 0);
}
