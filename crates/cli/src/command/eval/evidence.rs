//! Measures how much of the evidence for a session's questions is told at each budget.

use super::handles::Handles;
use super::measure::{EvalSetup, Method};
use super::part::Part;
use super::question_files::QuestionFile;
use super::record;
use crate::input;
use foldline_measure::retention::{Page, Told};
use foldline_reduce::wording::counted;
use foldline_transcript::Transcript;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire;
use std::ops::AddAssign;

/// A session that was measured by the questions on it.
pub struct EvidenceMeasurement<'s> {
    /// The questions.
    pub question_file: &'s QuestionFile,
    /// Tokens of the part that they are about.
    pub tokens: u64,
    /// Bytes of its text, as far as it can be read.
    pub bytes: usize,
    /// Method by method, budget by budget.
    pub marks: Vec<EvidenceResult>,
    /// What the engine made of it, budget by budget.
    pub records: Vec<Record>,
    /// What the check of handles found.
    pub handles: Handles,
}

/// One method at one budget.
pub struct EvidenceResult {
    /// The method.
    pub method: Method,
    /// The budget in percent.
    pub budget: f64,
    /// What it tells.
    pub told: Told,
    /// How large the result is; why the budget could not be met, and then nothing counts as told.
    pub size: Result<ResultSize, String>,
}

/// How large a result is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultSize {
    /// Its tokens.
    pub tokens: u64,
    /// Bytes of its text, as far as it can be read.
    pub bytes: usize,
}

impl AddAssign for ResultSize {
    fn add_assign(&mut self, other: ResultSize) {
        self.tokens += other.tokens;
        self.bytes += other.bytes;
    }
}

/// A compacted part as somebody reads it.
pub struct Record {
    /// The budget in percent.
    pub budget: f64,
    /// Its text.
    pub text: String,
}

/// Measures a session by the questions on it; says why that is not possible.
pub fn read<'s>(
    setup: &EvalSetup,
    question_file: &'s QuestionFile,
    session: &str,
) -> Result<EvidenceMeasurement<'s>, String> {
    let transcript = input::transcript(session, setup.job.format).map_err(|error| error.to_string())?;
    let first = beginning(&transcript, question_file.questions.cut)?;
    let part = Part::read(setup, &first, transcript.format).map_err(|error| error.to_string())?;
    let mut reading = EvidenceMeasurement {
        question_file,
        tokens: part.tokens(),
        bytes: part.page.len(),
        marks: Vec::new(),
        records: Vec::new(),
        handles: Handles::default(),
    };
    for &budget in &setup.budgets {
        let mark = engine(setup, &part, budget, &mut reading);
        reading.marks.push(mark);
        for (method, kind) in Method::SIMPLER {
            let lines = part.simpler(kind, budget);
            let told = question_file.questions.told(lines.iter().map(String::as_str));
            let bytes = lines.iter().map(|line| line.len() + 1).sum();
            reading.marks.push(EvidenceResult {
                method,
                budget,
                told,
                size: Ok(ResultSize { tokens: part.allowed(budget), bytes }),
            });
        }
    }
    Ok(reading)
}

/// The document with as many of its messages as are asked about.
fn beginning(transcript: &Transcript<'_>, cut: usize) -> Result<String, String> {
    let messages = transcript.messages.len();
    if cut > messages {
        return Err(format!("`cut` is {cut}, but the session has {}", counted(messages, "message")));
    }
    let mut rewrite = Rewrite::default();
    (cut..messages).for_each(|index| rewrite.remove(index));
    Ok(rewrite.apply(transcript))
}

fn engine(setup: &EvalSetup, part: &Part<'_>, budget: f64, reading: &mut EvidenceMeasurement<'_>) -> EvidenceResult {
    let questions = &reading.question_file.questions;
    let unmet = |why: String| {
        let told = questions.told(std::iter::empty());
        EvidenceResult { method: Method::Foldline, budget, told, size: Err(why) }
    };
    let done = match part.compacted(setup, budget) {
        Ok(done) => done,
        Err(why) => return unmet(why),
    };
    let after = match wire::read(&done.body, Some(done.format)) {
        Ok(after) => after,
        Err(error) => return unmet(error.to_string()),
    };
    reading.handles.add(setup.keep.check(&questions.session, &done));
    let page = Page::of(&after);
    reading.records.push(Record { budget, text: record::of(&after, &page) });
    let told = questions.told(page.lines());
    let size = ResultSize { tokens: done.plan.tokens.after, bytes: page.len() };
    EvidenceResult { method: Method::Foldline, budget, told, size: Ok(size) }
}
