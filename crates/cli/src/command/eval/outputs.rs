//! Measures reducers on large outputs, by kind.

use super::measure::SessionMeasurement;
use super::samples;
use foldline_core::ledger::understand;
use foldline_core::planning::StepKind;
use foldline_core::planning::{Keeping, Pruner};
use foldline_core::tokens::{self, Measure};
use foldline_measure::retention::{Exam, Fact, Page, Tally, Timeline};
use foldline_reduce::{self as reduce, ConversationNames, Kind};
use foldline_transcript::{PartKind, Transcript};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Smaller outputs stay as they are in most settings.
const LARGE: u32 = 500;
/// A kind with fewer outputs than this in the sessions is measured on generated ones as well, apart.
const RARE: u64 = 10;

/// Runs of a reducer, of which the fastest counts: others use the machine, too.
const RUNS: usize = 3;

/// One output and its reduced form, measured.
pub struct Output {
    kind: Kind,
    before: u64,
    after: u64,
    bytes: usize,
    took: Duration,
    needed: Tally,
    in_sight: Tally,
}

/// All outputs of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindRow {
    /// The kind.
    pub kind: String,
    /// How many there are.
    pub outputs: u64,
    /// Tokens of all of them.
    pub tokens_before: u64,
    /// Tokens of their reduced forms.
    pub tokens_after: u64,
    /// Names that were needed later, and how many of them the reduced forms keep.
    pub needed: Tally,
    /// The same names, and how many of them the conversation still has when all its large outputs are reduced.
    pub in_sight: Tally,
    /// Bytes reduced per second, in millions.
    pub mb_per_s: f64,
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    took: Duration,
}

impl KindRow {
    fn new(kind: String) -> KindRow {
        KindRow {
            kind,
            outputs: 0,
            tokens_before: 0,
            tokens_after: 0,
            needed: Tally::default(),
            in_sight: Tally::default(),
            mb_per_s: 0.0,
            bytes: 0,
            took: Duration::ZERO,
        }
    }

    fn add(&mut self, output: &Output) {
        self.outputs += 1;
        self.tokens_before += output.before;
        self.tokens_after += output.after;
        self.needed += output.needed;
        self.in_sight += output.in_sight;
        self.bytes += output.bytes;
        self.took += output.took;
        self.mb_per_s = self.bytes as f64 / 1e6 / self.took.as_secs_f64().max(1e-9);
    }

    /// The share of tokens that goes, 0 to 1.
    pub fn reduction(&self) -> f64 {
        1.0 - self.tokens_after as f64 / self.tokens_before.max(1) as f64
    }

    /// All rows as one.
    pub fn total(rows: &[KindRow]) -> KindRow {
        let mut total = KindRow::new("all".into());
        for row in rows {
            total.outputs += row.outputs;
            total.tokens_before += row.tokens_before;
            total.tokens_after += row.tokens_after;
            total.needed += row.needed;
            total.in_sight += row.in_sight;
            total.bytes += row.bytes;
            total.took += row.took;
        }
        total.mb_per_s = total.bytes as f64 / 1e6 / total.took.as_secs_f64().max(1e-9);
        total
    }
}

/// Outputs of one origin.
#[derive(Clone, Debug, Serialize)]
pub struct KindTable {
    /// By kind.
    pub outputs: Vec<KindRow>,
    /// All of them.
    pub all_outputs: KindRow,
    /// The mean of all kinds.
    pub mean_of_kinds: KindMean,
}

impl KindTable {
    /// Sums up.
    pub fn of(outputs: Vec<KindRow>) -> KindTable {
        KindTable { all_outputs: KindRow::total(&outputs), mean_of_kinds: KindMean::of(&outputs), outputs }
    }
}

/// The mean of all kinds, each counting alike.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct KindMean {
    /// Tokens that go, in percent.
    pub reduction_percent: f64,
    /// Needed names that reduced forms keep, in percent.
    pub needed_kept_percent: f64,
    /// Needed names that the conversation still has, in percent.
    pub in_sight_percent: f64,
}

impl KindMean {
    /// The mean of the kinds that have outputs.
    pub fn of(rows: &[KindRow]) -> KindMean {
        let mean = |shares: Vec<f64>| shares.iter().sum::<f64>() * 100.0 / shares.len().max(1) as f64;
        let met = || rows.iter().filter(|row| row.outputs > 0);
        KindMean {
            reduction_percent: mean(met().map(KindRow::reduction).collect()),
            needed_kept_percent: mean(met().filter_map(|row| row.needed.share()).collect()),
            in_sight_percent: mean(met().filter_map(|row| row.in_sight.share()).collect()),
        }
    }
}

/// Measures the large outputs of a session's first part as the engine reduces them there: knowing that part, and not
/// the second, which begins at `cut` and tells what was needed. Outputs that a later one repeats or replaces are not
/// reduced but pointed on, and not measured.
pub fn measure_all(
    first: &Transcript<'_>,
    page: &Page,
    timeline: &Timeline,
    cut: usize,
    measure: &Measure,
) -> Vec<Output> {
    let counts = tokens::measure(first, measure);
    let pruner = Pruner::new(first, &counts, measure, LARGE, Keeping::Dropped);
    let is_result = |part: usize| first.parts.get(part).is_some_and(|part| part.kind == PartKind::ToolResult);
    let mut reduced = Vec::new();
    let mut rest = Vec::new();
    for (index, block) in page.blocks().iter().enumerate() {
        let words = page.words(block);
        if !is_result(block.part) || measure.text(words) <= LARGE {
            rest.push(words);
            continue;
        }
        let step = pruner.propose(block.part).map(|proposal| proposal.step.kind);
        if matches!(step, Some(StepKind::Duplicate | StepKind::Superseded)) {
            continue;
        }
        let call = first.exchanges.call_of(block.part).and_then(|call| first.parts.get(call));
        let call = call.map(|call| understand(first, call));
        let source = reduce::Source {
            tool: first.tool_of(block.part),
            argument: call.as_ref().map_or("", |call| call.target.as_ref()),
            ..reduce::Source::default()
        };
        reduced.push(Reduced::of(&source, pruner.conversation(), words, timeline.needed_from(page, index, cut)));
    }
    let asked: BTreeSet<&Fact> = reduced.iter().flat_map(|output| output.exam.facts()).collect();
    let whole = Exam::on(asked.into_iter().cloned(), page.lines());
    let left = rest.iter().copied().chain(reduced.iter().map(Reduced::text)).flat_map(str::lines);
    let lost: BTreeSet<&Fact> = whole.lost(left).into_iter().collect();
    let in_sight = |output: &Reduced<'_>| {
        let of = output.exam.len() as u64;
        Tally { kept: of - output.exam.facts().filter(|fact| lost.contains(fact)).count() as u64, of }
    };
    reduced.iter().map(|output| output.measured(measure, in_sight(output))).collect()
}

/// An output with its reduced form and what was needed of it.
struct Reduced<'a> {
    words: &'a str,
    short: Option<String>,
    kind: Kind,
    took: Duration,
    exam: Exam,
}

impl<'a> Reduced<'a> {
    fn of(
        source: &reduce::Source<'_>,
        conversation: &ConversationNames,
        words: &'a str,
        needed: Vec<Fact>,
    ) -> Reduced<'a> {
        let reduced = reduce::reduce_in_context(source, conversation, words);
        Reduced {
            words,
            kind: reduced.as_ref().map_or_else(|| reduce::detect(source, words), |reduced| reduced.kind),
            short: reduced.map(|reduced| reduced.text),
            took: (0..RUNS).map(|_| timed(source, conversation, words)).min().unwrap_or_default(),
            exam: Exam::on(needed, words.lines()),
        }
    }

    /// What is not worth reducing stays as it is, and keeps everything.
    fn text(&self) -> &str {
        self.short.as_deref().unwrap_or(self.words)
    }

    /// What the reduced form alone keeps of what was needed.
    fn needed(&self) -> Tally {
        self.exam.score(self.text().lines()).total()
    }

    fn measured(&self, measure: &Measure, in_sight: Tally) -> Output {
        Output {
            kind: self.kind,
            before: measure.text(self.words).into(),
            after: measure.text(self.text()).into(),
            bytes: self.words.len(),
            took: self.took,
            needed: self.needed(),
            in_sight,
        }
    }
}

fn timed(source: &reduce::Source<'_>, conversation: &ConversationNames, words: &str) -> Duration {
    let started = Instant::now();
    std::hint::black_box(reduce::reduce_in_context(source, conversation, words));
    started.elapsed()
}

/// The outputs of all sessions by kind, in the order of the documentation.
pub fn gathered(measurements: &[SessionMeasurement]) -> Vec<KindRow> {
    let rows = Kind::ALL.iter().map(|kind| {
        let mut row = KindRow::new(kind.to_string());
        let outputs = measurements.iter().flat_map(|measured| &measured.outputs).filter(|output| output.kind == *kind);
        outputs.for_each(|output| row.add(output));
        row
    });
    rows.collect()
}

/// Generated outputs of the kinds that are rare among `rows`.
pub fn generated(rows: &[KindRow]) -> Vec<KindRow> {
    let measure = Measure::default();
    let mut generated = Vec::new();
    for (_, kind) in rows.iter().zip(Kind::ALL).filter(|(row, _)| row.outputs < RARE) {
        let mut row = KindRow::new(kind.to_string());
        for sample in samples::of(kind) {
            let source = reduce::Source { tool: sample.tool, argument: sample.argument, ..reduce::Source::default() };
            let needed = sample.needed.iter().filter_map(|name| Fact::named(name)).collect();
            let reduced = Reduced::of(&source, &sample.conversation(), &sample.text, needed);
            // Nobody else says anything around them.
            row.add(&reduced.measured(&measure, reduced.needed()));
        }
        generated.push(row);
    }
    generated
}
