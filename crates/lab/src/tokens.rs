//! How good the token estimate is, and how fast: held against exact o200k counts.
//!
//! Signatures and images are left out: they are no text, and no vocabulary counts them.

pub mod fit;

use crate::{Failure, best};
use foldline_core::tokens::{estimate, estimate_escaped};
use foldline_transcript::wire;
use foldline_transcript::{Content, Part, PartKind, Transcript};
use std::fmt;
use std::path::PathBuf;
use tiktoken::CoreBpe;

/// Below this many tokens a relative error says little.
const SIZEABLE: u64 = 500;
/// Repetitions of the throughput, of which the best counts.
const RUNS: usize = 7;

/// Estimated and exact tokens of something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// By the estimate.
    pub estimated: u64,
    /// By the vocabulary.
    pub exact: u64,
}

impl Pair {
    /// Relative error: above zero when the estimate is too high.
    pub fn error(self) -> f64 {
        (self.estimated as f64 - self.exact as f64) / (self.exact.max(1) as f64)
    }

    fn add(&mut self, other: Pair) {
        self.estimated += other.estimated;
        self.exact += other.exact;
    }
}

/// One message or session, with what it is called.
#[derive(Clone, Debug)]
pub struct Named {
    /// Session, and message where it is one.
    pub name: String,
    /// Its tokens.
    pub tokens: Pair,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Accuracy {
    /// Each block of text.
    pub blocks: Vec<Pair>,
    /// Each message.
    pub messages: Vec<Named>,
    /// Each session.
    pub sessions: Vec<Named>,
    /// Megabytes per second: plain, escaped, exact.
    pub throughput: (f64, f64, f64),
}

/// Measures the sessions in `files`.
pub fn measure(files: &[PathBuf]) -> Result<Accuracy, Failure> {
    let exact = tiktoken::get_encoding("o200k_base").ok_or("the o200k vocabulary is not built in")?;
    let mut accuracy = Accuracy::default();
    let (mut plain, mut escaped) = (Vec::new(), Vec::new());
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let transcript = wire::read(&text, None).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut session = Pair::default();
        for index in 0..transcript.messages.len() {
            let mut message = Pair::default();
            let mut counted = |block: Block<'_>| {
                let tokens = block.count(exact);
                message.add(tokens);
                accuracy.blocks.push(tokens);
                plain.push(block.words());
                if let Block::Escaped(raw) = block {
                    escaped.push(raw.to_owned());
                }
            };
            for part in transcript.parts_at(index) {
                each_block(&transcript, part, &mut counted);
            }
            session.add(message);
            accuracy.messages.push(Named { name: format!("{name} message {index}"), tokens: message });
        }
        accuracy.sessions.push(Named { name, tokens: session });
    }
    let speed = |texts: &[String], count: &dyn Fn(&str) -> u64| {
        let bytes: usize = texts.iter().map(String::len).sum();
        let time = best::of(RUNS, || texts.iter().map(|text| count(text)).sum::<u64>());
        bytes as f64 / 1e6 / time.as_secs_f64()
    };
    accuracy.throughput = (
        speed(&plain, &|text| estimate(text).into()),
        speed(&escaped, &|text| estimate_escaped(text).into()),
        speed(&plain, &|text| exact.count(text) as u64),
    );
    Ok(accuracy)
}

/// Text as it stands in the document.
#[derive(Clone, Copy)]
enum Block<'a> {
    /// The inside of a string literal.
    Escaped(&'a str),
    /// JSON that models read as it is.
    Json(&'a str),
}

impl Block<'_> {
    fn words(self) -> String {
        match self {
            Block::Escaped(raw) => wire::json::decode(raw).into_owned(),
            Block::Json(raw) => raw.to_owned(),
        }
    }

    fn count(self, exact: &CoreBpe) -> Pair {
        let estimated = match self {
            Block::Escaped(raw) => estimate_escaped(raw),
            Block::Json(raw) => estimate(raw),
        };
        Pair { estimated: estimated.into(), exact: exact.count(&self.words()) as u64 }
    }
}

fn each_block<'a>(transcript: &Transcript<'a>, part: &Part, counted: &mut impl FnMut(Block<'a>)) {
    match (&part.content, part.kind) {
        (_, PartKind::Media | PartKind::Opaque) | (Content::Absent, _) => {}
        (Content::Text(span), _) => counted(Block::Escaped(transcript.raw(span.inner()))),
        (Content::Json(_), PartKind::Sealed) => {}
        (Content::Json(span), _) => counted(Block::Json(transcript.raw(*span))),
        (Content::Blocks { .. }, _) => {
            for inner in transcript.inner_of(part) {
                each_block(transcript, inner, counted);
            }
        }
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizeable =
            |all: &mut dyn Iterator<Item = Pair>| -> Vec<Pair> { all.filter(|pair| pair.exact >= SIZEABLE).collect() };
        writeln!(f, "{:<24}{:>9}{:>10}{:>10}{:>10}{:>10}", "", "number", "bias %", "mean %", "p99 %", "worst %")?;
        let blocks = sizeable(&mut self.blocks.iter().copied());
        let messages = sizeable(&mut self.messages.iter().map(|named| named.tokens));
        let sessions: Vec<Pair> = self.sessions.iter().map(|named| named.tokens).collect();
        for (name, pairs) in
            [("blocks ≥ 500 tokens", blocks), ("messages ≥ 500 tokens", messages), ("sessions", sessions)]
        {
            writeln!(f, "{}", row(name, &pairs))?;
        }
        let mut total = Pair::default();
        self.sessions.iter().for_each(|session| total.add(session.tokens));
        writeln!(f, "\ntotal: {} estimated, {} exact ({:+.2} %)", total.estimated, total.exact, total.error() * 100.0)?;
        for (what, all, least) in [("messages", &self.messages, SIZEABLE), ("sessions", &self.sessions, 0)] {
            writeln!(f, "\nworst {what}:")?;
            let mut worst: Vec<_> = all.iter().filter(|named| named.tokens.exact >= least).collect();
            worst.sort_by(|a, b| b.tokens.error().abs().total_cmp(&a.tokens.error().abs()));
            for named in worst.iter().take(5) {
                let Pair { estimated, exact } = named.tokens;
                writeln!(f, "  {:<28} {estimated} for {exact} ({:+.1} %)", named.name, named.tokens.error() * 100.0)?;
            }
        }
        let (plain, escaped, exact) = self.throughput;
        writeln!(f, "\nMB/s: estimate {plain:.0}, estimate_escaped {escaped:.0}, exact {exact:.0}")
    }
}

/// Bias, mean, p99 and worst of the relative errors.
fn row(name: &str, pairs: &[Pair]) -> String {
    let mut errors: Vec<f64> = pairs.iter().map(|pair| pair.error().abs() * 100.0).collect();
    errors.sort_by(f64::total_cmp);
    let number = pairs.len().max(1) as f64;
    let bias = pairs.iter().map(|pair| pair.error() * 100.0).sum::<f64>() / number;
    let mean = errors.iter().sum::<f64>() / number;
    let p99 = errors.get((errors.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default();
    let worst = errors.last().copied().unwrap_or_default();
    format!("{name:<24}{:>9}{bias:>+10.2}{mean:>10.2}{p99:>10.2}{worst:>10.2}", pairs.len())
}
