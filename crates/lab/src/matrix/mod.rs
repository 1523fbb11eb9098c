//! Runs sessions × formats × windows × presets × targets and checks the invariants.

mod check;
mod summary;

pub use check::Check;
pub use summary::Summary;

use crate::{Failure, convert};
use check::{Case, Examined};
use foldline_core::policy::{AutoOr, Preset};
use foldline_core::{Format, Job, Policy, Request};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// The windows, ascending: each is compared with the one before it.
pub const WINDOWS: [u32; 5] = [32_000, 64_000, 128_000, 200_000, 1_000_000];
/// The formats that a session is tried in.
pub const FORMATS: [Format; 4] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini];
/// The target of the runs that have one.
pub const TARGET: u64 = 12_000;

/// One run, by what distinguishes it from the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Name of the session.
    pub file: String,
    /// Name of the format.
    pub format: &'static str,
    /// Window in tokens.
    pub window: u32,
    /// Name of the preset.
    pub preset: &'static str,
    /// Target, if there is one.
    pub target: Option<u64>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.file, self.format, self.window, self.preset)?;
        self.target.map_or(Ok(()), |target| write!(f, " target {target}"))
    }
}

/// Something that does not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What.
    pub check: Check,
    /// Where.
    pub run: Run,
    /// How bad, for the order of the list.
    pub weight: u64,
    /// In words.
    pub detail: String,
}

/// The files of a directory that can be sessions, by name.
pub fn sessions(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(format!("{}: no .json files", directory.display()).into()),
        false => Ok(files),
    }
}

/// Runs the matrix over `files`; `progress` hears of each finished file.
pub fn run(files: &[PathBuf], threads: usize, mut progress: impl FnMut(usize, &Path)) -> Result<Summary, Failure> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((file, session(file))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut summary = Summary::default();
        for (done, (file, part)) in receiver.into_iter().enumerate() {
            summary.add(part?);
            progress(done + 1, file);
        }
        summary.sort();
        Ok(summary)
    })
}

/// One session in all formats.
fn session(file: &Path) -> Result<Summary, Failure> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let parsed: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut summary = Summary::default();
    for format in FORMATS {
        // What was recorded is tried as it was recorded, byte for byte.
        let body = match format {
            Format::Anthropic => text.clone(),
            _ => convert::to(format, &parsed).to_string(),
        };
        for &preset in Preset::ALL {
            body_under(&name, &body, format, preset, &mut summary);
        }
    }
    Ok(summary)
}

/// One body under one preset at all windows.
fn body_under(file: &str, body: &str, format: Format, preset: Preset, summary: &mut Summary) {
    let before = check::tokens(body, &Policy::of(preset));
    for target in [None, Some(TARGET)] {
        let mut smaller: Option<(u32, u64)> = None;
        for window in WINDOWS {
            let run = Run { file: file.to_owned(), format: format.name(), window, preset: preset.name(), target };
            let mut policy = Policy::of(preset);
            policy.model.window = AutoOr::Fixed(window);
            let job = Job { request: Request { target, ..Request::default() }, ..Job::default() };
            let examined = Case { body, format, before, policy: &policy, job: &job }.examine();
            let after = examined.after;
            summary.note(run.clone(), examined);
            if target.is_some() {
                continue;
            }
            if let (Some((window, before)), Some(after)) = (smaller, after)
                && after < before
            {
                summary.violations.push(Violation {
                    check: Check::LargerKeepsMore,
                    run,
                    weight: before - after,
                    detail: format!("keeps {after} tokens, the window of {window} keeps {before}"),
                });
            }
            smaller = after.map(|after| (window, after)).or(smaller);
        }
    }
}

impl Summary {
    fn note(&mut self, run: Run, examined: Examined) {
        self.runs += 1;
        *self.outcomes.entry(examined.outcome).or_default() += 1;
        if run.target.is_none() && examined.above_trigger {
            self.above_trigger.push(run.clone());
        }
        self.slowest = self.slowest.max(examined.time);
        let violations = examined.faults.into_iter().map(|fault| Violation {
            check: fault.check,
            run: run.clone(),
            weight: fault.weight,
            detail: fault.detail,
        });
        self.violations.extend(violations);
    }
}
