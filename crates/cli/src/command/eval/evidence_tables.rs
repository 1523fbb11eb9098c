//! Results of the questions, as tables for the terminal.

use super::evidence_summary::{EvidenceSummary, Share};
use super::measure::Method;
use super::summary::Evaluation;
use super::tables::{lines, table};
use foldline_reduce::wording::counted;

/// `2 sessions, 32 questions, 81 places that tell the answers`
pub fn counts(asked: &EvidenceSummary) -> String {
    format!(
        "{}, {}, {} that tell the answers",
        counted(asked.sessions, "session"),
        counted(asked.questions, "question"),
        counted(asked.places as usize, "place")
    )
}

/// All methods, budget by budget.
pub fn curve(evaluation: &Evaluation, asked: &EvidenceSummary) -> String {
    let mut table =
        table(std::iter::once("budget".to_owned()).chain(Method::ALL.map(|method| method.name().to_owned())));
    for &budget in &evaluation.budgets {
        let at = |method| asked.points(method).find(|point| point.budget == budget);
        let mut row = vec![format!("{budget} %")];
        row.extend(Method::ALL.map(|method| at(method).map_or_else(String::new, |point| percent(point.total))));
        if let Some(point) = at(Method::Foldline).filter(|point| point.unmet > 0) {
            row.push(format!("{} do not fit", point.unmet));
        }
        table.add_row(row);
    }
    lines(table, 1..4)
}

/// The engine by kind of question, beside the names that it keeps and the tokens that it takes.
pub fn kinds(evaluation: &Evaluation, asked: &EvidenceSummary) -> String {
    let head = ["budget"].into_iter().chain(asked.kinds()).chain(["all", "names kept", "tokens", "text"]);
    let mut table = table(head.map(str::to_owned));
    for point in asked.points(Method::Foldline) {
        let mut row = vec![format!("{} %", point.budget)];
        row.extend(point.kinds.values().map(|share| format!("{:.0} % of {}", share.told_percent, share.of)));
        row.push(percent(point.total));
        row.push(names_kept(evaluation, point.budget));
        row.extend([point.tokens_percent, point.text_percent].map(|share| format!("{share:.1} %")));
        table.add_row(row);
    }
    lines(table, 1..asked.kinds().count() + 5)
}

/// The names that the engine keeps at a budget.
pub fn names_kept(evaluation: &Evaluation, budget: f64) -> String {
    let point = evaluation.points(Method::Foldline).find(|point| point.budget == budget && evaluation.sessions > 0);
    point.map_or_else(|| "–".to_owned(), |point| format!("{:.1} %", point.kept_percent))
}

/// A share in percent.
pub fn percent(share: Share) -> String {
    match share.of {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", share.told_percent),
    }
}
