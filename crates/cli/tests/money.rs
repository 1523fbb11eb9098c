//! `replay` and `compress --cache-marks`: what sessions cost, and where marks go.
#![allow(clippy::unwrap_used)]

mod common;

use common::Desk;
use serde_json::{Value, json};
use std::process::Output;

fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A session with a record: a request every half minute, one long pause.
fn session(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find out why the depot is slow."})];
    let mut requests = Vec::new();
    for turn in 0..turns {
        let id = format!("t{turn}");
        let rows: Vec<String> =
            (0..60).map(|row| format!("10:00:{row:02} INFO worker_{turn}_{row} took {row} ms")).collect();
        let minute = turn / 2 + if turn > turns / 2 { 20 } else { 0 };
        let time = format!("2026-03-04T{:02}:{:02}:{:02}.000Z", 10 + minute / 60, minute % 60, turn % 2 * 30);
        requests.push(json!({"reply": messages.len(), "ts": time}));
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("worker_{}_7 next.", turn / 2)},
            {"type": "tool_use", "id": id, "name": "bash", "input": {"command": format!("tail depot_{turn}.log")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": rows.join("\n")}]}));
    }
    json!({"model": "claude-sonnet-4-6", "messages": messages, "requests": requests})
}

#[test]
fn a_replay_compares_policies_in_money() {
    let desk = Desk::new();
    desk.write("one.json", &session(80).to_string());
    desk.write("two.json", &session(60).to_string());
    let replay =
        json_of(&desk.run(&["replay", "one.json", "two.json", "--window", "60000", "--json", "--html", "page.html"]));
    let policies = ["none", "hermes", "sacred-zone", "skill", "runway", "frugal", "steady"];
    assert_eq!(replay["policies"], json!(policies));
    for (policy, totals) in policies.iter().zip(replay["totals"].as_array().unwrap()) {
        assert_eq!(totals["requests"], 140);
        assert_eq!((&totals["violations"], &totals["unstable"]), (&json!(0), &json!(0)), "{policy}");
        assert_eq!(totals["compactions"].as_u64().unwrap() > 0, *policy != "none", "{policy}");
        let parts = ["input", "cache_read", "cache_write", "output", "summaries"];
        let sum: f64 = parts.iter().map(|part| totals["bill"][part].as_f64().unwrap()).sum();
        assert!((sum - totals["dollars"].as_f64().unwrap()).abs() < 1e-9);
    }
    let dollars = |index: usize| replay["totals"][index]["dollars"].as_f64().unwrap();
    assert!(dollars(5) < dollars(0), "frugal {} none {}", dollars(5), dollars(0));
    assert_eq!(replay["prices"]["claude-sonnet-4-6"]["prices"]["input"], 3.0);
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.contains("<polyline") && page.contains("frugal") && page.contains("prefers-color-scheme"));
    assert!(!page.contains("<script") && !page.contains("http"), "the page stands by itself");
    assert!(!page.contains("worker_"), "no content of sessions in it");
}

#[test]
fn policies_are_chosen_and_sessions_chained() {
    let desk = Desk::new();
    desk.write("one.json", &session(40).to_string());
    desk.write("two.json", &session(40).to_string());
    let args = ["replay", ".", "--presets", "runway,none", "--window", "50000", "--chain", "80000", "--json"];
    let replay = json_of(&desk.run(&args));
    assert_eq!(replay["policies"], json!(["none", "runway"]));
    assert_eq!(replay["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(replay["sessions"][0]["name"], "one+two");
    let table = desk.run(&["replay", ".", "--preset", "frugal", "--window", "50000"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("frugal") && table.contains('▾') && !table.contains("hermes"), "{table}");
}

#[test]
fn a_model_without_prices_is_said_and_not_guessed() {
    let desk = Desk::new();
    let mut unknown = session(10);
    unknown["model"] = json!("house-llm-7");
    desk.write("one.json", &unknown.to_string());
    let output = desk.run(&["replay", "one.json"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("house-llm-7") && said.contains("model.table"), "{said}");
    desk.write(
        "prices.json",
        &json!([{"match": ["house-llm"], "window": 100_000, "price": {"input": 1, "output": 2}}]).to_string(),
    );
    let known = desk.run(&["replay", "one.json", "--set", "model.table=prices.json", "--json", "--presets", "none"]);
    assert!(json_of(&known)["totals"][0]["dollars"].as_f64().unwrap() > 0.0);
}

#[test]
fn cache_marks_are_put_where_they_are_asked_for() {
    let desk = Desk::new();
    let mut request = session(3);
    request["system"] = json!("Be brief.");
    request["tools"] = json!([{"name": "bash", "input_schema": {}}]);
    desk.write("request.json", &request.to_string());
    let marked = |layout: &str| {
        let args =
            ["compress", "request.json", "--store", "none", "--cache-marks", layout, "--set", "model.cache_ttl=1h"];
        let output = desk.run(&args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(marked("off"), request.to_string());
    for layout in ["system-and-3", "auto"] {
        assert_eq!(marked(layout).matches(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#).count(), 4, "{layout}");
    }
    assert!(!marked("system-and-3").contains(r#""input_schema":{},"cache_control""#));
    assert!(marked("auto").contains(r#""input_schema":{},"cache_control""#));
}
