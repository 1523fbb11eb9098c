//! Foldline beside its peers: all of them get the same inputs in one run, and one judge looks at the results.
//!
//! - [`inputs`] reads sessions and questions and brings everything into the Chat Completions form, which all peers read.
//! - [`peers`] names the peers, installs them into a folder of their own and says how each is driven.
//! - [`driver`] talks to a driver: a small Python program (`crates/lab/versus`) that calls one peer.
//! - [`judge`] counts tokens, names, evidence and faults of a result; [`growth`] what a growing session costs; [`secrets`] what
//!   redaction misses and what it masks in vain.
//! - [`results`] holds what was measured; [`table`] and [`page`] show it.

pub mod driver;
pub mod growth;
pub mod inputs;
pub mod judge;
pub mod page;
pub mod peers;
pub mod results;
pub mod secrets;
pub mod table;

use crate::Failure;
use driver::{Driver, Reply};
use foldline_reduce::wording;
use inputs::Task;
use judge::{Judge, Tally};
use peers::Peer;
use results::{Measured, Outcome, Results, Row};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is compared, and how.
#[derive(Debug)]
pub struct Options {
    /// Folders with sessions and question files.
    pub folders: Vec<PathBuf>,
    /// The release binary.
    pub binary: PathBuf,
    /// Where peers are installed.
    pub into: PathBuf,
    /// Size of results, as a share of the tokens.
    pub share: f64,
    /// The context window that peers are told.
    pub window: u64,
    /// Sessions that grow request by request; 0 leaves this out.
    pub growing: usize,
    /// At most so many sessions.
    pub limit: usize,
    /// Only these peers; all when empty.
    pub only: Vec<String>,
    /// What each peer may take, beside its installation.
    pub patience: Duration,
}

/// The window of sessions that grow: small enough that they outgrow it.
const GROWING_WINDOW: u64 = 100_000;

/// Runs the comparison; `tell` hears of every step.
pub fn run(options: &Options, tell: impl Fn(&str)) -> Result<Results, Failure> {
    if !options.binary.is_file() {
        return Err(
            format!("{}: not there; cargo build --release -p foldline makes it", options.binary.display()).into()
        );
    }
    let peers = peers::chosen(&options.only)?;
    let judge = Judge::new()?;
    let inputs = inputs::read(&options.folders, options.limit, &judge)?;
    let sessions = wording::counted(inputs.sessions.len(), "session");
    tell(&format!("{sessions}, {} with questions", inputs.with_questions()));
    inputs.left_out.iter().for_each(|why| tell(&format!("left out: {why}")));
    let secrets = secrets::texts();
    let mut results = Results {
        share: options.share,
        window: options.window,
        growing_window: GROWING_WINDOW,
        sessions: inputs.sessions.iter().map(|session| session.name.clone()).collect(),
        with_questions: inputs.with_questions(),
        tokens: inputs.tasks().map(|task| task.tokens).sum(),
        left_out: inputs.left_out.clone(),
        rows: Vec::new(),
    };
    let stage = Stage { options, judge: &judge, inputs: &inputs, secrets: &secrets, tell: &tell };
    for peer in peers {
        tell(&format!("{}: installing", peer.name));
        let outcome = peers::install(&peer, &options.into, &tell).and_then(|command| {
            let command = command.env("VERSUS_BINARY", std::path::absolute(&options.binary)?);
            stage.trial(&peer, Driver::start(command, options.patience)?)
        });
        let outcome = outcome.map_or_else(
            |error| Outcome::Failed { why: error.to_string() },
            |measured| Outcome::Measured(Box::new(measured)),
        );
        if let Outcome::Failed { why } = &outcome {
            tell(&format!("{}: {why}", peer.name));
        }
        results.rows.push(Row { name: peer.name.to_owned(), size: peer.size.to_owned(), outcome });
    }
    stage.at_same_sizes(&mut results)?;
    Ok(results)
}

/// What every trial needs.
struct Stage<'a> {
    options: &'a Options,
    judge: &'a Judge,
    inputs: &'a inputs::Inputs,
    secrets: &'a [secrets::Text],
    tell: &'a dyn Fn(&str),
}

impl Stage<'_> {
    fn trial(&self, peer: &Peer, mut driver: Driver) -> Result<Measured, Failure> {
        let about = driver.ask(&json!({"do": "about"}))?.required("about")?;
        let mut measured =
            Measured { version: about["version"].as_str().unwrap_or_default().to_owned(), ..Measured::default() };
        let total = self.inputs.tasks().count();
        let mut tally = Tally::default();
        for (number, task) in self.inputs.tasks().enumerate() {
            let target = (task.tokens as f64 * self.options.share) as u64;
            match self.compress(&mut driver, task, target) {
                Ok(done) => {
                    measured.sizes.push(done.tokens);
                    tally.add(&done);
                }
                Err(error) => {
                    measured.sizes.push(0);
                    measured.failures.push(format!("{}: {error}", task.name));
                    if driver.is_gone() {
                        return Err(error);
                    }
                }
            }
            (self.tell)(&format!("{}: {}/{total} {}", peer.name, number + 1, task.name));
        }
        if tally.results == 0 {
            return Err(measured.failures.pop().unwrap_or_else(|| "nothing to compress".to_owned()).into());
        }
        measured.tally = tally;
        if let Reply::Done(memory) = driver.ask(&json!({"do": "memory"}))? {
            measured.megabytes = memory["megabytes"].as_f64().unwrap_or_default();
        }
        match secrets::trial(&mut driver, self.secrets) {
            Ok(redaction) => measured.redaction = redaction,
            Err(error) => measured.failures.push(format!("redaction: {error}")),
        }
        for session in self.inputs.longest(self.options.growing) {
            (self.tell)(&format!("{}: {} grows", peer.name, session.name));
            match growth::play(&mut driver, self.judge, session, GROWING_WINDOW) {
                Ok(Some(growth)) => measured.growth.get_or_insert_default().add(&growth),
                Ok(None) => break,
                Err(error) => {
                    measured.failures.push(format!("growing session {}: {error}", session.name));
                    break;
                }
            }
        }
        Ok(measured)
    }

    fn compress(&self, driver: &mut Driver, task: &Task, target: u64) -> Result<judge::Judged, Failure> {
        let request =
            json!({"do": "compress", "messages": task.messages, "target": target, "window": self.options.window});
        let started = Instant::now();
        let reply = driver.ask(&request)?.required("compress")?;
        let messages = reply.get("messages").and_then(Value::as_array).ok_or("the driver answered no messages")?;
        let mut judged = self.judge.judge(task, messages);
        judged.seconds = reply["seconds"].as_f64().unwrap_or_else(|| started.elapsed().as_secs_f64());
        Ok(judged)
    }

    /// Foldline at the size that each peer came to: the comparison for peers that take no target, or miss it.
    fn at_same_sizes(&self, results: &mut Results) -> Result<(), Failure> {
        let own = peers::all().into_iter().next().ok_or("no peers")?;
        let command = peers::install(&own, &self.options.into, self.tell)?
            .env("VERSUS_BINARY", std::path::absolute(&self.options.binary)?);
        let mut driver = Driver::start(command, self.options.patience)?;
        for row in results.rows.iter_mut().filter(|row| row.name != own.name) {
            let Outcome::Measured(measured) = &mut row.outcome else {
                continue;
            };
            (self.tell)(&format!("{} at the sizes of {}", own.name, row.name));
            let mut tally = Tally::default();
            for (task, &size) in self.inputs.tasks().zip(&measured.sizes).filter(|(_, size)| **size > 0) {
                match self.compress(&mut driver, task, size) {
                    Ok(judged) => tally.add(&judged),
                    Err(error) if driver.is_gone() => return Err(error),
                    Err(error) => (self.tell)(&format!("{} at {size} tokens: {error}", task.name)),
                }
            }
            measured.foldline_at_this_size = Some(tally);
        }
        Ok(())
    }
}

/// Writes results, tables and page into a folder, and says where.
pub fn write(results: &Results, into: &Path) -> Result<[PathBuf; 3], Failure> {
    std::fs::create_dir_all(into)?;
    let files = ["results.json", "results.md", "results.html"].map(|name| into.join(name));
    let texts = [serde_json::to_string_pretty(results)?, table::markdown(results), page::render(results)];
    for (file, text) in files.iter().zip(texts) {
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(files)
}
