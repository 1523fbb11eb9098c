//! Preparing a store, checking it, cleaning it, and moving what it keeps to another one.

use super::StoreArgs;
use crate::failure::{Failure, Verdict};
use crate::progress::{ProgressDisplay, spinner};
use crate::{keep, output};
use foldline_reduce::wording::counted;
use foldline_store::{Cursor, Record};
use indicatif::ProgressBar;
use std::io::{BufRead, BufWriter, Write};
use std::time::{Duration, Instant};

/// How the result is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// To people.
    Words,
    /// To programs.
    Json,
}

/// The first line of an export.
const HEADER: &str = "{\"foldline\":\"store\",\"version\":1}";
/// How the last line begins: one that was cut off has none.
const END: &str = "{\"end\":";
/// Bytes of records that are taken in at once.
const AT_ONCE: usize = 8 << 20;
/// Records that are taken in at once.
const MOST_AT_ONCE: usize = 500;
/// What takes longer is seen to move.
const FELT: Duration = Duration::from_secs(2);

/// Progress that shows only when something takes its time.
struct Progress {
    display: ProgressDisplay,
    since: Instant,
    bar: ProgressBar,
    done: u64,
    unit: &'static str,
}

impl Progress {
    fn of(form: Form, unit: &'static str) -> Progress {
        let display = if form == Form::Json { ProgressDisplay::Hidden } else { ProgressDisplay::Shown };
        Progress { display, since: Instant::now(), bar: spinner(ProgressDisplay::Hidden), done: 0, unit }
    }

    fn add(&mut self, more: u64) {
        self.done += more;
        if self.display == ProgressDisplay::Shown && self.since.elapsed() > FELT {
            if self.bar.is_hidden() {
                self.bar = spinner(ProgressDisplay::Shown);
            }
            self.bar.set_message(format!("{} {}", self.done, self.unit));
        }
    }

    fn end(self) -> u64 {
        self.bar.finish_and_clear();
        self.done
    }
}

fn tell(form: Form, words: String, json: &serde_json::Value) -> Result<(), Failure> {
    output::print(&match form {
        Form::Words => words + "\n",
        Form::Json => format!("{json:#}\n"),
    })?;
    Ok(())
}

/// Prepares a store.
pub fn migrate(place: &StoreArgs, form: Form) -> Result<Verdict, Failure> {
    let store = keep::open_or_make(place.store.as_ref(), place.config.as_ref())?;
    let path = store.place().display().to_string();
    tell(form, format!("{path} has the format of this release"), &serde_json::json!({ "path": path }))?;
    Ok(Verdict::Fine)
}

/// Checks a store.
pub fn check(place: &StoreArgs, form: Form) -> Result<Verdict, Failure> {
    let store = keep::open_existing(place.store.as_ref(), place.config.as_ref())?;
    let mut progress = Progress::of(form, "records checked");
    let wrong = store.check(&mut |records| progress.add(records)).map_err(Failure::input)?;
    let records = progress.end();
    let words = match wrong.is_empty() {
        true => format!("{records} records are sound"),
        false => format!("{}\n{} of {records} records are not sound", wrong.join("\n"), wrong.len()),
    };
    tell(form, words, &serde_json::json!({ "records": records, "wrong": wrong }))?;
    Ok(if wrong.is_empty() { Verdict::Fine } else { Verdict::Found })
}

/// Cleans a store.
pub fn vacuum(place: &StoreArgs, form: Form) -> Result<Verdict, Failure> {
    let store = keep::open_existing(place.store.as_ref(), place.config.as_ref())?;
    let before = store.stats().map_err(Failure::input)?;
    let mut progress = Progress::of(form, "steps");
    let pruned = store.prune(keep::now_ms()).map_err(Failure::input)?;
    progress.add(1);
    let swept = store.vacuum().map_err(Failure::input)?;
    progress.end();
    let after = store.stats().map_err(Failure::input)?;
    let mut words = format!(
        "let go of {} originals; {} bytes on the disk before, {} now",
        pruned.aged + pruned.oversized,
        before.file_bytes,
        after.file_bytes
    );
    if swept > 0 {
        words += &format!("; deleted {} that no original needs", counted(swept, "object"));
    }
    let report = serde_json::json!({
        "originals_let_go": pruned.aged + pruned.oversized,
        "file_bytes_before": before.file_bytes,
        "file_bytes": after.file_bytes,
        "objects_deleted": swept,
    });
    tell(form, words, &report)?;
    Ok(Verdict::Fine)
}

/// Writes everything out.
pub fn export(place: &StoreArgs, form: Form) -> Result<Verdict, Failure> {
    let store = keep::open_existing(place.store.as_ref(), place.config.as_ref())?;
    let failed = |error: std::io::Error| Failure::input(format!("the export cannot be written: {error}"));
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{HEADER}").map_err(failed)?;
    let mut cursor = Cursor::default();
    let mut progress = Progress::of(form, "records written");
    loop {
        let records = store.page(&mut cursor).map_err(Failure::input)?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            writeln!(out, "{record}").map_err(failed)?;
        }
        progress.add(records.len() as u64);
    }
    let records = progress.end();
    writeln!(out, "{END}{records}}}").map_err(failed)?;
    out.flush().map_err(failed)?;
    if cursor.left_out() > 0 {
        let lost = counted(cursor.left_out(), "original");
        output::tell(&format!(
            "left out {lost}: the text is missing from the object store; `foldline store check` names them\n"
        ));
        return Ok(Verdict::Found);
    }
    Ok(Verdict::Fine)
}

/// Takes everything in.
pub fn import(place: &StoreArgs, form: Form) -> Result<Verdict, Failure> {
    let store = keep::open_or_make(place.store.as_ref(), place.config.as_ref())?;
    let mut lines = std::io::stdin().lock().lines();
    let unreadable = |error: std::io::Error| Failure::input(format!("the export cannot be read: {error}"));
    match lines.next().transpose().map_err(unreadable)? {
        Some(line) if line == HEADER => {}
        _ => {
            let message = "the input is no export of a store; expected what `foldline store export` writes";
            return Err(Failure::input(message));
        }
    }
    let mut progress = Progress::of(form, "records read");
    let (mut added, mut waiting, mut weight): (u64, Vec<Record>, usize) = (0, Vec::new(), 0);
    let mut promised = None;
    for (number, line) in (2..).zip(lines) {
        let line = line.map_err(unreadable)?;
        if let Some(end) = line.strip_prefix(END) {
            promised = end.trim_end_matches('}').parse::<u64>().ok();
            break;
        }
        let record = Record::parse(&line).map_err(|error| Failure::input(format!("line {number} {error}")))?;
        weight += record.weight();
        waiting.push(record);
        if weight > AT_ONCE || waiting.len() >= MOST_AT_ONCE {
            added += store.add(&waiting).map_err(Failure::input)?;
            progress.add(waiting.len() as u64);
            (waiting, weight) = (Vec::new(), 0);
        }
    }
    added += store.add(&waiting).map_err(Failure::input)?;
    progress.add(waiting.len() as u64);
    let read = progress.end();
    if promised != Some(read) {
        let message = format!("the export ends too early: {read} records were read and are kept; export it again");
        return Err(Failure::input(message));
    }
    let words = format!("{added} records were added, {} were there already", read - added);
    tell(form, words, &serde_json::json!({ "read": read, "added": added }))?;
    Ok(Verdict::Fine)
}
