//! Compactions that clients ask for: Codex' trigger, answered where the upstream cannot, and summaries by option.

use crate::harness::{MESSAGES, RESPONSES, TestGateway};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use serde_json::{Value, json};

const FACT: &str = "The customer number of Miller is 48815.";

/// A conversation of Codex with work in it.
fn items() -> Vec<Value> {
    let says = |role: &str, kind: &str, words: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": words }] });
    let mut items = vec![
        says("developer", "input_text", "You are Codex."),
        says("user", "input_text", &format!("{FACT} Never push to main. Read all parts.")),
    ];
    for n in 0..24 {
        let output: String = (0..60).map(|line| format!("row {line} of part {n}: nothing to see\n")).collect();
        items.push(json!({ "type": "function_call", "call_id": format!("c{n}"), "name": "shell", "arguments": json!({ "command": format!("cat part-{n}.txt") }).to_string() }));
        items.push(json!({ "type": "function_call_output", "call_id": format!("c{n}"), "output": output }));
    }
    items.push(says("assistant", "output_text", "All parts are read."));
    items
}

fn body(input: &[Value], stream: bool) -> String {
    json!({ "model": "gpt-5.1-codex", "stream": stream, "store": false, "input": input }).to_string()
}

fn triggered() -> Vec<Value> {
    let mut input = items();
    input.push(json!({ "type": "compaction_trigger" }));
    input
}

/// The events of a stream.
fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The only compaction item of a stream that ends as it should.
fn compaction(text: &str) -> Value {
    let events = events(text);
    let done: Vec<&Value> = events.iter().filter(|event| event["type"] == "response.output_item.done").collect();
    assert_eq!(done.len(), 1, "{text}");
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    assert_eq!(done[0]["item"]["type"], "compaction");
    assert!(done[0]["item"]["encrypted_content"].as_str().unwrap().starts_with("foldline.1."));
    done[0]["item"].clone()
}

#[tokio::test]
async fn a_trigger_is_answered_with_one_item_that_any_gateway_expands() {
    let tune = |p: &mut crate::harness::Tuned| p.model.window = AutoOr::Fixed(64_000);
    let gateway = TestGateway::tuned([], tune).await;
    let headers = [("thread-id", "t-1"), ("x-codex-turn-metadata", r#"{"request_kind":"compaction"}"#)];
    let seen = gateway.post_with(RESPONSES, &headers, body(&triggered(), true).as_bytes()).await;
    assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("compaction")), "{}", seen.text());
    assert!(gateway.provider.requests().is_empty(), "the upstream is not asked");
    let item = compaction(&seen.text());
    assert!(item.to_string().len() < body(&items(), true).len() / 4);

    // Another gateway with a store of its own.
    let other = TestGateway::tuned([Act::say("48815.")], tune).await;
    let next =
        [items()[0].clone(), item.clone(), json!({ "type": "message", "role": "user", "content": "Which number?" })];
    let seen = other.post_with(RESPONSES, &[("thread-id", "t-1")], body(&next, false).as_bytes()).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    let sent = other.forwarded().text();
    assert!(!sent.contains("foldline.1.") && sent.contains(FACT) && sent.contains("Never push to main."), "{sent}");
    assert!(sent.contains("Which number?") && serde_json::from_str::<Value>(&sent).is_ok());
}

#[tokio::test]
async fn an_expanded_request_extends_the_one_before_it() {
    let gateway = TestGateway::tuned([Act::say("a"), Act::say("b")], |p| p.model.window = AutoOr::Fixed(64_000)).await;
    let item = compaction(&gateway.post(RESPONSES, &body(&triggered(), true)).await.text());
    let mut input = vec![items()[0].clone(), item, json!({ "role": "user", "content": "One." })];
    gateway.post(RESPONSES, &body(&input, false)).await;
    input.push(json!({ "role": "assistant", "content": "a" }));
    input.push(json!({ "role": "user", "content": "Two." }));
    gateway.post(RESPONSES, &body(&input, false)).await;
    let sent: Vec<String> = gateway.provider.requests().iter().map(|request| request.text()).collect();
    let end = sent[0].rfind(']').unwrap();
    assert!(sent[1].starts_with(&sent[0][..end]), "{}\n{}", sent[0], sent[1]);
}

#[tokio::test]
async fn summaries_for_clients_are_written_without_a_model_if_the_settings_say_so() {
    let mut messages = vec![json!({ "role": "user", "content": format!("{FACT} Read all parts.") })];
    for n in 0..24 {
        let output: String = (0..60).map(|line| format!("row {line} of part {n}: nothing to see\n")).collect();
        messages.push(json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": format!("c{n}"), "name": "Bash", "input": { "command": format!("cat part-{n}.txt") } }] }));
        messages.push(json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("c{n}"), "content": output }] }));
    }
    messages.push(json!({ "role": "assistant", "content": "All parts are read." }));
    messages.push(
        json!({ "role": "user", "content": "Your task is to create a detailed summary of the conversation so far." }),
    );
    let body = json!({ "model": "m", "max_tokens": 9, "messages": messages }).to_string();

    let gateway =
        TestGateway::tuned([Act::say("<summary>by the model</summary>")], |p| p.model.window = AutoOr::Fixed(64_000))
            .await;
    assert!(gateway.post(MESSAGES, &body).await.text().contains("by the model"), "not without being told");

    let gateway = TestGateway::tuned([], |p| {
        p.model.window = AutoOr::Fixed(64_000);
        p.gateway.answer_compactions = true;
    })
    .await;
    let seen = gateway.post(MESSAGES, &body).await;
    assert!(gateway.provider.requests().is_empty() && seen.status == 200, "{}", seen.text());
    let told = seen.json()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(told.contains(FACT) && told.contains("All parts are read."), "{told}");
    assert!(!told.contains("create a detailed summary"), "{told}");
}
