//! Speed of the reducers, on real sessions and on adversarial inputs, where time must stay linear.

use crate::{Failure, best};
use foldline_core::ledger::understand;
use foldline_reduce::{ConversationNames, Kind, Source, detect, reduce_in_context};
use foldline_transcript::wire;
use foldline_transcript::{PartKind, Transcript};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a full-size input.
const FULL: usize = 50_000_000;
/// The smaller inputs that growth is held against are this many times smaller, each than the next.
const STEP: usize = 2;

/// An input and how it is made.
struct Shape {
    name: &'static str,
    source: Source<'static>,
    make: fn(usize) -> String,
}

const SHELL: Source<'static> = Source { tool: "bash", argument: "run", focus: &[] };
const FETCH: Source<'static> = Source { tool: "web_fetch", argument: "https://example.test", ..SHELL };

const SHAPES: &[Shape] = &[
    Shape { name: "one line", source: SHELL, make: |size| "x".repeat(size) },
    Shape { name: "one line of names", source: SHELL, make: |size| "some_name ".repeat(size / 10) },
    Shape { name: "empty lines", source: SHELL, make: |size| "\n".repeat(size / 5) },
    Shape { name: "nested JSON", source: SHELL, make: nested },
    Shape { name: "open JSON", source: SHELL, make: |size| "{\"a\":".repeat(size / 5) },
    Shape { name: "invalid UTF-8", source: SHELL, make: invalid },
    Shape { name: "errors", source: SHELL, make: |size| "error: it broke\n".repeat(size / 16) },
    Shape { name: "open tags", source: FETCH, make: |size| "<a ".repeat(size / 3) },
];

fn nested(size: usize) -> String {
    "[".repeat(size / 2) + &"]".repeat(size / 2)
}

/// What programs make of bytes that are no text.
fn invalid(size: usize) -> String {
    let bytes: Vec<u8> = (0..size / 3).map(|at| (at % 251) as u8 | 0x80).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Speed on one shape.
#[derive(Clone, Debug)]
pub struct Pace {
    /// What it is.
    pub name: &'static str,
    /// Bytes.
    pub bytes: usize,
    /// Millions of bytes per second at full size.
    pub mb_per_s: f64,
    /// Time per byte at half of the size over time per byte at a quarter, and at full size over half: one is linear.
    pub growth: [f64; 2],
}

/// All shapes.
#[derive(Clone, Debug)]
pub struct Paces(pub Vec<Pace>);

/// Times every shape.
pub fn on_hostile(runs: usize) -> Paces {
    let conversation = ConversationNames::of_words(["some_name it_broke"]);
    let pace = |shape: &Shape| {
        let per_byte = |size: usize| {
            let text = (shape.make)(size);
            let took = best::of(runs, || reduce_in_context(&shape.source, &conversation, &text)).as_secs_f64();
            (text.len(), (took / text.len() as f64).max(1e-15))
        };
        let [(_, quarter), (_, half), (bytes, full)] = [FULL / STEP / STEP, FULL / STEP, FULL].map(per_byte);
        Pace { name: shape.name, bytes, mb_per_s: 1e-6 / full, growth: [half / quarter, full / half] }
    };
    Paces(SHAPES.iter().map(pace).collect())
}

impl fmt::Display for Paces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20} {:>10} {:>8} {:>14}", "input", "bytes", "MB/s", "growth ¼→½→1")?;
        for Pace { name, bytes, mb_per_s, growth: [first, second] } in &self.0 {
            writeln!(f, "{name:<20} {bytes:>10} {mb_per_s:>8.0} {first:>9.2} {second:>4.2}")?;
        }
        Ok(())
    }
}

/// Smaller outputs stay as they are in most settings.
const LARGE: usize = 2_000;

/// Speed on the outputs of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    outputs: usize,
    bytes: usize,
    took: Duration,
}

impl Work {
    fn add(&mut self, other: Work) {
        self.outputs += other.outputs;
        self.bytes += other.bytes;
        self.took += other.took;
    }
}

/// Speed on the large outputs of sessions, by kind.
#[derive(Debug, Default)]
pub struct Works(BTreeMap<Kind, Work>);

/// Times every large output amid its conversation.
pub fn on_sessions(files: &[PathBuf], runs: usize) -> Result<Works, Failure> {
    let mut works = Works::default();
    for file in files {
        let body = std::fs::read_to_string(file)?;
        works.read(&wire::read(&body, None)?, runs);
    }
    Ok(works)
}

impl Works {
    fn read(&mut self, transcript: &Transcript<'_>, runs: usize) {
        let conversation = ConversationNames::of(transcript);
        let parts = transcript.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::ToolResult);
        for (index, part) in parts {
            let words = transcript.words(part);
            if words.len() < LARGE {
                continue;
            }
            let call = transcript.exchanges.call_of(index).and_then(|call| transcript.parts.get(call));
            let call = call.map(|call| understand(transcript, call));
            let argument = call.as_ref().map_or("", |call| call.target.as_ref());
            let source = Source { tool: transcript.tool_of(index), argument, ..Source::default() };
            let took = best::of(runs, || reduce_in_context(&source, &conversation, &words));
            let work = Work { outputs: 1, bytes: words.len(), took };
            self.0.entry(detect(&source, &words)).or_default().add(work);
        }
    }
}

impl fmt::Display for Works {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Work::default();
        self.0.values().for_each(|work| all.add(*work));
        writeln!(f, "{:<14} {:>8} {:>10} {:>8}", "kind", "outputs", "bytes", "MB/s")?;
        let named = self.0.iter().map(|(kind, work)| (kind.to_string(), work));
        for (kind, Work { outputs, bytes, took }) in named.chain([("all".to_owned(), &all)]) {
            let speed = *bytes as f64 / 1e6 / took.as_secs_f64().max(1e-9);
            writeln!(f, "{kind:<14} {outputs:>8} {bytes:>10} {speed:>8.0}")?;
        }
        Ok(())
    }
}
