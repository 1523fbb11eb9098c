//! An agent at work, in each dialect, and a provider that refuses what its vendor would refuse.

use crate::desk::{Desk, MESSAGES, RESPONSES};
use foldline_core::validate::validate;
use foldline_core::{Format, wire};
use foldline_script::{Act, Received};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the user says once and means for ever.
pub const RULE: &str = "Never touch the folder vendor/legacy.";

/// Turns after which the user asks for something else.
const STRETCH: usize = 40;

fn format_of(path: &str) -> Format {
    match path {
        RESPONSES => Format::OpenAiResponses,
        MESSAGES => Format::Anthropic,
        _ => Format::OpenAiChat,
    }
}

/// What a provider with a window says to a request: an error where its vendor would refuse it.
pub fn strict(request: &Received, window: usize) -> Act {
    let text = request.text();
    let transcript = match wire::read(&text, Some(format_of(request.uri.path()))) {
        Ok(transcript) => transcript,
        Err(error) => return Act::error(400, "invalid_request_error", &error.to_string()),
    };
    if let Some(violation) = validate(&transcript).first() {
        return Act::error(422, "invalid_request_error", &format!("{violation:?}"));
    }
    if text.len() / 4 > window {
        let words = format!("prompt is too long: {} tokens > {window} maximum", text.len() / 4);
        return Act::error(400, "invalid_request_error", &words);
    }
    Act::say("Go on.")
}

/// Counts what a strict provider refuses.
#[derive(Clone, Default)]
pub struct Refused(Arc<AtomicUsize>);

impl Refused {
    pub fn strict(&self, request: &Received, window: usize) -> Act {
        let act = strict(request, window);
        if matches!(act, Act::Raw { .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        act
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What an agent knows: its history in one dialect.
#[derive(Clone)]
pub struct Agent {
    pub path: &'static str,
    pub history: Vec<Value>,
    pub model: String,
    /// Standing instructions, the same in every request.
    pub system: String,
    /// Tools, as the dialect lists them.
    pub tools: Value,
    /// What its outputs speak of.
    pub mark: String,
    /// How long its outputs are: 1 is a page or two.
    pub volume: usize,
    task: String,
    output: String,
}

impl Agent {
    pub fn new(path: &'static str, task: &str) -> Agent {
        let mut agent = Agent {
            path,
            history: Vec::new(),
            model: "m".to_owned(),
            system: "You are a careful agent.".to_owned(),
            tools: Value::Null,
            mark: "case".to_owned(),
            volume: 1,
            task: String::new(),
            output: String::new(),
        };
        agent.asked(&format!("{task} {RULE}"));
        agent
    }

    /// The user asks for something.
    pub fn asked(&mut self, words: &str) {
        words.clone_into(&mut self.task);
        self.history.push(json!({"role": "user", "content": words}));
    }

    fn said(&mut self, words: &str) {
        self.history.push(json!({"role": "assistant", "content": words}));
    }

    pub fn body(&self) -> String {
        let mut body = match self.path {
            RESPONSES => {
                json!({"model": self.model, "instructions": self.system, "store": false, "input": self.history})
            }
            MESSAGES => {
                json!({"model": self.model, "max_tokens": 500, "system": self.system, "messages": self.history})
            }
            _ => {
                let system = json!({"role": "system", "content": self.system});
                let messages: Vec<&Value> = std::iter::once(&system).chain(&self.history).collect();
                json!({"model": self.model, "messages": messages})
            }
        };
        if !self.tools.is_null() {
            body["tools"] = self.tools.clone();
        }
        body.to_string()
    }

    /// A call and its result; now and then the user asks for the next thing.
    pub fn act(&mut self, turn: usize) {
        let id = format!("call_{turn}");
        let input = json!({"command": format!("pytest tests/test_{}.py", turn % 23)});
        let (lines, mark) = (self.volume * (4 + turn * 7 % 40), &self.mark);
        let output: String = (0..lines)
            .map(|n| format!("tests/test_{}.py::{mark}_{n}_{turn} PASSED in 0.{n:03}s\n", turn % 23))
            .collect();
        self.output.clone_from(&output);
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
        if turn % STRETCH == STRETCH - 1 {
            self.said(&format!("Files up to number {turn} pass."));
            self.asked(&format!("Request {}: go on with the next files.", turn + 1));
        }
    }

    /// Asks, and takes it for granted that there is an answer.
    pub async fn ask(&self, desk: &Desk) {
        let seen = desk.post(self.path, &self.body()).await;
        assert_eq!(seen.status, 200, "{}, {} messages: {}", self.path, self.history.len(), seen.text());
    }

    /// What the model must know at the end: the request, the rule, and the last output word for word.
    pub fn assert_known_in(&self, request: &str) {
        let last = json!(self.output).to_string();
        for known in [self.task.as_str(), RULE, last.trim_matches('"')] {
            assert!(request.contains(known), "{}: {known:?} is lost", self.path);
        }
    }
}

/// Bytes that two texts begin with alike.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// Requests that do not begin as the one before them: each costs the cached prefix.
pub fn breaks(requests: &[Received]) -> usize {
    let pairs = requests.windows(2).filter(|pair| {
        let (one, two) = (pair[0].text(), pair[1].text());
        shared(&one, &two) < one.len() * 9 / 10
    });
    pairs.count()
}
