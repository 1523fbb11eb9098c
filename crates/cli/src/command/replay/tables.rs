//! A replay for the terminal: table, chart, notable sessions.

use super::chart::sparkline;
use super::compare::Replay;
use crate::output::Paint;
use anstyle::Style;
use comfy_table::{Cell, CellAlignment, Table, presets};
use foldline_reduce::wording::counted;
use std::fmt::Write as _;

/// Columns of the picture.
const COLUMNS: usize = 72;

/// The figures, the picture and the remarks.
pub fn render(replay: &Replay, paint: Paint) -> String {
    let mut out = String::new();
    let requests = replay.totals.first().map_or(0, |metrics| metrics.requests);
    let _ = writeln!(
        out,
        "{}\n",
        paint.paint(
            Style::new().bold(),
            &format!("{}, {requests} requests, {:.1} s", counted(replay.sessions.len(), "session"), replay.seconds)
        )
    );
    let _ = writeln!(out, "{}\n", table(replay));
    picture(replay, &mut out);
    remarks(replay, &mut out);
    out
}

fn table(replay: &Replay) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let names = [
        "policy",
        "$",
        "read $",
        "write $",
        "output $",
        "cached",
        "folds",
        "per 100",
        "between",
        "reclaimed",
        "first",
        "prune:fold",
        "M tokens",
        "kept",
        "summaries",
        "broken",
        "too long",
    ];
    table.set_header(names);
    for (policy, metrics) in replay.policies.iter().zip(&replay.totals) {
        let kept = metrics.kept.map_or("–".to_owned(), |kept| format!("{:.1} %", kept * 100.0));
        let row = [
            policy.clone(),
            format!("{:.2}", metrics.dollars),
            format!("{:.2}", metrics.bill.cache_read),
            format!("{:.2}", metrics.bill.cache_write + metrics.bill.input),
            format!("{:.2}", metrics.bill.output),
            format!("{:.1} %", metrics.cache_read_share * 100.0),
            metrics.compactions.to_string(),
            format!("{:.2}", metrics.per_100_requests),
            metrics.requests_between.map_or("–".to_owned(), |between| format!("{between:.0}")),
            format!("{:.0}", metrics.reclaimed),
            format!("{:.1}", metrics.earliest_changed),
            format!("{}:{}", metrics.prune_only, metrics.folded),
            format!("{:.1}", metrics.total_tokens as f64 / 1e6),
            kept,
            metrics.summary_calls.to_string(),
            (metrics.violations + metrics.unstable + metrics.failures).to_string(),
            metrics.over_window.to_string(),
        ];
        let cells = row.into_iter().enumerate().map(|(index, text)| match index {
            0 => Cell::new(text),
            _ => Cell::new(text).set_alignment(CellAlignment::Right),
        });
        table.add_row(cells);
    }
    table
}

/// Usage over the requests of the longest session, policy by policy.
fn picture(replay: &Replay, out: &mut String) {
    let Some(longest) = replay.sessions.iter().max_by_key(|played| played.tokens) else { return };
    let _ = writeln!(
        out,
        "Context over {} requests of {} (up to {} tokens; ▾ marks a compaction)",
        longest.runs.first().map_or(0, |run| run.requests.len()),
        longest.name,
        longest.tokens
    );
    let width = replay.policies.iter().map(String::len).max().unwrap_or_default();
    for (policy, run) in replay.policies.iter().zip(&longest.runs) {
        let (marks, line) = sparkline(run, COLUMNS, longest.tokens);
        if !marks.trim().is_empty() {
            let _ = writeln!(out, "  {:width$} {marks}", "");
        }
        let _ = writeln!(out, "  {policy:width$} {line} ${:.2}", run.bill.total());
    }
}

fn remarks(replay: &Replay, out: &mut String) {
    let fits = replay.sessions.iter().filter(|played| played.fits).count();
    if fits > 0 && !replay.dearer_than_none.is_empty() {
        let _ = writeln!(
            out,
            "\nMore expensive than without compaction, of {} that fit their window:",
            counted(fits, "session")
        );
        for dearer in replay.dearer_than_none.iter().take(12) {
            let _ = writeln!(
                out,
                "  {:<12} {:<16} +${:.2}, {} requests after its last compaction",
                dearer.policy, dearer.session, dearer.dollars, dearer.requests_after_last
            );
        }
        if replay.dearer_than_none.len() > 12 {
            let _ = writeln!(out, "  … and {} more (--json has all)", replay.dearer_than_none.len() - 12);
        }
    }
    for played in &replay.sessions {
        for (policy, run) in replay.policies.iter().zip(&played.runs) {
            for why in run.unstable.iter().chain(&run.failures).take(3) {
                let _ = writeln!(out, "  {}, {policy}: {why}", played.name);
            }
        }
    }
    for why in &replay.skipped {
        let _ = writeln!(out, "not replayed: {why}");
    }
}
