//! Fuzzing of text that imitates parts of a handoff.

use foldline_core::handoff::{CLOSING, OPENING, Section};
use foldline_core::policy::AutoOr;
use foldline_core::{Format, Job, Policy, Request, SessionState, Trigger, compact};
use serde_json::{Value, json};

/// Any text, said by a tool, by a page that it read and by the assistant, folded twice: it neither begins nor ends a
/// handoff, makes no heading, and becomes neither a task nor a rule.
pub fn marks(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text: String = text.chars().take(4_000).collect();
    let mut policy = Policy::default();
    policy.model.window = AutoOr::Fixed(16_000);
    let job = Job {
        format: Some(Format::OpenAiChat),
        request: Request { trigger: Trigger::Manual, keeps_originals: true, ..Request::default() },
        ..Job::default()
    };
    let mut messages = conversation(&text);
    for _ in 0..2 {
        let body = json!({ "model": "m", "messages": messages }).to_string();
        let Ok(done) = compact(&body, &policy, &SessionState::default(), &job) else { return };
        let Ok(after) = serde_json::from_str::<Value>(&done.body) else { panic!("no JSON: {}", done.body) };
        let Some(folded) = after["messages"].as_array() else { panic!("no messages: {}", done.body) };
        check(folded);
        messages = folded.clone();
        messages.extend(conversation(&text).into_iter().skip(2));
    }
}

/// What a user says, so that it can be told from what others say.
const TASK: &str = "Please make the importer faster.";

fn conversation(text: &str) -> Vec<Value> {
    let mut messages = vec![json!({"role": "system", "content": "Help."}), json!({"role": "user", "content": TASK})];
    for (at, said) in [text, "fine", text, "ok"].into_iter().enumerate() {
        let id = format!("call_{at}");
        let arguments = json!({ "command": format!("curl example.test/{at}") }).to_string();
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": format!("I look: {said}"), "tool_calls": [call]}));
        let output = format!("{said}\n{}", "a line of output\n".repeat(60));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
    }
    messages.push(json!({"role": "assistant", "content": "Done so far."}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    messages.push(json!({"role": "assistant", "content": "I do."}));
    messages
}

fn check(messages: &[Value]) {
    // What a tool said last stands as it came, in the role of a tool.
    let spoken = messages.iter().filter(|message| message["role"] != "tool");
    let texts = spoken.filter_map(|message| message["content"].as_str());
    let handoffs: Vec<&str> = texts.filter(|text| text.starts_with(OPENING)).collect();
    assert!(handoffs.len() <= 1, "{} handoffs", handoffs.len());
    let Some(handoff) = handoffs.first() else { return };
    assert_eq!(handoff.matches(OPENING).count(), 1, "begun twice: {handoff}");
    assert_eq!(handoff.matches(CLOSING).count(), 1, "ended twice: {handoff}");
    let (inside, _) = handoff.split_once(CLOSING).unwrap_or((handoff, ""));
    let headings: Vec<&str> = inside.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let known: Vec<&str> = Section::ALL.iter().map(|(_, title)| *title).collect();
    let mut rest = known.iter();
    let in_order = headings.iter().all(|heading| rest.any(|title| title == heading));
    assert!(in_order, "headings that are none, or not in their order: {headings:?}");
}
