//! The gateway's own pages, its settings, and the command for chat users.

use crate::harness::{CHAT, MESSAGES, PATHS, TestGateway, Tuned, message, request, short, streaming};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use serde_json::Value;

fn long(path: &str, last: &str, stream: bool) -> String {
    let words = |n: usize| format!("Step {n}: {}", "the importer reads orders and writes the rest. ".repeat(60));
    let mut messages: Vec<Value> = (0..40)
        .map(|n: usize| message(path, if n.is_multiple_of(2) { "user" } else { "assistant" }, &words(n)))
        .collect();
    messages.push(message(path, "user", last));
    request(path, stream, messages).to_string()
}

#[tokio::test]
async fn sessions_are_listed_shown_and_folded_by_hand() {
    let test = TestGateway::tuned([Act::say("Done.")], |p| p.model.window = AutoOr::Fixed(200_000)).await;
    let body = long(MESSAGES, "Go on.", false);
    let first = test.post_with(MESSAGES, &[("x-foldline-session", "my work")], body.as_bytes()).await;
    assert_eq!(first.header("x-foldline-outcome"), Some("unchanged"));
    let id = first.header("x-foldline-session").unwrap().to_owned();
    let list = test.get("/foldline/sessions").await.json();
    assert_eq!(list["sessions"][0]["id"], id.as_str(), "{list}");
    let session = test.get(&format!("/foldline/sessions/{id}")).await.json();
    assert_eq!(session["sums"]["requests"], 1, "{session}");
    let asked = test.post(&format!("/foldline/sessions/{id}/compact"), r#"{"focus":"orders"}"#).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    let second = test.post_with(MESSAGES, &[("x-foldline-session", "my work")], body.as_bytes()).await;
    assert_eq!(second.header("x-foldline-outcome"), Some("folded"));
    let sizes: Vec<usize> = test.provider.requests().iter().map(|request| request.body.len()).collect();
    assert!(sizes[1] < sizes[0] / 2, "{sizes:?}");
    assert_eq!(test.get("/foldline/sessions/fs-0000000000000000").await.status, 404);
    assert_eq!(test.get("/foldline/sessions/nonsense").await.status, 400);
    assert!(test.metric("foldline_folds_total").await >= 1.0);
}

#[tokio::test]
async fn slash_compress_folds_the_conversation() {
    let tune = |p: &mut Tuned| {
        p.gateway.slash_compress = true;
        p.model.window = AutoOr::Fixed(200_000);
    };
    for path in PATHS {
        for stream in [false, true] {
            let test = TestGateway::tuned([Act::say("Done.")], tune).await;
            let seen = test.post(streaming(path, stream), &long(path, "/compress orders", stream)).await;
            assert!(test.provider.requests().is_empty(), "the provider is not asked");
            assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("command")), "{path}");
            assert!(seen.text().contains("Compacted the conversation"), "{path}: {}", seen.text());
            // The next turn, with the command and its answer in the history, goes out folded.
            let mut next: Value = serde_json::from_str(&long(path, "/compress orders", false)).unwrap();
            let lists = ["messages", "input", "contents"];
            let list = lists.into_iter().find(|list| next.get(list).is_some()).unwrap();
            let list = next[list].as_array_mut().unwrap();
            list.push(message(path, "assistant", "Compacted the conversation."));
            list.push(message(path, "user", "And now?"));
            let seen = test.post(path, &next.to_string()).await;
            assert_eq!(seen.header("x-foldline-outcome"), Some("checkpoint"), "{path}");
        }
    }
}

#[tokio::test]
async fn slash_commands_are_off_by_default() {
    let test = TestGateway::with([Act::say("Done.")]).await;
    assert_eq!(test.post(CHAT, &long(CHAT, "/compress", false)).await.status, 200);
    assert!(test.forwarded().text().contains("/compress"));
}

#[tokio::test]
async fn settings_reload_while_serving() {
    let test = TestGateway::with([Act::say("Done.")]).await;
    let mut plan = test.config.clone();
    plan.gateway.max_body_bytes = 1_000;
    test.gateway.reload(&plan).unwrap();
    assert_eq!(test.post(CHAT, &long(CHAT, "Hi", false)).await.status, 413);
    plan.gateway.upstream_openai = Some("not an address".to_owned());
    plan.gateway.max_body_bytes = 10_000_000;
    assert!(test.gateway.reload(&plan).is_err());
    assert_eq!(test.post(CHAT, &long(CHAT, "Hi", false)).await.status, 413, "the old settings stay");
}

#[tokio::test]
async fn own_endpoints_report_unknown_paths_and_methods() {
    let test = TestGateway::with([Act::say("Done.")]).await;
    assert_eq!(test.get("/foldline/readyz").await.text(), "ready\n");
    assert_eq!(test.get("/foldline/nothing").await.status, 404);
    assert_eq!(test.post("/foldline/sessions", "").await.status, 405);
    assert_eq!(test.get("/foldline/recall/nonsense").await.status, 400);
    assert!(test.provider.requests().is_empty());
}

#[tokio::test]
async fn metrics_and_sessions_contain_no_client_content() {
    let canary = ["can", "ary-7f3"].concat();
    let test = TestGateway::with([Act::say(canary.clone())]).await;
    let body = short(CHAT, false).replace("Hi", &canary);
    test.post_with(CHAT, &[("authorization", &format!("Bearer {canary}")), ("x-odd", &canary)], body.as_bytes()).await;
    for page in ["/foldline/metrics", "/foldline/sessions"] {
        assert!(!test.get(page).await.text().contains(&canary), "{page}");
    }
}
