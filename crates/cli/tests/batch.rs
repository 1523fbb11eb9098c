//! `eval` and `export`: folders of transcripts in, tables, pages and training data out.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, errors, text};
use serde_json::{Value, json};

/// A session whose later turns use names of its earlier ones.
fn session() -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find out why the depot is slow."})];
    for turn in 0..60 {
        let id = format!("t{turn}");
        let rows: Vec<String> =
            (0..40).map(|row| format!("2026-03-04 10:00:{row:02} INFO worker_{turn}_{row} took {row} ms")).collect();
        let words = if turn < 40 { "Looking on.".into() } else { format!("worker_{}_7 was slow before.", turn - 35) };
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": words},
            {"type": "tool_use", "id": id, "name": "bash", "input": {"command": format!("tail depot_{turn}.log")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": rows.join("\n")}]}));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    json!({"model": "claude-sonnet-4-5", "messages": messages})
}

#[test]
fn eval_measures_a_folder_and_writes_json_and_a_page() {
    let desk = Desk::new();
    desk.write("sessions/one.json", &session().to_string());
    desk.write("sessions/short.json", r#"{"messages":[{"role":"user","content":"Hi"}]}"#);
    desk.write("sessions/broken.json", "{\"messages\": 7");
    let done = desk.run(&["eval", "sessions", "--budgets", "10,40", "--json", "--html", "page.html"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let report: Value = serde_json::from_str(&text(&done)).unwrap();
    assert_eq!(report["sessions"], 1);
    assert_eq!(report["skipped"]["too_short"], json!(["short"]));
    assert_eq!(report["skipped"]["unreadable"].as_array().unwrap().len(), 1);
    assert_eq!(report["curve"].as_array().unwrap().len(), 6, "three methods, two budgets");
    assert!(report["facts"]["identifiers"]["of"].as_u64().unwrap() > 5, "{report:#}");
    assert_eq!(report["handles"]["wrong"], json!([]));
    let log = report["outputs"].as_array().unwrap().iter().find(|row| row["kind"] == "log").unwrap();
    assert!(log["outputs"].as_u64().unwrap() >= 30, "{log}");
    let page = desk.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("plain tail"));
    assert!(!page.contains("http://") && !page.contains("https://"), "the page stands alone");
    assert!(errors(&done).is_empty(), "no progress where nobody sees it: {}", errors(&done));
}

#[test]
fn eval_prints_tables() {
    let desk = Desk::new();
    desk.write("one.json", &session().to_string());
    let done = desk.run(&["eval", "one.json", "--budgets", "10", "--lost"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    for word in ["Facts kept, by budget", "plain tail", "one-line stubs", "Worst sessions", "test-report", "one lost"] {
        assert!(text(&done).contains(word), "{word}: {}", text(&done));
    }
}

#[test]
fn eval_says_what_is_missing() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("empty")).unwrap();
    let done = desk.run(&["eval", "empty"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(errors(&done).contains("no transcripts in empty"), "{}", errors(&done));
    desk.write("short.json", r#"{"messages":[{"role":"user","content":"Hi"}]}"#);
    let done = desk.run(&["eval", "short.json"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(errors(&done).contains("1 too short"), "{}", errors(&done));
}

#[test]
fn export_writes_one_line_per_conversation_and_tells_failures_apart() {
    let desk = Desk::new();
    let share = r#"{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}"#;
    desk.write("in/a.json", &session().to_string());
    desk.write("in/b.jsonl", &format!("{share}\n{share}\n"));
    desk.write("in/c.json", "nonsense");
    let done = desk.run(&["export", "in", "-o", "train.jsonl", "--json"]);
    assert_eq!(done.status.code(), Some(1), "{}", errors(&done));
    let lines: Vec<Value> = desk.read("train.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["conversations"].is_array()));
    assert_eq!(lines[1]["conversations"][1]["value"], "Hello");
    let summary: Value = serde_json::from_str(&errors(&done)).unwrap();
    assert_eq!((&summary["conversations"], &summary["failed"]), (&json!(3), &json!(1)));
}

#[test]
fn export_drops_or_labels_what_a_compaction_left() {
    let desk = Desk::new();
    desk.write("a.json", &session().to_string());
    let done = desk.run(&["compress", "a.json", "--target-tokens", "9000", "-o", "small.json"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    assert!(desk.read("small.json").contains("[FOLDLINE HANDOFF"));
    let dropped = desk.run(&["export", "small.json", "--to", "same"]);
    assert_eq!(dropped.status.code(), Some(0), "{}", errors(&dropped));
    assert!(!text(&dropped).contains("[FOLDLINE HANDOFF"), "{}", text(&dropped));
    let labelled = desk.run(&["export", "small.json", "--to", "openai-chat", "--synthetic", "label"]);
    let chat: Value = serde_json::from_str(&text(&labelled)).unwrap();
    let labels = chat["messages"].as_array().unwrap().iter().filter(|message| message["synthetic"] == true);
    assert!(labels.count() >= 1);
    let valid = desk.path("chat.json");
    std::fs::write(&valid, text(&labelled)).unwrap();
    let valid = desk.run(&["validate", "chat.json"]);
    assert_eq!(valid.status.code(), Some(0), "{}", text(&valid));
}

#[test]
fn export_makes_conversations_fit_and_writes_a_folder() {
    let desk = Desk::new();
    desk.write("in/a.json", &session().to_string());
    desk.write("in/deep/a.json", &session().to_string());
    let done = desk.run(&["export", "in", "--target-tokens", "9000", "-o", "out", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let summary: Value = serde_json::from_str(&errors(&done)).unwrap();
    for figures in summary["files"].as_array().unwrap() {
        assert_eq!(figures["compacted"], true);
        assert!(figures["tokens_after"].as_u64().unwrap() <= 9000, "{figures}");
    }
    for name in ["out/a.json", "out/a-2.json"] {
        let value: Value = serde_json::from_str(&desk.read(name)).unwrap();
        let turns = value["conversations"].as_array().unwrap();
        assert!(turns.iter().any(|turn| turn["synthetic"] == true), "the handoff is labelled");
        assert!(!desk.read(name).contains("fl-"), "no handles without a store");
    }
}
