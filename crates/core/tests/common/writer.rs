//! Writes a conversation down in the words of each provider. Not the engine's composer: tests must
//! not share what they check.

use foldline_core::Format;
use std::fmt::Write as _;

/// How the messages lie in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A request body.
    Body,
    /// The same, with line breaks and odd spaces.
    SpacedBody,
    /// A bare array.
    List,
    /// One message per line.
    Lines,
}

/// What a tool gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A string.
    Text,
    /// An array with one text block.
    Blocks,
    /// A text block and an image.
    Picture,
}

/// Reasoning in front of what the assistant says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thought {
    None,
    /// Words with a signature, or an encrypted item.
    Signed,
    /// Ciphertext only.
    Redacted,
}

/// A call and what came of it.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: String,
    /// JSON.
    pub arguments: String,
    pub output: String,
    pub answer: Answer,
    pub failed: bool,
}

impl Call {
    /// A call that gets a text back.
    pub fn new(tool: &str, arguments: impl Into<String>, output: impl Into<String>) -> Call {
        Call {
            tool: tool.to_owned(),
            arguments: arguments.into(),
            output: output.into(),
            answer: Answer::Text,
            failed: false,
        }
    }

    /// A command.
    pub fn run(command: &str, output: impl Into<String>) -> Call {
        Call::new("bash", format!(r#"{{"command":{}}}"#, quoted(command)), output)
    }

    /// A file read.
    pub fn read(path: &str, output: impl Into<String>) -> Call {
        Call::new("read_file", format!(r#"{{"path":{}}}"#, quoted(path)), output)
    }

    pub fn answered(self, answer: Answer) -> Call {
        Call { answer, ..self }
    }
}

/// A conversation in the making.
#[derive(Clone, Debug)]
pub struct Writer {
    pub format: Format,
    pub layout: Layout,
    /// The `system` or `instructions` field of a body; a message where there is none.
    pub system: Option<String>,
    /// `max_tokens` of a body.
    pub max_tokens: Option<u32>,
    pub model: String,
    /// Cache marks on the last user messages, where the provider has them.
    pub marks: usize,
    /// How call ids begin.
    pub stem: String,
    messages: Vec<String>,
    serial: usize,
}

/// One pixel, as base64: no real picture is needed to be counted as one.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

impl Writer {
    pub fn new(format: Format) -> Writer {
        Writer {
            format,
            layout: Layout::Body,
            system: None,
            max_tokens: None,
            model: "test-model".to_owned(),
            marks: 0,
            stem: "call".to_owned(),
            messages: Vec::new(),
            serial: 0,
        }
    }

    /// Messages so far.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn user(&mut self, text: &str) -> &mut Writer {
        self.say("user", text)
    }

    pub fn assistant(&mut self, text: &str) -> &mut Writer {
        self.say("assistant", text)
    }

    /// Plain words of a role.
    pub fn say(&mut self, role: &str, text: &str) -> &mut Writer {
        let text = quoted(text);
        let message = match self.format {
            Format::OpenAiChat => format!(r#"{{"role":"{role}","content":{text}}}"#),
            Format::Anthropic if self.serial.is_multiple_of(2) => format!(r#"{{"role":"{role}","content":{text}}}"#),
            Format::Anthropic | Format::ClaudeCode => {
                format!(r#"{{"role":"{role}","content":[{{"type":"text","text":{text}}}]}}"#)
            }
            Format::OpenAiResponses => {
                let kind = if role == "assistant" { "output_text" } else { "input_text" };
                format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":{text}}}]}}"#)
            }
            Format::Gemini => {
                let role = if role == "assistant" { "model" } else { role };
                format!(r#"{{"role":"{role}","parts":[{{"text":{text}}}]}}"#)
            }
            Format::ShareGpt => {
                let from = match role {
                    "user" => "human",
                    "assistant" => "gpt",
                    other => other,
                };
                format!(r#"{{"from":"{from}","value":{text},"weight":1.00}}"#)
            }
        };
        self.push(role, message)
    }

    /// Words of a person with a picture beside them.
    pub fn picture(&mut self, text: &str) -> &mut Writer {
        let block = self.text_block(text);
        let image = self.image();
        let message = match self.format {
            Format::ShareGpt => return self.say("user", text),
            Format::Gemini => format!(r#"{{"role":"user","parts":[{image},{block}]}}"#),
            Format::OpenAiResponses => format!(r#"{{"role":"user","content":[{block},{image}]}}"#),
            _ => format!(r#"{{"role":"user","content":[{image},{block}]}}"#),
        };
        self.push("user", message)
    }

    /// The assistant thinks, says something, and calls tools, which answer.
    pub fn round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call]) -> &mut Writer {
        self.write_round(thought, words, calls, true)
    }

    /// One call, answered.
    pub fn call(&mut self, call: Call) -> &mut Writer {
        self.round(Thought::None, None, &[call])
    }

    /// Calls whose results are still to come.
    pub fn in_flight(&mut self, calls: &[Call]) -> &mut Writer {
        self.write_round(Thought::None, None, calls, false)
    }

    /// A message as it is.
    pub fn raw(&mut self, message: impl Into<String>) -> &mut Writer {
        self.messages.push(message.into());
        self
    }

    fn write_round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call], answered: bool) -> &mut Writer {
        self.serial += 1;
        let ids: Vec<String> = (0..calls.len()).map(|at| format!("{}_{}_{at}", self.stem, self.serial)).collect();
        match self.format {
            Format::OpenAiChat => self.chat_round(thought, words, calls, &ids, answered),
            Format::OpenAiResponses => self.item_round(thought, words, calls, &ids, answered),
            Format::Anthropic | Format::ClaudeCode => self.block_round(thought, words, calls, &ids, answered),
            Format::Gemini => self.content_round(thought, words, calls, &ids, answered),
            Format::ShareGpt => {
                let mut said = words.map(|words| format!("{words}\n")).unwrap_or_default();
                for call in calls {
                    let _ = write!(
                        said,
                        "<tool_call>{{\"name\":\"{}\",\"arguments\":{}}}</tool_call>",
                        call.tool, call.arguments
                    );
                }
                self.say("assistant", &said);
                for call in calls.iter().filter(|_| answered) {
                    self.say("tool", &format!("<tool_response>{}</tool_response>", call.output));
                }
            }
        }
        self
    }

    fn chat_round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call], ids: &[String], answered: bool) {
        let content = words.map_or("null".to_owned(), quoted);
        let reasoning = match thought {
            Thought::None => String::new(),
            Thought::Signed => {
                r#","reasoning_details":[{"type":"reasoning.encrypted","data":"c2lnbmVkIHdpdGggbm90aGluZw=="}]"#
                    .to_owned()
            }
            Thought::Redacted => r#","reasoning_content":"First I look.""#.to_owned(),
        };
        let list: Vec<String> = calls
            .iter()
            .zip(ids)
            .map(|(call, id)| {
                let (tool, arguments) = (&call.tool, quoted(&call.arguments));
                format!(r#"{{"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}"#)
            })
            .collect();
        self.messages.push(format!(
            r#"{{"role":"assistant","content":{content},"tool_calls":[{}]{reasoning},"x_unknown":1.50}}"#,
            list.join(", ")
        ));
        for (call, id) in calls.iter().zip(ids).filter(|_| answered) {
            let content = self.answer(call);
            self.messages.push(format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{content}}}"#));
        }
    }

    fn item_round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call], ids: &[String], answered: bool) {
        if thought != Thought::None {
            let serial = self.serial;
            self.messages.push(format!(
                r#"{{"type":"reasoning","id":"rs_{serial}","summary":[],"encrypted_content":"gAAAAABub3RoaW5nIGhpZGRlbg{serial}"}}"#
            ));
        }
        if let Some(words) = words {
            self.say("assistant", words);
        }
        for (call, id) in calls.iter().zip(ids) {
            let (tool, arguments) = (&call.tool, quoted(&call.arguments));
            self.messages.push(format!(
                r#"{{"type":"function_call","id":"fc_{id}","call_id":"{id}","name":"{tool}","arguments":{arguments},"status":"completed"}}"#
            ));
        }
        for (call, id) in calls.iter().zip(ids).filter(|_| answered) {
            let output = self.answer(call);
            self.messages.push(format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#));
        }
    }

    fn block_round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call], ids: &[String], answered: bool) {
        let serial = self.serial;
        let mut blocks = Vec::new();
        match thought {
            Thought::None => {}
            Thought::Signed => blocks.push(format!(
                r#"{{"type":"thinking","thinking":"I compare number {serial} with the plan.","signature":"mocksig{serial}bm8gcmVhbCBzaWduYXR1cmU="}}"#
            )),
            Thought::Redacted => {
                blocks.push(format!(r#"{{"type":"redacted_thinking","data":"mockdata{serial}bm90aGluZw=="}}"#));
            }
        }
        if let Some(words) = words {
            blocks.push(self.text_block(words));
        }
        let mut results = Vec::new();
        for (call, id) in calls.iter().zip(ids) {
            blocks.push(format!(
                r#"{{"type":"tool_use","id":"{id}","name":"{}","input":{}}}"#,
                call.tool, call.arguments
            ));
            let content = self.answer(call);
            let failed = if call.failed { r#","is_error":true"# } else { "" };
            results.push(format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}{failed}}}"#));
        }
        if self.format == Format::Anthropic {
            self.messages.push(format!(r#"{{"role":"assistant","content":[{}],"x_unknown":1.50}}"#, blocks.join(",")));
            if answered && !results.is_empty() {
                self.messages.push(format!(r#"{{ "content" : [{}], "role" : "user" }}"#, results.join(" , ")));
            }
            return;
        }
        for block in blocks {
            let message = format!(r#"{{"id":"msg_{serial}","role":"assistant","content":[{block}]}}"#);
            self.push("assistant", message);
        }
        for result in results.iter().filter(|_| answered) {
            self.push("user", format!(r#"{{"role":"user","content":[{result}]}}"#));
        }
    }

    /// The first call of a reply is always signed: whoever signs one must sign all.
    fn content_round(&mut self, thought: Thought, words: Option<&str>, calls: &[Call], ids: &[String], answered: bool) {
        let serial = self.serial;
        let signature = format!(r#""thoughtSignature":"mocksig{serial}bm8gcmVhbCBzaWduYXR1cmU=""#);
        let mut parts = Vec::new();
        match thought {
            Thought::None => {}
            Thought::Signed => {
                parts.push(format!(
                    r#"{{"thought":true,"text":"I compare number {serial} with the plan.",{signature}}}"#
                ));
            }
            Thought::Redacted => parts.push(r#"{"thought":true,"text":"First I look."}"#.to_owned()),
        }
        parts.extend(words.map(|words| self.text_block(words)));
        let mut results = Vec::new();
        for (at, (call, id)) in calls.iter().zip(ids).enumerate() {
            // Ids are left out in every second round.
            let id = if serial.is_multiple_of(2) { format!(r#""id":"{id}","#) } else { String::new() };
            let (tool, args) = (&call.tool, &call.arguments);
            let signature = if at == 0 { format!(",{signature}") } else { String::new() };
            parts.push(format!(r#"{{"functionCall":{{{id}"name":"{tool}","args":{args}}}{signature}}}"#));
            let output = quoted(&call.output);
            let response = match call.answer {
                _ if call.failed => format!(r#"{{"error":{output}}}"#),
                Answer::Text => format!(r#"{{"output":{output}}}"#),
                Answer::Blocks | Answer::Picture => format!(r#"{{"output":{output},"exit_code":0}}"#),
            };
            let image = match call.answer {
                Answer::Picture => format!(r#","parts":[{}]"#, self.image()),
                _ => String::new(),
            };
            results.push(format!(r#"{{"functionResponse":{{{id}"name":"{tool}","response":{response}{image}}}}}"#));
        }
        self.messages.push(format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(",")));
        if answered && !results.is_empty() {
            self.messages.push(format!(r#"{{ "parts" : [{}], "role" : "user" }}"#, results.join(" , ")));
        }
    }

    fn answer(&self, call: &Call) -> String {
        let text = quoted(&call.output);
        let kind = if self.format == Format::OpenAiResponses { "input_text" } else { "text" };
        match call.answer {
            _ if self.format == Format::ShareGpt => text,
            Answer::Text => text,
            // A block without words is refused; a string without words is not.
            Answer::Blocks if call.output.trim().is_empty() => text,
            Answer::Blocks => format!(r#"[{{"type":"{kind}","text":{text}}}]"#),
            Answer::Picture if call.output.trim().is_empty() => format!("[{}]", self.image()),
            Answer::Picture => format!(r#"[{{"type":"{kind}","text":{text}}},{}]"#, self.image()),
        }
    }

    fn text_block(&self, text: &str) -> String {
        if self.format == Format::Gemini {
            return format!(r#"{{"text":{}}}"#, quoted(text));
        }
        let kind = if self.format == Format::OpenAiResponses { "input_text" } else { "text" };
        format!(r#"{{"type":"{kind}","text":{}}}"#, quoted(text))
    }

    /// An image in the provider's own shape.
    pub fn image(&self) -> String {
        match self.format {
            Format::OpenAiChat | Format::ShareGpt => {
                format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{PIXEL}"}}}}"#)
            }
            Format::OpenAiResponses => {
                format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{PIXEL}"}}"#)
            }
            Format::Anthropic | Format::ClaudeCode => {
                format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PIXEL}"}}}}"#)
            }
            Format::Gemini => format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{PIXEL}"}}}}"#),
        }
    }

    /// A message, inside a line where there are lines.
    fn push(&mut self, role: &str, message: String) -> &mut Writer {
        if self.format == Format::ClaudeCode {
            let own = self.messages.len();
            let parent = own.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"u{parent}\""));
            self.messages.push(format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","message":{message},"uuid":"u{own}","cwd":"/w"}}"#
            ));
        } else {
            self.messages.push(message);
        }
        self.serial += 1;
        self
    }

    /// The document.
    pub fn document(&self) -> String {
        let mut messages = self.messages.clone();
        if self.format == Format::Anthropic {
            mark_last_users(&mut messages, self.marks);
        }
        let body = matches!(self.layout, Layout::Body | Layout::SpacedBody) && self.format != Format::ClaudeCode;
        let has_field = body && matches!(self.format, Format::Anthropic | Format::OpenAiResponses | Format::Gemini);
        let has_message = !has_field && !matches!(self.format, Format::ClaudeCode | Format::Gemini);
        if let Some(system) = self.system.as_deref().filter(|_| has_message) {
            let mut first = Writer { messages: Vec::new(), ..self.clone() };
            first.say("system", system);
            messages.splice(0..0, first.messages);
        }
        let spaced = self.layout == Layout::SpacedBody;
        let gap = if spaced { ",\n    " } else { "," };
        let list = format!("[{}]", messages.join(gap));
        if self.format == Format::ClaudeCode || (self.layout == Layout::Lines && messages.len() > 1) {
            return messages.join("\n") + "\n";
        }
        if !body {
            return list;
        }
        let (field, system) = match self.format {
            Format::OpenAiResponses => ("input", "instructions"),
            Format::ShareGpt => ("conversations", "system"),
            Format::Gemini => ("contents", "systemInstruction"),
            _ => ("messages", "system"),
        };
        let mut fields = vec![format!(r#""model": "{}""#, self.model)];
        if let Some(text) = self.system.as_deref().filter(|_| has_field) {
            fields.push(match self.format {
                Format::Gemini => format!(r#""{system}":{{"parts":[{{"text":{}}}]}}"#, quoted(text)),
                _ => format!(r#""{system}":{}"#, quoted(text)),
            });
        }
        if self.format != Format::ShareGpt {
            fields.push(r#""tools":[{"name":"bash","description":"Runs a command."}]"#.to_owned());
        }
        if let Some(most) = self.max_tokens {
            fields.push(match self.format {
                Format::OpenAiResponses => format!(r#""max_output_tokens":{most}"#),
                Format::Gemini => format!(r#""generationConfig":{{"maxOutputTokens":{most}}}"#),
                _ => format!(r#""max_tokens":{most}"#),
            });
        }
        fields.push(format!(r#""{field}":{list}"#));
        fields.push(r#""temperature":1.0"#.to_owned());
        fields.push(r#""x_vendor":{"a":[1e3, 2.50]}"#.to_owned());
        match spaced {
            true => format!("{{\n  {}\n}}\n", fields.join(",\n  ")),
            false => format!("{{{}}}", fields.join(",")),
        }
    }
}

/// Puts cache marks on the last user messages that are arrays of blocks.
fn mark_last_users(messages: &mut [String], marks: usize) {
    let ends = |message: &&mut String| message.ends_with("}]}") && message.contains(r#""role":"user""#);
    for message in messages.iter_mut().rev().filter(ends).take(marks) {
        let at = message.len() - 3;
        message.insert_str(at, r#","cache_control":{"type":"ephemeral"}"#);
    }
}

/// A JSON string in the spelling of clients that escape everything beyond Latin letters.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || (c as u32) > 0x2000 => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
