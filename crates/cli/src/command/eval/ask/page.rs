//! Answers and grades as a part of the page.

use super::scores::Answers;
use super::tables::{evidence, mean};
use crate::command::eval::evidence_summary::EvidenceSummary;
use foldline_reduce::wording::counted;
use maud::{Markup, html};

/// The section.
pub fn section(asked: &EvidenceSummary, answers: &Answers) -> Markup {
    html! {
        section {
            h2 { "Answers" }
            p { (answers.model) " read each compacted text and answered the questions from it alone; in a second call, without the "
                "text, it graded the answers by model answer and key points, from 0 to 1. A right guess counts half." }
            div.scroll { table {
                thead { tr {
                    th { "budget" } @for kind in answers.kinds() { th.number { (kind) } }
                    th.number { "all" } th.number { "evidence" } th.number { "not graded" }
                } }
                tbody { @for point in &answers.curve { tr {
                    td { (point.budget) " %" }
                    @for kind in point.kinds.values() { td.number { (mean(*kind)) } }
                    td.number.own { (mean(point.total)) }
                    td.number { (evidence(asked, point)) }
                    td.number { @if point.total.failed > 0 { (point.total.failed) } @else { "–" } }
                } } }
            } }
            @let failures = answers.failures();
            @if !failures.is_empty() {
                ul { @for (why, count) in failures { li { (counted(count, "question")) " failed: " (why) } } }
            }
        }
    }
}
