//! Cleaning and converting small conversations.

use super::*;
use foldline_core::handoff::{CLOSING, OPENING};
use foldline_transcript::repair::MISSING_RESULT;
use foldline_transcript::wire;
use serde_json::{Value, json};

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read_file", "input": {"path": "a.rs"}})
}

fn result(id: &str, words: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": words})
}

/// A handoff, a reduced result beside a real one, and words of both sides.
fn compacted() -> String {
    let handoff = format!("{OPENING} — reference only]\n\n## Goal\n- Ship it\n\n{CLOSING}]");
    json!({"system": "Be brief.", "messages": [
        {"role": "user", "content": handoff},
        {"role": "assistant", "content": [call("t1"), call("t2")]},
        {"role": "user", "content": [result("t1", "[was read_file `a.rs` · 90 lines]\nfn a()"), result("t2", "fn main() {}")]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Done."}]},
        {"role": "user", "content": "Thanks"},
    ]})
    .to_string()
}

fn cleaned(text: &str, what: Synthetic) -> (String, usize) {
    let transcript = wire::read(text, None).unwrap();
    let cleaned = clean(&transcript, what).unwrap();
    (cleaned.text.into_owned(), cleaned.synthetic)
}

fn converted(text: &str, target: Target, labels: Labels) -> Value {
    serde_json::from_str(&convert(&wire::read(text, None).unwrap(), target, labels)).unwrap()
}

#[test]
fn dropping_leaves_no_mark_and_a_sound_conversation() {
    let (text, found) = cleaned(&compacted(), Synthetic::Drop);
    assert_eq!(found, 2);
    assert!(!text.contains(OPENING) && !text.contains("[was "), "{text}");
    assert!(!text.contains("t1") && text.contains("t2"), "the call goes with its stub: {text}");
    let after = wire::read(&text, None).unwrap();
    assert!(foldline_transcript::validate::validate(&after).is_empty(), "{text}");
    assert_eq!(cleaned(&text, Synthetic::Drop), (text.clone(), 0), "nothing synthetic is left");
}

#[test]
fn a_stub_that_repair_put_in_goes_with_its_call() {
    let text = json!({"messages": [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [call("t1")]},
        {"role": "user", "content": [result("t1", MISSING_RESULT)]},
        {"role": "assistant", "content": "Done."},
    ]});
    let (text, found) = cleaned(&text.to_string(), Synthetic::Drop);
    assert_eq!(found, 1);
    assert!(!text.contains("tool_use") && text.contains("Done."), "{text}");
}

#[test]
fn labels_stand_on_the_messages_they_mean_and_nothing_else_changes() {
    let (text, found) = cleaned(&compacted(), Synthetic::Label);
    assert_eq!(found, 2);
    assert_eq!(text.matches("\"synthetic\":true,").count(), 2);
    assert_eq!(text.replace("\"synthetic\":true,", ""), compacted());
    assert_eq!(cleaned(&text, Synthetic::Label).0, text, "once is enough");
}

#[test]
fn a_handoff_that_was_merged_leaves_the_words_beside_it() {
    let merged = format!("{OPENING}]\n\n## Goal\n- Ship\n\n{CLOSING}]\n\nAnd now the tests.");
    let text = json!({"messages": [{"role": "user", "content": merged}, {"role": "assistant", "content": "Yes."}]});
    let (text, _) = cleaned(&text.to_string(), Synthetic::Drop);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["messages"][0]["content"], "And now the tests.");
}

#[test]
fn marks_of_other_compactors_are_known() {
    let text = json!({"conversations": [
        {"from": "human", "value": "[CONTEXT SUMMARY]: they talked"},
        {"from": "gpt", "value": "<tool_call>\n{\"name\": \"ls\", \"arguments\": {}}\n</tool_call>"},
        {"from": "tool", "value": "<tool_response>\n{\"name\": \"ls\", \"content\": \"[Duplicate tool output — same]\"}\n</tool_response>"},
        {"from": "human", "value": "Go on"},
        {"from": "gpt", "value": "Fine."},
    ]});
    let (text, found) = cleaned(&text.to_string(), Synthetic::Drop);
    assert_eq!(found, 2);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["conversations"].as_array().unwrap().len(), 2, "{text}");
}

#[test]
fn a_session_becomes_sharegpt_turns() {
    let value = converted(&compacted(), Target::ShareGpt, Labels::Write);
    let turns = value["conversations"].as_array().unwrap();
    let from: Vec<&str> = turns.iter().map(|turn| turn["from"].as_str().unwrap()).collect();
    assert_eq!(from, ["system", "human", "gpt", "tool", "tool", "gpt", "human"]);
    assert_eq!(turns[1]["synthetic"], true);
    assert_eq!(turns[3]["synthetic"], true);
    assert_eq!(turns[4].get("synthetic"), None);
    assert_eq!(turns[5]["value"], "<think>\nHm.\n</think>\nDone.");
    assert!(
        turns[2]["value"].as_str().unwrap().starts_with("<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\"")
    );
}

#[test]
fn sharegpt_and_chat_carry_the_same_conversation_back_and_forth() {
    let chat = json!({"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{\"path\":\"/srv\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "cat", "arguments": "{\"path\":\"b\"}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a \"b\"\nc"},
        {"role": "tool", "tool_call_id": "call_2", "content": "text"},
        {"role": "assistant", "content": "There."},
    ]});
    let share = converted(&chat.to_string(), Target::ShareGpt, Labels::Omit);
    assert_eq!(converted(&share.to_string(), Target::OpenAiChat, Labels::Omit), chat);
}

#[test]
fn speakers_take_turns_whatever_their_messages_consist_of() {
    let merged = format!("{OPENING}]\n\n## Goal\n- Ship\n\n{CLOSING}]");
    let text = json!({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]},
        {"role": "assistant", "content": [{"type": "text", "text": merged}, {"type": "text", "text": "Yes."}, call("t1")]},
        {"role": "user", "content": [result("t1", "fn a()")]},
    ]});
    let value = converted(&text.to_string(), Target::OpenAiChat, Labels::Write);
    let roles: Vec<&str> =
        value["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(value["messages"][0]["content"], "One\nTwo");
    assert_eq!(value["messages"][1]["synthetic"], true);
}
