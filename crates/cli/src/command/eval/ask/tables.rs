//! Answers and grades as a table for the terminal.

use super::scores::{AnswerPoint, Answers, Mean};
use crate::command::eval::evidence_summary::EvidenceSummary;
use crate::command::eval::evidence_tables::percent;
use crate::command::eval::measure::Method;
use crate::command::eval::tables::{lines, table};
use foldline_reduce::wording::counted;
use std::fmt::Write as _;

/// `Answers of small from foldline's text, by kind of question (0 to 1, a right guess counts half; 12 calls)`
pub fn title(answers: &Answers) -> String {
    format!(
        "Answers of {} from foldline's text, by kind of question (0 to 1, a right guess counts half; {})",
        answers.model,
        counted(answers.calls as usize, "call")
    )
}

/// Means by kind, beside the evidence, and what failed.
pub fn scores(asked: &EvidenceSummary, answers: &Answers) -> String {
    let head = ["budget"].into_iter().chain(answers.kinds()).chain(["all", "evidence", "not graded"]);
    let mut table = table(head.map(str::to_owned));
    for point in &answers.curve {
        let mut row = vec![format!("{} %", point.budget)];
        row.extend(point.kinds.values().map(|kind| mean(*kind)));
        row.extend([mean(point.total), evidence(asked, point), point.total.failed.to_string()]);
        table.add_row(row);
    }
    let mut out = lines(table, 1..answers.kinds().count() + 4);
    for (why, count) in answers.failures() {
        let _ = writeln!(out, "  {} failed: {why}", counted(count, "question"));
    }
    out
}

/// A mean, from 0 to 1.
pub fn mean(mean: Mean) -> String {
    mean.mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"))
}

/// The evidence that the same text tells.
pub fn evidence(asked: &EvidenceSummary, point: &AnswerPoint) -> String {
    let same = asked.points(Method::Foldline).find(|told| told.budget == point.budget);
    same.map_or_else(String::new, |told| percent(told.total))
}
