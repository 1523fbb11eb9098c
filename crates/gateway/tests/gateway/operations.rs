//! The gateway's own pages, its settings, and the command for chat users.

use crate::desk::{CHAT, Desk, MESSAGES, PATHS, Tuned, message, request, short, streaming};
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
    let desk = Desk::tuned([Act::say("Done.")], |p| p.model.window = AutoOr::Fixed(200_000)).await;
    let body = long(MESSAGES, "Go on.", false);
    let first = desk.post_with(MESSAGES, &[("x-foldline-session", "my work")], body.as_bytes()).await;
    assert_eq!(first.header("x-foldline-outcome"), Some("unchanged"));
    let id = first.header("x-foldline-session").unwrap().to_owned();
    let list = desk.get("/foldline/sessions").await.json();
    assert_eq!(list["sessions"][0]["id"], id.as_str(), "{list}");
    let session = desk.get(&format!("/foldline/sessions/{id}")).await.json();
    assert_eq!(session["sums"]["requests"], 1, "{session}");
    assert!(session["last_at"].as_str().is_some_and(|at| at.ends_with('Z')), "times as people read them: {session}");
    assert!(session["context_tokens"].as_u64() > Some(1_000) && session["sums"]["saved_dollars"].is_f64(), "{session}");
    assert!(session["turns"][0]["prompt_tokens"].is_u64() && session["turns"][0]["at"].is_string(), "{session}");
    let asked = desk.post(&format!("/foldline/sessions/{id}/compact"), r#"{"focus":"orders"}"#).await;
    assert_eq!(asked.status, 202, "{}", asked.text());
    let second = desk.post_with(MESSAGES, &[("x-foldline-session", "my work")], body.as_bytes()).await;
    assert_eq!(second.header("x-foldline-outcome"), Some("folded"));
    let sizes: Vec<usize> = desk.provider.requests().iter().map(|request| request.body.len()).collect();
    assert!(sizes[1] < sizes[0] / 2, "{sizes:?}");
    assert_eq!(desk.get("/foldline/sessions/fs-0000000000000000").await.status, 404);
    assert_eq!(desk.get("/foldline/sessions/nonsense").await.status, 400);
    assert!(desk.metric("foldline_folds_total").await >= 1.0);
}

#[tokio::test]
async fn a_chat_user_folds_with_a_message() {
    let tune = |p: &mut Tuned| {
        p.gateway.slash_compress = true;
        p.model.window = AutoOr::Fixed(200_000);
    };
    for path in PATHS {
        for stream in [false, true] {
            let desk = Desk::tuned([Act::say("Done.")], tune).await;
            let seen = desk.post(streaming(path, stream), &long(path, "/compress orders", stream)).await;
            assert!(desk.provider.requests().is_empty(), "the provider is not asked");
            assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("command")), "{path}");
            assert!(seen.text().contains("Compacted the conversation"), "{path}: {}", seen.text());
            // The next turn, with the command and its answer in the history, goes out folded.
            let mut next: Value = serde_json::from_str(&long(path, "/compress orders", false)).unwrap();
            let lists = ["messages", "input", "contents"];
            let list = lists.into_iter().find(|list| next.get(list).is_some()).unwrap();
            let list = next[list].as_array_mut().unwrap();
            list.push(message(path, "assistant", "Compacted the conversation."));
            list.push(message(path, "user", "And now?"));
            let seen = desk.post(path, &next.to_string()).await;
            assert_eq!(seen.header("x-foldline-outcome"), Some("checkpoint"), "{path}");
        }
    }
}

#[tokio::test]
async fn the_command_is_a_message_like_any_other_unless_switched_on() {
    let desk = Desk::with([Act::say("Done.")]).await;
    assert_eq!(desk.post(CHAT, &long(CHAT, "/compress", false)).await.status, 200);
    assert!(desk.forwarded().text().contains("/compress"));
}

#[tokio::test]
async fn settings_change_while_requests_are_served() {
    let desk = Desk::with([Act::say("Done.")]).await;
    let mut plan = desk.plan.clone();
    plan.gateway.max_body_bytes = 1_000;
    desk.gateway.reload(&plan).unwrap();
    assert_eq!(desk.post(CHAT, &long(CHAT, "Hi", false)).await.status, 413);
    plan.gateway.upstream_openai = Some("not an address".to_owned());
    plan.gateway.max_body_bytes = 10_000_000;
    assert!(desk.gateway.reload(&plan).is_err());
    assert_eq!(desk.post(CHAT, &long(CHAT, "Hi", false)).await.status, 413, "the old settings stay");
}

#[tokio::test]
async fn pages_say_what_they_do_not_have() {
    let desk = Desk::with([Act::say("Done.")]).await;
    assert_eq!(desk.get("/foldline/readyz").await.text(), "ready\n");
    assert_eq!(desk.get("/foldline/nothing").await.status, 404);
    assert_eq!(desk.post("/foldline/sessions", "").await.status, 405);
    assert_eq!(desk.get("/foldline/recall/nonsense").await.status, 400);
    assert!(desk.provider.requests().is_empty());
}

#[tokio::test]
async fn nothing_that_clients_say_shows_in_metrics_or_sessions() {
    let canary = ["can", "ary-7f3"].concat();
    let desk = Desk::with([Act::say(canary.clone())]).await;
    let body = short(CHAT, false).replace("Hi", &canary);
    desk.post_with(CHAT, &[("authorization", &format!("Bearer {canary}")), ("x-odd", &canary)], body.as_bytes()).await;
    for page in ["/foldline/metrics", "/foldline/sessions"] {
        assert!(!desk.get(page).await.text().contains(&canary), "{page}");
    }
}
