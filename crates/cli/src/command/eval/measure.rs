//! Measures one session: cut it, compact it to every budget, compare it with the baselines.

use super::handles::{Handles, Keep};
use super::outputs::{self, Output};
use super::part::Part;
use crate::input;
use foldline_core::handoff;
use foldline_core::{Job, Policy};
use foldline_measure::retention::{Baseline, Exam, Page, SHARE, Score, Timeline, cut};
use foldline_transcript::Transcript;
use foldline_transcript::repair::repair;
use foldline_transcript::wire;
use serde::Serialize;

/// What all sessions are tried with.
pub struct EvalSetup {
    /// The settings.
    pub policy: Policy,
    /// Format and models.
    pub job: Job,
    /// Where originals go.
    pub keep: Keep,
    /// Shares in percent, rising.
    pub budgets: Vec<f64>,
}

/// What became of a session.
pub enum SessionResult {
    /// It was measured.
    Measured(Box<SessionMeasurement>),
    /// It has no two parts.
    TooShort(String),
    /// Its second part uses nothing of the first.
    NothingNeeded(String),
    /// It is no transcript, and why.
    Unreadable(String),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The engine.
    Foldline,
    /// The end of the text.
    PlainTail,
    /// A line for every old result.
    Stubs,
}

impl Method {
    /// All of them, in the order of reports.
    pub const ALL: [Method; 3] = [Method::Foldline, Method::Stubs, Method::PlainTail];
    /// Those that the engine is compared with.
    pub const SIMPLER: [(Method, Baseline); 2] =
        [(Method::PlainTail, Baseline::PlainTail), (Method::Stubs, Baseline::Stubs)];

    /// The words in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Foldline => "foldline",
            Method::PlainTail => Baseline::PlainTail.name(),
            Method::Stubs => Baseline::Stubs.name(),
        }
    }
}

/// One method at one budget.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetResult {
    /// The method.
    pub method: Method,
    /// The budget in percent.
    pub budget: f64,
    /// Tokens that the result has.
    pub tokens: u64,
    /// What it keeps.
    pub score: Score,
    /// Why the budget could not be met; then nothing counts as kept.
    pub unmet: Option<String>,
}

/// A measured session.
pub struct SessionMeasurement {
    /// Its name.
    pub name: String,
    /// Tokens of the part that is compacted.
    pub tokens: u64,
    /// Messages of that part.
    pub messages: usize,
    /// Method by method, budget by budget.
    pub marks: Vec<BudgetResult>,
    /// Names that the engine lost, by budget.
    pub lost: Vec<Vec<String>>,
    /// What the check of handles found.
    pub handles: Handles,
    /// Its large outputs, reduced.
    pub outputs: Vec<Output>,
}

/// Tries one conversation.
pub fn measure_session(setup: &EvalSetup, name: String, text: &str) -> SessionResult {
    let transcript = match input::transcript(text, setup.job.format) {
        Ok(transcript) => transcript,
        Err(error) => return SessionResult::Unreadable(format!("{name}: {error}")),
    };
    // What the engine would do first: an unanswered call would hold everything after it together.
    match repair(&transcript) {
        Some(repaired) => match wire::read(&repaired.text, Some(transcript.format)) {
            Ok(sound) => measure_transcript(setup, name, &sound),
            Err(error) => SessionResult::Unreadable(format!("{name}: {error}")),
        },
        None => measure_transcript(setup, name, &transcript),
    }
}

fn measure_transcript(setup: &EvalSetup, name: String, session: &Transcript<'_>) -> SessionResult {
    let page = Page::of(session);
    let Ok(cut) = cut(session, &page, SHARE) else {
        return SessionResult::TooShort(name);
    };
    let timeline = Timeline::of(&page);
    let exam = Exam::at(&page, &timeline, cut.message);
    if exam.is_empty() {
        return SessionResult::NothingNeeded(name);
    }
    let part = match Part::read(setup, &cut.first, session.format) {
        Ok(part) => part,
        Err(error) => return SessionResult::Unreadable(format!("{name}: {error}")),
    };
    let mut measured = SessionMeasurement {
        name,
        tokens: part.tokens(),
        messages: part.messages(),
        marks: Vec::new(),
        lost: Vec::new(),
        handles: Handles::default(),
        outputs: outputs::measure_all(
            &part.transcript,
            &part.page,
            &timeline,
            page.first_block_of(cut.message),
            &part.measure,
        ),
    };
    for &budget in &setup.budgets {
        let mark = measure_engine(setup, &exam, &part, budget, &mut measured);
        measured.marks.push(mark);
        for (method, kind) in Method::SIMPLER {
            let lines = part.simpler(kind, budget);
            let score = exam.score(lines.iter().map(String::as_str));
            measured.marks.push(BudgetResult { method, budget, tokens: part.allowed(budget), score, unmet: None });
        }
    }
    SessionResult::Measured(Box::new(measured))
}

fn measure_engine(
    setup: &EvalSetup,
    exam: &Exam,
    part: &Part<'_>,
    budget: f64,
    measured: &mut SessionMeasurement,
) -> BudgetResult {
    let failed = |why: String| BudgetResult {
        method: Method::Foldline,
        budget,
        tokens: 0,
        score: exam.score(std::iter::empty()),
        unmet: Some(why),
    };
    let done = match part.compacted(setup, budget) {
        Ok(done) => done,
        Err(why) => {
            measured.lost.push(exam.facts().map(|fact| fact.name.clone()).collect());
            return failed(why);
        }
    };
    measured.handles.add(setup.keep.check(&measured.name, &done));
    let root = done.plan.fold.as_ref().and_then(|fold| handoff::root(&fold.handoff.text));
    let exam = &exam.clone().relative_to(root);
    let after = match wire::read(&done.body, Some(done.format)) {
        Ok(after) => Page::of(&after),
        Err(error) => return failed(error.to_string()),
    };
    measured.lost.push(exam.lost(after.lines()).into_iter().map(|fact| fact.name.clone()).collect());
    BudgetResult {
        method: Method::Foldline,
        budget,
        tokens: done.plan.tokens.after,
        score: exam.score(after.lines()),
        unmet: None,
    }
}
