//! A scripted agent: a history that grows by tool calls and results, in each API.

use crate::dialect::Dialect;
use crate::server::Received;
use serde_json::{Value, json};

/// What the user says once and means for ever.
pub const RULE: &str = "Never touch the folder vendor/legacy.";

/// Turns after which the user asks for something else.
const STRETCH: usize = 40;

/// What an agent knows: its history in one dialect.
#[derive(Clone)]
pub struct Agent {
    /// Where its requests go.
    pub path: &'static str,
    /// All messages, as the API lists them.
    pub history: Vec<Value>,
    /// The model that it asks for.
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
    /// One that is given a task. The path tells the API.
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
        self.history.push(self.message("user", words));
    }

    fn dialect(&self) -> Dialect {
        Dialect::of(self.path)
    }

    fn said(&mut self, words: &str) {
        self.history.push(self.message("assistant", words));
    }

    fn message(&self, role: &str, words: &str) -> Value {
        match self.dialect() {
            Dialect::Gemini => {
                let role = if role == "assistant" { "model" } else { role };
                json!({"role": role, "parts": [{"text": words}]})
            }
            _ => json!({"role": role, "content": words}),
        }
    }

    /// The request that it sends next.
    pub fn body(&self) -> String {
        let mut body = match self.dialect() {
            Dialect::Responses => {
                json!({"model": self.model, "instructions": self.system, "store": false, "input": self.history})
            }
            Dialect::Anthropic => {
                json!({"model": self.model, "max_tokens": 500, "system": self.system, "messages": self.history})
            }
            Dialect::Gemini => {
                json!({"systemInstruction": {"parts": [{"text": self.system}]}, "contents": self.history})
            }
            Dialect::Chat => {
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
        match self.dialect() {
            Dialect::Responses => self.history.extend([
                json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": input.to_string()}),
                json!({"type": "function_call_output", "call_id": id, "output": output}),
            ]),
            Dialect::Anthropic => self.history.extend([
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "shell", "input": input}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            ]),
            // Of every third call the id is left out; all of them are signed.
            Dialect::Gemini => {
                let (mut call, mut result) = (json!({"name": "shell", "args": input}), json!({"name": "shell"}));
                result["response"] = json!({"output": output});
                if !turn.is_multiple_of(3) {
                    call["id"] = json!(id);
                    result["id"] = json!(id);
                }
                self.history.extend([
                    json!({"role": "model", "parts": [{"functionCall": call, "thoughtSignature": "bW9jaw=="}]}),
                    json!({"role": "user", "parts": [{"functionResponse": result}]}),
                ]);
            }
            Dialect::Chat => self.history.extend([
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "shell", "arguments": input.to_string()}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": output}),
            ]),
        }
        if turn % STRETCH == STRETCH - 1 {
            self.said(&format!("Files up to number {turn} pass."));
            self.asked(&format!("Request {}: go on with the next files.", turn + 1));
        }
    }

    /// What the model must know and a request does not say: the task, the rule, the last output word for word.
    pub fn lost_in(&self, request: &str) -> Vec<String> {
        let output = json!(self.output).to_string();
        let needed = [self.task.as_str(), RULE, output.trim_matches('"')];
        needed.into_iter().filter(|needed| !request.contains(needed)).map(str::to_owned).collect()
    }
}

/// Bytes that two texts begin with alike.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// Requests that do not begin as the one before them: each costs the cached prefix.
pub fn breaks(requests: &[Received]) -> usize {
    let pairs = requests.windows(2).filter(|pair| {
        let [one, two] = pair else { return false };
        let (one, two) = (one.text(), two.text());
        shared(&one, &two) < one.len() * 9 / 10
    });
    pairs.count()
}
