//! An evaluation as tables for the terminal.

use super::ask;
use super::evidence_tables;
use super::measure::Method;
use super::outputs::{KindRow, KindTable};
use super::summary::{Evaluation, Point};
use crate::output::Paint;
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets};
use foldline_measure::retention::{Class, Tally};
use foldline_reduce::wording::counted;
use std::fmt::Write as _;

/// Sessions that are shown as the worst.
const WORST: usize = 5;
/// Lost names that are shown per session.
const LOST: usize = 40;

/// How much is told.
pub struct Detail {
    /// Whether lost names are listed.
    pub lost: bool,
}

/// Everything, one table after the other.
pub fn render(evaluation: &Evaluation, detail: Detail, paint: Paint) -> String {
    let title = |text: &str| format!("\n{}\n", paint.paint(Style::new().bold(), text));
    let mut out = headline(evaluation);
    if evaluation.sessions > 0 {
        out.push_str(&title("Facts kept, by budget"));
        out.push_str(&curve(evaluation));
        out.push_str(&title("Facts kept by foldline, by class"));
        out.push_str(&classes(evaluation));
        out.push_str(&title(&format!("Worst sessions at {} %", evaluation.ordered_by)));
        out.push_str(&worst(evaluation, &detail));
    }
    if let Some(asked) = &evaluation.questions {
        out.push_str(&title(&format!("Evidence told, by budget: {}", evidence_tables::counts(asked))));
        out.push_str(&evidence_tables::curve(evaluation, asked));
        out.push_str(&title("Evidence told by foldline, by kind of question"));
        out.push_str(&evidence_tables::kinds(evaluation, asked));
        if let Some(answers) = &asked.answers {
            out.push_str(&title(&ask::tables::title(answers)));
            out.push_str(&ask::tables::scores(asked, answers));
        }
    }
    if evaluation.own.all_outputs.outputs > 0 {
        out.push_str(&title("Outputs over 500 tokens, by kind"));
        out.push_str(&kinds(&evaluation.own));
    }
    if !evaluation.generated.outputs.is_empty() {
        out.push_str(&title("Generated outputs, of kinds that are rare in these sessions"));
        out.push_str(&kinds(&evaluation.generated));
    }
    out.push_str(&handles(evaluation, paint));
    out
}

fn headline(evaluation: &Evaluation) -> String {
    let facts = evaluation.facts;
    let mut out = match evaluation.sessions {
        0 => format!("no session in which names were needed later, {:.1} s\n", evaluation.seconds),
        sessions => format!(
            "{}, {} facts needed later ({} paths, {} identifiers, {} hashes), {:.1} s\n",
            counted(sessions, "session"),
            facts.total().of,
            facts.paths.of,
            facts.identifiers.of,
            facts.hashes.of,
            evaluation.seconds
        ),
    };
    let skipped = &evaluation.skipped;
    if skipped.count() > 0 {
        let _ = writeln!(
            out,
            "skipped: {} too short to cut, {} in which nothing was needed again, {} not readable",
            skipped.too_short.len(),
            skipped.nothing_needed.len(),
            skipped.unreadable.len()
        );
        skipped.unreadable.iter().take(WORST).for_each(|why| _ = writeln!(out, "  {why}"));
    }
    out
}

fn curve(evaluation: &Evaluation) -> String {
    let mut table =
        table(std::iter::once("budget".to_owned()).chain(Method::ALL.map(|method| method.name().to_owned())));
    for &budget in &evaluation.budgets {
        let at = |method| evaluation.points(method).find(|point| point.budget == budget);
        let cell =
            |point: Option<&Point>| point.map_or_else(String::new, |point| format!("{:.1} %", point.kept_percent));
        let mut row = vec![format!("{budget} %")];
        row.extend(Method::ALL.map(|method| cell(at(method))));
        if let Some(point) = at(Method::Foldline).filter(|point| point.unmet > 0) {
            row.push(format!("{} do not fit; {:.1} % in the others", point.unmet, point.kept_where_met_percent));
        }
        table.add_row(row);
    }
    lines(table, 1..4)
}

fn classes(evaluation: &Evaluation) -> String {
    let head = ["budget".to_owned()].into_iter().chain(Class::ALL.map(|class| class.name().to_owned()));
    let mut table = table(head.chain(["mean of sessions".to_owned(), "tokens".to_owned()]));
    for point in evaluation.points(Method::Foldline) {
        let mut row = vec![format!("{} %", point.budget)];
        row.extend(Class::ALL.map(|class| share(point.score.of(class))));
        row.push(format!("{:.1} %", point.mean_of_sessions));
        row.push(format!("{:.1} %", point.tokens_percent));
        table.add_row(row);
    }
    lines(table, 1..6)
}

fn worst(evaluation: &Evaluation, detail: &Detail) -> String {
    let head = ["session", "tokens", "facts"].map(str::to_owned).into_iter();
    let mut table = table(head.chain(evaluation.budgets.iter().map(|budget| format!("{budget} %"))));
    for row in evaluation.by_session.iter().take(WORST) {
        let mut cells = vec![row.name.clone(), row.tokens.to_string(), row.facts.to_string()];
        cells.extend(row.kept_percent.iter().map(|share| format!("{share:.0}")));
        table.add_row(cells);
    }
    let mut out = lines(table, 1..3 + evaluation.budgets.len());
    for row in evaluation.by_session.iter().take(WORST).filter(|_| detail.lost) {
        let names: Vec<&str> = row.lost.iter().take(LOST).map(String::as_str).collect();
        let _ = writeln!(out, "  {} lost {}: {}", row.name, row.lost.len(), names.join(" "));
    }
    out
}

fn kinds(measured: &KindTable) -> String {
    let head = ["kind", "outputs", "tokens before", "after", "reduction", "needed kept", "in sight", "MB/s"];
    let mut table = table(head.map(str::to_owned).into_iter());
    for row in measured.outputs.iter().filter(|row| row.outputs > 0) {
        table.add_row(kind_cells(row));
    }
    table.add_row(kind_cells(&measured.all_outputs));
    let mean = measured.mean_of_kinds;
    let shares =
        [mean.reduction_percent, mean.needed_kept_percent, mean.in_sight_percent].map(|share| format!("{share:.1} %"));
    table.add_row(["mean of kinds", "", "", ""].map(str::to_owned).into_iter().chain(shares));
    lines(table, 1..8)
}

fn kind_cells(row: &KindRow) -> [String; 8] {
    [
        row.kind.clone(),
        row.outputs.to_string(),
        row.tokens_before.to_string(),
        row.tokens_after.to_string(),
        format!("{:.1} %", row.reduction() * 100.0),
        share(row.needed),
        share(row.in_sight),
        format!("{:.0}", row.mb_per_s),
    ]
}

fn share(tally: Tally) -> String {
    match tally.share() {
        Some(share) => format!("{:.0} % of {}", share * 100.0, tally.of),
        None => "–".to_owned(),
    }
}

fn handles(evaluation: &Evaluation, paint: Paint) -> String {
    let handles = &evaluation.handles;
    if handles.wrong.is_empty() {
        let word = match handles.checked {
            0 => "No handles were checked.".to_owned(),
            checked => format!("All {checked} handles return their originals byte for byte."),
        };
        return format!("\n{word}\n");
    }
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let mut out = format!("\n{} of {} handles are wrong:\n", handles.wrong.len(), handles.checked);
    handles.wrong.iter().for_each(|why| _ = writeln!(out, "  {}", paint.paint(red, why)));
    out
}

/// A table without lines.
pub fn table(head: impl Iterator<Item = String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(head);
    table
}

/// A table as text, with columns of numbers to the right.
pub fn lines(mut table: Table, right: std::ops::Range<usize>) -> String {
    for column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, " {}", line.trim_end());
        out
    })
}
