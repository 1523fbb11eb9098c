//! `foldline search`: searches everything that was removed.

use super::recall::{RecallError, way};
use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::keep::{self, KeepError};
use crate::output;
use foldline_core::reading::{Findings, MOST_HITS};
use foldline_store::{Opening, Query, Search, Store, Whose};
use std::path::{Path, PathBuf};

/// Search everything that was removed
///
/// Shows the best results, each with handle, turn and line and the command that prints it. Case and accents are ignored,
/// any script is searched, quoted words match as a phrase. If nothing contains all words, results with some of them are
/// shown.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline search importer timeout
  # a phrase and a word
  foldline search '\"connection refused\" db'
  foldline search keep_fold --limit 30
  foldline search migration --session fs-3f9a0c51d2e70b14
  foldline search 数据库 --json

Exit codes: 0 found, 1 nothing found, 2 invalid usage or no store.")]
pub struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only what this gateway session removed, such as fs-3f9a0c51d2e70b14
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Number of results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=MOST_HITS as i64))]
    pub limit: u16,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Store file; that of the settings if omitted
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &SearchArgs) -> Result<Verdict, Failure> {
    let tuning = Tuning { config: args.config.clone(), ..Tuning::default() };
    let settings = super::settings(&tuning, Vec::new())?;
    let path = args.store.clone().or_else(|| keep::path_of(&settings.store));
    let path = path.ok_or(KeepError::NoStore)?;
    let (findings, told) = search(args, &path, keep::opening(&settings.store)?)?;
    if !findings.hits.is_empty() {
        output::print(&told)?;
        return Ok(Verdict::Fine);
    }
    if args.json {
        output::print(&told)?;
    }
    Err(Failure { code: 1, message: nothing(args, &findings, &path) })
}

/// What was found, and how it is told.
fn search(args: &SearchArgs, path: &Path, how: impl Into<Opening>) -> Result<(Findings, String), Failure> {
    let query = Query::of_arguments(&args.words).map_err(Failure::input)?;
    // Asking makes no store where there is none.
    let store = Store::open_existing(path, how).map_err(RecallError::from)?;
    let way = way(&args.store, &args.config, false);
    // Who may read the file may read all of it.
    let search =
        Search { query: &query, whose: Whose::Everybody, session: args.session.as_deref(), limit: args.limit.into() };
    let findings = store.search(&search, &way).map_err(RecallError::from)?;
    let told = match args.json {
        true => serde_json::to_string_pretty(&findings).map_err(RecallError::from)? + "\n",
        false => foldline_store::tell(&findings, &query, args.session.as_deref(), &way),
    };
    Ok((findings, told))
}

/// Why there is no answer, and what may help.
fn nothing(args: &SearchArgs, findings: &Findings, path: &Path) -> String {
    let session = args.session.as_ref().map(|session| format!(" that session {session} removed")).unwrap_or_default();
    let help = match (findings.waiting, &args.session) {
        (1.., _) => "older originals are not searched yet: search again".to_owned(),
        (_, Some(_)) => "try other words, or leave --session out".to_owned(),
        (_, None) => "try fewer or other words; if it is in another store, name that with --store".to_owned(),
    };
    format!("no original{session} in {} matches `{}`; {help}", path.display(), findings.words)
}

#[cfg(test)]
mod tests;
