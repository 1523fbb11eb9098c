//! Results of the questions, as a part of the HTML page.

use super::chart;
use super::evidence_summary::EvidenceSummary;
use super::evidence_tables::{counts, names_kept, percent};
use super::measure::Method;
use super::summary::Evaluation;
use maud::{Markup, html};

/// The section.
pub fn section(evaluation: &Evaluation, asked: &EvidenceSummary) -> Markup {
    html! {
        section {
            h2 { "Evidence told" }
            p { (counts(asked)) ". The messages that they ask about are compacted. A place counts as told when four fifths "
                "of its words stand together, on three neighbouring lines: then a reader could find the answer. Names kept are those "
                "of all sessions, with or without questions." }
            (curve(evaluation, asked))
            h2 { "By kind of question" }
            (kinds(evaluation, asked))
            @if !asked.left_out.is_empty() {
                p { "Left out:" }
                ul { @for why in &asked.left_out { li { (why) } } }
            }
        }
    }
}

fn curve(evaluation: &Evaluation, asked: &EvidenceSummary) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "budget" } @for method in Method::ALL { th.number { (method.name()) } } th.number { "do not fit" } } }
            tbody { @for &budget in &evaluation.budgets { tr {
                td { (budget) " %" }
                @for method in Method::ALL {
                    @let point = asked.points(method).find(|point| point.budget == budget);
                    td.number.(chart::class(method)) { @if let Some(point) = point { (percent(point.total)) } }
                }
                @let unmet = asked.points(Method::Foldline).find(|point| point.budget == budget).map_or(0, |point| point.unmet);
                td.number { @if unmet > 0 { (unmet) } @else { "–" } }
            } } }
        } }
    }
}

fn kinds(evaluation: &Evaluation, asked: &EvidenceSummary) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th { "budget" } @for kind in asked.kinds() { th.number { (kind) } }
                th.number { "all" } th.number { "names kept" } th.number { "tokens used" } th.number { "text" }
            } }
            tbody { @for point in asked.points(Method::Foldline) { tr {
                td { (point.budget) " %" }
                @for share in point.kinds.values() { td.number { (format!("{:.0} % of {}", share.told_percent, share.of)) } }
                td.number.own { (percent(point.total)) }
                td.number { (names_kept(evaluation, point.budget)) }
                td.number { (format!("{:.1} %", point.tokens_percent)) }
                td.number { (format!("{:.1} %", point.text_percent)) }
            } } }
        } }
    }
}
