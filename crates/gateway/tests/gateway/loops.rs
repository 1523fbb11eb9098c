//! Agents at work: hundreds of turns through a small window, with a provider that checks every request.

use crate::desk::{CHAT, Desk, MESSAGES, RESPONSES};
use foldline_core::policy::AutoOr;
use foldline_core::validate::validate;
use foldline_core::{Format, wire};
use foldline_script::{Act, Received};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WINDOW: usize = 32_000;
const TURNS: usize = 300;
const RULE: &str = "Never touch the folder vendor/legacy.";

fn format_of(path: &str) -> Format {
    match path {
        RESPONSES => Format::OpenAiResponses,
        MESSAGES => Format::Anthropic,
        _ => Format::OpenAiChat,
    }
}

/// A provider with a window that refuses what its vendor would refuse.
fn strict(request: &Received) -> Act {
    let text = request.text();
    let transcript = match wire::read(&text, Some(format_of(request.uri.path()))) {
        Ok(transcript) => transcript,
        Err(error) => return Act::error(400, "invalid_request_error", &error.to_string()),
    };
    if let Some(violation) = validate(&transcript).first() {
        return Act::error(422, "invalid_request_error", &format!("{violation:?}"));
    }
    if text.len() / 4 > WINDOW {
        return Act::error(
            400,
            "invalid_request_error",
            &format!("prompt is too long: {} tokens > {WINDOW} maximum", text.len() / 4),
        );
    }
    Act::say("Go on.")
}

/// What the agent knows: its history in one dialect.
struct Agent {
    path: &'static str,
    history: Vec<Value>,
}

impl Agent {
    fn new(path: &'static str, task: &str) -> Agent {
        let mut history = Vec::new();
        if path == CHAT {
            history.push(json!({"role": "system", "content": "You are a careful agent."}));
        }
        history.push(json!({"role": "user", "content": format!("{task} {RULE}")}));
        Agent { path, history }
    }

    fn body(&self) -> String {
        match self.path {
            RESPONSES => {
                json!({"model": "m", "instructions": "You are a careful agent.", "store": false, "input": self.history})
            }
            MESSAGES => {
                json!({"model": "m", "max_tokens": 500, "system": "You are a careful agent.", "messages": self.history})
            }
            _ => json!({"model": "m", "messages": self.history}),
        }
        .to_string()
    }

    /// A call and its result.
    fn act(&mut self, turn: usize) {
        let id = format!("call_{turn}");
        let input = json!({"command": format!("pytest tests/test_{}.py", turn % 23)});
        let lines = 4 + turn * 7 % 40;
        let output: String =
            (0..lines).map(|n| format!("tests/test_{}.py::case_{n}_{turn} PASSED in 0.{n:03}s\n", turn % 23)).collect();
        match self.path {
            RESPONSES => self.history.extend([
                json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": input.to_string()}),
                json!({"type": "function_call_output", "call_id": id, "output": output}),
            ]),
            MESSAGES => self.history.extend([
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "shell", "input": input}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            ]),
            _ => self.history.extend([
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "shell", "arguments": input.to_string()}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": output}),
            ]),
        }
    }
}

/// Bytes that two texts begin with alike.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

async fn loop_on(path: &'static str) {
    let refused = Arc::new(AtomicUsize::new(0));
    let count = refused.clone();
    let choose = move |request: &Received, _| {
        let act = strict(request);
        if matches!(act, Act::Raw { .. }) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        act
    };
    let desk = Desk::choosing(choose, |p| p.model.window = AutoOr::Fixed(WINDOW as u32)).await;
    let mut agent = Agent::new(path, "Run all tests and mend what fails.");
    for turn in 0..TURNS {
        let seen = desk.post(path, &agent.body()).await;
        assert_eq!(seen.status, 200, "{path}, turn {turn}: {}", seen.text());
        agent.act(turn);
    }
    assert_eq!(refused.load(Ordering::Relaxed), 0, "{path}: no request is refused");
    let requests = desk.provider.requests();
    assert!(requests.iter().all(|request| request.body.len() / 4 <= WINDOW));
    assert!(requests.last().unwrap().text().contains(RULE), "{path}: the rule is still there");
    // Between folds each request begins as the one before it.
    let breaks = requests
        .windows(2)
        .filter(|pair| {
            let (one, two) = (pair[0].text(), pair[1].text());
            shared(&one, &two) < one.len() * 9 / 10
        })
        .count();
    assert!((3..=30).contains(&breaks), "{path}: {breaks} folds in {TURNS} turns");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_chat_completions_fit_a_small_window() {
    loop_on(CHAT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_responses_fit_a_small_window() {
    loop_on(RESPONSES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_messages_fit_a_small_window() {
    loop_on(MESSAGES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_that_begin_alike_are_not_mixed_up() {
    let desk = Desk::choosing(|request, _| strict(request), |p| p.model.window = AutoOr::Fixed(8_000)).await;
    let mut agents: Vec<Agent> = (0..20).map(|n| Agent::new(MESSAGES, &format!("Task mark-{n:03}."))).collect();
    for turn in 0..30 {
        for agent in &mut agents {
            let seen = desk.post(MESSAGES, &agent.body()).await;
            assert_eq!(seen.status, 200, "{}", seen.text());
            agent.act(turn);
        }
    }
    for request in desk.provider.requests() {
        let text = request.text();
        let marks = (0..20).filter(|n| text.contains(&format!("mark-{n:03}"))).count();
        assert_eq!(marks, 1, "each request speaks of one task");
    }
}
