//! One judge for all results: tokens by the o200k vocabulary, names and evidence as `foldline eval` counts them, faults by the validator
//! that shares nothing with the engine.

use super::inputs::{Asks, Task};
use crate::{Failure, damage};
use foldline_core::{Format, handoff};
use foldline_measure::retention::Page;
use foldline_transcript::wire;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tiktoken::CoreBpe;

/// What a message costs beside its texts.
const FRAME: u64 = 4;

/// Judges results.
pub struct Judge {
    vocabulary: &'static CoreBpe,
}

/// What one result came to.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Tokens of the input.
    pub before: u64,
    /// Tokens of the result.
    pub tokens: u64,
    /// Names kept, and all.
    pub names: (u64, u64),
    /// Evidence told, and all.
    pub evidence: (u64, u64),
    /// Rules that it breaks although the input kept them.
    pub faults: Vec<String>,
    /// Processor seconds.
    pub seconds: f64,
}

/// All results of a peer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Results.
    pub results: u64,
    /// Tokens of the inputs.
    pub before: u64,
    /// Tokens of the results.
    pub after: u64,
    /// Names kept, and all.
    pub names: (u64, u64),
    /// Evidence told, and all.
    pub evidence: (u64, u64),
    /// Results that a strict provider would refuse.
    pub invalid: u64,
    /// By rule, how many results break it.
    pub faults: BTreeMap<String, u64>,
    /// Processor seconds.
    pub seconds: f64,
}

impl Tally {
    /// Adds a result.
    pub fn add(&mut self, one: &Judged) {
        self.results += 1;
        self.before += one.before;
        self.after += one.tokens;
        self.names = (self.names.0 + one.names.0, self.names.1 + one.names.1);
        self.evidence = (self.evidence.0 + one.evidence.0, self.evidence.1 + one.evidence.1);
        self.invalid += u64::from(!one.faults.is_empty());
        one.faults.iter().for_each(|fault| *self.faults.entry(fault.clone()).or_default() += 1);
        self.seconds += one.seconds;
    }
}

impl Judge {
    /// With the vocabulary of current OpenAI models.
    pub fn new() -> Result<Judge, Failure> {
        let vocabulary = tiktoken::get_encoding("o200k_base").ok_or("the o200k vocabulary is not built in")?;
        Ok(Judge { vocabulary })
    }

    /// Tokens of messages.
    pub fn tokens<'m>(&self, messages: impl IntoIterator<Item = &'m Value>) -> u64 {
        messages.into_iter().map(|message| self.tokens_of(message)).sum()
    }

    /// Tokens of everything that a message says; images do not count, for no vocabulary has them.
    pub fn tokens_of(&self, message: &Value) -> u64 {
        let mut sum = FRAME;
        let mut count = |text: &Value| sum += text.as_str().map_or(0, |text| self.vocabulary.count(text) as u64);
        match &message["content"] {
            Value::Array(parts) => parts.iter().for_each(|part| count(&part["text"])),
            text => count(text),
        }
        count(&message["reasoning_content"]);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            count(&call["function"]["name"]);
            count(&call["function"]["arguments"]);
        }
        sum
    }

    /// Judges what became of a task.
    pub fn judge(&self, task: &Task, messages: &[Value]) -> Judged {
        let body = body(messages);
        let page = readable(&body, messages);
        let mut judged = Judged { before: task.tokens, tokens: self.tokens(messages), ..Judged::default() };
        match &task.asks {
            Asks::Names(exam) => {
                let root = page.blocks().iter().find_map(|block| handoff::root(page.words(block)));
                let total = exam.clone().relative_to(root).score(page.lines()).total();
                judged.names = (total.kept, total.of);
            }
            Asks::Evidence(questions) => judged.evidence = questions.told(page.lines()).total(),
        }
        let source = self::body(&task.messages);
        let already = damage::judge(Format::OpenAiChat, &source, &source);
        let faults = damage::judge(Format::OpenAiChat, &source, &body);
        judged.faults = faults.into_iter().filter(|fault| !already.contains(fault)).map(str::to_owned).collect();
        judged
    }
}

/// A request with these messages.
fn body(messages: &[Value]) -> String {
    json!({"model": "gpt-5", "messages": messages}).to_string()
}

/// What can be read in a result, also in one that is no valid request.
fn readable(body: &str, messages: &[Value]) -> Page {
    match wire::read(body, Some(Format::OpenAiChat)) {
        Ok(transcript) => Page::of(&transcript),
        Err(_) => {
            let texts: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
            Page::of_text(&texts.join("\n"))
        }
    }
}
