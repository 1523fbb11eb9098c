//! `foldline recall`: prints an original as turns and lines, in pages, or as raw bytes.

use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::keep::{self, KeepError};
use crate::output;
use foldline_core::reading::{self, ChoiceError, Numbers, PAGE_SIZE, Reach, Way};
use foldline_store::{Address, AddressError, Candidate, Expiry, Opening, Original, Recall, Store, StoreError, Wanted};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Print removed text: turns, lines or matches, in pages
///
/// Folded messages are shown as turns, numbered from 1, with speaker, text, calls with arguments, and results. A single
/// output is shown by lines. Signatures, encrypted content and base64 are shown by size. Each page ends with the command
/// for the next.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  # the first page, and the next
  foldline recall fl-3f9a0c51d2e7
  foldline recall fl-3f9a0c51d2e7 --page 2
  # one turn; 12:20 for several
  foldline recall fl-3f9a0c51d2e7 --turn 12
  foldline recall fl-3f9a0c51d2e7 --turn 12 --lines 120:180
  # matching lines, by turn
  foldline recall fl-3f9a0c51d2e7 --grep 'error|panic' -C 2
  # the original bytes
  foldline recall fl-3f9a0c51d2e7 --raw > original.json

Exit codes: 0 shown, 1 handle not found or no match, 2 invalid usage or no store.")]
pub struct RecallArgs {
    /// Handle as shown in the transcript, such as fl-3f9a0c51d2e7
    pub handle: String,
    /// Only these turns, counted from 1: `12`, `12:20`, `12:` or `:20`
    #[arg(long, value_name = "A:B")]
    pub turn: Option<Numbers>,
    /// Only these lines of the turn, or of a text without turns. A single line is shown whole, however long
    #[arg(long, value_name = "A:B")]
    pub lines: Option<Numbers>,
    /// Only lines that match this regular expression, with line numbers
    #[arg(long, value_name = "RE", allow_hyphen_values = true)]
    pub grep: Option<String>,
    /// Lines to show around each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, requires = "grep")]
    pub context: usize,
    /// Which page
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub page: usize,
    /// Characters of a page, from 1000 to 1000000
    #[arg(long, value_name = "N", default_value_t = PAGE_SIZE)]
    pub page_size: usize,
    /// Original bytes without pages; with --lines, only these lines
    #[arg(long, conflicts_with_all = ["turn", "grep", "page", "page_size", "json"])]
    pub raw: bool,
    /// The page as JSON
    #[arg(long)]
    pub json: bool,
    /// Store file; that of the settings if omitted
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Why nothing was printed.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The argument is no handle.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// What was chosen is not there.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The regular expression cannot be read.
    #[error("--grep: {0}")]
    Pattern(#[from] regex::Error),
    /// There is no store, or it has no keys.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store has no answer; the message says why.
    #[error("{0}")]
    Absent(String),
    /// The page is no JSON.
    #[error("failed to serialise the page: {0}")]
    Json(#[from] serde_json::Error),
}

impl RecallError {
    /// The exit code: 2 for a mistaken command line or a store that does not work, 1 when the answer is no.
    pub fn exit_code(&self) -> u8 {
        match self {
            RecallError::Absent(_) | RecallError::Choice(ChoiceError::NoMatch { .. }) => 1,
            _ => 2,
        }
    }
}

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Failure {
        Failure { code: error.exit_code(), message: error.to_string() }
    }
}

/// Runs the command.
pub fn run(args: &RecallArgs) -> Result<Verdict, Failure> {
    let tuning = Tuning { config: args.config.clone(), ..Tuning::default() };
    let settings = super::settings(&tuning, Vec::new())?;
    let path = args.store.clone().or_else(|| keep::path_of(&settings.store));
    let shown = recall(args, path, keep::opening(&settings.store)?, keep::now_ms())?;
    output::print(&shown)?;
    Ok(Verdict::Fine)
}

/// What is shown of an original.
fn recall(
    args: &RecallArgs,
    path: Option<PathBuf>,
    how: impl Into<Opening>,
    now_ms: i64,
) -> Result<String, RecallError> {
    let address: Address = args.handle.parse()?;
    let pattern = args.grep.as_deref().map(Wanted::pattern).transpose()?;
    let path = path.ok_or(KeepError::NoStore)?;
    // Asking makes no store where there is none.
    let store = Store::open_existing(&path, how)?;
    let original = original(&store, address, now_ms, &path)?;
    let handle = address.to_string();
    if args.raw {
        return Ok(match args.lines {
            None => original.text,
            Some(lines) => reading::raw_lines(&original.text, lines, &handle)?.to_owned(),
        });
    }
    let wanted = Wanted {
        turns: args.turn,
        lines: args.lines,
        pattern,
        context: args.context,
        page: args.page,
        page_size: args.page_size,
    };
    let page = wanted.page(&original, &handle, &way(&args.store, &args.config, args.json))?;
    match args.json {
        true => Ok(serde_json::to_string_pretty(&page)? + "\n"),
        false => Ok(page.to_string()),
    }
}

/// The command line's own originals have no namespace; those of the gateway lie under the keys of its clients. Who may read
/// the file may read them all.
fn original(store: &Store, address: Address, now_ms: i64, path: &Path) -> Result<Original, RecallError> {
    let namespaces = store.namespaces(address)?;
    let namespace = if namespaces.iter().any(String::is_empty) { None } else { namespaces.first() };
    match store.get(now_ms, namespace.map_or("", String::as_str), address)? {
        Recall::Found(original) => Ok(original),
        Recall::Expired { at, why } => Err(RecallError::Absent(expired(&address, at, why))),
        Recall::Ambiguous(candidates) => Err(RecallError::Absent(ambiguous(&address, &candidates))),
        Recall::Unknown => Err(RecallError::Absent(unknown(&address, path))),
    }
}

/// How the user asks again: with the same store and settings.
pub(super) fn way(store: &Option<PathBuf>, config: &Option<PathBuf>, json: bool) -> Way {
    let path = |name, path: &Option<PathBuf>| path.as_ref().map(|path| (name, path.display().to_string()));
    let json = json.then(|| ("json", String::new()));
    let also = [path("store", store), path("config", config), json];
    Way { reach: Reach::Command, also: also.into_iter().flatten().collect() }
}

fn unknown(address: &Address, store: &Path) -> String {
    format!("{address} not found in {}; if it is in another store, name that with --store", store.display())
}

fn expired(address: &Address, at_ms: i64, why: Expiry) -> String {
    format!("{address} expired on {} because of the {why}", day(at_ms))
}

fn ambiguous(address: &Address, candidates: &[Candidate]) -> String {
    let mut message = format!("{address} matches {} originals; use more digits:", candidates.len());
    for candidate in candidates {
        let note = match candidate.tool.as_deref() {
            None => " (expired)".to_owned(),
            Some("") => String::new(),
            Some(tool) => format!(" ({tool})"),
        };
        let _ = write!(message, "\n  {}{note}", candidate.address);
    }
    message
}

/// The day of a time, in UTC.
fn day(at_ms: i64) -> String {
    let day = |at: jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
    jiff::Timestamp::from_millisecond(at_ms).map_or_else(|_| "an unknown day".to_owned(), day)
}

#[cfg(test)]
mod tests;
