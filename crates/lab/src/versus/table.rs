//! What was measured, as tables; and these as Markdown.

use super::judge::Tally;
use super::results::{Measured, Outcome, Results, Row};
use foldline_reduce::wording;
use std::fmt::Write;

/// A table with what has to be said about it.
#[derive(Debug)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// How to read it.
    pub note: String,
    /// The heads of its columns; the first names a row.
    pub heads: Vec<&'static str>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// All tables, without those that would be empty.
pub fn tables(results: &Results) -> Vec<Table> {
    let all = [once(results), growing(results), redaction(results), missing(results)];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn measured(results: &Results) -> impl Iterator<Item = (&Row, &Measured)> {
    results.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Measured(measured) => Some((row, &**measured)),
        Outcome::Failed { .. } => None,
    })
}

fn once(results: &Results) -> Table {
    let rows = measured(results).map(|(row, measured)| {
        let Measured { tally, foldline_at_this_size: same, .. } = measured;
        let beside = |part: fn(&Tally) -> (u64, u64)| match same {
            Some(same) => format!("{} / {}", percent(part(tally)), percent(part(same))),
            None => percent(part(tally)),
        };
        vec![
            format!("{} {}", row.name, measured.version),
            row.size.clone(),
            percent((tally.after, tally.before)),
            beside(|tally| tally.names),
            beside(|tally| tally.evidence),
            match tally.invalid {
                0 => "0".to_owned(),
                some => format!("{some} of {}", tally.results),
            },
            format!("{:.2} s", tally.seconds * 1e5 / (tally.before.max(1) as f64)),
            format!("{:.0} MB", measured.megabytes),
        ]
    });
    let note = format!(
        "{}, {} of them with questions; {} tokens in all, window {}, target {:.0} % of the tokens. Behind a slash: Foldline at the \
         size that this peer came to. Refused: results that a strict provider does not accept. Processor time is for 100,000 tokens of \
         input; memory is the peak of the process that does the work.",
        wording::counted(results.sessions.len(), "session"),
        results.with_questions,
        wording::grouped(results.tokens),
        wording::grouped(results.window),
        results.share * 100.0
    );
    Table {
        title: "One compaction",
        note,
        heads: vec!["", "size by", "tokens left", "names kept", "evidence told", "refused", "processor", "memory"],
        rows: rows.collect(),
    }
}

fn growing(results: &Results) -> Table {
    let rows = measured(results).filter_map(|(row, measured)| {
        let growth = measured.growth.as_ref()?;
        Some(vec![
            row.name.clone(),
            growth.requests.to_string(),
            growth.too_long.to_string(),
            growth.rewrites.to_string(),
            percent((growth.read, growth.read + growth.written)),
            format!("${:.2}", growth.dollars),
            format!("{:+.0} %", (growth.dollars / growth.dollars_untouched - 1.0) * 100.0),
            format!("{:.0} ms", growth.seconds * 1e3 / growth.requests.max(1) as f64),
        ])
    });
    let note = format!(
        "A request before every reply, window {}. Too long: requests over the window, which a provider refuses; a peer that sends some has not \
         solved the task, whatever it costs. Rewrites: requests that did not begin with the whole request before, so that the cache was \
         lost. Dollars for input at $3 a million, cache reads at a tenth, cache writes at 1.25; beside it, the same without compaction.",
        wording::grouped(results.growing_window)
    );
    let heads =
        vec!["", "requests", "too long", "rewrites", "cached", "dollars", "to no compaction", "processor a request"];
    Table { title: "A growing session", note, heads, rows: rows.collect() }
}

fn redaction(results: &Results) -> Table {
    let rows = measured(results).filter_map(|(row, measured)| {
        let redaction = measured.redaction.as_ref()?;
        let of = |part: u64, all: u64| format!("{part} of {all} ({})", percent((part, all)));
        let (leaks, alarms) = (of(redaction.leaks, redaction.secrets), of(redaction.alarms, redaction.harmless));
        Some(vec![row.name.clone(), leaks, alarms])
    });
    // Two ways of running a peer have one redaction.
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.dedup_by(|later, first| match (later.split_first(), first.split_first()) {
        (Some((later, figures)), Some((first, same))) => figures == same && later.starts_with(first.as_str()),
        _ => false,
    });
    let note = "Made-up secrets in texts as tools print them, and harmless texts that look alike. Peers that are not listed have no redaction.";
    Table { title: "Redaction", note: note.into(), heads: vec!["", "leaked", "false alarms"], rows }
}

fn missing(results: &Results) -> Table {
    let rows = results.rows.iter().flat_map(|row| match &row.outcome {
        Outcome::Failed { why } => vec![vec![row.name.clone(), why.clone()]],
        Outcome::Measured(measured) => grouped(&row.name, &measured.failures),
    });
    let rows = rows.collect();
    Table { title: "Not measured", note: String::new(), heads: vec!["", "why"], rows }
}

/// Failures of a peer, with those of the same reason on one line.
fn grouped(name: &str, failures: &[String]) -> Vec<Vec<String>> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (input, why) in failures.iter().filter_map(|failure| failure.split_once(": ")) {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, inputs)) => inputs.push(input),
            None => reasons.push((why, vec![input])),
        }
    }
    let line = |(why, inputs): (&str, Vec<&str>)| vec![name.to_owned(), format!("{}: {why}", inputs.join(", "))];
    reasons.into_iter().map(line).collect()
}

/// The tables as Markdown.
pub fn markdown(results: &Results) -> String {
    let mut out = String::new();
    for table in tables(results) {
        let _ = writeln!(out, "## {}\n", table.title);
        if !table.note.is_empty() {
            let _ = writeln!(out, "{}\n", table.note);
        }
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let heads: Vec<String> = table.heads.iter().map(|head| (*head).to_owned()).collect();
        let _ = writeln!(out, "{}\n|{}", line(&heads), "---|".repeat(heads.len()));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
            let _ = writeln!(out, "{}", line(&cells));
        }
        out.push('\n');
    }
    out
}

fn percent((part, all): (u64, u64)) -> String {
    match all {
        0 => "–".to_owned(),
        _ => {
            let share = 100.0 * part as f64 / all as f64;
            if share < 10.0 && part > 0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        serde_json::from_str(include_str!("results.example.json")).expect("the example is valid")
    }

    #[test]
    fn tables_show_what_was_measured_and_what_could_not_be() {
        let markdown = markdown(&results());
        let has = |line: &str| assert!(markdown.contains(line), "no line {line:?} in\n{markdown}");
        has("| Foldline 0.1.0 | the target | 9.8 % | 70 % | 75 % | 0 | 0.16 s | 39 MB |");
        has("| Other 2.0 | its defaults | 40 % | 50 % / 88 % | – / – | 1 of 2 | 0.05 s | 300 MB |");
        has("| Other | 100 | 3 | 40 | 90 % | $2.00 | -50 % | 20 ms |");
        has("| Foldline | 1 of 60 (1.7 %) | 0 of 49 (0 %) |");
        has("| Gone | not installed (exit status: 1): no such package |");
        has("| Other | a (names), b (names): ValueError: x \\| y |");
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        let mut results = results();
        results.rows.truncate(1);
        let titles: Vec<&str> = tables(&results).iter().map(|table| table.title).collect();
        assert_eq!(titles, ["One compaction", "Redaction"]);
    }
}
