//! A validator that shares no code with the engine: it uses another JSON parser and its own statement of the
//! providers' rules.

use foldline_core::Format;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a request breaks: the name of a rule.
pub type Fault = &'static str;

/// The rule that a request has at least one message.
pub const NO_MESSAGE: Fault = "list";

/// All rules, for those who want to know whether each was ever broken.
pub const RULES: [Fault; 23] = [
    NO_MESSAGE,
    "role",
    "first",
    "neighbours",
    "user",
    "content",
    "blank",
    "empty",
    "block",
    "marks",
    "call place",
    "call id",
    "call twice",
    "arguments",
    "no calls",
    "unanswered",
    "partly answered",
    "orphan",
    "answered twice",
    "results first",
    "thought last",
    "reasoning alone",
    "reasoning lost",
];

/// Everything that is wrong with a request, each rule once. `before` is the request that it was made from: it knows
/// which ids were given out together with reasoning.
pub fn judge(format: Format, before: &str, body: &str) -> Vec<Fault> {
    let parsed = serde_json::from_str::<Value>(body).unwrap_or_default();
    let Some(elements) = list(&parsed) else {
        return vec![NO_MESSAGE];
    };
    let mut faults = Faults::default();
    match format {
        Format::Anthropic => messages(&mut faults, elements, &parsed),
        Format::OpenAiChat => chat(&mut faults, elements),
        _ => {
            items(&mut faults, elements);
            let source = serde_json::from_str::<Value>(before).unwrap_or_default();
            lost_reasoning(&mut faults, list(&source).unwrap_or_default(), elements);
        }
    }
    faults.found
}

#[derive(Default)]
struct Faults {
    found: Vec<Fault>,
}

impl Faults {
    fn note(&mut self, rule: Fault, broken: bool) {
        if broken && !self.found.contains(&rule) {
            self.found.push(rule);
        }
    }
}

fn list(body: &Value) -> Option<&[Value]> {
    let list = body.get("messages").or(body.get("input"))?.as_array()?;
    (!list.is_empty()).then_some(list.as_slice())
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn blocks(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Roles in which neighbours must differ.
fn alternation(faults: &mut Faults, roles: &[&str]) {
    faults
        .note("neighbours", roles.windows(2).any(|pair| pair[0] == pair[1] && matches!(pair[0], "user" | "assistant")));
    faults.note("user", !roles.contains(&"user"));
}

fn messages(faults: &mut Faults, all: &[Value], body: &Value) {
    let speakers: Vec<&Value> = all.iter().filter(|message| word(message, "role") != "system").collect();
    let roles: Vec<&str> = speakers.iter().map(|message| word(message, "role")).collect();
    faults.note("role", roles.iter().any(|role| !matches!(*role, "user" | "assistant")));
    faults.note("first", roles.first().is_some_and(|role| *role == "assistant"));
    alternation(faults, &roles);
    faults.note("marks", marks(body) > 4);
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in speakers.iter().enumerate() {
        let (role, is_last) = (word(message, "role"), at + 1 == speakers.len());
        let parts = blocks(message);
        match message.get("content") {
            Some(Value::String(text)) => faults.note("empty", text.trim().is_empty()),
            Some(Value::Array(parts)) => faults.note("empty", parts.is_empty() && !(is_last && role == "assistant")),
            _ => faults.note("content", true),
        }
        let kind = |kind: &'static str| move |block: &&Value| word(block, "type") == kind;
        faults.note("block", parts.iter().any(|block| word(block, "type").is_empty()));
        faults.note("blank", parts.iter().filter(kind("text")).any(|block| word(block, "text").trim().is_empty()));
        let calls: Vec<&Value> = parts.iter().filter(kind("tool_use")).collect();
        let results: Vec<&Value> = parts.iter().filter(kind("tool_result")).collect();
        faults.note("call place", role == "user" && !calls.is_empty() || role == "assistant" && !results.is_empty());
        let thought = |block: &&Value| matches!(word(block, "type"), "thinking" | "redacted_thinking");
        faults.note("thought last", role == "assistant" && parts.last().is_some_and(|last| thought(&last)));
        if role == "user" {
            let answered: Vec<&str> = results.iter().map(|result| word(result, "tool_use_id")).collect();
            let count = |id: &str| answered.iter().filter(|answered| **answered == id).count();
            faults.note("orphan", answered.iter().any(|id| !open.contains(id)));
            faults.note("answered twice", open.iter().any(|id| count(id) > 1));
            faults.note("unanswered", answered.is_empty() && !open.is_empty());
            faults.note("partly answered", !answered.is_empty() && open.iter().any(|id| count(id) == 0));
            let leading = parts.iter().take_while(|block| word(block, "type") == "tool_result").count();
            faults.note("results first", leading < results.len());
            for result in &results {
                let inner = blocks(result).iter().filter(|block| word(block, "type") == "text");
                faults.note("blank", inner.into_iter().any(|block| word(block, "text").trim().is_empty()));
                let shape = result.get("content").is_none_or(|content| content.is_string() || content.is_array());
                faults.note("content", !shape);
            }
            open.clear();
        }
        if role == "assistant" {
            open = calls.iter().map(|call| word(call, "id")).collect();
            // What is still in flight is nobody's business yet.
            if !is_last {
                faults.note("call id", open.iter().any(|id| id.is_empty()));
                faults.note("call twice", has_twice(&open));
                faults.note("arguments", calls.iter().any(|call| !call.get("input").is_some_and(Value::is_object)));
            }
        }
    }
}

fn has_twice(ids: &[&str]) -> bool {
    ids.iter().enumerate().any(|(at, id)| ids.iter().skip(at + 1).any(|other| other == id))
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| usize::from(key == "cache_control") + marks(value)).sum()
        }
        Value::Array(values) => values.iter().map(marks).sum(),
        _ => 0,
    }
}

fn chat(faults: &mut Faults, all: &[Value]) {
    let roles: Vec<&str> = all.iter().map(|message| word(message, "role")).collect();
    let known = |role: &&str| matches!(*role, "system" | "developer" | "user" | "assistant" | "tool" | "function");
    faults.note("role", !roles.iter().all(known));
    alternation(faults, &roles);
    let mut open: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for (at, message) in all.iter().enumerate() {
        let role = word(message, "role");
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let says = |key: &str| message.get(key).is_some_and(|value| !value.is_null() && !blank(value));
        let acts =
            calls.is_some_and(|calls| !calls.is_empty()) || says("refusal") || says("function_call") || says("audio");
        let parts = blocks(message);
        match message.get("content") {
            Some(Value::String(text)) => faults.note("empty", role == "assistant" && text.trim().is_empty() && !acts),
            Some(Value::Array(parts)) => {
                let is_silent = |block: &Value| word(block, "type") == "text" && word(block, "text").trim().is_empty();
                faults.note("empty", role == "assistant" && !acts && parts.iter().all(is_silent));
                faults.note("empty", role != "assistant" && role != "tool" && parts.is_empty());
            }
            None | Some(Value::Null) => {
                faults.note("content", role != "assistant");
                faults.note("empty", role == "assistant" && !acts);
            }
            _ => faults.note("content", true),
        }
        faults.note("block", role != "tool" && parts.iter().any(|block| word(block, "type").is_empty()));
        let is_foreign = |block: &Value| matches!(word(block, "type"), "tool_use" | "tool_result");
        faults.note("call place", parts.iter().any(is_foreign));
        faults.note("no calls", role == "assistant" && calls.is_some_and(Vec::is_empty));
        faults.note("call place", role != "assistant" && calls.is_some_and(|calls| !calls.is_empty()));
        if role == "tool" {
            let id = word(message, "tool_call_id");
            faults.note("answered twice", answered.contains(&id));
            faults.note("orphan", !open.contains(&id) && !answered.contains(&id));
            open.retain(|other| *other != id);
            answered.push(id);
            continue;
        }
        faults.note(if answered.is_empty() { "unanswered" } else { "partly answered" }, !open.is_empty());
        (open, answered) = (Vec::new(), Vec::new());
        if role == "assistant" {
            let calls = calls.map_or(&[][..], Vec::as_slice);
            open = calls.iter().map(|call| word(call, "id")).collect();
            if at + 1 < all.len() {
                faults.note("call id", open.iter().any(|id| id.is_empty()));
                faults.note("call twice", has_twice(&open));
                let arguments = calls.iter().filter_map(|call| call.get("function"));
                faults.note("arguments", arguments.into_iter().any(|function| !is_json(function.get("arguments"))));
            }
        }
    }
    // A reply that is the last word may wait for all of its results, not for some.
    faults.note("partly answered", !open.is_empty() && !answered.is_empty());
}

/// Whether arguments are JSON in a string; no words at all are taken, too.
fn is_json(arguments: Option<&Value>) -> bool {
    arguments
        .and_then(Value::as_str)
        .is_some_and(|text| text.trim().is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

fn items(faults: &mut Faults, all: &[Value]) {
    let kind = |item: &Value| match word(item, "type") {
        "" if !word(item, "role").is_empty() => "message".to_owned(),
        kind => kind.to_owned(),
    };
    let is_call = |kind: &str| matches!(kind, "function_call" | "custom_tool_call");
    let is_result = |kind: &str| matches!(kind, "function_call_output" | "custom_tool_call_output");
    // Id, place and answers of each call; a result belongs to the latest of its id.
    let mut calls: Vec<(&str, usize, usize)> = Vec::new();
    // Where the calls begin that nothing follows.
    let is_reply = |item: &Value| {
        let kind = kind(item);
        is_call(&kind) || kind == "reasoning" || (kind == "message" && word(item, "role") == "assistant")
    };
    let flying = all.iter().rposition(|item| !is_reply(item)).map_or(0, |at| at + 1);
    faults.note("user", !all.iter().any(|item| kind(item) == "message" && word(item, "role") == "user"));
    for (at, item) in all.iter().enumerate() {
        let kind = kind(item);
        if kind == "message" {
            let role = word(item, "role");
            faults.note("role", !matches!(role, "user" | "assistant" | "system" | "developer"));
            match item.get("content") {
                Some(Value::String(_)) => {}
                Some(Value::Array(parts)) => {
                    faults.note("empty", parts.is_empty());
                    faults.note("block", parts.iter().any(|block| word(block, "type").is_empty()));
                    let is_foreign = |block: &Value| matches!(word(block, "type"), "tool_use" | "tool_result");
                    faults.note("call place", parts.iter().any(is_foreign));
                }
                _ => faults.note("content", true),
            }
        } else if is_call(&kind) {
            let id = word(item, "call_id");
            if at < flying {
                faults.note("call id", id.is_empty());
                faults.note("arguments", kind == "function_call" && !is_json(item.get("arguments")));
                faults.note("call twice", calls.iter().any(|(other, _, answers)| *other == id && *answers == 0));
            }
            calls.push((id, at, 0));
        } else if is_result(&kind) {
            let id = word(item, "call_id");
            match calls.iter_mut().rev().find(|(other, ..)| *other == id).map(|(_, _, answers)| answers) {
                Some(answers) => {
                    *answers += 1;
                    faults.note("answered twice", *answers > 1);
                }
                None => faults.note("orphan", true),
            }
        } else if kind == "reasoning" {
            let next = all.get(at + 1).is_some_and(is_reply);
            faults.note("reasoning alone", !next);
        }
    }
    let ends_with_results = all.last().is_some_and(|last| is_result(&kind(last)));
    let unanswered = calls.iter().filter(|(_, at, answers)| *at < flying && *answers == 0).count();
    faults.note(if ends_with_results { "partly answered" } else { "unanswered" }, unanswered > 0);
}

/// Items that came with reasoning, and have their ids but not that reasoning any more.
fn lost_reasoning(faults: &mut Faults, before: &[Value], after: &[Value]) {
    let mut needs: BTreeMap<&str, &str> = BTreeMap::new();
    let mut reasoning = "";
    for item in before {
        let (kind, id) = (word(item, "type"), word(item, "id"));
        match kind {
            "reasoning" => reasoning = id,
            "function_call" | "custom_tool_call" if !id.is_empty() && !reasoning.is_empty() => {
                needs.insert(id, reasoning);
            }
            "message" if word(item, "role") == "assistant" => {
                if !id.is_empty() && !reasoning.is_empty() {
                    needs.insert(id, reasoning);
                }
            }
            _ => reasoning = "",
        }
    }
    let is_there = |id: &str| after.iter().any(|item| word(item, "type") == "reasoning" && word(item, "id") == id);
    let is_lost = |item: &Value| needs.get(word(item, "id")).is_some_and(|reasoning| !is_there(reasoning));
    faults.note("reasoning lost", after.iter().filter(|item| word(item, "type") != "reasoning").any(is_lost));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(format: Format, list: &str) -> Vec<Fault> {
        let key = if format == Format::OpenAiResponses { "input" } else { "messages" };
        let body = format!(r#"{{"{key}":{list}}}"#);
        judge(format, &body, &body)
    }

    #[test]
    fn each_provider_has_its_own_rules() {
        let asked = r#"{"role":"user","content":"Hi"}"#;
        let chat = |list: &str| faults(Format::OpenAiChat, &format!("[{asked},{list}]"));
        let call =
            |id: &str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#);
        let both = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{},{}]}}"#, call("a"), call("b"));
        let answer = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
        assert!(chat(&both).is_empty(), "in flight");
        assert_eq!(chat(&format!("{both},{answer}")), ["partly answered"]);
        assert_eq!(chat(&format!("{both},{asked}")), ["unanswered"]);
        assert_eq!(chat(r#"{"role":"assistant","content":" "}"#), ["empty"]);
        assert_eq!(chat(answer), ["orphan"]);

        let messages = |list: &str| faults(Format::Anthropic, &format!("[{asked},{list}]"));
        let two = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
        let one = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
        assert!(messages(two).is_empty(), "in flight");
        assert_eq!(messages(&format!("{two},{one}")), ["partly answered"]);
        assert_eq!(messages(one), ["neighbours", "orphan"]);
        assert_eq!(
            messages(r#"{"role":"assistant","content":[{"type":"text","text":" "}]},{"role":"user","content":"x"}"#),
            ["blank"]
        );

        let items = |list: &str| faults(Format::OpenAiResponses, &format!("[{asked},{list}]"));
        let a = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
        let b = r#"{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}"#;
        let out = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
        assert!(items(&format!("{a},{b}")).is_empty(), "in flight");
        assert_eq!(items(&format!("{a},{b},{out}")), ["partly answered"]);
        assert_eq!(items(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#), ["reasoning alone"]);
        let before = r#"{"input":[{"type":"reasoning","id":"rs_1"},{"type":"function_call","id":"fc_1","call_id":"a","arguments":"{}"}]}"#;
        let after = r#"{"input":[{"role":"user","content":"Hi"},{"type":"function_call","id":"fc_1","call_id":"a","arguments":"{}"}]}"#;
        assert_eq!(judge(Format::OpenAiResponses, before, after), ["reasoning lost"]);
    }
}
