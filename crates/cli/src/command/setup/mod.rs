//! `foldline setup`: points a client at the gateway and gives it our tools, and takes both back.

mod client;
mod journal;
mod json;
pub mod status;
mod toml;
pub mod verify;
mod yaml;

use crate::failure::{Failure, Verdict};
use crate::output;
use client::{Around, Change, Client, Wiring};
use foldline_store::default_path;
use journal::Journal;
use serde_json::json as value;
use similar::{Algorithm, ChangeTag, capture_diff_slices, group_diff_ops};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the gateway listens unless somebody says otherwise.
const DEFAULT_GATEWAY: &str = "http://127.0.0.1:8787";

/// What clients start for the tools unless somebody says otherwise.
const DEFAULT_COMMAND: &str = "foldline";

/// Point a client at the gateway and give it the tools of `foldline mcp`
///
/// Shows what will change in the client's settings, changes it, and checks with one request. Comments and settings of others
/// stay. `--undo` puts every file back as it was, byte for byte.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline setup claude --dry-run
  foldline setup codex
  foldline setup opencode --gateway http://127.0.0.1:9000
  # the tools alone, without the gateway
  foldline setup gemini --only mcp
  foldline setup claude --undo

Exit codes: 0 done, 1 done but the gateway does not answer yet, 2 nothing was changed.")]
pub struct SetupArgs {
    /// Which client
    #[arg(value_enum)]
    pub client: Client,
    /// Where the gateway listens
    #[arg(long, value_name = "URL", default_value = DEFAULT_GATEWAY)]
    pub gateway: String,
    /// Only this part
    #[arg(long, value_enum, value_name = "PART")]
    pub only: Option<Part>,
    /// The command that the client starts for the tools
    #[arg(long, value_name = "PATH", default_value = DEFAULT_COMMAND)]
    pub command: String,
    /// Put the client's files back as they were
    #[arg(long, conflicts_with_all = ["gateway", "only", "command"])]
    pub undo: bool,
    /// With --undo, also where a file was changed since
    #[arg(long, requires = "undo")]
    pub force: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// A part of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The base address.
    Gateway,
    /// The tools.
    Mcp,
}

/// Runs the command.
pub fn run(args: &SetupArgs) -> Result<Verdict, Failure> {
    let var = |name: &str| std::env::var(name).ok();
    let record = journal_place(args.client)?;
    if args.undo {
        return undo(args, &record);
    }
    let base = args.gateway.trim_end_matches('/').trim_end_matches("/v1").to_owned();
    let wiring = Wiring {
        gateway: (args.only != Some(Part::Mcp)).then_some(base.clone()),
        mcp: (args.only != Some(Part::Gateway)).then(|| (args.command.clone(), vec!["mcp".to_owned()])),
    };
    let around = Around { var: &var, read: &read };
    let folder = args.client.folder(&around);
    let is_there = folder.as_ref().is_some_and(|folder| folder.exists()) || verify::is_program(args.client.name());
    let changes = args.client.changes(&wiring, &around).map_err(Failure::input)?;
    if !args.dry_run && !changes.is_empty() {
        let mut journal = Journal::read(&record).map_err(Failure::input)?;
        journal.add(&changes);
        journal.gateway = wiring.gateway.clone().or(journal.gateway);
        journal.command = wiring.mcp.as_ref().map(|(command, _)| command.clone()).or(journal.command);
        // The way back is on the disk before anything changes.
        journal.write(&record).map_err(Failure::input)?;
        for change in &changes {
            journal::replace(&change.path, &change.after).map_err(Failure::input)?;
        }
    }
    let answers = (wiring.gateway.is_some() && !args.dry_run).then(|| verify::gateway(&base));
    if args.json {
        let files: Vec<_> =
            changes.iter().map(|change| value!({ "path": change.path, "diff": diff(change) })).collect();
        let verified = answers.as_ref().map(|answers| match answers {
            Ok(()) => value!({ "gateway": base, "answers": true }),
            Err(why) => value!({ "gateway": base, "answers": false, "reason": why }),
        });
        let told = value!({
            "client": args.client.name(), "found": is_there, "changed": !args.dry_run && !changes.is_empty(),
            "files": files, "verified": verified,
        });
        output::print(&format!("{told}\n"))?;
    } else {
        output::print(&told(args, is_there, &changes, answers.as_ref(), &base))?;
    }
    Ok(match answers {
        Some(Err(_)) => Verdict::Found,
        _ => Verdict::Fine,
    })
}

fn told(
    args: &SetupArgs,
    is_there: bool,
    changes: &[Change],
    answers: Option<&Result<(), String>>,
    base: &str,
) -> String {
    let name = args.client.name();
    let mut out = String::new();
    if !is_there {
        out.push_str(&format!("{name} was not found here: neither its settings nor its program\n"));
    }
    changes.iter().for_each(|change| out.push_str(&diff(change)));
    out.push_str(&match (changes, args.dry_run) {
        ([], _) => format!("{name} is set up already; nothing changes\n"),
        (_, true) => "nothing was changed (--dry-run)\n".to_owned(),
        (_, false) => format!("{name} is set up; `foldline setup {name} --undo` takes it back\n"),
    });
    match answers {
        Some(Ok(())) => out.push_str(&format!("the gateway at {base} answers\n")),
        Some(Err(why)) => {
            out.push_str(&format!("the gateway at {base} does not answer ({why}); start it with `foldline serve`\n"))
        }
        None => {}
    }
    out
}

/// Puts files back.
fn undo(args: &SetupArgs, record: &Path) -> Result<Verdict, Failure> {
    let name = args.client.name();
    let journal = Journal::read(record).map_err(Failure::input)?;
    if journal.entries.is_empty() {
        return Err(Failure::input(format!("there is nothing to undo: {name} was not set up from here")));
    }
    let now: Vec<Option<String>> =
        journal.entries.iter().map(|entry| read(&entry.path)).collect::<Result<_, _>>().map_err(Failure::input)?;
    let changed = journal.entries.iter().zip(&now).find(|(entry, now)| now.as_ref() != Some(&entry.after));
    if let (Some((entry, _)), false) = (changed, args.force) {
        return Err(Failure::input(format!(
            "{} was changed since; nothing is undone. --undo --force puts it back as it was before the set-up and loses that change",
            entry.path.display()
        )));
    }
    let changes: Vec<Change> = journal
        .entries
        .iter()
        .zip(now)
        .map(|(entry, now)| Change {
            path: entry.path.clone(),
            before: now,
            after: entry.before.clone().unwrap_or_default(),
        })
        .collect();
    if !args.dry_run {
        for entry in &journal.entries {
            match &entry.before {
                Some(before) => journal::replace(&entry.path, before).map_err(Failure::input)?,
                None => remove(&entry.path)?,
            }
        }
        remove(record)?;
    }
    if args.json {
        let files: Vec<_> =
            changes.iter().map(|change| value!({ "path": change.path, "diff": diff(change) })).collect();
        let told = value!({ "client": name, "undone": !args.dry_run, "files": files });
        output::print(&format!("{told}\n"))?;
    } else {
        let diffs: String = changes.iter().map(diff).collect();
        let end = if args.dry_run { "nothing was changed (--dry-run)" } else { "put back as it was" };
        output::print(&format!("{diffs}{end}\n"))?;
    }
    Ok(Verdict::Fine)
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::input(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Beside the store: what is kept about a user is in one place.
fn journal_place(client: Client) -> Result<PathBuf, Failure> {
    let store = default_path(&|name| std::env::var(name).ok());
    let folder = store.as_deref().and_then(Path::parent).map(Path::to_owned);
    let folder =
        folder.ok_or_else(|| Failure::input("neither XDG_DATA_HOME nor HOME is set; the way back cannot be kept"))?;
    Ok(journal::place(&folder, client))
}

/// Lines around a change that are shown.
const AROUND: usize = 3;

/// What changes in a file, as a unified diff.
fn diff(change: &Change) -> String {
    let lines = |text: &'_ str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (before, after) = (lines(change.before.as_deref().unwrap_or_default()), lines(&change.after));
    let path = change.path.display();
    let from = if change.before.is_some() { path.to_string() } else { "/dev/null".to_owned() };
    let mut out = format!("--- {from}\n+++ {path}\n");
    for group in group_diff_ops(capture_diff_slices(Algorithm::Myers, &before, &after), AROUND) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old, new) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let _ = writeln!(out, "@@ -{},{} +{},{} @@", old.start + 1, old.len(), new.start + 1, new.len());
        for line in group.iter().flat_map(|step| step.iter_changes(&before, &after)) {
            let mark = match line.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let _ = writeln!(out, "{mark}{}", line.value());
        }
    }
    out
}
