//! `foldline recall`: the original of something that was removed, whole, by lines, or by a search.

use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::{keep, output};
use foldline_store::{Address, AddressError, Candidate, Expiry, Limits, Recall, Store, StoreError};
use regex::Regex;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Prints the original of something that was removed from a transcript
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline recall fl-3f9a0c51d2e7
  foldline recall fl-3f9a0c51d2e7 --lines 120:180
  foldline recall fl-3f9a0c51d2e7 --grep 'error|panic' --context 2")]
pub struct RecallArgs {
    /// The handle as it stands in the transcript, like fl-3f9a0c51d2e7
    pub handle: String,
    /// Only these lines, counted from 1: `5:10`, `5:`, `:10` or `7`
    #[arg(long, value_name = "A:B")]
    pub lines: Option<Lines>,
    /// Only lines that match this regular expression, with their numbers
    #[arg(long, value_name = "RE")]
    pub grep: Option<String>,
    /// Lines to show around each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, requires = "grep")]
    pub context: usize,
    /// The store's file; the one of the settings when not given
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Lines of a text, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    first: usize,
    /// `None` is the end of the text.
    last: Option<usize>,
}

/// Why nothing was printed.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The argument is no handle.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The lines asked for are not there.
    #[error(transparent)]
    Lines(#[from] LinesError),
    /// The regular expression cannot be read.
    #[error("--grep: {0}")]
    Pattern(#[from] regex::Error),
    /// No store was named and there is no default.
    #[error(
        "no store: it is switched off in the settings, or neither XDG_DATA_HOME nor HOME is set; name one with --store"
    )]
    NoStore,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store has no answer; the message says why.
    #[error("{0}")]
    Absent(String),
    /// The output failed.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// What is wrong with a choice of lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinesError {
    /// It is no range.
    #[error("`{0}` is no range of lines; expected A:B, A:, :B or A, counted from 1")]
    Syntax(String),
    /// It begins or ends with line 0.
    #[error("`{0}` names line 0; lines are counted from 1")]
    Zero(String),
    /// It ends before it begins.
    #[error("`{text}` ends before it begins; did you mean {last}:{first}?")]
    Backwards {
        /// As it was given.
        text: String,
        /// Its first line.
        first: usize,
        /// Its last line.
        last: usize,
    },
    /// The text ends before it begins.
    #[error("line {first} was asked for, the original has {count}")]
    Beyond {
        /// The first line that was asked for.
        first: usize,
        /// The lines that there are.
        count: usize,
    },
}

impl RecallError {
    /// The exit code: 2 for a mistaken command line or a store that does not work, 1 when the answer is no.
    pub fn exit_code(&self) -> u8 {
        match self {
            RecallError::Absent(_) => 1,
            _ => 2,
        }
    }
}

/// Runs the command.
pub fn run(args: &RecallArgs) -> Result<Verdict, Failure> {
    let tuning = Tuning { config: args.config.clone(), ..Tuning::default() };
    let settings = super::settings(&tuning, Vec::new())?;
    let path = args.store.clone().or_else(|| keep::path_of(settings.policy()));
    let mut out = Vec::new();
    match recall(args, path, keep::limits(settings.policy()), keep::now_ms(), &mut out) {
        Ok(()) => {}
        Err(error) => return Err(Failure { code: error.exit_code(), message: error.to_string() }),
    }
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(Verdict::Fine)
}

/// Recalls an original and writes it, byte for byte, or the lines asked for.
fn recall(
    args: &RecallArgs,
    path: Option<PathBuf>,
    limits: Limits,
    now_ms: i64,
    out: &mut dyn Write,
) -> Result<(), RecallError> {
    let address: Address = args.handle.parse()?;
    let pattern = args.grep.as_deref().map(Regex::new).transpose()?;
    let path = path.ok_or(RecallError::NoStore)?;
    // Asking makes no store where there is none.
    let store = Store::open_existing(&path, limits)?;
    // The command line's own originals have no namespace; those of the gateway lie under the keys of its clients. Who
    // may read the file may read them all.
    let namespaces = store.namespaces(address)?;
    let namespace = if namespaces.iter().any(String::is_empty) { None } else { namespaces.first() };
    let text = match store.get(now_ms, namespace.map_or("", String::as_str), address)? {
        Recall::Found(original) => original.text,
        Recall::Expired { at, why } => return Err(RecallError::Absent(expired(&address, at, why))),
        Recall::Ambiguous(candidates) => return Err(RecallError::Absent(ambiguous(&address, &candidates))),
        Recall::Unknown => return Err(RecallError::Absent(unknown(&address, &path))),
    };
    let lines = args.lines.unwrap_or(Lines::ALL);
    let shown = match pattern {
        None => select_lines(&text, lines)?.to_owned(),
        Some(pattern) => {
            let shown = grep(&text, &pattern, lines, args.context)?;
            if shown.is_empty() {
                return Err(RecallError::Absent(format!("no line of {address} matches `{pattern}`")));
            }
            shown
        }
    };
    Ok(out.write_all(shown.as_bytes())?)
}

impl Lines {
    /// Every line there is.
    pub const ALL: Lines = Lines { first: 1, last: None };

    /// The lines of a text that are meant, counted from 0. A range may end behind the text, but not begin there.
    fn within(self, count: usize) -> Result<Range<usize>, LinesError> {
        if self.first > count && self != Lines::ALL {
            return Err(LinesError::Beyond { first: self.first, count });
        }
        Ok(self.first - 1..self.last.unwrap_or(count).min(count))
    }
}

impl FromStr for Lines {
    type Err = LinesError;

    fn from_str(text: &str) -> Result<Lines, LinesError> {
        let syntax = || LinesError::Syntax(text.to_owned());
        let number = |digits: &str| match digits.parse() {
            Ok(0) => Err(LinesError::Zero(text.to_owned())),
            Ok(number) => Ok(number),
            Err(_) => Err(syntax()),
        };
        let (first, last) = match text.split_once(':') {
            None => (number(text)?, Some(number(text)?)),
            Some(("", "")) => return Err(syntax()),
            Some(("", last)) => (1, Some(number(last)?)),
            Some((first, "")) => (number(first)?, None),
            Some((first, last)) => (number(first)?, Some(number(last)?)),
        };
        match last {
            Some(last) if last < first => Err(LinesError::Backwards { text: text.to_owned(), first, last }),
            _ => Ok(Lines { first, last }),
        }
    }
}

/// Some lines of a text, with their line ends, byte for byte.
pub fn select_lines(text: &str, lines: Lines) -> Result<&str, LinesError> {
    let mut ends: Vec<usize> = vec![0];
    ends.extend(text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }));
    let range = lines.within(ends.len() - 1)?;
    let end = |line: usize| ends.get(line).copied().unwrap_or(text.len());
    Ok(text.get(end(range.start)..end(range.end)).unwrap_or_default())
}

/// The lines that match, with their numbers in the whole text: `12:` before a match, `13-` before a line
/// around one, `--` where lines are left out. Nothing when none matches.
pub fn grep(text: &str, pattern: &Regex, lines: Lines, context: usize) -> Result<String, LinesError> {
    let all: Vec<&str> = text.lines().collect();
    let range = lines.within(all.len())?;
    let chosen = all.get(range.clone()).unwrap_or_default();
    let matches: Vec<usize> =
        (range.start..).zip(chosen).filter(|(_, line)| pattern.is_match(line)).map(|(index, _)| index).collect();
    let mut shown = String::new();
    let mut matches = matches.into_iter().peekable();
    let mut next = range.start;
    while let Some(hit) = matches.next() {
        let from = hit.saturating_sub(context).max(next);
        if from > next && !shown.is_empty() && context > 0 {
            shown.push_str("--\n");
        }
        let until = hit.saturating_add(context).saturating_add(1).min(range.end);
        let until = matches.peek().map_or(until, |following| until.min(*following));
        for (index, line) in (from..until).zip(all.get(from..until).unwrap_or_default()) {
            let mark = if index == hit { ':' } else { '-' };
            // Writing to a string does not fail.
            let _ = writeln!(shown, "{}{mark}{line}", index + 1);
        }
        next = until;
    }
    Ok(shown)
}

fn unknown(address: &Address, store: &Path) -> String {
    format!("nothing is known of {address} in {}; if it was stored elsewhere, say where with --store", store.display())
}

fn expired(address: &Address, at_ms: i64, why: Expiry) -> String {
    format!("{address} expired on {} because of the {why}", day(at_ms))
}

fn ambiguous(address: &Address, candidates: &[Candidate]) -> String {
    let mut message = format!("{address} stands for {} originals; ask for one with more digits:", candidates.len());
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
