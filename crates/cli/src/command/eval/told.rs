//! All sessions with questions together: how much of the evidence is told, by budget and by kind of question.

use super::ask::Answers;
use super::evidence::{Mark, Reading, Size};
use super::summary::telling;
use super::trial::Method;
use foldline_measure::retention::Told;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the questions found out.
#[derive(Debug, Serialize)]
pub struct Asked {
    /// Sessions that were asked about.
    pub sessions: usize,
    /// Questions on them.
    pub questions: usize,
    /// Places that tell the answers.
    pub places: u64,
    /// Questions that could not be put to anything, and why.
    pub left_out: Vec<String>,
    /// Method by method, budget by budget.
    pub curve: Vec<Point>,
    /// Session by session, the worst first.
    pub by_session: Vec<Row>,
    /// What a model could answer, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// One method at one budget over all sessions.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
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
pub struct Row {
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

impl Asked {
    /// Sums up.
    pub fn of(readings: &[Reading<'_>], left_out: Vec<String>, budgets: &[f64], answers: Option<Answers>) -> Asked {
        let points = Method::ALL.iter().flat_map(|&method| budgets.iter().map(move |&budget| (method, budget)));
        let curve: Vec<Point> = points.map(|(method, budget)| point(readings, method, budget)).collect();
        let telling = telling(budgets);
        let mut by_session: Vec<Row> = readings.iter().map(row).collect();
        let told = |row: &Row| row.told_percent.get(telling).copied().unwrap_or_default();
        by_session.sort_by(|one, two| told(one).total_cmp(&told(two)).then_with(|| one.name.cmp(&two.name)));
        Asked {
            sessions: readings.iter().map(|reading| &reading.sheet.questions.session).collect::<BTreeSet<_>>().len(),
            questions: by_session.iter().map(|row| row.questions).sum(),
            places: curve.first().map_or(0, |point| point.total.of),
            left_out,
            curve,
            by_session,
            answers,
        }
    }

    /// The points of one method.
    pub fn points(&self, method: Method) -> impl Iterator<Item = &Point> {
        self.curve.iter().filter(move |point| point.method == method)
    }

    /// The kinds of questions that have evidence, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.curve.first().into_iter().flat_map(|point| point.kinds.keys().map(String::as_str))
    }
}

fn point(readings: &[Reading<'_>], method: Method, budget: f64) -> Point {
    let is_wanted = |mark: &&Mark| mark.method == method && mark.budget == budget;
    let (mut told, mut unmet, mut before, mut after) = (Told::default(), 0, Size::default(), Size::default());
    for (reading, mark) in readings.iter().filter_map(|reading| Some((reading, reading.marks.iter().find(is_wanted)?)))
    {
        told.add(&mark.told);
        match mark.size {
            Ok(size) => {
                before += Size { tokens: reading.tokens, bytes: reading.bytes };
                after += size;
            }
            Err(_) => unmet += 1,
        }
    }
    Point {
        method,
        budget,
        tokens_percent: after.tokens as f64 * 100.0 / before.tokens.max(1) as f64,
        text_percent: after.bytes as f64 * 100.0 / before.bytes.max(1) as f64,
        total: told.total().into(),
        kinds: told.kinds.into_iter().map(|(kind, pair)| (kind, pair.into())).collect(),
        unmet,
    }
}

fn row(reading: &Reading<'_>) -> Row {
    let own = || reading.marks.iter().filter(|mark| mark.method == Method::Foldline);
    let share = |mark: &Mark| Share::from(mark.told.total());
    Row {
        name: reading.sheet.questions.session.clone(),
        file: reading.sheet.file.display().to_string(),
        messages: reading.sheet.questions.cut,
        tokens: reading.tokens,
        questions: reading.sheet.questions.questions.len(),
        places: own().next().map_or(0, |mark| share(mark).of),
        told_percent: own().map(|mark| share(mark).told_percent).collect(),
        unmet: own().filter_map(|mark| mark.size.clone().err()).collect(),
    }
}
