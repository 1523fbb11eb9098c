//! `foldline forget`: deletes stored sessions permanently.

use crate::failure::{Failure, Verdict};
use crate::{keep, output};
use foldline_gateway::serve::dates;
use foldline_reduce::wording::counted;
use foldline_store::{Cleaning, Forget, Forgotten, Gone, Store, Whose};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

/// Delete stored sessions permanently, from the file and its log
///
/// Deletes a session with its checkpoints, its history and the originals that no other session removed; their handles can
/// no longer be recalled. A running gateway notices within a second and folds such a conversation again if it continues.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  # one session
  foldline forget fs-3f9a0c51d2e70b84
  # sessions whose last request came before that day, and all older texts
  foldline forget --before 2026-01-31
  # show what would be deleted
  foldline forget --all --dry-run
  foldline forget --all --yes --json

Over HTTP:
  DELETE /foldline/sessions/{id}
  DELETE /foldline/sessions?before=2026-01-31

Exit codes: 0 done, 1 session not found, 2 invalid usage or no store.")]
pub struct ForgetArgs {
    /// Sessions, as `/foldline/sessions` and `foldline search` name them
    #[arg(value_name = "SESSION", required_unless_present_any = ["all", "before"])]
    pub sessions: Vec<String>,
    /// Everything
    #[arg(long, conflicts_with_all = ["sessions", "before"])]
    pub all: bool,
    /// Sessions whose last request came before this day (in UTC) or moment, and older texts that belong to no session
    #[arg(long, value_name = "DATE", conflicts_with = "sessions")]
    pub before: Option<String>,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Print what was deleted as JSON
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
pub fn run(args: &ForgetArgs) -> Result<Verdict, Failure> {
    let wanted = wanted(args)?;
    let store = keep::open_existing(args.store.as_ref(), args.config.as_ref())?;
    let count = |what: &Forgotten<'_>| store.count_forgotten(&everybodys(*what));
    let mut would = Gone::default();
    for what in &wanted {
        let gone = count(what).map_err(Failure::input)?;
        if let (Forgotten::Session(id), true) = (what, gone.is_nothing()) {
            let message = format!("session {id} not found in {}", store.place().display());
            return Err(Failure { code: 1, message });
        }
        add(&mut would, &gone);
    }
    if args.dry_run {
        return tell(args, "would be deleted", &would);
    }
    if !args.yes && !confirmed(&would)? {
        output::tell("nothing was deleted\n");
        return Ok(Verdict::Fine);
    }
    let mut gone = Gone::default();
    for (at, what) in wanted.iter().enumerate() {
        // Once is enough for all of them.
        let cleaning = if at + 1 == wanted.len() { Cleaning::Thorough } else { Cleaning::Gentle };
        add(&mut gone, &forget(&store, *what, cleaning)?);
    }
    tell(args, "deleted", &gone)
}

fn wanted(args: &ForgetArgs) -> Result<Vec<Forgotten<'_>>, Failure> {
    Ok(match (&args.before, args.all) {
        (Some(date), _) => {
            let time = dates::parse(date).map_err(|error| Failure::input(format!("--before: {error}")))?;
            vec![Forgotten::Before(time)]
        }
        (None, true) => vec![Forgotten::All],
        (None, false) => args.sessions.iter().map(|id| Forgotten::Session(id)).collect(),
    })
}

/// Who may read the file may forget all of it.
fn everybodys(what: Forgotten<'_>) -> Forget<'_> {
    Forget { whose: Whose::Everybody, what }
}

fn forget(store: &Store, what: Forgotten<'_>, cleaning: Cleaning) -> Result<Gone, Failure> {
    store.forget(&everybodys(what), cleaning).map_err(Failure::input)
}

fn add(sum: &mut Gone, gone: &Gone) {
    sum.sessions += gone.sessions;
    sum.originals += gone.originals;
    sum.text_bytes += gone.text_bytes;
    sum.checkpoints += gone.checkpoints;
    sum.events += gone.events;
}

/// Asks, where there is somebody to ask.
fn confirmed(would: &Gone) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || would.is_nothing() {
        return Ok(true);
    }
    output::tell(&format!("{} will be deleted permanently. Continue? [y/N] ", listed(would)));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(Failure::input)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn listed(gone: &Gone) -> String {
    format!(
        "{}, {} ({} of text), {}",
        counted(gone.sessions, "session"),
        counted(gone.originals, "original"),
        counted(gone.text_bytes, "byte"),
        counted(gone.checkpoints, "checkpoint")
    )
}

fn tell(args: &ForgetArgs, verb: &str, gone: &Gone) -> Result<Verdict, Failure> {
    let told = match args.json {
        true => {
            let report = serde_json::json!({
                "dry_run": args.dry_run,
                "sessions": gone.sessions,
                "originals": gone.originals,
                "text_bytes": gone.text_bytes,
                "checkpoints": gone.checkpoints,
                "events": gone.events,
            });
            format!("{report:#}\n")
        }
        false => format!("{verb}: {}\n", listed(gone)),
    };
    output::print(&told)?;
    Ok(Verdict::Fine)
}
