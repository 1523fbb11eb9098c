//! Transcripts for property tests: plausible conversations in every format, and what real life does
//! to them. A conversation is made of turns that all formats can write down; then odd messages are
//! put in and messages get lost, doubled and out of order.

use super::odd::odd_messages;
use super::writer::quoted;
use foldline_core::Format;
use proptest::prelude::*;

/// How much of what a generated transcript has.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// Most turns: a user's words, rounds of calls, the model's reply.
    pub turns: usize,
    /// Most messages that get lost, doubled or out of order. None of these and no odd ones: healthy.
    pub accidents: usize,
    /// Most messages that no client should send.
    pub odd: usize,
    /// Bytes of a huge text; one text in twenty is huge.
    pub huge: usize,
}

impl Knobs {
    /// What a well-behaved client sends.
    pub const HEALTHY: Knobs = Knobs { turns: 8, accidents: 0, odd: 0, huge: 4_000 };
    /// What is found in the wild.
    pub const DAMAGED: Knobs = Knobs { turns: 5, accidents: 4, odd: 3, huge: 500 };
    /// What is found nowhere.
    pub const CHAOS: Knobs = Knobs { turns: 4, accidents: 12, odd: 8, huge: 100 };
}

/// A transcript in the given format, as text.
pub fn transcript(format: Format, knobs: Knobs) -> BoxedStrategy<String> {
    let turns = prop::collection::vec(turn(knobs), 0..=knobs.turns);
    let odd = prop::collection::vec((any::<u16>(), any::<u16>()), 0..=knobs.odd);
    let accidents = prop::collection::vec((0..4u8, any::<u16>(), any::<u16>()), 0..=knobs.accidents);
    (turns, odd, accidents, any::<Setting>(), any::<bool>())
        .prop_map(move |(turns, odd, accidents, setting, finished)| {
            let signs = setting.outer_marks % 2 == 1;
            let mut writer = Writer { format, messages: Vec::new(), lines: 0, replies: 0, signs };
            writer.instructions(setting);
            for (index, turn) in turns.iter().enumerate() {
                writer.turn(index, turn);
            }
            if turns.is_empty() && knobs.odd == 0 {
                writer.say("user", "Hello", Mark::None);
            }
            let mut messages = writer.messages;
            if !finished && !turns.is_empty() {
                // A request ends with what the model shall answer.
                messages.pop();
            }
            for (which, at) in odd {
                let table = odd_messages(format);
                let message = table[usize::from(which) % table.len()].to_owned();
                messages.insert(usize::from(at) % (messages.len() + 1), message);
            }
            for (kind, from, to) in accidents {
                accident(&mut messages, kind, from.into(), to.into());
            }
            document(format, setting, &messages)
        })
        .boxed()
}

/// Any format, with any knobs.
pub fn any_transcript(knobs: Knobs) -> BoxedStrategy<(Format, String)> {
    prop::sample::select(Format::NAMES.map(|(format, _)| format).to_vec())
        .prop_flat_map(move |format| transcript(format, knobs).prop_map(move |text| (format, text)))
        .boxed()
}

#[derive(Clone, Debug)]
struct Turn {
    words: String,
    image: bool,
    rounds: Vec<Round>,
    reply: String,
    mark: Mark,
    instructed: bool,
}

/// The model thinks, says something, calls tools and gets their results.
#[derive(Clone, Debug)]
struct Round {
    thinks: bool,
    words: Option<String>,
    calls: Vec<Call>,
    interleaved: bool,
}

#[derive(Clone, Debug)]
struct Call {
    reused_id: bool,
    /// Nobody wrote its result down.
    lost: bool,
    arguments: &'static str,
    result: String,
    blocks: bool,
    mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    None,
    Cached,
}

/// How the document is laid out.
#[derive(Clone, Copy, Debug)]
struct Setting {
    shape: u8,
    spaced: bool,
    instructions: bool,
    outer_marks: u8,
}

impl Arbitrary for Setting {
    type Parameters = ();
    type Strategy = BoxedStrategy<Setting>;

    fn arbitrary_with((): ()) -> BoxedStrategy<Setting> {
        (0..3u8, any::<bool>(), any::<bool>(), prop_oneof![9 => 0..3u8, 1 => 4..7u8])
            .prop_map(|(shape, spaced, instructions, outer_marks)| Setting { shape, spaced, instructions, outer_marks })
            .boxed()
    }
}

fn turn(knobs: Knobs) -> impl Strategy<Value = Turn> {
    let rounds = prop::collection::vec(round(knobs), 0..4);
    let image = prop::bool::weighted(0.15);
    let instructed = prop::bool::weighted(0.1);
    (words(knobs), image, rounds, words(knobs), mark(knobs), instructed).prop_map(
        |(words, image, rounds, reply, mark, instructed)| Turn { words, image, rounds, reply, mark, instructed },
    )
}

fn round(knobs: Knobs) -> impl Strategy<Value = Round> {
    let calls = prop::collection::vec(call(knobs), 1..4);
    (any::<bool>(), prop::option::of(words(knobs)), calls, any::<bool>())
        .prop_map(|(thinks, words, calls, interleaved)| Round { thinks, words, calls, interleaved })
}

fn call(knobs: Knobs) -> impl Strategy<Value = Call> {
    let good = prop::sample::select(vec!["{}", r#"{"path":"src/main.rs"}"#, r#"{"q":"ü \"x\"","n":[1,2]}"#]);
    let bad = prop::sample::select(vec!["{\"path\": \"src/ma", "not json", "[1,", "{} {}"]);
    let arguments = match knobs.odd {
        0 => good.boxed(),
        _ => prop_oneof![6 => good, 1 => bad].boxed(),
    };
    let reused = prop::bool::weighted(if knobs.odd == 0 { 0.0 } else { 0.1 });
    let lost = prop::bool::weighted(if knobs.odd == 0 { 0.0 } else { 0.15 });
    let result = prop_oneof![8 => words(knobs), 1 => Just(String::new())];
    (reused, lost, arguments, result, any::<bool>(), mark(knobs)).prop_map(
        |(reused_id, lost, arguments, result, blocks, mark)| Call { reused_id, lost, arguments, result, blocks, mark },
    )
}

fn mark(knobs: Knobs) -> impl Strategy<Value = Mark> {
    let weight = if knobs.odd == 0 { 0.0 } else { 0.15 };
    prop::bool::weighted(weight).prop_map(|marked| if marked { Mark::Cached } else { Mark::None })
}

/// Words of a message: never blank, so that a healthy transcript stays so.
fn words(knobs: Knobs) -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z]{1,8}( [a-z]{1,8}){0,6}",
        3 => "\\PC{0,12}".prop_map(|text| format!("x{text}")),
        2 => Just("Zeile eins\n\tZeile „zwei“ \\ \u{1f600}\r\n\u{7}".to_owned()),
        1 => Just("[CONTEXT COMPACTION] Earlier turns were folded.\n## Active Task\nNone.".to_owned()),
        1 => Just("[CONTEXT SUMMARY]: the user asked for tests.".to_owned()),
        1 => (1..=knobs.huge.max(1)).prop_map(|bytes| "0123456789 abcdef\n".repeat(bytes / 18 + 1)),
    ]
}

/// A message gets lost, doubled, moved or swapped.
fn accident(messages: &mut Vec<String>, kind: u8, from: usize, to: usize) {
    if messages.is_empty() {
        return;
    }
    let (from, to) = (from % messages.len(), to % messages.len());
    match kind {
        0 => drop(messages.remove(from)),
        1 => messages.insert(to, messages[from].clone()),
        2 => {
            let message = messages.remove(from);
            messages.insert(to.min(messages.len()), message);
        }
        _ => messages.swap(from, to),
    }
}

/// Puts messages into a document.
fn document(format: Format, setting: Setting, messages: &[String]) -> String {
    let gap = if setting.spaced { ",\n  " } else { "," };
    let list = |messages: &[String]| format!("[{}]", messages.join(gap));
    let marks: Vec<String> = (0..setting.outer_marks)
        .map(|at| format!(r#"{{"name":"t{at}","cache_control":{{"type":"ephemeral"}}}}"#))
        .collect();
    match (format, setting.shape) {
        (Format::ClaudeCode, _) => messages.join("\n") + if setting.spaced { "\n" } else { "" },
        (_, 0) if messages.len() > 1 => messages.join("\n") + "\n",
        (_, 1) => list(messages),
        (Format::OpenAiChat, _) => format!(r#"{{"model":"gpt-5", "messages": {}, "stream":true}}"#, list(messages)),
        (Format::OpenAiResponses, _) => format!(r#"{{"model":"gpt-5","input":{},"store":false}}"#, list(messages)),
        (Format::ShareGpt, _) => format!(r#"{{"id":7,"conversations":{}}}"#, list(messages)),
        (Format::Gemini, _) => format!(
            r#"{{"systemInstruction":{{"parts":[{{"text":"Be brief."}}]}},"generationConfig":{{"maxOutputTokens":1000}},"contents":{}}}"#,
            list(messages)
        ),
        (Format::Anthropic, _) => format!(
            r#"{{"model":"claude-x","max_tokens":1000,"system":[{{"type":"text","text":"Be brief.","cache_control":null}}],"tools":[{}],"messages":{}}}"#,
            marks.join(","),
            list(messages)
        ),
    }
}

struct Writer {
    format: Format,
    messages: Vec<String>,
    lines: usize,
    replies: usize,
    /// Whether the model signs its calls.
    signs: bool,
}

impl Writer {
    fn instructions(&mut self, setting: Setting) {
        if setting.instructions && !matches!(self.format, Format::ClaudeCode | Format::Gemini) {
            self.say("system", "You are careful.", Mark::None);
        }
    }

    fn turn(&mut self, index: usize, turn: &Turn) {
        match turn.image {
            true => self.show_image(&turn.words),
            false => self.say("user", &turn.words, turn.mark),
        }
        if turn.instructed && matches!(self.format, Format::Anthropic | Format::OpenAiResponses) {
            self.say("system", "The tools changed.", Mark::None);
        }
        for (at, round) in turn.rounds.iter().enumerate() {
            self.round(&format!("{index}_{at}"), round);
        }
        self.replies += 1;
        self.say("assistant", &turn.reply, Mark::None);
    }

    fn say(&mut self, role: &str, words: &str, mark: Mark) {
        let text = quoted(words);
        let message = match self.format {
            Format::OpenAiChat => format!(r#"{{"role":"{role}","content":{text}}}"#),
            Format::Anthropic if mark == Mark::None => format!(r#"{{"role":"{role}","content":{text}}}"#),
            Format::Anthropic | Format::ClaudeCode => {
                let block = text_block(&text, mark);
                format!(r#"{{"role":"{role}","content":[{block}]}}"#)
            }
            Format::OpenAiResponses => {
                let (kind, id) = match role {
                    "assistant" => ("output_text", format!(r#""id":"msg_{}","#, self.messages.len())),
                    _ => ("input_text", String::new()),
                };
                format!(r#"{{"type":"message",{id}"role":"{role}","content":[{{"type":"{kind}","text":{text}}}]}}"#)
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
                format!(r#"{{"from":"{from}","value":{text}}}"#)
            }
        };
        self.push(role, message);
    }

    fn show_image(&mut self, words: &str) {
        let text = quoted(words);
        let data = "iVBORw0KGgoAAAANSUhEUg".repeat(8);
        let message = match self.format {
            Format::OpenAiChat => format!(
                r#"{{"role":"user","content":[{{"type":"text","text":{text}}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}]}}"#
            ),
            Format::OpenAiResponses => format!(
                r#"{{"role":"user","content":[{{"type":"input_text","text":{text}}},{{"type":"input_image","image_url":"data:image/png;base64,{data}"}}]}}"#
            ),
            Format::ShareGpt => format!(r#"{{"from":"human","value":{text}}}"#),
            Format::Gemini => format!(
                r#"{{"role":"user","parts":[{{"text":{text}}},{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}]}}"#
            ),
            _ => format!(
                r#"{{"role":"user","content":[{{"type":"text","text":{text}}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}}"#
            ),
        };
        self.push("user", message);
    }

    fn round(&mut self, stem: &str, round: &Round) {
        self.replies += 1;
        let ids: Vec<String> = round
            .calls
            .iter()
            .enumerate()
            .map(|(at, call)| if call.reused_id { "c1".to_owned() } else { format!("call_{stem}_{at}") })
            .collect();
        match self.format {
            Format::OpenAiChat => self.chat_round(round, &ids),
            Format::OpenAiResponses => self.item_round(round, &ids),
            Format::Anthropic => self.block_round(round, &ids),
            Format::ClaudeCode => self.line_round(round, &ids),
            Format::ShareGpt => self.spoken_round(round),
            Format::Gemini => self.content_round(round, &ids),
        }
    }

    fn chat_round(&mut self, round: &Round, ids: &[String]) {
        let content = round.words.as_ref().map_or("null".to_owned(), |words| quoted(words));
        let mut calls = Vec::new();
        for (call, id) in round.calls.iter().zip(ids) {
            let arguments = quoted(call.arguments);
            calls.push(format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"read","arguments":{arguments}}}}}"#
            ));
        }
        let reasoning = if round.thinks { r#","reasoning_content":"First I look.""# } else { "" };
        self.messages.push(format!(
            r#"{{"role":"assistant","content":{content},"tool_calls":[{}]{reasoning},"x_unknown":1.50}}"#,
            calls.join(", ")
        ));
        for (call, id) in round.calls.iter().zip(ids).filter(|(call, _)| !call.lost) {
            let result = quoted(&call.result);
            let content = if call.blocks { format!(r#"[{{"type":"text","text":{result}}}]"#) } else { result };
            self.messages.push(format!(r#"{{"role":"tool","tool_call_id":"{id}","name":"read","content":{content}}}"#));
        }
    }

    fn item_round(&mut self, round: &Round, ids: &[String]) {
        if round.thinks {
            let reply = self.replies;
            self.messages
                .push(format!(r#"{{"type":"reasoning","id":"rs_{reply}","summary":[],"encrypted_content":"gAAAA="}}"#));
        }
        if let Some(words) = &round.words {
            self.say("assistant", words, Mark::None);
        }
        let mut results = Vec::new();
        for (call, id) in round.calls.iter().zip(ids) {
            let arguments = quoted(call.arguments);
            let result = quoted(&call.result);
            self.messages.push(format!(
                r#"{{"type":"function_call","id":"fc_{id}","call_id":"{id}","name":"read","arguments":{arguments}}}"#
            ));
            let output = if call.blocks { format!(r#"[{{"type":"input_text","text":{result}}}]"#) } else { result };
            let output = format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#);
            match round.interleaved {
                _ if call.lost => {}
                true => self.messages.push(output),
                false => results.push(output),
            }
        }
        self.messages.append(&mut results);
    }

    fn block_round(&mut self, round: &Round, ids: &[String]) {
        let (blocks, results) = blocks_of_round(round, ids);
        self.messages.push(format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(",")));
        let results: Vec<String> = results.into_iter().flatten().collect();
        if !results.is_empty() {
            self.messages.push(format!(r#"{{ "content" : [{}], "role" : "user" }}"#, results.join(" , ")));
        }
    }

    /// Ids are left out where results stand between calls in other formats.
    fn content_round(&mut self, round: &Round, ids: &[String]) {
        let mut parts = Vec::new();
        let mut results = Vec::new();
        if round.thinks {
            let signature = if self.signs { r#","thoughtSignature":"bW9jaw==""# } else { "" };
            parts.push(format!(r#"{{"text":"Hm.","thought":true{signature}}}"#));
        }
        if let Some(words) = &round.words {
            parts.push(format!(r#"{{"text":{}}}"#, quoted(words)));
        }
        for (at, (call, id)) in round.calls.iter().zip(ids).enumerate() {
            let id = if round.interleaved { String::new() } else { format!(r#""id":"{id}","#) };
            let signature = if self.signs && at == 0 { r#","thoughtSignature":"bW9jaw==""# } else { "" };
            let args = object_or_string(call.arguments);
            parts.push(format!(r#"{{"functionCall":{{{id}"name":"read","args":{args}}}{signature}}}"#));
            let output = quoted(&call.result);
            let more = if call.blocks { r#","exit_code":0"# } else { "" };
            if !call.lost {
                results.push(format!(
                    r#"{{"functionResponse":{{{id}"name":"read","response":{{"output":{output}{more}}}}}}}"#
                ));
            }
        }
        self.messages.push(format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(",")));
        if !results.is_empty() {
            self.messages.push(format!(r#"{{ "parts" : [{}], "role" : "user" }}"#, results.join(" , ")));
        }
    }

    /// One line per block, results between them or after them.
    fn line_round(&mut self, round: &Round, ids: &[String]) {
        let (blocks, results) = blocks_of_round(round, ids);
        let first_call = blocks.len() - round.calls.len();
        let mut waiting = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            self.push(
                "assistant",
                format!(r#"{{"id":"msg_{}","role":"assistant","content":[{block}]}}"#, self.replies),
            );
            if let Some(Some(result)) = at.checked_sub(first_call).and_then(|call| results.get(call)) {
                match round.interleaved {
                    true => self.push("user", format!(r#"{{"role":"user","content":[{result}]}}"#)),
                    false => waiting.push(result),
                }
            }
        }
        for result in waiting {
            self.push("user", format!(r#"{{"role":"user","content":[{result}]}}"#));
        }
    }

    fn spoken_round(&mut self, round: &Round) {
        self.say("assistant", "<tool_call>{}</tool_call>", Mark::None);
        for call in &round.calls {
            self.say("tool", &call.result, Mark::None);
        }
    }

    /// A message, inside a line where there are lines.
    fn push(&mut self, role: &str, message: String) {
        if self.format != Format::ClaudeCode {
            self.messages.push(message);
            return;
        }
        let own = self.lines;
        let parent = own.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"u{parent}\""));
        self.messages.push(format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","message":{message},"uuid":"u{own}","cwd":"/w"}}"#
        ));
        self.lines += 1;
    }
}

/// The blocks of the model, and for each call its result, unless that is lost.
fn blocks_of_round(round: &Round, ids: &[String]) -> (Vec<String>, Vec<Option<String>>) {
    let mut blocks = Vec::new();
    if round.thinks {
        blocks.push(r#"{"type":"thinking","thinking":"Hm.","signature":"mocksig-4b"}"#.to_owned());
    }
    if let Some(words) = &round.words {
        blocks.push(text_block(&quoted(words), Mark::None));
    }
    let mut results = Vec::new();
    for (call, id) in round.calls.iter().zip(ids) {
        let input = object_or_string(call.arguments);
        blocks.push(format!(r#"{{"type":"tool_use","id":"{id}","name":"read","input":{input}}}"#));
        let text = quoted(&call.result);
        let mark = if call.mark == Mark::Cached { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
        let content = match call.blocks && !call.result.is_empty() {
            true => format!("[{}]", text_block(&text, Mark::None)),
            false => text,
        };
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}{mark}}}"#);
        results.push((!call.lost).then_some(result));
    }
    (blocks, results)
}

/// Arguments where objects are objects; what is none is written as a string.
fn object_or_string(arguments: &str) -> String {
    match arguments.ends_with('}') && !arguments.contains("} {") {
        true => arguments.to_owned(),
        false => quoted(arguments),
    }
}

fn text_block(literal: &str, mark: Mark) -> String {
    match mark {
        Mark::None => format!(r#"{{"type":"text","text":{literal}}}"#),
        Mark::Cached => format!(r#"{{"type":"text","text":{literal},"cache_control":{{"type":"ephemeral"}}}}"#),
    }
}
