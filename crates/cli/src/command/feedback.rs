//! The summary of a compaction for the terminal: what was done, what was kept, what failed, what to do next.

use crate::output::Paint;
use anstyle::{AnsiColor, Style};
use foldline_core::Outcome;
use foldline_core::planning::StepKind;
use foldline_core::report::Author;
use foldline_core::{Report, explain};
use foldline_reduce::wording::{counted, grouped};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Who wanted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedBy {
    /// A person, now.
    Person,
    /// A script or a loop, every time.
    Script,
}

/// What happened, in a few lines.
pub fn feedback(report: &Report, asked: StartedBy, paint: Paint) -> String {
    let strong = Style::new().bold();
    let (word, colour) = match report.outcome {
        Outcome::Unchanged => ("unchanged", AnsiColor::Cyan),
        Outcome::Pruned => ("pruned", AnsiColor::Green),
        Outcome::Folded => ("folded", AnsiColor::Green),
        Outcome::Clamped => ("clamped", AnsiColor::Yellow),
        Outcome::Aborted => ("aborted", AnsiColor::Red),
    };
    let word = paint.paint(strong.fg_color(Some(colour.into())), word);
    let mut out = format!("{word}: {}\n", report.reason);
    if !matches!(report.outcome, Outcome::Unchanged | Outcome::Aborted) {
        let saved = percent_less(report.tokens.before, report.tokens.after);
        let _ = writeln!(
            out,
            "  messages {} → {}, tokens {} → {} ({saved})",
            grouped(report.messages.before),
            grouped(report.messages.after),
            grouped(report.tokens.before),
            grouped(report.tokens.after)
        );
    }
    out.push_str(&repairs(report));
    out.push_str(&savings(report));
    out.push_str(&kept(report));
    out.push_str(&summariser(report));
    for warning in &report.warnings {
        let _ = writeln!(out, "  {}", paint.paint(Style::new().fg_color(Some(AnsiColor::Yellow.into())), warning));
    }
    if let (StartedBy::Person, Some(next)) = (asked, next(report)) {
        let _ = writeln!(out, "  next: {next}");
    }
    out
}

/// By how much tokens shrank. A result that is not empty is never "100 %".
fn percent_less(before: u64, after: u64) -> String {
    match after.cmp(&before) {
        Ordering::Greater => return format!("{} more", counted(after - before, "token")),
        Ordering::Equal => return "no change".to_owned(),
        Ordering::Less => {}
    }
    let percent = 100.0 - after as f64 * 100.0 / before.max(1) as f64;
    match percent {
        percent if percent > 99.0 && after > 0 => format!("{:.2} % less", percent.min(99.99)),
        percent => format!("{percent:.0} % less"),
    }
}

/// What made a damaged input valid. Where nothing else was done, that is the reason already.
fn repairs(report: &Report) -> String {
    let repairs = report.edits.iter().filter(|edit| edit.kind == StepKind::Repair).count();
    if repairs == 0 || repairs == report.edits.len() {
        return String::new();
    }
    format!("  the input violated the provider's rules: {} (--dry-run lists them)\n", counted(repairs, "repair"))
}

/// Where the tokens went: what was done to which tool's parts, and what it freed.
fn savings(report: &Report) -> String {
    let mut groups: BTreeMap<(&str, &str), (usize, u64, u64)> = BTreeMap::new();
    for edit in report.edits.iter().filter(|edit| edit.tokens_before > 0) {
        let (count, before, after) = groups.entry((explain::name_of(edit.kind), edit.tool.as_str())).or_default();
        *count += 1;
        *before += edit.tokens_before;
        *after += edit.tokens_after;
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    rows.sort_by_key(|(_, (_, before, after))| std::cmp::Reverse(before.saturating_sub(*after)));
    let mut out = String::new();
    for ((kind, tool), (count, before, after)) in rows {
        let (before, after) = (grouped(before), grouped(after));
        let _ = writeln!(out, "  {kind:<10} {tool:<14} {count:>4} × {before:>9} → {after:>8} tokens");
    }
    out
}

/// What stayed as it was, and what the handoff holds.
fn kept(report: &Report) -> String {
    let Some(handoff) = &report.handoff else {
        return String::new();
    };
    let by = match handoff.by {
        Author::Model => "a model's summary and recorded facts",
        Author::Ledger => "recorded facts",
    };
    let unverified = match handoff.unverified {
        0 => String::new(),
        count => format!(", {} marked or removed as unverified", counted(count, "model claim")),
    };
    format!(
        "  kept as they are: the first {} and the last {} messages; the handoff has {} ({} of {} entries{unverified})\n",
        report.zones.head, report.zones.tail, by, handoff.facts.after, handoff.facts.before
    )
}

/// What the summariser did, if it was asked.
fn summariser(report: &Report) -> String {
    let told = &report.summariser;
    if told.calls == 0 {
        return String::new();
    }
    let who = told.model.as_deref().unwrap_or("none answered");
    let error = match (&told.error, told.fallback.as_deref()) {
        (Some(error), Some(fallback)) => format!("; {error}; fallback: {fallback}"),
        (Some(error), None) => format!("; {error}"),
        (None, _) => String::new(),
    };
    format!("  summariser: {who}, {}, about {} tokens{error}\n", counted(told.calls, "call"), grouped(told.tokens))
}

/// What a person can do next.
fn next(report: &Report) -> Option<&'static str> {
    match report.outcome {
        Outcome::Unchanged if report.summariser.error.is_some() => {
            Some("fix the summariser (`foldline doctor` checks it), or fold without a model: --summarizer none")
        }
        Outcome::Unchanged => Some(
            "nothing to fold; use --target-tokens N for a fixed size; `foldline inspect` shows where the tokens are",
        ),
        Outcome::Folded if report.summariser.fallback.as_deref() == Some("ledger") => {
            Some("the handoff was written without a model; `foldline doctor` checks the summariser")
        }
        Outcome::Folded | Outcome::Clamped if report.tokens.after * 10 > report.tokens.before * 9 => Some(
            "little was saved: head and tail take most of the tokens; lower compression.target_ratio, fold with \
             --focus, or start a new session",
        ),
        _ => None,
    }
}
