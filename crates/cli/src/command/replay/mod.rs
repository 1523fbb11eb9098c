//! `foldline replay`: replays recorded sessions under one or more policies.

mod chart;
mod compare;
mod page;
mod tables;

use super::settings;
use crate::args::{self, CacheMarks, FormatName, Tuning};
use crate::batch;
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::output;
use crate::settings::{Flag, Surroundings, model_table};
use clap::Args;
use compare::{ComparedPolicy, Comparison, Replay};
use foldline_core::cache::Layout;
use foldline_core::policy::Preset;
use foldline_core::{Job, Policy};
use foldline_measure::replay::Session;
use std::path::PathBuf;
use std::time::Instant;

/// `foldline replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "The agent's turns stay as recorded; each policy decides how much history a request carries. Caches expire by the \
recorded times; a session without times is replayed without pauses. Costs follow the model's price list.

Examples:
  foldline replay sessions/
  foldline replay session.json --presets none,hermes,frugal --window 200000
  foldline replay sessions/ --html replay.html
  foldline replay sessions/ --chain 1000000 --json | jq .totals
  foldline replay session.jsonl --preset runway --set compression.threshold=0.6"
)]
pub struct ReplayArgs {
    /// Sessions, or folders of them.
    #[arg(required = true, value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Wire format of the transcripts.
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub format: FormatName,
    #[command(flatten)]
    pub tuning: Tuning,
    /// Policies to compare; `none` never compacts. Default: all.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub presets: Vec<String>,
    /// Layout of cache marks, as in `compress --cache-marks`.
    #[arg(long, value_enum, default_value_t = CacheMarks::Auto)]
    pub cache_marks: CacheMarks,
    /// Join sessions until each has this many tokens, as `1000000` or `1M`.
    #[arg(long, value_name = "TOKENS", value_parser = args::tokens)]
    pub chain: Option<u64>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Write an HTML page with charts and tables.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The name of the policy that never compacts.
const NONE: &str = "none";

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let base = settings(&args.tuning, Vec::new())?;
    let models = model_table(base.policy(), &Surroundings::of_process()).map_err(Failure::input)?;
    let policies = policies(args)?;
    let files = batch::files(&args.paths)?;
    let job = Job { format: input::format_of(args.format), models: Some(models.clone()), ..Job::default() };
    let (sessions, skipped) = sessions(args, &files, base.policy(), &job)?;
    let comparison = Comparison { policies, models, layout: args.cache_marks.layout().unwrap_or(Layout::Auto) };
    let played = batch::each(&sessions, "Replaying", |session| compare::play_all(&comparison, session));
    let replay = Replay::of(&comparison, played, skipped, started.elapsed());
    if replay.sessions.is_empty() {
        let reasons: Vec<String> = replay.skipped.iter().take(3).map(|why| format!("  {why}")).collect();
        return Err(Failure::input(format!("no session could be replayed:\n{}", reasons.join("\n"))));
    }
    if let Some(path) = &args.html {
        output::write_file(path, &page::render(&replay))?;
    }
    let text = match args.json {
        true => serde_json::to_string_pretty(&replay).map_err(Failure::input)? + "\n",
        false => tables::render(&replay, output::Paint::of_stdout()),
    };
    output::print(&text)?;
    Ok(if replay.is_clean() { Verdict::Fine } else { Verdict::Found })
}

/// The policies that are compared, `none` first.
fn policies(args: &ReplayArgs) -> Result<Vec<ComparedPolicy>, Failure> {
    let named = match (&args.presets[..], &args.tuning.preset) {
        ([], Some(preset)) => vec![NONE.to_owned(), preset.clone()],
        ([], None) => std::iter::once(NONE).chain(Preset::NAMES.iter().copied()).map(str::to_owned).collect(),
        (names, _) => names.to_vec(),
    };
    let base = settings(&args.tuning, Vec::new())?.policy().clone();
    let mut policies: Vec<ComparedPolicy> = Vec::new();
    for name in named {
        if policies.iter().any(|known| known.name == name) {
            continue;
        }
        let policy: Option<Policy> = match name.as_str() {
            NONE => None,
            _ => {
                let flag = Flag { flag: "--presets", key: "compression.preset", value: name.clone() };
                Some(settings(&args.tuning, vec![flag])?.policy().clone())
            }
        };
        policies.push(ComparedPolicy { name, policy, base: base.clone() });
    }
    // What the others are compared with is shown first; its window is the same.
    policies.sort_by_key(|policy| policy.policy.is_some());
    Ok(policies)
}

/// The sessions to play, chained where that is asked for, and why others are not played.
fn sessions(
    args: &ReplayArgs,
    files: &[PathBuf],
    policy: &Policy,
    job: &Job,
) -> Result<(Vec<Session>, Vec<String>), Failure> {
    let read = batch::each(files, "Reading", |file| compare::read(file, policy, job));
    let mut sessions = Vec::new();
    let mut skipped = Vec::new();
    for outcome in read.into_iter().flatten() {
        match outcome {
            Ok(session) => sessions.push(session),
            Err(why) => skipped.push(why),
        }
    }
    let Some(tokens) = args.chain else { return Ok((sessions, skipped)) };
    let mut chains = Vec::new();
    let mut links: Vec<Session> = Vec::new();
    for session in sessions {
        if links.first().is_some_and(|first| first.format != session.format) {
            skipped.push(format!("{}: format differs from the sessions before it", session.name));
            continue;
        }
        links.push(session);
        if links.iter().map(Session::longest).sum::<u64>() >= tokens {
            chains.push(Session::chained(&links, policy, job).map_err(Failure::input)?);
            links.clear();
        }
    }
    if chains.is_empty() && !links.is_empty() {
        chains.push(Session::chained(&links, policy, job).map_err(Failure::input)?);
    }
    Ok((chains, skipped))
}
