//! Results of the questions over all sessions, by budget and by kind of question.

use super::ask::Answers;
use super::evidence::{EvidenceMeasurement, EvidenceResult, ResultSize};
use super::measure::Method;
use super::summary::telling;
use foldline_measure::retention::Told;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the questions found out.
#[derive(Debug, Serialize)]
pub struct EvidenceSummary {
    /// Sessions that were asked about.
    pub sessions: usize,
    /// Questions on them.
    pub questions: usize,
    /// Places that tell the answers.
    pub places: u64,
    /// Questions that could not be put to anything, and why.
    pub left_out: Vec<String>,
    /// Method by method, budget by budget.
    pub curve: Vec<EvidencePoint>,
    /// Session by session, the worst first.
    pub by_session: Vec<SessionEvidence>,
    /// What a model could answer, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// One method at one budget over all sessions.
#[derive(Clone, Debug, Serialize)]
pub struct EvidencePoint {
    /// The method.
    pub method: Method,
    /// The budget in percent.
    pub budget: f64,
    /// Tokens that results have, in percent of what was compacted.
    pub tokens_percent: f64,
    /// Text that results have, in percent of what could be read: calls and reasoning cost more tokens than they show.
    pub text_percent: f64,
    /// All kinds of questions together.
    #[serde(flatten)]
    pub total: Share,
    /// By kind of question.
    pub kinds: BTreeMap<String, Share>,
    /// Sessions that could not be brought to the budget; their evidence counts as not told.
    pub unmet: usize,
}

/// How much of the evidence is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Places that are told.
    pub told: u64,
    /// Places that there are.
    pub of: u64,
    /// The share in percent.
    pub told_percent: f64,
}

impl From<(u64, u64)> for Share {
    fn from((told, of): (u64, u64)) -> Share {
        Share { told, of, told_percent: 100.0 * told as f64 / of.max(1) as f64 }
    }
}

/// One session.
#[derive(Debug, Serialize)]
pub struct SessionEvidence {
    /// Its name.
    pub name: String,
    /// The file of the questions.
    pub file: String,
    /// Messages of the part that is asked about.
    pub messages: usize,
    /// Its tokens.
    pub tokens: u64,
    /// Questions on it.
    pub questions: usize,
    /// Places that tell the answers.
    pub places: u64,
    /// Places that the engine tells, budget by budget, in percent.
    pub told_percent: Vec<f64>,
    /// Why budgets could not be met.
    pub unmet: Vec<String>,
}

impl EvidenceSummary {
    /// Sums up.
    pub fn of(
        readings: &[EvidenceMeasurement<'_>],
        left_out: Vec<String>,
        budgets: &[f64],
        answers: Option<Answers>,
    ) -> EvidenceSummary {
        let points = Method::ALL.iter().flat_map(|&method| budgets.iter().map(move |&budget| (method, budget)));
        let curve: Vec<EvidencePoint> = points.map(|(method, budget)| point(readings, method, budget)).collect();
        let telling = telling(budgets);
        let mut by_session: Vec<SessionEvidence> = readings.iter().map(row).collect();
        let told = |row: &SessionEvidence| row.told_percent.get(telling).copied().unwrap_or_default();
        by_session.sort_by(|one, two| told(one).total_cmp(&told(two)).then_with(|| one.name.cmp(&two.name)));
        EvidenceSummary {
            sessions: readings
                .iter()
                .map(|reading| &reading.question_file.questions.session)
                .collect::<BTreeSet<_>>()
                .len(),
            questions: by_session.iter().map(|row| row.questions).sum(),
            places: curve.first().map_or(0, |point| point.total.of),
            left_out,
            curve,
            by_session,
            answers,
        }
    }

    /// The points of one method.
    pub fn points(&self, method: Method) -> impl Iterator<Item = &EvidencePoint> {
        self.curve.iter().filter(move |point| point.method == method)
    }

    /// The kinds of questions that have evidence, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.curve.first().into_iter().flat_map(|point| point.kinds.keys().map(String::as_str))
    }
}

fn point(readings: &[EvidenceMeasurement<'_>], method: Method, budget: f64) -> EvidencePoint {
    let is_wanted = |mark: &&EvidenceResult| mark.method == method && mark.budget == budget;
    let (mut told, mut unmet, mut before, mut after) =
        (Told::default(), 0, ResultSize::default(), ResultSize::default());
    for (reading, mark) in readings.iter().filter_map(|reading| Some((reading, reading.marks.iter().find(is_wanted)?)))
    {
        told.add(&mark.told);
        match mark.size {
            Ok(size) => {
                before += ResultSize { tokens: reading.tokens, bytes: reading.bytes };
                after += size;
            }
            Err(_) => unmet += 1,
        }
    }
    EvidencePoint {
        method,
        budget,
        tokens_percent: after.tokens as f64 * 100.0 / before.tokens.max(1) as f64,
        text_percent: after.bytes as f64 * 100.0 / before.bytes.max(1) as f64,
        total: told.total().into(),
        kinds: told.kinds.into_iter().map(|(kind, pair)| (kind, pair.into())).collect(),
        unmet,
    }
}

fn row(reading: &EvidenceMeasurement<'_>) -> SessionEvidence {
    let own = || reading.marks.iter().filter(|mark| mark.method == Method::Foldline);
    let share = |mark: &EvidenceResult| Share::from(mark.told.total());
    SessionEvidence {
        name: reading.question_file.questions.session.clone(),
        file: reading.question_file.file.display().to_string(),
        messages: reading.question_file.questions.cut,
        tokens: reading.tokens,
        questions: reading.question_file.questions.questions.len(),
        places: own().next().map_or(0, |mark| share(mark).of),
        told_percent: own().map(|mark| share(mark).told_percent).collect(),
        unmet: own().filter_map(|mark| mark.size.clone().err()).collect(),
    }
}
