//! The baselines that a compaction is compared with.

use super::page::{Block, Page};
use foldline_core::ledger::{Act, understand};
use foldline_core::tokens::{Counts, estimate};
use foldline_transcript::{PartKind, Transcript};
use serde::Serialize;

/// A result of up to this many bytes is no longer than the line that would stand for it.
const STUBBED_FROM: usize = 200;
/// The words of a call that a stub repeats.
const STUB_WORDS: usize = 80;
/// A value of a call is cut to this many characters where results are stubs.
const ARGUMENT: usize = 200;

/// A method to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The end of the text, as much as fits.
    PlainTail,
    /// Half of the budget is the end as it is; before it, each result is a line that says which call it was and how
    /// much it answered, and long arguments are cut: what agents do before they ask a model.
    Stubs,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Baseline; 2] = [Baseline::PlainTail, Baseline::Stubs];

    /// The words in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Baseline::PlainTail => "plain tail",
            Baseline::Stubs => "one-line stubs",
        }
    }
}

/// The lines that a baseline keeps of a transcript within `budget` tokens, newest first.
pub fn baseline(kind: Baseline, transcript: &Transcript<'_>, page: &Page, counts: &Counts, budget: u64) -> Vec<String> {
    let mut tail = Tail { lines: Vec::new(), left: budget };
    match kind {
        Baseline::PlainTail => {
            tail.take(transcript, page, counts, page.blocks().len());
        }
        Baseline::Stubs => {
            tail.left = budget / 2;
            let verbatim = tail.take(transcript, page, counts, page.blocks().len());
            tail.left = budget - budget / 2;
            tail.take_stubs(transcript, page, verbatim);
        }
    }
    tail.lines
}

struct Tail {
    lines: Vec<String>,
    left: u64,
}

impl Tail {
    /// Takes whole messages from the end on, then as much of the one before as still fits. Returns the
    /// first block that was taken whole.
    fn take(&mut self, transcript: &Transcript<'_>, page: &Page, counts: &Counts, mut end: usize) -> usize {
        for message in (0..transcript.messages.len()).rev() {
            let start = page.first_block_of(message);
            let blocks = page.blocks().get(start..end).unwrap_or_default();
            let cost = counts.message(message);
            if cost > self.left {
                self.take_lines(page, blocks);
                return end;
            }
            self.left -= cost;
            let lines = blocks.iter().rev().flat_map(|block| page.words(block).lines().rev());
            self.lines.extend(lines.map(str::to_owned));
            end = start;
        }
        end
    }

    fn take_lines(&mut self, page: &Page, blocks: &[Block]) {
        for line in blocks.iter().rev().flat_map(|block| page.words(block).lines().rev()) {
            if !self.pay(line) {
                return;
            }
        }
    }

    fn pay(&mut self, line: &str) -> bool {
        let cost = u64::from(estimate(line)) + 1;
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.lines.push(line.to_owned());
        }
        fits
    }

    fn take_stubs(&mut self, transcript: &Transcript<'_>, page: &Page, end: usize) {
        for block in page.blocks().get(..end).unwrap_or_default().iter().rev() {
            let text = stubbed(transcript, page, block);
            for line in text.lines().rev() {
                if !self.pay(line) {
                    return;
                }
            }
        }
    }
}

fn stubbed(transcript: &Transcript<'_>, page: &Page, block: &Block) -> String {
    let words = page.words(block);
    match transcript.parts.get(block.part).map(|part| part.kind) {
        Some(PartKind::ToolResult) if words.len() > STUBBED_FROM => stub(transcript, block, words),
        Some(PartKind::ToolCall) => {
            let cut = |line: &str| line.chars().take(ARGUMENT).collect::<String>();
            // What is longer than a line is one value: its beginning stays.
            let mut lines = words.lines();
            let first = lines.next().map(cut).unwrap_or_default();
            let rest = lines.collect::<Vec<_>>().join("\n");
            if rest.is_empty() { first } else { format!("{first}\n{}", cut(&rest)) }
        }
        _ => words.to_owned(),
    }
}

/// One line for a result: which tool, what about, how much.
fn stub(transcript: &Transcript<'_>, block: &Block, words: &str) -> String {
    let tool = transcript.tool_of(block.part);
    let call = transcript.exchanges.call_of(block.part).and_then(|call| transcript.parts.get(call));
    let Some(call) = call.map(|call| understand(transcript, call)) else {
        return format!("[{tool}] ({} chars result)", words.len());
    };
    let target: String = call.target.lines().next().unwrap_or_default().chars().take(STUB_WORDS).collect();
    let size = words.len();
    match call.act {
        Act::Run => format!("[{tool}] ran `{target}` -> {} lines output", words.lines().count()),
        Act::Read => format!("[{tool}] read {target} ({size} chars)"),
        Act::Write | Act::Edit => format!("[{tool}] wrote to {target} ({size} chars)"),
        Act::Search | Act::List => format!("[{tool}] search for '{target}' -> {} matches", words.lines().count()),
        _ => format!("[{tool}] {target} ({size} chars result)"),
    }
}
