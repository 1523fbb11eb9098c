//! An evaluation as a page.

use super::ask;
use super::chart;
use super::evidence_page;
use super::measure::Method;
use super::outputs::{KindRow, KindTable};
use super::summary::{Evaluation, SessionRow};
use crate::page::Page;
use foldline_measure::retention::{Class, Tally};
use foldline_reduce::wording::{counted, grouped};
use maud::{Markup, html};

/// The page.
pub fn render(evaluation: &Evaluation) -> String {
    let page = Page {
        title: "Retention",
        heading: "What survives a compaction",
        lead: html! {
            (counted(evaluation.sessions, "session")) ", each cut at 60 % of its text. The first part is compacted; the "
            "second tells which paths, identifiers and hashes the agent needed of it. A fact counts as kept when "
            "its name still stands on a line with something it stood with."
        },
        style: "",
        content: html! {
            (figures(evaluation))
            @if evaluation.sessions > 0 {
                section {
                    h2 { "Facts kept over tokens" }
                    figure { (chart::curve(evaluation)) }
                    (curve_table(evaluation))
                }
                section { h2 { "By class" } (class_table(evaluation)) }
            }
            @if let Some(asked) = &evaluation.questions {
                (evidence_page::section(evaluation, asked))
                @if let Some(answers) = &asked.answers { (ask::page::section(asked, answers)) }
            }
            section {
                h2 { "Large outputs by kind" }
                p { "Outputs over 500 tokens, each reduced by itself. “Needed” are names of an output that later turns use "
                    "before they see them elsewhere." }
                @if evaluation.own.all_outputs.outputs > 0 { (kind_table(&evaluation.own)) } @else { p { "These sessions have none." } }
            }
            @if !evaluation.generated.outputs.is_empty() {
                section {
                    h2 { "Generated outputs" }
                    p { "Made for the purpose, of the kinds that are rare in these sessions. They count towards nothing else on this page." }
                    (kind_table(&evaluation.generated))
                }
            }
            @if evaluation.sessions > 0 {
                section {
                    h2 { "Sessions" }
                    p { "Ordered by the facts kept at " (evaluation.ordered_by) " % of the tokens, the worst first." }
                    (session_table(evaluation))
                }
            }
            footer { (footnote(evaluation)) }
        },
    };
    page.render()
}

fn figures(evaluation: &Evaluation) -> Markup {
    let is_shown = |budget: f64| [5.0, 10.0, 25.0].contains(&budget);
    let names = evaluation.points(Method::Foldline).filter(|point| evaluation.sessions > 0 && is_shown(point.budget));
    let asked = evaluation.questions.iter().flat_map(|asked| asked.points(Method::Foldline));
    let evidence = asked.filter(|point| is_shown(point.budget));
    html! {
        dl.figures {
            @for point in names {
                div { dt { "kept at " (point.budget) " % of the tokens" } dd {
                    @if point.unmet >= evaluation.sessions { "–" small { " too small for any session" } }
                    @else { (format!("{:.0}", point.kept_percent)) small { " %" } }
                } }
            }
            @for point in evidence {
                div { dt { "evidence told at " (point.budget) " %" } dd { (format!("{:.0}", point.total.told_percent)) small { " %" } } }
            }
            div { dt { "facts needed" } dd { (evaluation.facts.total().of) } }
            @if evaluation.own.all_outputs.outputs > 0 {
                div { dt { "reduction of large outputs" } dd { (format!("{:.1}", evaluation.own.all_outputs.reduction() * 100.0)) small { " %" } } }
            }
            div { dt { "handles recalled" } dd { (evaluation.handles.checked - (evaluation.handles.wrong.len() as u64).min(evaluation.handles.checked)) small { " of " (evaluation.handles.checked) } } }
        }
    }
}

fn curve_table(evaluation: &Evaluation) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "budget" } @for method in Method::ALL { th.number { (method.name()) } } th.number { "do not fit" } } }
            tbody { @for &budget in &evaluation.budgets { tr {
                td { (budget) " %" }
                @for method in Method::ALL {
                    @let point = evaluation.points(method).find(|point| point.budget == budget);
                    td.number.(chart::class(method)) { @if let Some(point) = point { (format!("{:.1} %", point.kept_percent)) } }
                }
                @let unmet = evaluation.points(Method::Foldline).find(|point| point.budget == budget).map_or(0, |point| point.unmet);
                td.number { @if unmet > 0 { (unmet) } @else { "–" } }
            } } }
        } }
    }
}

fn class_table(evaluation: &Evaluation) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th { "budget" }
                @for class in Class::ALL { th.number { (class.name()) } }
                th.number { "mean of sessions" } th.number { "tokens used" }
            } }
            tbody { @for point in evaluation.points(Method::Foldline) { tr {
                td { (point.budget) " %" }
                @for class in Class::ALL { td.number { (share(point.score.of(class))) } }
                td.number { (format!("{:.1} %", point.mean_of_sessions)) }
                td.number { (format!("{:.1} %", point.tokens_percent)) }
            } } }
        } }
    }
}

fn kind_table(measured: &KindTable) -> Markup {
    let rows = measured.outputs.iter().filter(|row| row.outputs > 0);
    html! {
        div.scroll { table {
            thead { tr {
                th { "kind" } th.number { "outputs" } th.number { "tokens" } th.number { "reduced" }
                th.number { "reduction" } th.number { "needed kept" } th.number { "in sight" } th.number { "MB/s" }
            } }
            tbody { @for row in rows { (kind_row(row)) } }
            tfoot {
                (kind_row(&measured.all_outputs))
                tr {
                    td colspan="4" { "mean of kinds" }
                    td.number { (format!("{:.1} %", measured.mean_of_kinds.reduction_percent)) }
                    td.number { (format!("{:.0} %", measured.mean_of_kinds.needed_kept_percent)) }
                    td.number { (format!("{:.0} %", measured.mean_of_kinds.in_sight_percent)) }
                    td {}
                }
            }
        } }
    }
}

fn kind_row(row: &KindRow) -> Markup {
    html! { tr {
        td { (row.kind) }
        td.number { (row.outputs) }
        td.number { (grouped(row.tokens_before)) }
        td.number { (grouped(row.tokens_after)) }
        td.number { (format!("{:.1} %", row.reduction() * 100.0)) }
        td.number { (share(row.needed)) }
        td.number { (share(row.in_sight)) }
        td.number { (format!("{:.0}", row.mb_per_s)) }
    } }
}

fn session_table(evaluation: &Evaluation) -> Markup {
    html! {
        div.scroll { table.sessions {
            thead { tr {
                th { "session" } th.number { "tokens" } th.number { "facts" }
                @for budget in &evaluation.budgets { th.number { (budget) " %" } }
            } }
            tbody { @for row in &evaluation.by_session { (session_row(row)) } }
        } }
    }
}

fn session_row(row: &SessionRow) -> Markup {
    html! { tr {
        td.name { (row.name) }
        td.number { (grouped(row.tokens)) }
        td.number { (row.facts) }
        @for kept in &row.kept_percent {
            td.number.bar style=(format!("--kept:{kept:.0}%")) { (format!("{kept:.0}")) }
        }
    } }
}

fn footnote(evaluation: &Evaluation) -> Markup {
    let skipped = &evaluation.skipped;
    html! {
        p {
            "Skipped: " (skipped.too_short.len()) " too short to cut, " (skipped.nothing_needed.len())
            " in which nothing was needed again, " (skipped.unreadable.len()) " not readable. "
            "Where a session does not fit a budget, its facts count as lost. Compacted without a model by Foldline "
            (env!("CARGO_PKG_VERSION")) " in " (format!("{:.1}", evaluation.seconds)) " s."
        }
        @if !evaluation.handles.wrong.is_empty() {
            p.wrong { (evaluation.handles.wrong.len()) " handles do not return their originals:" }
            ul { @for why in &evaluation.handles.wrong { li { (why) } } }
        }
    }
}

fn share(tally: Tally) -> String {
    match tally.share() {
        Some(share) => format!("{:.0} % of {}", share * 100.0, tally.of),
        None => "–".to_owned(),
    }
}
