//! Generates valid transcripts of any length from a seed.
//!
//! A made-up agent works on a made-up project: people ask now and then, the agent thinks, says what it does,
//! calls one or several tools, and reads what they print. Written as an Anthropic session and brought into
//! the other formats by [`convert`], so that all three hold the same kind of work.

mod dice;
mod text;

pub use dice::Dice;

use crate::convert;
use foldline_core::Format;
use serde_json::{Value, json};

/// Bytes per message that sizes of outputs are steered to, as in recorded sessions.
const BYTES_PER_MESSAGE: usize = 4096;
/// Bounds of a tool's output in bytes.
const OUTPUT: (usize, usize) = (200, 30_000);
/// One of so many turns ends with a reply and the next request.
const TURNS_PER_REQUEST: usize = 9;
/// The tools with their share of all calls in percent.
const TOOLS: [(&str, usize); 5] =
    [("read_file", 30), ("run_tests", 15), ("grep", 20), ("edit_file", 20), ("run_command", 15)];

/// A request body of about `messages` messages in `format`.
pub fn transcript(format: Format, messages: usize, seed: u64) -> String {
    let mut session = Session { format, dice: Dice::new(seed), calls: 0, bytes: 0, elements: 0, messages: Vec::new() };
    session.ask();
    while session.elements + 2 < messages {
        session.work();
        if session.dice.below(TURNS_PER_REQUEST) == 0 && session.elements + 4 < messages {
            session.reply();
            session.ask();
        }
    }
    let source = json!({
        "model": "claude-opus-4-6",
        "max_tokens": 8192,
        "system": "You work on a parcel service. Read before you write; run the tests after every change.",
        "messages": session.messages,
    });
    convert::to(format, &source).to_string()
}

struct Session {
    format: Format,
    dice: Dice,
    calls: usize,
    bytes: usize,
    elements: usize,
    messages: Vec<Value>,
}

impl Session {
    fn push(&mut self, role: &str, blocks: Vec<Value>, bytes: usize) {
        let message = json!({"role": role, "content": blocks});
        self.elements += convert::elements(&message, self.format);
        self.bytes += bytes;
        self.messages.push(message);
    }

    fn ask(&mut self) {
        let bytes = self.dice.between(40, 600);
        let words = text::prose(&mut self.dice, bytes);
        self.push("user", vec![json!({"type": "text", "text": words})], bytes);
    }

    fn reply(&mut self) {
        let bytes = self.dice.between(200, 1_800);
        let words = text::prose(&mut self.dice, bytes);
        self.push("assistant", vec![json!({"type": "text", "text": words})], bytes);
    }

    /// One turn of the loop: thoughts, words, calls, and what the tools answer.
    fn work(&mut self) {
        let mut blocks = Vec::new();
        let mut bytes = 0;
        if self.dice.happens(45) {
            let size = self.dice.between(120, 1_200);
            let thought = text::prose(&mut self.dice, size);
            let signature: String = (0..12).map(|_| format!("{:016x}", self.dice.throw())).collect();
            bytes += size + signature.len();
            blocks.push(json!({"type": "thinking", "thinking": thought, "signature": signature}));
        }
        if self.dice.happens(50) {
            let size = self.dice.between(40, 400);
            blocks.push(json!({"type": "text", "text": text::prose(&mut self.dice, size)}));
            bytes += size;
        }
        let parallel = if self.dice.happens(15) { self.dice.between(2, 5) } else { 1 };
        let mut results = Vec::new();
        let mut answered = 0;
        for _ in 0..parallel {
            let (call, result, sizes) = self.exchange(bytes + answered);
            bytes += sizes.0;
            answered += sizes.1;
            blocks.push(call);
            results.push(result);
        }
        self.push("assistant", blocks, bytes);
        self.push("user", results, answered);
    }

    /// A call, its result, and the bytes of both; `pending` bytes are not in the books yet.
    fn exchange(&mut self, pending: usize) -> (Value, Value, (usize, usize)) {
        let tool = self.tool();
        self.calls += 1;
        let id = format!("toolu_{:05}{:08x}", self.calls, self.dice.throw() as u32);
        let input = self.arguments(tool);
        let argued = input.to_string().len();
        let size = self.output_size(pending);
        let output = text::output(&mut self.dice, tool, size);
        let answered = output.len();
        let result = match self.dice.happens(5) {
            true => json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": true}),
            false => json!({"type": "tool_result", "tool_use_id": id, "content": output}),
        };
        (json!({"type": "tool_use", "id": id, "name": tool, "input": input}), result, (argued, answered))
    }

    fn tool(&mut self) -> &'static str {
        let mut share = self.dice.below(100);
        for (tool, percent) in TOOLS {
            if share < percent {
                return tool;
            }
            share -= percent;
        }
        "run_command"
    }

    fn arguments(&mut self, tool: &str) -> Value {
        let dice = &mut self.dice;
        match tool {
            "read_file" => json!({"path": text::path(dice), "offset": dice.below(400), "limit": 400}),
            "grep" => json!({"pattern": text::name(dice), "path": "src", "flags": ["-n", "-i"]}),
            "edit_file" => {
                let (old, new) = (dice.between(100, 1_500), dice.between(200, 5_000));
                json!({"path": text::path(dice), "old": text::code(dice, old), "new": text::code(dice, new)})
            }
            "run_tests" => json!({"command": format!("make test ONLY={}", text::name(dice)), "timeout": 600.0}),
            _ => json!({"command": format!("tools/{} --since 2026-03-01 | tail -n 400", text::name(dice))}),
        }
    }

    /// Small outputs are common and large ones rare; the draw leans to whatever brings the average back.
    fn output_size(&mut self, pending: usize) -> usize {
        let wanted = (self.elements + 2) * BYTES_PER_MESSAGE;
        let is_short = self.bytes + pending < wanted;
        let (low, high) = OUTPUT;
        match (is_short, self.dice.below(10)) {
            (true, 0..2) | (false, 0..7) => self.dice.between(low, 2_000),
            (true, 2..7) | (false, 7..9) => self.dice.between(2_000, 12_000),
            _ => self.dice.between(12_000, high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::{validate::validate, wire};

    use crate::matrix::FORMATS;

    #[test]
    fn a_generated_transcript_is_what_it_claims_to_be() {
        for format in FORMATS {
            let body = transcript(format, 400, 7);
            let read = wire::read(&body, None).unwrap();
            assert_eq!(read.format, format);
            assert_eq!(validate(&read), []);
            assert!((398..=410).contains(&read.messages.len()), "{format}: {} messages", read.messages.len());
            let average = body.len() / read.messages.len();
            assert!((3_300..5_000).contains(&average), "{format}: {average} bytes per message");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        for format in FORMATS {
            assert_eq!(transcript(format, 60, 3), transcript(format, 60, 3));
            assert_ne!(transcript(format, 60, 3), transcript(format, 60, 4));
        }
    }

    #[test]
    fn the_mix_has_thoughts_parallel_calls_and_failures() {
        let body = transcript(Format::Anthropic, 300, 1);
        for piece in ["\"thinking\"", "\"is_error\":true", "edit_file", "run_tests", "grep"] {
            assert!(body.contains(piece), "no {piece}");
        }
        let session: Value = serde_json::from_str(&body).unwrap();
        let parallel = session["messages"].as_array().unwrap().iter().any(|message| {
            message["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use").count() > 1
        });
        assert!(parallel);
    }
}
