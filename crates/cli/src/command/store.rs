//! `foldline store`: status, keys, re-encryption and maintenance of the store.

mod upkeep;

use crate::failure::{Failure, Verdict};
use crate::progress::{ProgressDisplay, spinner};
use crate::{keep, output, store_keys};
use clap::Subcommand;
use foldline_reduce::wording::counted;
use foldline_store::{KeyId, Keyring};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What can be done to a store.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  # create a key; then set store.key_file to it
  foldline store key ~/.config/foldline/store.key
  # encrypt existing content
  foldline store rekey
  # change the key
  foldline store key --rotate ~/.config/foldline/store.key && foldline store rekey
  foldline store status --json
  # move everything to PostgreSQL
  foldline store export | foldline store import --store postgres://me@db/foldline

Keys come from store.key_file, from what store.key_command prints (`secret-tool lookup foldline store`, \
`security find-generic-password -s foldline -w`, `pass show foldline`), or from FOLDLINE_STORE_KEY. New content is \
encrypted with the first; the others decrypt older content, until `rekey` has re-encrypted it.")]
pub enum StoreCommand {
    /// Show what is stored, its size and its encryption.
    Status {
        #[command(flatten)]
        place: StoreArgs,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Create a key file, or add a new key to one.
    Key {
        /// The file; made for its owner only.
        file: PathBuf,
        /// Put a new key before those that are there. A gateway that follows the file uses it within a second.
        #[arg(long)]
        rotate: bool,
    },
    /// Re-encrypt everything with the first key and remove old data from the file. A gateway may keep serving.
    Rekey {
        #[command(flatten)]
        place: StoreArgs,
        /// What was done, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Prepare a store, or bring it to the format of this release. Gateways do so when they start; one node does it while
    /// the others wait.
    Migrate {
        #[command(flatten)]
        place: StoreArgs,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check that everything that is kept is what was put there.
    Check {
        #[command(flatten)]
        place: StoreArgs,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let go of what exceeds the limits, give free room back to the system, and delete objects that no original needs.
    Vacuum {
        #[command(flatten)]
        place: StoreArgs,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write everything that is kept to the standard output, one line of JSON each. What is encrypted stays encrypted.
    Export {
        #[command(flatten)]
        place: StoreArgs,
        /// For programs: no progress on the terminal.
        #[arg(long)]
        json: bool,
    },
    /// Take in what `export` wrote, from the standard input. What is there stays.
    Import {
        #[command(flatten)]
        place: StoreArgs,
        /// What was done, as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Which store.
#[derive(Debug, clap::Args)]
pub struct StoreArgs {
    /// Store file or URL; that of the settings if omitted.
    #[arg(long, value_name = "PATH|URL")]
    store: Option<PathBuf>,
    /// The settings file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Runs the command.
pub fn run(command: &StoreCommand) -> Result<Verdict, Failure> {
    match command {
        StoreCommand::Status { place, json } => status(place, *json),
        StoreCommand::Key { file, rotate } => key(file, *rotate),
        StoreCommand::Rekey { place, json } => rekey(place, *json),
        StoreCommand::Migrate { place, json } => upkeep::migrate(place, form(*json)),
        StoreCommand::Check { place, json } => upkeep::check(place, form(*json)),
        StoreCommand::Vacuum { place, json } => upkeep::vacuum(place, form(*json)),
        StoreCommand::Export { place, json } => upkeep::export(place, form(*json)),
        StoreCommand::Import { place, json } => upkeep::import(place, form(*json)),
    }
}

fn form(json: bool) -> upkeep::Form {
    if json { upkeep::Form::Json } else { upkeep::Form::Words }
}

fn status(place: &StoreArgs, json: bool) -> Result<Verdict, Failure> {
    let store = keep::open_existing(place.store.as_ref(), place.config.as_ref())?;
    let stats = store.stats().map_err(Failure::input)?;
    let outdated = store.outdated().map_err(Failure::input)?;
    let keys: Vec<String> = store.keys().iter().map(KeyId::to_string).collect();
    let told = match json {
        true => {
            let report = serde_json::json!({
                "path": store.place(),
                "originals": stats.originals,
                "text_bytes": stats.text_bytes,
                "stored_bytes": stats.stored_bytes,
                "file_bytes": stats.file_bytes,
                "keys": keys,
                "rows_of_other_keys": outdated,
            });
            format!("{report:#}\n")
        }
        false => {
            let encryption = match keys.split_first() {
                None => "not encrypted; see `foldline store key --help`".to_owned(),
                Some((first, [])) => format!("encrypted with key {first}"),
                Some((first, more)) => format!("encrypted with key {first}; read with {} as well", more.join(", ")),
            };
            let rest = match outdated {
                0 => String::new(),
                rows => {
                    format!("\n{} not encrypted with that key yet; run `foldline store rekey`", counted(rows, "row"))
                }
            };
            format!(
                "{}\n{}, {} bytes of text, {} bytes on disk\n{encryption}{rest}\n",
                store.place().display(),
                counted(stats.originals, "original"),
                stats.text_bytes,
                stats.file_bytes,
            )
        }
    };
    output::print(&told)?;
    Ok(Verdict::Fine)
}

fn key(file: &Path, rotate: bool) -> Result<Verdict, Failure> {
    let new = Keyring::generate().map_err(Failure::input)?;
    let old = match (file.exists(), rotate) {
        (true, false) => {
            let message = format!("{} already exists; add a new key to it with --rotate", file.display());
            return Err(Failure::input(message));
        }
        (false, true) => return Err(Failure::input(format!("{} does not exist; remove --rotate", file.display()))),
        (false, false) => String::new(),
        (true, true) => {
            let text = store_keys::read(file).map_err(Failure::input)?;
            Keyring::parse(&text).map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
            text.to_string()
        }
    };
    write_secret(file, &format!("{new}\n{old}"))
        .map_err(|error| Failure::input(format!("cannot write {}: {error}", file.display())))?;
    let id = Keyring::parse(&new).map_err(Failure::input)?.ids().first().map(KeyId::to_string).unwrap_or_default();
    let next = match rotate {
        false => {
            "set store.key_file to it, then run `foldline store rekey` to encrypt existing content. Keep a backup of \
             the key: content cannot be read without it"
        }
        true => "it is used for new content. Run `foldline store rekey` before you remove the older keys",
    };
    output::print(&format!("key {id} is in {}; {next}\n", file.display()))?;
    Ok(Verdict::Fine)
}

/// Writes a file that only its owner can read at any moment: beside it first, then in its place.
fn write_secret(file: &Path, text: &str) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&part).and_then(|mut opened| {
        opened.write_all(text.as_bytes())?;
        opened.sync_all()?;
        std::fs::rename(&part, file)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

fn rekey(place: &StoreArgs, json: bool) -> Result<Verdict, Failure> {
    let store = keep::open_existing(place.store.as_ref(), place.config.as_ref())?;
    let Some(first) = store.keys().first().copied() else {
        let message = "no key is set; create one with `foldline store key FILE` and set store.key_file to FILE";
        return Err(Failure::input(message));
    };
    let all = store.outdated().map_err(Failure::input)?;
    let bar = spinner(if json { ProgressDisplay::Hidden } else { ProgressDisplay::Shown });
    let mut seen = 0;
    let done = store.rekey(&mut |rows| {
        seen += rows;
        bar.set_message(format!("{seen} of {all} rows"));
    });
    bar.finish_and_clear();
    let done = done.map_err(Failure::input)?;
    let told = match json {
        true => {
            let report = serde_json::json!({
                "key": first.to_string(),
                "originals": done.originals,
                "checkpoints": done.checkpoints,
                "sessions": done.sessions,
                "damaged": done.damaged,
                "keys_retired": done.retired,
            });
            format!("{report:#}\n")
        }
        false => format!(
            "encrypted with key {first}: {}, {}, {}; {} no longer needed{}\n",
            counted(done.originals, "original"),
            counted(done.checkpoints, "checkpoint"),
            counted(done.sessions, "session"),
            counted(done.retired, "older key"),
            if done.damaged > 0 {
                format!("; {} damaged and left unchanged", counted(done.damaged, "row"))
            } else {
                String::new()
            },
        ),
    };
    output::print(&told)?;
    Ok(Verdict::Fine)
}
