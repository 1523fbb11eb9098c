//! A conversation as the lines that can be read in it, each with who said it.

use foldline_reduce::printed;
use foldline_transcript::{Content, Part, PartKind, Role, Transcript};
use serde_json::Value;
use std::ops::Range;

/// Who a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The agent: its words, and what it hands to tools.
    Agent,
    /// Everybody else: people, instructions, what tools answer.
    World,
}

/// One text of a conversation: what was said, called or answered at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Who says it.
    pub voice: Voice,
    /// The message it belongs to.
    pub message: usize,
    /// The part it is the text of.
    pub part: usize,
    /// Where its lines are in [`Page::text`].
    span: Range<usize>,
}

/// The readable lines of a transcript, in order.
///
/// Strings are decoded: a line is what a reader sees as one, not an escape in a literal. A call is its tool's
/// name and its one-line values on one line, then the lines of its longer values; keys and punctuation are the
/// wire's, not the agent's. Reasoning is left out: providers drop it on their own, and nothing may change it.
#[derive(Clone, Debug, Default)]
pub struct Page {
    text: String,
    blocks: Vec<Block>,
    tools: Vec<String>,
}

impl Page {
    /// The lines of a transcript.
    pub fn of(transcript: &Transcript<'_>) -> Page {
        let mut page = Page::default();
        for (index, message) in transcript.messages.iter().enumerate() {
            if message.role == Role::Meta {
                continue;
            }
            for part_index in message.parts.start as usize..message.parts.end as usize {
                if let Some(part) = transcript.parts.get(part_index) {
                    page.add(transcript, index, part_index, part, message.role);
                }
            }
        }
        page
    }

    /// A page of one text that somebody else than the agent said.
    pub fn of_text(text: &str) -> Page {
        let mut page = Page::default();
        page.push(Voice::World, 0, 0, |out| out.push_str(text));
        page
    }

    fn add(&mut self, transcript: &Transcript<'_>, message: usize, part_index: usize, part: &Part, role: Role) {
        match part.kind {
            PartKind::Text => {
                let voice = if role == Role::Assistant { Voice::Agent } else { Voice::World };
                self.push(voice, message, part_index, |out| out.push_str(&transcript.words(part)));
            }
            PartKind::ToolResult => {
                let words = transcript.words(part);
                self.push(Voice::World, message, part_index, |out| out.push_str(&printed(&words)));
            }
            PartKind::ToolCall => {
                let tool = transcript.raw(part.name);
                if !self.tools.iter().any(|known| known == tool) {
                    self.tools.push(tool.to_owned());
                }
                self.push(Voice::Agent, message, part_index, |out| write_call(transcript, part, out));
            }
            PartKind::Media | PartKind::Reasoning | PartKind::Sealed | PartKind::Opaque => {}
        }
    }

    fn push(&mut self, voice: Voice, message: usize, part: usize, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        self.blocks.push(Block { voice, message, part, span: start..self.text.len() });
        self.text.push('\n');
    }

    /// All texts, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The first block from `message` on.
    pub fn first_block_of(&self, message: usize) -> usize {
        self.blocks.partition_point(|block| block.message < message)
    }

    /// What a block says.
    pub fn words(&self, block: &Block) -> &str {
        self.text.get(block.span.clone()).unwrap_or_default()
    }

    /// The lines of all blocks.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// Names of the tools that are called.
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Bytes of all texts.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing can be read.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// A call on lines: `Edit src/a.rs`, then what is longer than a line.
fn write_call(transcript: &Transcript<'_>, part: &Part, out: &mut String) {
    out.push_str(transcript.raw(part.name));
    let arguments = transcript.words(part);
    let value = match part.content {
        Content::Absent => Value::Null,
        // Arguments that are no JSON are read as they are.
        _ => serde_json::from_str(&arguments).unwrap_or_else(|_| Value::String(arguments.into_owned())),
    };
    let mut long = Vec::new();
    write_values(&value, out, &mut long);
    for text in long {
        out.push('\n');
        out.push_str(&text);
    }
}

fn write_values(value: &Value, line: &mut String, long: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains('\n') => long.push(text.clone()),
        Value::String(text) => {
            line.push(' ');
            line.push_str(text);
        }
        Value::Array(values) => values.iter().for_each(|value| write_values(value, line, long)),
        Value::Object(fields) => fields.values().for_each(|value| write_values(value, line, long)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
