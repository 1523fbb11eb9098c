//! Taking back the latest fold of a session.

use crate::harness::{MESSAGES, TestGateway, TestReply, Tuned, message, request};
use foldline_core::policy::AutoOr;
use foldline_script::{Act, Provider};
use serde_json::Value;

/// A conversation of so many messages, 200 tokens each.
fn body(messages: usize) -> String {
    let words = |n: usize| format!("Step {n}: {}", "the importer reads orders and writes the rest. ".repeat(20));
    let said = |n: usize| message(MESSAGES, if n.is_multiple_of(2) { "user" } else { "assistant" }, &words(n));
    request(MESSAGES, false, (0..messages).map(said).collect::<Vec<Value>>()).to_string()
}

async fn turn(test: &TestGateway, messages: usize) -> TestReply {
    let seen = test.post_with(MESSAGES, &[("x-foldline-session", "work")], body(messages).as_bytes()).await;
    test.until("foldline_open_requests", |open| open == 0.0).await;
    seen
}

fn outcome(seen: &TestReply) -> &str {
    seen.header("x-foldline-outcome").unwrap()
}

/// The trigger is at half of the window, the safety net at 85 %.
fn tune(tuned: &mut Tuned) {
    tuned.model.window = AutoOr::Fixed(32_000);
}

/// The first conversation that is folded.
async fn folded(test: &TestGateway) -> (usize, TestReply) {
    let mut messages = 41;
    loop {
        let seen = turn(test, messages).await;
        if outcome(&seen) == "folded" {
            return (messages, seen);
        }
        messages += 2;
        assert!(messages < 200, "it is folded some time");
    }
}

#[tokio::test]
async fn a_fold_that_was_taken_back_is_gone_and_not_made_again_until_the_conversation_grows() {
    let provider = Provider::choosing(|_, _| Act::say("Done.")).await.unwrap();
    let test = TestGateway::of(provider, tune).await;
    let (messages, seen) = folded(&test).await;
    let id = seen.header("x-foldline-session").unwrap().to_owned();
    assert_eq!(outcome(&turn(&test, messages + 2).await), "checkpoint");
    let undone = test.post(&format!("/foldline/sessions/{id}/undo"), "").await;
    assert_eq!(undone.status, 202, "{}", undone.text());
    let whole = turn(&test, messages + 4).await;
    assert_eq!(outcome(&whole), "unchanged");
    let sent = test.provider.requests().pop().unwrap();
    assert_eq!(sent.body.len(), body(messages + 4).len(), "the request goes out as it came");
    let again = test.post(&format!("/foldline/sessions/{id}/undo"), "").await;
    assert_eq!(again.status, 409, "nothing is left to take back: {}", again.text());
    // A restart does not forget it.
    let test = test.restarted(tune).await;
    assert_eq!(outcome(&turn(&test, messages + 6).await), "unchanged", "also after a restart");
    let mut grown = messages + 8;
    while outcome(&turn(&test, grown).await) == "unchanged" {
        grown += 2;
        assert!(grown < 3 * messages, "growth or the safety net folds it in the end");
    }
    let added = (grown - messages) as f64 / messages as f64;
    assert!(added > 0.2, "not before it has grown: {messages} messages, then {grown}");
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_said() {
    let provider = Provider::choosing(|_, _| Act::say("Done.")).await.unwrap();
    let test = TestGateway::of(provider, tune).await;
    let unknown = test.post("/foldline/sessions/fs-0000000000000000/undo", "").await;
    assert_eq!(unknown.status, 404);
    let seen = turn(&test, 3).await;
    let id = seen.header("x-foldline-session").unwrap().to_owned();
    let nothing = test.post(&format!("/foldline/sessions/{id}/undo"), "").await;
    assert_eq!(nothing.status, 409, "{}", nothing.text());
    let huge = turn(&test, 201).await;
    assert_eq!(outcome(&huge), "folded");
    let too_large = test.post(&format!("/foldline/sessions/{id}/undo"), "").await;
    assert!(too_large.status == 409 && too_large.text().contains("window"), "{}", too_large.text());
    assert_eq!(test.get(&format!("/foldline/sessions/{id}/undo")).await.status, 405);
}
