//! Whatever is wrong with the gateway, requests reach their provider as they came.

use crate::desk::{CHAT, Desk, MESSAGES};
use foldline_core::policy::AutoOr;
use foldline_gateway::serve::{Gateway, Plan};
use foldline_script::Act;
use serde_json::json;

fn long() -> String {
    let words = |n: usize| format!("Step {n}: {}", "the importer reads orders and writes the rest. ".repeat(60));
    let messages: Vec<_> = (0..41)
        .map(|n: usize| json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string()
}

fn narrow(policy: &mut foldline_core::Policy) {
    policy.model.window = AutoOr::Fixed(20_000);
}

#[tokio::test]
async fn a_store_that_is_no_store_is_no_reason_to_refuse_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    std::fs::write(&store, "this is no database, and never was one".repeat(100)).unwrap();
    let plan = Plan { policy: foldline_core::Policy::default(), models: None, store: Some(store) };
    let gateway = Gateway::open(&plan).unwrap();
    assert!(gateway.trouble().is_some());
}

#[tokio::test]
async fn a_locked_store_lets_requests_through_within_the_limit() {
    let desk = Desk::tuned([Act::say("Done.")], narrow).await;
    // Somebody else holds the file.
    let lock = rusqlite::Connection::open(desk.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let body = long();
    let began = std::time::Instant::now();
    let seen = desk.post(MESSAGES, &body).await;
    assert_eq!(seen.status, 200);
    assert!(began.elapsed().as_secs() < 8, "{:?}", began.elapsed());
    assert_eq!(desk.forwarded().text(), body, "{:?}", seen.header("x-foldline-outcome"));
    lock.execute_batch("ROLLBACK").unwrap();
}

#[tokio::test]
async fn a_rewrite_that_takes_too_long_is_not_waited_for() {
    let desk = Desk::tuned([Act::say("Done.")], |policy| {
        narrow(policy);
        policy.gateway.prepare_ms = 1;
    })
    .await;
    let lock = rusqlite::Connection::open(desk.folder.path().join("store.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let body = long();
    let seen = desk.post(MESSAGES, &body).await;
    assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("failed-open")));
    assert_eq!(desk.forwarded().text(), body);
    assert!(desk.metric("foldline_fallbacks_total{kind=\"too_late\"}").await >= 1.0);
}

#[tokio::test]
async fn what_a_provider_rejects_of_ours_goes_out_as_it_came() {
    let body = long();
    let original = body.len();
    let choose = move |request: &foldline_script::Received, _| match request.body.len() < original {
        true => Act::error(400, "invalid_request_error", "messages: this shape is not liked here"),
        false => Act::say("Done."),
    };
    let desk = Desk::choosing(choose, narrow).await;
    let seen = desk.post(MESSAGES, &body).await;
    let requests = desk.provider.requests();
    assert_eq!((seen.status, requests.len()), (200, 2));
    assert!(requests[0].body.len() < original && requests[1].text() == body);
    assert!(desk.metric("foldline_fallbacks_total{kind=\"rejected\"}").await >= 1.0);
}

#[tokio::test]
async fn a_shadow_decides_and_changes_nothing() {
    let desk = Desk::tuned([Act::say("Done.")], |policy| {
        narrow(policy);
        policy.gateway.shadow = true;
    })
    .await;
    let body = long();
    let seen = desk.post(CHAT, &body).await;
    assert_eq!((seen.status, desk.forwarded().text()), (200, body));
    assert_eq!(seen.header("x-foldline-outcome"), Some("shadow"));
}
