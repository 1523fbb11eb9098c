//! `foldline eval`: measures how much of what agents need later survives a compaction.

mod ask;
mod chart;
mod evidence;
mod evidence_page;
mod evidence_summary;
mod evidence_tables;
mod handles;
mod measure;
mod outputs;
mod page;
mod part;
mod question_files;
mod record;
mod samples;
mod session;
mod summary;
mod tables;

use super::settings;
use crate::args::{FormatName, Tuning};
use crate::batch;
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::output;
use crate::settings::{Surroundings, model_table};
use ask::Model;
use clap::Args;
use evidence::EvidenceMeasurement;
use evidence_summary::EvidenceSummary;
use foldline_core::Job;
use handles::Keep;
use measure::{EvalSetup, SessionMeasurement, SessionResult};
use outputs::KindTable;
use question_files::QuestionFiles;
use session::{Outcome, QuestionMismatch};
use std::path::PathBuf;
use std::time::Instant;
use summary::{Evaluation, Skipped};

/// Shares of the tokens of the compacted part, in percent.
const BUDGETS: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 25.0, 40.0];

/// `foldline eval`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each session is cut at 60 % of its text. The first part is compacted to each budget; the second \
shows which paths, identifiers and hashes the agent needed from it. A name counts as kept if it is \
still on a line together with something it was together with before. Only the report is written.

With --questions, the first `cut` messages of each session that has questions are compacted as \
well, and the share of the evidence that is still told is reported by kind of question. A file of questions is
  {\"session\": \"name of the file\", \"cut\": 120, \"questions\": [{\"id\": 1, \"kind\": \"decision\",
   \"question\": \"Why …?\", \"evidence\": [\"the places that tell it, word for word\"]}]}

With --ask, a model reads each compacted text and answers the questions from it alone; a second \
call, without the text, grades the answers 0, 0.25, 0.5, 0.75 or 1 by the \"answer\" and the \
\"key_points\" (a list) of each question. A correct guess counts half. This takes two calls per \
session and budget; secrets are masked.

Examples:
  foldline eval sessions/
  foldline eval sessions/ --budgets 5,10,25 --preset runway
  foldline eval sessions/ --questions exam/ --questions more.json --budgets 5,10
  foldline eval sessions/ --questions exam/ --budgets 10 \\
    --ask http://127.0.0.1:8080 --ask-model qwen
  FOLDLINE_SUMMARIZER_KEY=… foldline eval sessions/ --questions exam/ --budgets 10 \\
    --ask https://api.example/v1 --ask-model small --json | jq .questions.answers.sheets
  foldline eval sessions/ --html report.html
  foldline eval a.json b.jsonl --json | jq .curve"
)]
pub struct EvalArgs {
    /// Transcripts, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Wire format of the transcripts.
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub format: FormatName,
    #[command(flatten)]
    pub tuning: Tuning,
    /// Budgets of the compacted part, in percent of its tokens.
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', value_parser = percent, default_values_t = BUDGETS)]
    pub budgets: Vec<f64>,
    /// Questions about the sessions: a file or a folder; repeatable.
    #[arg(long, value_name = "FILE|DIR")]
    pub questions: Vec<PathBuf>,
    /// Base URL of a model that answers the questions from the compacted text and grades the answers.
    #[arg(long, value_name = "URL", requires = "questions")]
    pub ask: Option<String>,
    /// Model to ask; its key is configured as for a summariser (FOLDLINE_SUMMARIZER_KEY,
    /// summarizer.key_env, summarizer.key_file).
    #[arg(long, value_name = "NAME", requires = "ask")]
    pub ask_model: Option<String>,
    /// List the facts lost in the worst sessions.
    #[arg(long)]
    pub lost: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Write an HTML page with charts and tables.
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
    let question_files = QuestionFiles::read(&args.questions, &files)?;
    // What would fail later fails before anything is measured.
    let model = args.ask.as_deref().map(|url| Model::at(url, args.ask_model.as_deref(), settings.policy()));
    let model = model.transpose()?;
    if model.is_some() {
        question_files.require_grades()?;
    }
    let mut budgets = args.budgets.clone();
    budgets.sort_by(f64::total_cmp);
    budgets.dedup();
    let setup = EvalSetup {
        policy: settings.policy().clone(),
        job: Job { format: input::format_of(args.format), models: Some(models), ..Job::default() },
        keep: Keep::open(args.tuning.store.as_deref())?,
        budgets,
    };
    let found = Found::of(batch::each(&files, "Measuring", |file| session::try_file(&setup, &question_files, file)));
    let asked = ask_about(&question_files, &found, &setup, model.as_ref())?;
    if found.measurements.is_empty() && asked.is_none() {
        return Err(Failure::input(nothing_to_measure(&found.skipped)));
    }
    let own = outputs::gathered(&found.measurements);
    let generated = outputs::generated(&own);
    let rows = [own, generated].map(KindTable::of);
    let mut evaluation = Evaluation::of(&setup, found.measurements, rows, found.skipped, asked, started.elapsed());
    found.readings.into_iter().for_each(|reading| evaluation.handles.add(reading.handles));
    if let Some(path) = &args.html {
        output::write_file(path, &page::render(&evaluation))?;
    }
    let text = match args.json {
        true => serde_json::to_string_pretty(&evaluation).map_err(Failure::input)? + "\n",
        false => tables::render(&evaluation, tables::Detail { lost: args.lost }, output::Paint::of_stdout()),
    };
    output::print(&text)?;
    if let Some(why) = evaluation.unanswered() {
        return Err(Failure::summariser(format!("no question could be answered and graded: {why}")));
    }
    Ok(if evaluation.handles.wrong.is_empty() { Verdict::Fine } else { Verdict::Found })
}

/// What all files together gave.
#[derive(Default)]
struct Found<'s> {
    measurements: Vec<SessionMeasurement>,
    skipped: Skipped,
    readings: Vec<EvidenceMeasurement<'s>>,
    misfits: Vec<QuestionMismatch<'s>>,
}

impl<'s> Found<'s> {
    fn of(outcomes: Vec<Vec<Outcome<'s>>>) -> Found<'s> {
        let mut found = Found::default();
        for outcome in outcomes.into_iter().flatten() {
            match outcome.names {
                SessionResult::Measured(measured) => found.measurements.push(*measured),
                SessionResult::TooShort(name) => found.skipped.too_short.push(name),
                SessionResult::NothingNeeded(name) => found.skipped.nothing_needed.push(name),
                SessionResult::Unreadable(why) => found.skipped.unreadable.push(why),
            }
            for reading in outcome.readings {
                match reading {
                    Ok(reading) => found.readings.push(reading),
                    Err(misfit) => found.misfits.push(misfit),
                }
            }
        }
        found
    }
}

/// What the questions found out; `None` where there are none. Says which of them were left out.
fn ask_about(
    question_files: &QuestionFiles,
    found: &Found<'_>,
    setup: &EvalSetup,
    model: Option<&Model>,
) -> Result<Option<EvidenceSummary>, Failure> {
    if question_files.is_empty() {
        return Ok(None);
    }
    let left_out = question_files.left_out(&found.readings, &found.misfits);
    if found.readings.is_empty() {
        let lines = left_out.join("\n  ");
        return Err(Failure::input(format!("none of the questions can be put to its session:\n  {lines}")));
    }
    left_out.iter().for_each(|words| output::tell(&format!("warning: {words}\n")));
    let answers = model.map(|model| ask::run(model, &found.readings));
    Ok(Some(EvidenceSummary::of(&found.readings, left_out, &setup.budgets, answers)))
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
