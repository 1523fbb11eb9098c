//! `foldline eval`: how much of what agents need later survives, on real sessions.

mod chart;
mod handles;
mod outputs;
mod page;
mod samples;
mod summary;
mod tables;
mod trial;

use super::settings;
use crate::args::{FormatName, Tuning};
use crate::batch;
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::output;
use crate::settings::{Surroundings, model_table};
use clap::Args;
use foldline_core::Job;
use handles::Keep;
use std::path::PathBuf;
use std::time::Instant;
use summary::{Evaluation, Skipped};
use trial::{Court, Verdict as Outcome};

/// Shares of the tokens of the compacted part, in percent.
const BUDGETS: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 25.0, 40.0];

/// `foldline eval`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each session is cut at 60 % of its text. The first part is compacted to each budget; the second part
tells which paths, identifiers and hashes the agent needed of it. A name counts as kept when it still
stands on a line with something it stood with. Nothing is written but the report.

Examples:
  foldline eval sessions/
  foldline eval sessions/ --budgets 5,10,25 --preset runway
  foldline eval sessions/ --html report.html
  foldline eval a.json b.jsonl --json | jq .curve"
)]
pub struct EvalArgs {
    /// Transcripts, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Whose wire format they are in.
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub format: FormatName,
    #[command(flatten)]
    pub tuning: Tuning,
    /// What the compacted part may cost, in percent of its tokens.
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', value_parser = percent, default_values_t = BUDGETS)]
    pub budgets: Vec<f64>,
    /// Name the facts that were lost in the worst sessions.
    #[arg(long)]
    pub lost: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// A page with the curves and tables.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(share),
        _ => Err("expected a percentage above 0 and up to 100".to_owned()),
    }
}

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let settings = settings(&args.tuning, Vec::new())?;
    let models = model_table(settings.policy(), &Surroundings::of_process()).map_err(Failure::input)?;
    let files = batch::files(&args.paths)?;
    let mut budgets = args.budgets.clone();
    budgets.sort_by(f64::total_cmp);
    budgets.dedup();
    let court = Court {
        policy: settings.policy().clone(),
        job: Job { format: input::format_of(args.format), models: Some(models), ..Job::default() },
        keep: Keep::open(args.tuning.store.as_deref())?,
        budgets,
    };
    let outcomes = batch::each(&files, "Measuring", |file| trial::try_file(&court, file));
    let mut trials = Vec::new();
    let mut skipped = Skipped::default();
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Outcome::Tried(trial) => trials.push(*trial),
            Outcome::TooShort(name) => skipped.too_short.push(name),
            Outcome::NothingNeeded(name) => skipped.nothing_needed.push(name),
            Outcome::Unreadable(why) => skipped.unreadable.push(why),
        }
    }
    if trials.is_empty() {
        return Err(Failure::input(nothing_to_measure(&skipped)));
    }
    let rows = outputs::with_samples(outputs::gathered(&trials));
    let evaluation = Evaluation::of(&court, trials, rows, skipped, started.elapsed());
    if let Some(path) = &args.html {
        output::write_file(path, &page::render(&evaluation))?;
    }
    let text = match args.json {
        true => serde_json::to_string_pretty(&evaluation).map_err(Failure::input)? + "\n",
        false => tables::render(&evaluation, tables::Detail { lost: args.lost }, output::Paint::of_stdout()),
    };
    output::print(&text)?;
    Ok(if evaluation.handles.wrong.is_empty() { Verdict::Fine } else { Verdict::Found })
}

fn nothing_to_measure(skipped: &Skipped) -> String {
    let mut lines = vec![format!(
        "no session to measure: {} too short to cut, {} in which nothing was needed again, {} not readable",
        skipped.too_short.len(),
        skipped.nothing_needed.len(),
        skipped.unreadable.len()
    )];
    lines.extend(skipped.unreadable.iter().take(3).map(|why| format!("  {why}")));
    lines.push("expected transcripts of at least eight messages, in any format that `foldline compress` reads".into());
    lines.join("\n")
}
