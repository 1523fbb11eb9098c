//! Whatever is wrong with the gateway, requests reach their provider as they came.

use crate::agent::{TURNS, WINDOW, ask, assert_nothing_is_lost, strict_desk};
use crate::harness::{CHAT, MESSAGES, PATHS, PATIENCE, TestGateway};
use foldline_core::policy::AutoOr;
use foldline_gateway::serve::{Gateway, GatewayConfig};
use foldline_script::{Act, Agent, Provider};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn long() -> String {
    let words = |n: usize| format!("Step {n}: {}", "the importer reads orders and writes the rest. ".repeat(60));
    let messages: Vec<_> = (0..41)
        .map(|n: usize| json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string()
}

/// Wide enough for the conversation, and too narrow to leave it alone.
fn narrow(policy: &mut crate::harness::Tuned) {
    policy.model.window = AutoOr::Fixed(40_000);
}

#[tokio::test]
async fn an_invalid_store_file_does_not_fail_requests() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    std::fs::write(&store, "this is no database, and never was one".repeat(100)).unwrap();
    let config = GatewayConfig { store: Some(store), ..GatewayConfig::default() };
    let gateway = Gateway::open(&config).unwrap();
    assert!(gateway.trouble().is_some());
}

#[tokio::test]
async fn a_locked_store_delays_requests_only_up_to_the_limit() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    // Somebody else holds the file.
    let lock = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let body = long();
    let began = std::time::Instant::now();
    let seen = test.post(MESSAGES, &body).await;
    assert_eq!(seen.status, 200);
    assert!(began.elapsed().as_secs() < 8, "{:?}", began.elapsed());
    assert_eq!(test.forwarded().text(), body, "{:?}", seen.header("x-foldline-outcome"));
    lock.execute_batch("ROLLBACK").unwrap();
}

/// The files of a store.
fn files(test: &TestGateway) -> [PathBuf; 3] {
    ["store.db", "store.db-wal", "store.db-shm"].map(|name| test.folder.path().join(name))
}

/// Posts a conversation that is to be folded; what became of it, and whether it went out as it came.
async fn outcome(test: &TestGateway, body: &str) -> (String, bool) {
    let began = Instant::now();
    let seen = test.post(MESSAGES, body).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let forwarded = test.provider.requests().last().unwrap().text();
    (seen.header("x-foldline-outcome").unwrap().to_owned(), forwarded == body)
}

/// The same conversation as another one, so that nothing is known about it.
fn another(number: usize) -> String {
    long().replacen("Step 0", &format!("Conversation {number}. Step 0"), 1)
}

async fn faults_of_the_store(test: &TestGateway) -> f64 {
    test.metric("foldline_fallbacks_total{kind=\"store\"}").await
}

#[tokio::test]
async fn a_fold_that_cannot_be_stored_is_counted_and_retried() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    let lock = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in 0..3 {
        assert_eq!(outcome(&test, &another(number)).await, ("failed-open".to_owned(), true));
    }
    assert_eq!(faults_of_the_store(&test).await, 3.0);
    lock.execute_batch("ROLLBACK").unwrap();
    // A store that failed is left alone for a moment.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    for number in 0..3 {
        assert_eq!(outcome(&test, &another(number)).await, ("folded".to_owned(), false));
    }
    assert_eq!(faults_of_the_store(&test).await, 3.0);
}

#[tokio::test]
async fn a_fold_whose_originals_cannot_be_stored_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let texts = folder.path().join("texts");
    // No folder: nothing can be written there.
    std::fs::write(&texts, "").unwrap();
    let tune = |tuned: &mut crate::harness::Tuned| {
        narrow(tuned);
        tuned.store.originals = Some(format!("file://{}", texts.display()));
        tuned.store.originals_min_bytes = 0;
    };
    let test = TestGateway::tuned([Act::say("Done.")], tune).await;
    assert_eq!(outcome(&test, &another(0)).await, ("failed-open".to_owned(), true));
    assert_eq!(test.get("/foldline/readyz").await.status, 503);
    std::fs::remove_file(&texts).unwrap();
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(outcome(&test, &another(0)).await, ("folded".to_owned(), false));
    assert!(texts.is_dir());
    assert_eq!(test.get("/foldline/readyz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readyz_fails_while_the_store_is_not_writable() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    assert_eq!(test.get("/foldline/readyz").await.text(), "ready\n");
    // Others write for ever; reading still works.
    let lock = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    let began = Instant::now();
    for _ in 0..100 {
        assert_eq!(test.get("/foldline/readyz").await.status, 503);
    }
    assert!(began.elapsed() < Duration::from_secs(15), "the store is asked once in a while: {:?}", began.elapsed());
    lock.execute_batch("ROLLBACK").unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(test.get("/foldline/readyz").await.status, 200);
}

#[tokio::test]
async fn a_corrupted_store_stops_folds_until_it_is_replaced() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    assert_eq!(outcome(&test, &another(0)).await.0, "folded");
    // What is written beside requests is done by then: a write under way would put some of the file right again.
    tokio::time::sleep(Duration::from_millis(600)).await;
    for file in files(&test) {
        std::fs::write(file, "garbage, garbage, garbage. ".repeat(10_000)).unwrap();
    }
    for number in 1..4 {
        assert_eq!(outcome(&test, &another(number)).await, ("failed-open".to_owned(), true));
    }
    assert!(faults_of_the_store(&test).await >= 3.0);
    assert_eq!(outcome(&test, &another(0)).await, ("checkpoint".to_owned(), false), "what is in memory still counts");
    assert_eq!(test.get("/foldline/readyz").await.status, 503);
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
    for file in files(&test) {
        std::fs::remove_file(file).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(outcome(&test, &another(1)).await, ("folded".to_owned(), false));
    assert_eq!(test.get("/foldline/readyz").await.status, 200);
}

#[tokio::test]
async fn a_deleted_store_is_recreated() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    assert_eq!(outcome(&test, &another(0)).await.0, "folded");
    for (round, gone) in [1, 3].into_iter().enumerate() {
        for file in files(&test).iter().take(gone) {
            std::fs::remove_file(file).unwrap();
        }
        assert_eq!(outcome(&test, &another(0)).await.0, "checkpoint", "what is in memory still counts");
        assert_eq!(outcome(&test, &another(1 + round)).await.0, "folded");
        // Another process finds what was kept after that.
        let again = Gateway::open(&test.config).unwrap();
        assert!(again.trouble().is_none());
        let rows: i64 = rusqlite::Connection::open(test.folder.path().join("store.db"))
            .and_then(|file| file.query_row("SELECT count(*) FROM checkpoints", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(rows, 1, "round {round}");
    }
    assert_eq!(faults_of_the_store(&test).await, 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_keeps_working_while_the_store_is_locked() {
    for path in PATHS {
        let (test, strict) = strict_desk(WINDOW, |_| {}).await;
        let mut agent = Agent::new(path, "Run all tests and mend what fails.");
        let lock = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
        for turn in 0..TURNS {
            if turn == 20 {
                lock.execute_batch("BEGIN IMMEDIATE").unwrap();
            }
            if turn == 220 {
                lock.execute_batch("ROLLBACK").unwrap();
                // A store that failed is left alone for a moment.
                tokio::time::sleep(Duration::from_millis(1_100)).await;
            }
            ask(&agent, &test).await;
            agent.act(turn);
        }
        ask(&agent, &test).await;
        assert_eq!(strict.refused(), 0, "{path}: no request is refused");
        assert_nothing_is_lost(&agent, &test.provider.requests().last().unwrap().text());
        assert!(faults_of_the_store(&test).await >= 1.0, "{path}: it is counted");
        let rewrites = test.metric("foldline_folds_total").await + test.metric("foldline_prunes_total").await;
        assert!(rewrites >= 2.0, "{path}: it goes on");
    }
}

#[tokio::test]
async fn a_store_that_failed_to_open_is_retried() {
    let provider = Provider::start([Act::say("Done.")]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    std::fs::write(&store, "this is no database, and never was one".repeat(100)).unwrap();
    let test = TestGateway::at(provider, folder, narrow).await;
    assert!(test.gateway.trouble().is_some());
    assert_eq!(test.get("/foldline/readyz").await.status, 503);
    assert_eq!(outcome(&test, &another(0)).await.0, "folded", "in memory");
    std::fs::remove_file(&store).unwrap();
    let opened = async {
        while test.get("/foldline/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, opened).await.expect("the store is opened");
    assert_eq!(outcome(&test, &another(1)).await.0, "folded");
    assert!(Gateway::open(&test.config).unwrap().trouble().is_none() && store.exists());
}

#[tokio::test]
async fn a_slow_rewrite_times_out_and_the_original_is_forwarded() {
    let test = TestGateway::tuned([Act::say("Done.")], |policy| {
        narrow(policy);
        policy.gateway.prepare_ms = 1;
    })
    .await;
    let lock = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let body = long();
    let seen = test.post(MESSAGES, &body).await;
    assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("failed-open")));
    assert_eq!(test.forwarded().text(), body);
    assert!(test.metric("foldline_fallbacks_total{kind=\"timeout\"}").await >= 1.0);
}

#[tokio::test]
async fn a_rejected_rewrite_is_replaced_by_the_original() {
    let body = long();
    let original = body.len();
    let choose = move |request: &foldline_script::Received, _| match request.body.len() < original {
        true => Act::error(400, "invalid_request_error", "messages: this shape is not liked here"),
        false => Act::say("Done."),
    };
    let test = TestGateway::choosing(choose, narrow).await;
    let seen = test.post(MESSAGES, &body).await;
    let requests = test.provider.requests();
    assert_eq!((seen.status, requests.len()), (200, 2));
    assert!(requests[0].body.len() < original && requests[1].text() == body);
    assert!(test.metric("foldline_fallbacks_total{kind=\"rejected\"}").await >= 1.0);
}

#[tokio::test]
async fn an_original_that_is_too_long_is_folded_again() {
    let body = long();
    let original = body.len();
    let choose = move |request: &foldline_script::Received, at| match (at, request.body.len() < original) {
        (0, true) => Act::error(400, "invalid_request_error", "messages: this shape is not liked here"),
        (_, true) => Act::say("Done."),
        (_, false) => Act::error(400, "invalid_request_error", "prompt is too long: 25000 tokens > 16000 maximum"),
    };
    let test = TestGateway::choosing(choose, narrow).await;
    let seen = test.post(MESSAGES, &body).await;
    let requests = test.provider.requests();
    assert_eq!((seen.status, requests.len()), (200, 3), "{}", seen.text());
    assert!(requests[1].text() == body && requests[2].body.len() < original);
    assert!(requests[2].text() != requests[0].text(), "what was rejected is not tried again");
    // The next turn goes on from what was taken.
    assert_eq!(test.post(MESSAGES, &body).await.status, 200);
    assert_eq!(test.provider.requests().len(), 4);
}

#[tokio::test]
async fn a_checkpoint_is_kept_if_the_original_is_rejected_too() {
    let body = long();
    let rejecting = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (flag, order) = (rejecting.clone(), std::sync::atomic::Ordering::Relaxed);
    let choose = move |_: &foldline_script::Received, _| match flag.load(order) {
        true => Act::error(400, "invalid_request_error", "temperature: not here"),
        false => Act::say("Done."),
    };
    let test = TestGateway::choosing(choose, narrow).await;
    assert_eq!(test.post(MESSAGES, &body).await.status, 200);
    rejecting.store(true, order);
    assert_eq!(test.post(MESSAGES, &body).await.status, 400);
    rejecting.store(false, order);
    let seen = test.post(MESSAGES, &body).await;
    assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("checkpoint")));
}

#[tokio::test]
async fn shadow_mode_changes_no_request() {
    let test = TestGateway::tuned([Act::say("Done.")], |policy| {
        narrow(policy);
        policy.gateway.shadow = true;
    })
    .await;
    let body = long();
    let seen = test.post(CHAT, &body).await;
    assert_eq!((seen.status, test.forwarded().text()), (200, body));
    assert_eq!(seen.header("x-foldline-outcome"), Some("shadow"));
}
