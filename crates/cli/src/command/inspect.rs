//! `foldline inspect`: where the tokens are, the zones, and what a fold would do.

use super::settings;
use crate::args::Inspect;
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::keep;
use crate::output::{self, Paint};
use crate::settings::{Surroundings, model_table};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets};
use foldline_core::explain::{Inspection, Share, inspect};
use foldline_core::ledger::HeldKind;
use foldline_core::planning::{Inputs, read};
use foldline_core::{Job, SessionState};
use foldline_reduce::wording::{counted, grouped};
use std::fmt::Write;

/// Columns of the zone bar.
const BAR: usize = 60;

/// Runs the command.
pub fn run(args: &Inspect) -> Result<Verdict, Failure> {
    let settings = settings(&args.tuning, Vec::new())?;
    let models = model_table(settings.policy(), &Surroundings::of_process()).map_err(Failure::input)?;
    let document = input::read(&args.source)?;
    let mut job = Job { format: input::format_of(args.source.format), models: Some(models), ..Job::default() };
    job.request.keeps_originals = keep::path_of(&settings.store).is_some();
    let state = SessionState::default();
    let inputs = Inputs { policy: settings.policy(), state: &state, job: &job };
    let sound = read(&document.text, &inputs).map_err(|error| Failure::input(format!("{}: {error}", document.name)))?;
    let found = inspect(&sound, &inputs);
    let text = match args.json {
        true => serde_json::to_string_pretty(&found).map_err(Failure::input)? + "\n",
        false => render(&document.name, &found, Paint::of_stdout()),
    };
    output::print(&text)?;
    Ok(Verdict::Fine)
}

fn render(name: &str, found: &Inspection, paint: Paint) -> String {
    let strong = Style::new().bold();
    let mut out = String::new();
    let model = match (found.model.as_str(), found.model_known) {
        ("", _) => "model unknown".to_owned(),
        (model, true) => model.to_owned(),
        (model, false) => format!("{model} (not in the model table)"),
    };
    let _ = writeln!(out, "{}  {} · {model}", paint.paint(strong, name), found.format);
    let _ = writeln!(
        out,
        "{}, {} KB, {} tokens ({}): {:.1} % of the window of {}, {:.0} % of the trigger of {}\n",
        counted(found.messages, "message"),
        found.bytes.div_ceil(1024),
        grouped(found.tokens),
        source_name(found),
        found.window_used * 100.0,
        grouped(found.window),
        found.pressure * 100.0,
        grouped(found.trigger),
    );
    let _ = writeln!(out, "{}", paint.paint(strong, "Tokens by source"));
    out.push_str(&shares(&found.by_source, "part"));
    if !found.by_tool.is_empty() {
        let _ = writeln!(out, "\n{}", paint.paint(strong, "Tool results by tool"));
        out.push_str(&shares(&found.by_tool, "call"));
    }
    if !found.largest.is_empty() {
        let _ = writeln!(out, "\n{}", paint.paint(strong, "Largest outputs"));
        out.push_str(&largest(found));
    }
    let _ = writeln!(out, "\n{}", paint.paint(strong, "Zones"));
    out.push_str(&zones(found, paint));
    if found.duplicates.count > 0 {
        let _ = writeln!(
            out,
            "Repeated outputs: {} with {} tokens ({:.1} %)",
            found.duplicates.count,
            grouped(found.duplicates.tokens),
            found.duplicates.percent
        );
    }
    if found.violations > 0 {
        let _ =
            writeln!(out, "Violations of the provider's rules: {} (`foldline validate` lists them)", found.violations);
    }
    if !found.held.is_empty() {
        let _ = writeln!(out, "\n{}", paint.paint(strong, "Rules and pins"));
        for held in &found.held {
            let pinned = if held.kind == HeldKind::Pin { " (pinned)" } else { "" };
            let _ = writeln!(out, "  - {}{pinned}", held.text);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "Now: {}", found.verdict);
    let _ = writeln!(out, "If folded now: {}", found.would);
    out
}

fn source_name(found: &Inspection) -> &'static str {
    match found.source {
        foldline_core::tokens::Source::Reported => "reported by the provider, later messages estimated",
        foldline_core::tokens::Source::Exact => "exact",
        foldline_core::tokens::Source::Estimate => "estimated",
    }
}

fn shares(list: &[Share], unit: &str) -> String {
    let mut table = table();
    for share in list {
        let bar = "█".repeat((share.percent / 2.5).round() as usize);
        table.add_row([
            share.name.clone(),
            counted(share.count, unit),
            grouped(share.tokens),
            format!("{:.1} %", share.percent),
            bar,
        ]);
    }
    lines(table, &[1, 2, 3])
}

fn largest(found: &Inspection) -> String {
    let mut table = table();
    for output in &found.largest {
        table.add_row([
            format!("message {}", output.message),
            output.tool.clone(),
            grouped(output.tokens),
            format!("{:?}", output.zone).to_lowercase(),
            output.argument.clone(),
        ]);
    }
    lines(table, &[2])
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// The lines of a table, with some columns aligned to the right.
fn lines(mut table: Table, right: &[usize]) -> String {
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "  {}", line.trim_end().trim_start_matches(' '));
    }
    out
}

/// Head, middle and tail as a bar, by tokens.
fn zones(found: &Inspection, paint: Paint) -> String {
    let zones = [
        ("head", found.head, '▓', AnsiColor::Blue),
        ("middle", found.middle, '░', AnsiColor::Yellow),
        ("tail", found.tail, '█', AnsiColor::Green),
    ];
    let total: u64 = zones.iter().map(|(_, zone, _, _)| zone.tokens).sum::<u64>().max(1);
    let mut bar = String::new();
    let mut legend = Vec::new();
    for (name, zone, fill, colour) in zones {
        let width = (zone.tokens as f64 * BAR as f64 / total as f64).round() as usize;
        let width = if zone.tokens > 0 { width.max(1) } else { 0 };
        let style = Style::new().fg_color(Some(colour.into()));
        bar.push_str(&paint.paint(style, &fill.to_string().repeat(width)));
        legend.push(format!("{fill} {name} {}, {} tokens", counted(zone.messages, "message"), grouped(zone.tokens)));
    }
    format!("  {bar}\n  {}\n", legend.join("   "))
}
