//! A model at work: it calls the shell that a client offers again and again, says when a part is done, and writes a
//! summary when it is asked for one.

use crate::act::Act;
use crate::dialect::Dialect;
use crate::prompt::{Caches, Prompt, asked_of};
use crate::reply::{Call, Reply};
use crate::server::Received;
use crate::strict::Strict;
use foldline_core::cache::{Tariff, Traffic};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a model says when a part of its work is done.
pub const DONE: &str = "This part is done.";

/// What there is to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tokens that fit a request.
    pub window: usize,
    /// How many calls each part of the work takes. After each, the user speaks.
    pub parts: Vec<usize>,
    /// What is run; `{n}` is the number of the call.
    pub command: String,
    /// What is run instead at these calls.
    #[serde(default)]
    pub commands: BTreeMap<usize, String>,
    /// At these calls the model asks an original back instead: the first that its request names, and lines that match this.
    #[serde(default)]
    pub recalls: BTreeMap<usize, String>,
    /// At these calls the model calls another tool instead, where the request offers it.
    #[serde(default)]
    pub tools: BTreeMap<usize, PlannedCall>,
    /// What the model says besides, at these calls.
    #[serde(default)]
    pub words: BTreeMap<usize, String>,
    /// What a client gets that asks for a summary.
    pub summary: String,
}

/// A call of a tool that is not the shell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCall {
    /// How its name ends: clients put the name of a server before it.
    pub tool: String,
    /// What it is given.
    pub arguments: Value,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The next step of the work.
    Step,
    /// A summary, for the client's own compaction.
    Summary,
    /// Something beside the conversation.
    Aside,
}

/// One request as its provider saw it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// What it was for.
    pub purpose: Purpose,
    /// Why it was refused.
    pub refusal: Option<String>,
    /// Calls made so far.
    pub calls: usize,
    /// Whether its messages do not begin as those of the step before.
    pub is_rewrite: bool,
    /// Tokens by class.
    pub traffic: Traffic,
    /// What it cost.
    pub dollars: f64,
}

/// A model at work and its provider: a judge, a cache, a count of what was done.
#[derive(Debug)]
pub struct Worker {
    plan: Plan,
    strict: Strict,
    caches: Caches,
    answers: usize,
    calls: usize,
    /// Parts of which the end was told.
    told: usize,
    last: Option<Prompt>,
}

impl Worker {
    /// One with this to do.
    pub fn new(plan: Plan) -> Worker {
        let strict = Strict::new(plan.window).lenient_with_clients();
        Worker { plan, strict, caches: Caches::default(), answers: 0, calls: 0, told: 0, last: None }
    }

    /// Answers a request. There is an entry for those that ask the model.
    pub fn answer(&mut self, request: &Received) -> (Act, Option<Entry>) {
        let path = request.uri.path();
        if request.method != Method::POST {
            return (about(request), None);
        }
        let prompt = Prompt::of(request);
        if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
            let count = json!({"input_tokens": prompt.tokens(), "totalTokens": prompt.tokens()});
            return (raw(200, &count), None);
        }
        let is_known = path.ends_with("/completions") || Dialect::of(path) != Dialect::Chat;
        if !is_known {
            return (Act::error(404, "not_found_error", "Not found."), None);
        }
        let purpose = purpose(request);
        let is_rewrite = purpose == Purpose::Step && self.last.as_ref().is_some_and(|last| !prompt.extends(last));
        let mut entry =
            Entry { purpose, refusal: None, calls: self.calls, is_rewrite, traffic: Traffic::default(), dollars: 0.0 };
        if let Some((refusal, act)) = self.strict.refusal(request) {
            entry.refusal = Some(refusal);
            return (act, Some(entry));
        }
        let mut traffic = self.caches.request(request, &prompt);
        let reply = self.reply(request, purpose);
        self.strict.remember(&reply);
        if purpose == Purpose::Step {
            self.last = Some(prompt);
        }
        let act = reply.act(request, traffic);
        traffic.output = reply.tokens();
        entry.calls = self.calls;
        entry.traffic = traffic;
        entry.dollars = Tariff::of(&asked_of(request).0).map_or(0.0, |tariff| tariff.bill(traffic).total());
        (act, Some(entry))
    }

    fn reply(&mut self, request: &Received, purpose: Purpose) -> Reply {
        self.answers += 1;
        let number = self.answers;
        let say = |text: String| Reply { number, text, call: None };
        match (purpose, shell(request)) {
            (Purpose::Summary, _) => say(summary(request, &self.plan.summary)),
            (Purpose::Step, Some(shell)) => {
                let due: usize = self.plan.parts.iter().take(self.told + 1).sum();
                if self.calls >= due {
                    self.told += 1;
                    return say(DONE.to_owned());
                }
                self.calls += 1;
                let command = self.plan.commands.get(&self.calls).unwrap_or(&self.plan.command);
                let command = command.replace("{n}", &self.calls.to_string());
                let words = self.plan.words.get(&self.calls).cloned();
                let text = words.unwrap_or_else(|| format!("Step {} is next.", self.calls));
                let recall = self.plan.recalls.get(&self.calls).and_then(|grep| recall(request, grep));
                let planned = || self.plan.tools.get(&self.calls).and_then(|planned| planned.call(request));
                Reply { number, text, call: Some(recall.or_else(planned).unwrap_or_else(|| shell.call(&command))) }
            }
            _ if request.text().contains("application/json") => {
                say(r#"{"reasoning":"Nothing is left.","next_speaker":"user"}"#.to_owned())
            }
            _ => say("Steps of the work".to_owned()),
        }
    }
}

/// What clients ask about a provider.
fn about(request: &Received) -> Act {
    match request.uri.path().ends_with("/models") {
        true => raw(200, &json!({"object": "list", "data": [], "models": []})),
        false => Act::error(404, "not_found_error", "Not found."),
    }
}

fn raw(status: u16, body: &Value) -> Act {
    Act::Raw { status, headers: Vec::new(), content_type: "application/json".to_owned(), body: body.to_string() }
}

/// Words with which clients ask for a summary of the conversation.
const SUMMARY: [&str; 9] = [
    "detailed summary of the conversation",
    "detailed summary of this conversation",
    "CONTEXT CHECKPOINT COMPACTION",
    "anchored summary",
    "structured context checkpoint summary",
    "context checkpoint",
    "state_snapshot",
    "summarization agent",
    "context summarization assistant",
];

/// With these words Hermes asks, in the background and with its conversation and tools, what is worth keeping of it.
const REVIEW: &str = "Review the conversation above and ";

fn purpose(request: &Received) -> Purpose {
    let body = request.json();
    let has_shell = shell(request).is_some();
    let asked = if has_shell { last_words(&body) } else { request.text() };
    let asks = SUMMARY.iter().any(|words| asked.contains(words));
    match (asks, has_shell) {
        (true, _) => Purpose::Summary,
        (false, true) if !asked.starts_with(REVIEW) => Purpose::Step,
        (false, _) => Purpose::Aside,
    }
}

/// The text of the last message, unless it is a result.
fn last_words(body: &Value) -> String {
    let messages = ["messages", "input", "contents"].iter().find_map(|key| body[*key].as_array());
    let last = messages.and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    match last.get("content").or(last.get("parts")) {
        Some(Value::String(words)) if last["role"] != "tool" => words.clone(),
        Some(Value::Array(blocks)) => blocks.iter().map(text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// A summary in the wrapping that is asked for.
fn summary(request: &Received, words: &str) -> String {
    let text = request.text();
    match ["state_snapshot", "summary"].iter().find(|tag| text.contains(&format!("<{tag}>"))) {
        Some(tag) => format!("<{tag}>\n{words}\n</{tag}>"),
        None => words.to_owned(),
    }
}

/// The tool that runs commands.
struct Shell {
    tool: String,
    schema: Value,
}

/// How the tool's name ends that brings originals back.
const RECALL: &str = "foldline_recall";

/// A call of that tool, where the request offers it and names an original.
fn recall(request: &Received, grep: &str) -> Option<Call> {
    let tool = offered(request, RECALL)?;
    let handle = handle_in(&request.text(), &tool)?;
    Some(Call { tool, arguments: json!({ "handle": handle, "grep": grep }) })
}

impl PlannedCall {
    fn call(&self, request: &Received) -> Option<Call> {
        Some(Call { tool: offered(request, &self.tool)?, arguments: self.arguments.clone() })
    }
}

/// The tool of a request whose name ends so.
fn offered(request: &Received, end: &str) -> Option<String> {
    let tools = declared(&request.json());
    tools.iter().find_map(|tool| tool["name"].as_str().map(str::to_owned).filter(|name| name.ends_with(end)))
}

/// The first handle of a handoff: it names the tool after its handles.
fn handle_in(text: &str, tool: &str) -> Option<String> {
    let handoff = text.split("[FOLDLINE HANDOFF").skip(1).find(|handoff| handoff.contains(tool))?;
    let after = handoff.split("fl-").nth(1)?;
    let digits: String = after.chars().take_while(char::is_ascii_hexdigit).collect();
    (!digits.is_empty()).then(|| format!("fl-{digits}"))
}

/// What clients call that tool.
const SHELLS: [&str; 9] = [
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "run_shell_command",
    "terminal",
    "execute_command",
    "exec",
];

/// The tools of a request.
fn declared(body: &Value) -> Vec<Value> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let declared = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declared) => declared.clone(),
        None => vec![if tool["function"].is_object() { tool["function"].clone() } else { tool.clone() }],
    });
    declared.collect()
}

fn shell(request: &Received) -> Option<Shell> {
    let declared = declared(&request.json());
    let mut shells = declared.iter().filter_map(|tool| {
        let name = tool["name"].as_str().filter(|name| SHELLS.contains(name))?;
        let schema = ["input_schema", "parameters", "parametersJsonSchema"].iter().find_map(|key| tool.get(*key));
        Some(Shell { tool: name.to_owned(), schema: schema.cloned().unwrap_or_default() })
    });
    shells.next()
}

impl Shell {
    /// A call that fits the schema: the command, and something for whatever else is required.
    fn call(&self, command: &str) -> Call {
        let mut arguments = serde_json::Map::new();
        let properties = &self.schema["properties"];
        for key in ["command", "cmd"] {
            if let Some(property) = properties.get(key) {
                let is_list = property["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
                let value = if is_list { json!(["bash", "-c", command]) } else { json!(command) };
                arguments.insert(key.to_owned(), value);
            }
        }
        for key in self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let kind = properties[key]["type"].as_str().unwrap_or_default().to_ascii_lowercase();
            let value = match kind.as_str() {
                "number" | "integer" => json!(60_000),
                "boolean" => json!(false),
                _ => json!("Next step"),
            };
            arguments.entry(key).or_insert(value);
        }
        Call { tool: self.tool.clone(), arguments: Value::Object(arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, Uri};

    fn asked(words: &str) -> Received {
        let shell = json!({"type": "function", "function": {"name": "terminal", "parameters": {"properties": {"command": {"type": "string"}}}}});
        let body = json!({"model": "m", "messages": [{"role": "user", "content": words}], "tools": [shell]});
        Received {
            method: Method::POST,
            uri: Uri::from_static("/v1/chat/completions"),
            headers: HeaderMap::new(),
            body: body.to_string().into(),
        }
    }

    /// Hermes ends while its review is under way or not: the work must be the same.
    #[test]
    fn a_review_in_the_background_takes_no_call_of_the_work() {
        let plan = json!({"window": 32_000, "parts": [1, 1], "command": "./step {n}", "summary": ""});
        let mut worker = Worker::new(serde_json::from_value(plan).unwrap());
        let mut ask = |words: &str| worker.answer(&asked(words)).1.map(|entry| (entry.purpose, entry.calls));
        assert_eq!(ask("Work through the steps."), Some((Purpose::Step, 1)));
        let review = "Review the conversation above and update the skill library. Be ACTIVE.";
        assert_eq!(ask(review), Some((Purpose::Aside, 1)));
        assert_eq!(ask("Go on."), Some((Purpose::Step, 1)), "the end of the first part");
        assert_eq!(ask(review), Some((Purpose::Aside, 1)));
        assert_eq!(ask("Go on."), Some((Purpose::Step, 2)));
    }
}
