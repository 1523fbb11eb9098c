//! `foldline hook` as Claude Code calls it.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use serde_json::{Value, json};

const RECALL: &str = "tool:mcp__plugin_foldline_foldline__foldline_recall";

fn listing() -> String {
    (0..2000).map(|row| format!("2026-03-01 10:00:07 INFO order: retry {row} handled in 3 ms\n")).collect()
}

fn answer(desk: &Desk, event: &Value) -> (String, String) {
    let done = desk.feed(&["hook", "claude", "--recall", RECALL], event.to_string().as_bytes());
    assert_eq!(code(&done), 0);
    (text(&done), errors(&done))
}

fn after_tool(tool: &str, response: &Value) -> Value {
    json!({ "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": { "command": "make" }, "tool_response": response })
}

#[test]
fn an_output_is_replaced_in_the_form_that_its_tool_has() {
    let desk = Desk::new();
    let bash = json!({ "stdout": listing(), "stderr": "warn", "interrupted": false, "persistedOutputPath": "/tmp/x" });
    let blocks = json!([{ "type": "text", "text": listing() }]);
    for (tool, response, place) in [
        ("Bash", bash, "/stdout"),
        ("Grep", json!({ "mode": "content", "content": listing() }), "/content"),
        ("WebFetch", json!({ "code": 200, "result": listing() }), "/result"),
        ("mcp__x__list", blocks, "/0/text"),
        ("mcp__x__text", json!(listing()), ""),
    ] {
        let (said, errors) = answer(&desk, &after_tool(tool, &response));
        assert_eq!(errors, "", "{tool}");
        let said: Value = serde_json::from_str(&said).unwrap();
        let updated = &said["hookSpecificOutput"]["updatedToolOutput"];
        let short = updated.pointer(place).and_then(Value::as_str).unwrap();
        assert!(short.len() < 2_000 && short.contains("foldline_recall handle=fl-"), "{tool}: {short}");
        assert_eq!(updated.get("stderr"), response.get("stderr"), "{tool}");
        assert_eq!(updated.get("persistedOutputPath"), None, "{tool}");
    }
}

#[test]
fn small_outputs_recalled_ones_and_other_events_are_left_alone() {
    let desk = Desk::new();
    let small = after_tool("Bash", &json!({ "stdout": "ok\n" }));
    let recalled =
        after_tool("mcp__plugin_foldline_foldline__foldline_recall", &json!([{ "type": "text", "text": listing() }]));
    let several = after_tool("mcp__x__list", &json!([{ "type": "text", "text": "a" }, { "type": "image" }]));
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    for event in [small, recalled, several, start, json!({ "hook_event_name": "Stop" })] {
        assert_eq!(answer(&desk, &event), (String::new(), String::new()), "{event}");
    }
}

#[test]
fn after_a_compaction_the_handoff_of_the_session_is_told() {
    let desk = Desk::new();
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/claude-code-session.jsonl");
    let event = json!({ "hook_event_name": "SessionStart", "source": "compact", "transcript_path": session });
    let (said, errors) = answer(&desk, &event);
    assert_eq!(errors, "");
    assert!(said.starts_with("[FOLDLINE HANDOFF") && said.contains("foldline_recall"), "{said}");
    // Where the plugin has compacted itself, there is nothing to add.
    let newer = std::fs::read_to_string(session).unwrap() + "{\"type\":\"system\",\"version\":\"2.1.326\"}\n";
    desk.write("newer.jsonl", &newer);
    let event =
        json!({ "hook_event_name": "SessionStart", "source": "compact", "transcript_path": desk.path("newer.jsonl") });
    assert_eq!(answer(&desk, &event), (String::new(), String::new()));
}

#[test]
fn what_cannot_be_read_changes_nothing() {
    let desk = Desk::new();
    let missing =
        json!({ "hook_event_name": "SessionStart", "source": "compact", "transcript_path": "/nowhere.jsonl" });
    let (said, errors) = answer(&desk, &missing);
    assert!(said.is_empty() && errors.starts_with("foldline hook: nothing is changed: "), "{errors}");
    let done = desk.feed(&["hook", "claude"], b"no json");
    assert_eq!((code(&done), text(&done).as_str()), (0, ""));
}
