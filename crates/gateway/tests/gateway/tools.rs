//! The tools for agents at `/foldline/mcp`, and handoffs that name them.

use crate::harness::{MESSAGES, TestGateway};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use serde_json::{Value, json};

const TOOL: &str = "mcp__foldline__foldline_recall";

/// A session that folds, of an agent that has our tools or not.
fn body(tools: &Value, pinned: bool) -> String {
    let mut messages = vec![json!({ "role": "user", "content": "Look at all files." })];
    let mut called = |id: String, name: &str, input: Value, output: String| {
        // Signed reasoning cannot stay where outputs before it change, so that a prune alone does not do.
        let thinking =
            json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJlIHRoYXQgbm9ib2R5IHJlYWRz" });
        let used = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        messages.push(json!({ "role": "assistant", "content": [thinking, used] }));
        messages.push(
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] }),
        );
    };
    for n in 0..30 {
        if pinned && n == 10 {
            let text = "Ship on the 3rd of March, never before.";
            called("p".into(), "mcp__foldline__foldline_pin", json!({ "text": text }), "Pinned.".into());
        }
        let output: String = (0..100).map(|line| format!("line {line} of file {n} holds nothing\n")).collect();
        called(format!("c{n}"), "read", json!({ "path": format!("src/f{n}.txt") }), format!("{output}needle-{n}\n"));
    }
    json!({ "model": "m", "max_tokens": 9, "tools": tools, "messages": messages }).to_string()
}

async fn folded(tools: &Value, pinned: bool) -> (TestGateway, String) {
    let gateway = TestGateway::tuned([Act::say("Done.")], |p| p.model.window = AutoOr::Fixed(24_000)).await;
    let seen = gateway.post_with(MESSAGES, &[("x-api-key", "one")], body(tools, pinned).as_bytes()).await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
    let sent = gateway.forwarded().text();
    (gateway, sent)
}

fn our_tools() -> Value {
    json!([{ "name": "read", "input_schema": { "type": "object" } }, { "name": TOOL, "input_schema": { "type": "object" } }])
}

async fn rpc(gateway: &TestGateway, key: &str, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let headers =
        [("x-api-key", key), ("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-06-18")];
    let seen = gateway.post_with("/foldline/mcp", &headers, message.as_bytes()).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    serde_json::from_str(&seen.text()).unwrap_or_else(|_| panic!("{}", seen.text()))
}

async fn call(gateway: &TestGateway, key: &str, tool: &str, arguments: Value) -> (bool, String) {
    let reply = rpc(gateway, key, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let result = &reply["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
    (result["isError"].as_bool().unwrap_or(false), text.to_owned())
}

fn handle_in(sent: &str) -> String {
    let at = sent.find(" fl-").expect("a handle in what went out") + 1;
    sent[at..at + 15].to_owned()
}

#[tokio::test]
async fn a_handoff_names_the_tool_that_its_reader_has_and_the_address_otherwise() {
    let (_gateway, sent) = folded(&our_tools(), false).await;
    assert!(sent.contains(&format!("`{TOOL}` with handle HANDLE")), "{sent}");
    assert!(!sent.contains("curl -s") && !sent.contains("foldline recall"), "{sent}");
    let (_gateway, sent) = folded(&json!([{ "name": "read", "input_schema": { "type": "object" } }]), false).await;
    assert!(sent.contains("curl -s") && !sent.contains(TOOL), "{sent}");
}

#[tokio::test]
async fn the_tools_are_listed_and_answer_for_the_key_that_asks() {
    let (gateway, sent) = folded(&our_tools(), true).await;
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    assert_eq!(rpc(&gateway, "one", "initialize", hello).await["result"]["serverInfo"]["name"], "foldline");
    let listed = rpc(&gateway, "one", "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["foldline_recall", "foldline_search", "foldline_status", "foldline_pin"]);
    for tool in tools {
        assert_eq!(
            (&tool["annotations"]["readOnlyHint"], &tool["annotations"]["idempotentHint"]),
            (&json!(true), &json!(true))
        );
    }

    let handle = handle_in(&sent);
    let (failed, page) =
        call(&gateway, "one", "foldline_recall", json!({ "handle": handle, "grep": "needle-3$" })).await;
    assert!(!failed && page.contains("needle-3"), "{page}");
    let (failed, page) = call(&gateway, "one", "foldline_recall", json!({ "handle": handle })).await;
    assert!(!failed && page.chars().count() <= 16_000 && page.contains("next: foldline_recall handle="), "{page}");
    assert!(call(&gateway, "two", "foldline_recall", json!({ "handle": handle })).await.0, "another's key");
    assert!(call(&gateway, "one", "foldline_recall", json!({ "handle": "x" })).await.0);

    let (failed, found) = call(&gateway, "one", "foldline_search", json!({ "query": "needle-7", "limit": "3" })).await;
    assert!(!failed && found.contains("→ foldline_recall handle="), "{found}");
    assert!(
        call(&gateway, "two", "foldline_search", json!({ "query": "needle-7" })).await.1.starts_with("No original")
    );

    let (failed, status) = call(&gateway, "one", "foldline_status", json!({})).await;
    assert!(!failed && status.contains("1 folds"), "{status}");
    assert!(status.contains("(pinned) Ship on the 3rd of March, never before."), "{status}");
    assert!(call(&gateway, "two", "foldline_status", json!({})).await.1.starts_with("No session"));
    let (failed, pinned) = call(&gateway, "one", "foldline_pin", json!({ "text": "No calls before nine." })).await;
    assert!(!failed && pinned.starts_with("Pinned."), "{pinned}");
    assert!(call(&gateway, "one", "foldline_pin", json!({ "text": "x".repeat(3_000) })).await.0);
}

#[tokio::test]
async fn a_pin_by_tool_is_carried_word_for_word() {
    let (_gateway, sent) = folded(&our_tools(), true).await;
    assert!(sent.contains("(pinned) Ship on the 3rd of March, never before."), "{sent}");
}
