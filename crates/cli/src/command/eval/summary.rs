//! Results over all sessions: curves, worst sessions, outputs by kind.

use super::evidence_summary::EvidenceSummary;
use super::handles::Handles;
use super::measure::{BudgetResult, EvalSetup, Method, SessionMeasurement};
use super::outputs::KindTable;
use foldline_measure::retention::Score;
use serde::Serialize;
use std::time::Duration;

/// The budget by which sessions are ordered, in percent: what a fold at default settings leaves.
const TELLING: f64 = 10.0;

/// Everything that a run found out.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Sessions measured.
    pub sessions: usize,
    /// Sessions that were not.
    pub skipped: Skipped,
    /// Facts asked for, by class.
    pub facts: Score,
    /// Budgets in percent.
    pub budgets: Vec<f64>,
    /// Method by method, budget by budget.
    pub curve: Vec<Point>,
    /// The budget by which sessions are ordered.
    pub ordered_by: f64,
    /// Session by session, the worst first.
    pub by_session: Vec<SessionRow>,
    /// What the questions found out, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<EvidenceSummary>,
    /// Large outputs of the sessions.
    #[serde(flatten)]
    pub own: KindTable,
    /// Generated outputs, for kinds that are rare in the sessions.
    pub generated: KindTable,
    /// What the check of handles found.
    pub handles: Handles,
    /// How long it took.
    pub seconds: f64,
}

/// Sessions that could not be measured.
#[derive(Debug, Default, Serialize)]
pub struct Skipped {
    /// Too few messages to cut.
    pub too_short: Vec<String>,
    /// The second part uses nothing of the first.
    pub nothing_needed: Vec<String>,
    /// No transcripts, and why.
    pub unreadable: Vec<String>,
}

impl Skipped {
    /// How many.
    pub fn count(&self) -> usize {
        self.too_short.len() + self.nothing_needed.len() + self.unreadable.len()
    }
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
    /// The share of facts kept, in percent.
    pub kept_percent: f64,
    /// The same in the sessions that could be brought to the budget.
    pub kept_where_met_percent: f64,
    /// The same as the mean of all sessions, each counting alike.
    pub mean_of_sessions: f64,
    /// By class.
    pub score: Score,
    /// Sessions that could not be brought to the budget; their facts count as lost.
    pub unmet: usize,
}

/// One session.
#[derive(Debug, Serialize)]
pub struct SessionRow {
    /// Its name.
    pub name: String,
    /// Tokens of the part that is compacted.
    pub tokens: u64,
    /// Its messages.
    pub messages: usize,
    /// Facts asked for.
    pub facts: u64,
    /// Facts that the engine keeps, budget by budget, in percent.
    pub kept_percent: Vec<f64>,
    /// Why budgets could not be met.
    pub unmet: Vec<String>,
    /// What the engine loses at the budget by which sessions are ordered.
    pub lost: Vec<String>,
}

impl Evaluation {
    /// Sums up.
    pub fn of(
        setup: &EvalSetup,
        measurements: Vec<SessionMeasurement>,
        outputs: [KindTable; 2],
        skipped: Skipped,
        questions: Option<EvidenceSummary>,
        took: Duration,
    ) -> Evaluation {
        let [own, generated] = outputs;
        let budgets = setup.budgets.clone();
        let telling = telling(&budgets);
        let points = Method::ALL.iter().flat_map(|&method| budgets.iter().map(move |&budget| (method, budget)));
        let curve: Vec<Point> = points.map(|(method, budget)| point(&measurements, method, budget)).collect();
        let facts = curve.first().map(|point| point.score).unwrap_or_default();
        let mut handles = Handles::default();
        measurements.iter().for_each(|measured| handles.add(measured.handles.clone()));
        let mut by_session: Vec<SessionRow> =
            measurements.into_iter().map(|measured| session(measured, telling)).collect();
        let share = |row: &SessionRow| row.kept_percent.get(telling).copied().unwrap_or_default();
        by_session.sort_by(|one, two| share(one).total_cmp(&share(two)).then_with(|| one.name.cmp(&two.name)));
        Evaluation {
            sessions: by_session.len(),
            skipped,
            facts,
            ordered_by: budgets.get(telling).copied().unwrap_or_default(),
            budgets,
            curve,
            by_session,
            questions,
            own,
            generated,
            handles,
            seconds: took.as_secs_f64(),
        }
    }

    /// Why a model that was asked answered nothing; `None` when it did, or none was asked.
    pub fn unanswered(&self) -> Option<&str> {
        self.questions.as_ref()?.answers.as_ref()?.nothing()
    }

    /// The points of one method.
    pub fn points(&self, method: Method) -> impl Iterator<Item = &Point> {
        self.curve.iter().filter(move |point| point.method == method)
    }
}

/// The place of the budget by which sessions are ordered.
pub fn telling(budgets: &[f64]) -> usize {
    let distance = |budget: &f64| (budget - TELLING).abs();
    let places = budgets.iter().enumerate().min_by(|one, two| distance(one.1).total_cmp(&distance(two.1)));
    places.map_or(0, |(place, _)| place)
}

fn marks(measured: &SessionMeasurement, method: Method) -> impl Iterator<Item = &BudgetResult> {
    measured.marks.iter().filter(move |mark| mark.method == method)
}

fn percent(score: &Score) -> f64 {
    score.total().share().unwrap_or_default() * 100.0
}

fn point(measurements: &[SessionMeasurement], method: Method, budget: f64) -> Point {
    let mut point = Point {
        method,
        budget,
        tokens_percent: 0.0,
        kept_percent: 0.0,
        kept_where_met_percent: 0.0,
        mean_of_sessions: 0.0,
        score: Score::default(),
        unmet: 0,
    };
    let (mut before, mut after) = (0, 0);
    let mut met = Score::default();
    for measured in measurements {
        for mark in marks(measured, method).filter(|mark| mark.budget == budget) {
            point.score += mark.score;
            point.mean_of_sessions += percent(&mark.score) / measurements.len() as f64;
            match mark.unmet {
                Some(_) => point.unmet += 1,
                None => {
                    met += mark.score;
                    before += measured.tokens;
                    after += mark.tokens;
                }
            }
        }
    }
    point.kept_percent = percent(&point.score);
    point.kept_where_met_percent = percent(&met);
    point.tokens_percent = after as f64 * 100.0 / before.max(1) as f64;
    point
}

fn session(mut measured: SessionMeasurement, telling: usize) -> SessionRow {
    let lost = if telling < measured.lost.len() { measured.lost.swap_remove(telling) } else { Vec::new() };
    let own = || marks(&measured, Method::Foldline);
    SessionRow {
        tokens: measured.tokens,
        messages: measured.messages,
        facts: own().next().map_or(0, |mark| mark.score.total().of),
        kept_percent: own().map(|mark| percent(&mark.score)).collect(),
        unmet: own().filter_map(|mark| mark.unmet.clone()).collect(),
        lost,
        name: measured.name.clone(),
    }
}
