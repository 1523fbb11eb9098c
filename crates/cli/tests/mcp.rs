//! `foldline mcp` as clients start it: messages on standard input, answers on standard output.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use serde_json::{Value, json};

fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|message| format!("{message}\n")).collect::<String>().into_bytes()
}

#[test]
fn what_a_hook_removed_comes_back_by_the_tool() {
    let desk = Desk::new();
    let mut log: String = (0..400).map(|part| format!("cc -c src/part_{part}.c\n")).collect();
    log.push_str("src/last.c:17:5: error: unknown type name 'size'\n");
    let reduced = desk.feed(&["reduce", "--recall", "tool", "--json"], log.as_bytes());
    let reduced: Value = serde_json::from_slice(&reduced.stdout).unwrap();
    let handle = reduced["handle"].as_str().unwrap();
    assert!(reduced["text"].as_str().unwrap().contains(&format!("foldline_recall handle={handle}")));

    let call = |id: u32, name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let told = desk.feed(
        &["mcp"],
        &lines(&[
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            call(2, "foldline_recall", json!({ "handle": handle, "lines": "400:401" })),
            call(3, "foldline_search", json!({ "query": "unknown type" })),
            call(4, "foldline_status", json!({})),
        ]),
    );
    assert_eq!(code(&told), 0, "{}", errors(&told));
    let replies: Vec<Value> = text(&told).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: u32| {
        let reply = replies.iter().find(|reply| reply["id"] == id).unwrap_or_else(|| panic!("{replies:?}"));
        reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    };
    assert!(answer(2).contains("cc -c src/part_399.c") && answer(2).contains("unknown type name"), "{}", answer(2));
    assert!(answer(3).contains(&format!("→ foldline_recall handle={handle}")), "{}", answer(3));
    assert!(answer(4).starts_with("No session"), "{}", answer(4));
}
