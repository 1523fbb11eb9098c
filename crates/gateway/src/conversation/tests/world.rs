//! A client that resends its whole history, and a provider that counts, caches and judges.

use super::super::*;
use foldline_core::Policy;
use foldline_core::policy::{AutoOr, Preset};
use foldline_core::tokens::{Measure, measure};
use foldline_transcript::Transcript;
use foldline_transcript::identity::chain;
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use std::fmt::Write;
use std::path::Path;

/// Where a client puts cache marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkStyle {
    None,
    /// Two on the system prompt and one on the last block, moved every turn; a message that is not the
    /// last is a plain string where it can be.
    Moving,
    /// As many as are allowed: one on the system prompt, three on the last messages.
    Full,
}

/// A client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) dialect: Dialect,
    pub(super) key: String,
    pub(super) session: Option<String>,
    pub(super) system: String,
    pub(super) model: String,
    pub(super) marks: MarkStyle,
    pub(super) messages: Vec<Said>,
}

/// A message, before it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    User(String),
    /// Instructions that come while the conversation goes on.
    System(String),
    Assistant(String),
    /// Signed reasoning goes with it where it is not empty.
    Call {
        id: String,
        tool: String,
        arguments: String,
        thought: String,
    },
    Result {
        id: String,
        output: String,
    },
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

impl Client {
    pub(super) fn new(dialect: Dialect) -> Client {
        Client {
            dialect,
            key: "a client".to_owned(),
            session: None,
            system: "You are a careful engineer. Work in /srv/app.".to_owned(),
            model: "test-model".to_owned(),
            marks: MarkStyle::None,
            messages: Vec::new(),
        }
    }

    pub(super) fn user(&mut self, text: &str) -> &mut Client {
        self.messages.push(Said::User(text.to_owned()));
        self
    }

    pub(super) fn system(&mut self, text: &str) -> &mut Client {
        self.messages.push(Said::System(text.to_owned()));
        self
    }

    pub(super) fn assistant(&mut self, text: &str) -> &mut Client {
        self.messages.push(Said::Assistant(text.to_owned()));
        self
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &str, output: &str) -> &mut Client {
        self.call_with_thought(tool, arguments, output, "")
    }

    pub(super) fn call_with_thought(
        &mut self,
        tool: &str,
        arguments: &str,
        output: &str,
        thought: &str,
    ) -> &mut Client {
        let id = format!("call_{}", self.messages.len());
        self.messages.push(Said::Call {
            id: id.clone(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            thought: thought.to_owned(),
        });
        self.messages.push(Said::Result { id, output: output.to_owned() });
        self
    }

    /// One step of work, the same for the same number.
    pub(super) fn work(&mut self, turn: usize) -> &mut Client {
        let output = output(turn);
        match turn % 3 {
            0 => self.call("bash", &format!(r#"{{"command":"make part-{turn}"}}"#), &output),
            1 => self.call("read_file", &format!(r#"{{"path":"src/part_{}.rs"}}"#, turn % 17), &output),
            _ => self.call("grep", &format!(r#"{{"pattern":"step_{turn}"}}"#), &output),
        }
    }

    pub(super) fn body(&self) -> String {
        let mut list = String::new();
        for (index, said) in self.messages.iter().enumerate() {
            if index > 0 {
                list.push(',');
            }
            self.write(said, index, &mut list);
        }
        let (system, model) = (quoted(&self.system), quoted(&self.model));
        match self.dialect {
            Dialect::Chat => {
                format!(
                    r#"{{"model":{model},"messages":[{{"role":"system","content":{system}}},{list}],"tools":[],"stream":true}}"#
                )
            }
            Dialect::Responses => {
                format!(r#"{{"model":{model},"instructions":{system},"input":[{list}],"store":false,"stream":true}}"#)
            }
            Dialect::Gemini => {
                format!(r#"{{"systemInstruction":{{"parts":[{{"text":{system}}}]}},"tools":[],"contents":[{list}]}}"#)
            }
            Dialect::Messages => {
                let mark = r#","cache_control":{"type":"ephemeral"}"#;
                let (first, second) = match self.marks {
                    MarkStyle::None => ("", ""),
                    MarkStyle::Moving => (mark, mark),
                    MarkStyle::Full => ("", mark),
                };
                format!(
                    r#"{{"model":{model},"max_tokens":1000,"system":[{{"type":"text","text":"x-anthropic-billing-header: v={}"}},{{"type":"text","text":"Be brief."{first}}},{{"type":"text","text":{system}{second}}}],"messages":[{list}]}}"#,
                    self.messages.len()
                )
            }
        }
    }

    fn write(&self, said: &Said, index: usize, out: &mut String) {
        let from_end = self.messages.len() - index;
        let is_marked = match self.marks {
            MarkStyle::None => false,
            MarkStyle::Moving => from_end == 1,
            MarkStyle::Full => from_end <= 3,
        };
        let mark = if is_marked && self.dialect == Dialect::Messages {
            r#","cache_control":{"type":"ephemeral"}"#
        } else {
            ""
        };
        let _ = match (self.dialect, said) {
            (Dialect::Gemini, Said::User(text) | Said::System(text)) => {
                write!(out, r#"{{"role":"user","parts":[{{"text":{}}}]}}"#, quoted(text))
            }
            (Dialect::Gemini, Said::Assistant(text)) => {
                write!(out, r#"{{"role":"model","parts":[{{"text":{}}}]}}"#, quoted(text))
            }
            (Dialect::Gemini, Said::Call { tool, arguments, thought, .. }) => {
                let thought = match thought.is_empty() {
                    true => String::new(),
                    false => format!(r#"{{"text":{},"thought":true}},"#, quoted(thought)),
                };
                write!(
                    out,
                    r#"{{"role":"model","parts":[{thought}{{"functionCall":{{"name":"{tool}","args":{arguments}}},"thoughtSignature":"sig-{index}"}}]}}"#
                )
            }
            (Dialect::Gemini, Said::Result { id, output }) => {
                let calls = self.messages.iter().filter_map(|said| match said {
                    Said::Call { id, tool, .. } => Some((id, tool)),
                    _ => None,
                });
                let tool = calls.into_iter().find(|(call, _)| *call == id).map_or("bash", |(_, tool)| tool.as_str());
                let output = quoted(output);
                write!(
                    out,
                    r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"{tool}","response":{{"output":{output}}}}}}}]}}"#
                )
            }
            (_, Said::System(text)) => write!(out, r#"{{"role":"system","content":{}}}"#, quoted(text)),
            (Dialect::Messages, Said::User(text)) if mark.is_empty() && self.marks != MarkStyle::None => {
                write!(out, r#"{{"role":"user","content":{}}}"#, quoted(text))
            }
            (Dialect::Messages, Said::User(text)) => {
                write!(out, r#"{{"role":"user","content":[{{"type":"text","text":{}{mark}}}]}}"#, quoted(text))
            }
            (Dialect::Messages, Said::Assistant(text)) => {
                write!(out, r#"{{"role":"assistant","content":[{{"type":"text","text":{}{mark}}}]}}"#, quoted(text))
            }
            (Dialect::Messages, Said::Call { id, tool, arguments, thought }) => {
                let thought = match thought.is_empty() {
                    true => String::new(),
                    false => {
                        format!(r#"{{"type":"thinking","thinking":{},"signature":"sig-{index}"}},"#, quoted(thought))
                    }
                };
                write!(
                    out,
                    r#"{{"role":"assistant","content":[{thought}{{"type":"tool_use","id":"{id}","name":"{tool}","input":{arguments}{mark}}}]}}"#
                )
            }
            (Dialect::Messages, Said::Result { id, output }) => write!(
                out,
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{}{mark}}}]}}"#,
                quoted(output)
            ),
            (Dialect::Chat, Said::User(text)) => write!(out, r#"{{"role":"user","content":{}}}"#, quoted(text)),
            (Dialect::Chat, Said::Assistant(text)) => {
                write!(out, r#"{{"role":"assistant","content":{}}}"#, quoted(text))
            }
            (Dialect::Chat, Said::Call { id, tool, arguments, .. }) => write!(
                out,
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":{}}}}}]}}"#,
                quoted(arguments)
            ),
            (Dialect::Chat, Said::Result { id, output }) => {
                write!(out, r#"{{"role":"tool","tool_call_id":"{id}","content":{}}}"#, quoted(output))
            }
            (Dialect::Responses, Said::User(text)) => write!(
                out,
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{}}}]}}"#,
                quoted(text)
            ),
            (Dialect::Responses, Said::Assistant(text)) => write!(
                out,
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{}}}]}}"#,
                quoted(text)
            ),
            (Dialect::Responses, Said::Call { id, tool, arguments, thought }) if !thought.is_empty() => write!(
                out,
                r#"{{"type":"reasoning","id":"rs_{index}","summary":[],"encrypted_content":{}}},{{"type":"message","id":"msg_{index}","role":"assistant","content":[{{"type":"output_text","text":"I look."}}]}},{{"type":"function_call","id":"fc_{index}","call_id":"{id}","name":"{tool}","arguments":{}}}"#,
                quoted(thought),
                quoted(arguments)
            ),
            (Dialect::Responses, Said::Call { id, tool, arguments, .. }) => write!(
                out,
                r#"{{"type":"function_call","call_id":"{id}","name":"{tool}","arguments":{}}}"#,
                quoted(arguments)
            ),
            (Dialect::Responses, Said::Result { id, output }) => {
                write!(out, r#"{{"type":"function_call_output","call_id":"{id}","output":{}}}"#, quoted(output))
            }
        };
    }

    pub(super) fn ask<'a>(&'a self, body: &'a str, now: i64) -> IncomingTurn<'a> {
        IncomingTurn {
            dialect: self.dialect,
            body,
            model: (self.dialect == Dialect::Gemini).then_some(self.model.as_str()),
            credential: CredentialId::of_key(&self.key),
            session_hint: self.session.as_deref(),
            agent_hint: None,
            focus: None,
            purpose: PurposeHint::None,
            bypass: Bypass::No,
            writer: SummariserAt::Elsewhere,
            site: None,
            now: Timestamp(now),
        }
    }
}

/// What a tool prints, some 400 to 1,600 tokens.
pub(super) fn output(turn: usize) -> String {
    let mut text = String::new();
    for line in 0..30 + (turn * 37) % 60 {
        let _ = writeln!(
            text,
            "step_{turn} line {line}: unit {} took {} ms in src/part_{}.rs",
            line * 7 % 13,
            turn * line % 997,
            turn % 17
        );
    }
    if turn.is_multiple_of(7) {
        let _ = writeln!(text, "error: part_{turn} failed with code E{turn:04}");
    }
    text
}

/// What a provider does with a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Provider {
    pub(super) window: u64,
    /// How its tokens compare to ours.
    pub(super) ratio: f64,
}

impl Provider {
    /// Tokens of a request, as this provider counts them.
    pub(super) fn count(&self, dialect: Dialect, body: &str) -> u64 {
        let transcript = wire::read(body, Some(dialect.format())).unwrap();
        (measure(&transcript, &Measure::default()).total() as f64 * self.ratio) as u64
    }

    /// Judges a request. Its rules, strictly, and its window.
    pub(super) fn answer(&self, dialect: Dialect, body: &str) -> Result<ReportedUsage, SizeRefusal> {
        let transcript = wire::read(body, Some(dialect.format())).unwrap();
        let violations = validate(&transcript);
        assert!(violations.is_empty(), "{violations:?}\n{body}");
        let tokens = self.count(dialect, body);
        let room = self.window - u64::from(transcript.max_output.unwrap_or(0));
        match tokens <= room {
            true => Ok(ReportedUsage { input: tokens, output: 50, ..ReportedUsage::default() }),
            false => Err(SizeRefusal { kind: RefusalKind::Window, asked: Some(tokens), limit: Some(self.window) }),
        }
    }
}

/// What names the messages of a body, whatever marks it has.
pub(super) fn names(dialect: Dialect, body: &str) -> Vec<[u8; 32]> {
    let transcript = wire::read(body, Some(dialect.format())).unwrap();
    chain(&transcript, 0, &[0; 32])
}

pub(super) fn marks_of(transcript: &Transcript<'_>) -> usize {
    transcript.outer_marks as usize + foldline_core::cache::marks::count(transcript, 0)
}

/// Settings for a window.
pub(super) fn settings(window: u32, store: Option<&Path>) -> ConversationSettings {
    let mut policy = Policy::of(Preset::Hermes);
    policy.model.window = AutoOr::Fixed(window);
    ConversationSettings { policy, store: store.map(Path::to_owned), ..ConversationSettings::default() }
}

/// A turn through the gateway: prepared, judged, retried where refused, reported, background work done.
pub(super) fn turn(gateway: &Conversations, client: &Client, provider: &Provider, now: i64) -> (String, Outcome) {
    let body = client.body();
    let ask = client.ask(&body, now);
    let mut prepared = gateway.prepare(&ask).unwrap();
    let mut usage = provider.answer(client.dialect, &prepared.body);
    for attempt in 1..=2 {
        let Err(refusal) = &usage else { break };
        let background = prepared.background.take();
        drop(background);
        prepared =
            gateway.overflow(&ask, &prepared.turn, refusal, attempt).unwrap().expect("something is left to fold");
        usage = provider.answer(client.dialect, &prepared.body);
    }
    let usage = usage.expect("accepted in the end");
    gateway.observe(&prepared.turn, usage, Timestamp(now + 1));
    let sent = prepared.body.into_owned();
    if let Some(task) = prepared.background {
        finish(gateway, task, now);
    }
    (sent, prepared.outcome)
}

/// Makes a fold in the background; no model answers.
pub(super) fn finish(gateway: &Conversations, mut task: FoldTask, now: i64) {
    match gateway.plan(&mut task).unwrap() {
        Planned::Ready | Planned::NeedsSummary(_) => gateway.run(task, None, Timestamp(now)).unwrap(),
        Planned::Nothing => {}
    }
}

/// The same settings, with a model to be asked beside conversations.
pub(super) fn with_model(settings: ConversationSettings) -> ConversationSettings {
    let mut settings = settings;
    settings.policy.summarizer.url = Some("http://127.0.0.1:1".to_owned());
    settings
}
