//! How well the cache simulator predicts what a provider reported, and where it does not.
//!
//! Three predictions per session, from most to least that is known: prompt sizes as reported (only the rules can
//! err), sizes counted in the messages (counting errs, too), and nothing said about where the client itself
//! changed its prompt (what no one can see in the messages is missing, too).

use crate::{Failure, best};
use foldline_core::cache::{Layout, Traffic, marks};
use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::policy::CacheTtl;
use foldline_core::tokens::measure;
use foldline_core::{Job, Policy, SessionState};
use foldline_measure::cache::{Break, Fit, Recording, Rules, Sizes};
use foldline_transcript::Transcript;
use foldline_transcript::wire;
use std::fmt;
use std::path::PathBuf;

/// Repetitions of a timing, of which the best counts.
const RUNS: usize = 7;
/// The predictions, with their names.
const LEVELS: [(Sizes, &str); 3] =
    [(Sizes::Reported, "sizes as reported"), (Sizes::Counted, "sizes counted"), (Sizes::Unaided, "unaided")];

/// One session.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// What the provider reported.
    pub reported: Traffic,
    /// What was predicted, by level.
    pub predicted: [Traffic; 3],
    /// Reported per counted token.
    pub scale: f64,
    /// Tokens beside the messages.
    pub outside: u64,
    /// Microseconds to find out where cache marks go, for a request with all messages.
    pub marking: f64,
    /// Written tokens by cause: growth, cold cache, the client's changes, its compactions.
    pub causes: [u64; 4],
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Calibration {
    /// Session by session.
    pub sessions: Vec<Session>,
}

/// Measures the sessions in `files`.
pub fn measure_all(files: &[PathBuf]) -> Result<Calibration, Failure> {
    let mut calibration = Calibration::default();
    for file in files {
        let text = std::fs::read_to_string(file)?;
        let transcript = wire::read(&text, None).map_err(|error| format!("{}: {error}", file.display()))?;
        let recording = Recording::of(&transcript);
        let setting = Job::default().setting(&transcript, &Policy::default(), &SessionState::default());
        let counts = measure(&transcript, &setting.measure);
        let Some(fit) = Fit::of(&recording, &counts) else { continue };
        let model =
            ModelTable::embedded().profile(transcript.model.as_deref().unwrap_or_default(), ApiFamily::Anthropic);
        let rules = Rules::of(&model, ApiFamily::Anthropic);
        let predicted = LEVELS.map(|(sizes, _)| fit.predict(&recording, &transcript, &counts, rules, sizes).total());
        calibration.sessions.push(Session {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            reported: recording.reported(),
            predicted,
            scale: fit.scale,
            outside: fit.outside,
            marking: marking(&transcript),
            causes: causes(&recording, &fit),
        });
    }
    Ok(calibration)
}

/// The best of a few tries.
fn marking(transcript: &Transcript<'_>) -> f64 {
    let mark = || marks::edits(transcript, Layout::Auto, CacheTtl::FiveMinutes, marks::Carrier::Native);
    best::of(RUNS, mark).as_secs_f64() * 1e6
}

fn causes(recording: &Recording, fit: &Fit) -> [u64; 4] {
    let mut causes = [0; 4];
    let mut last = None;
    for (request, broken) in recording.requests.iter().zip(&fit.breaks) {
        let gap = request.at.zip(last).map_or(0.0, |(at, last)| at - last);
        last = request.at;
        let cause = match broken {
            Some(Break::Client) => 2,
            Some(Break::Compaction) => 3,
            None if gap > f64::from(fit.ttl.seconds()) => 1,
            None => 0,
        };
        causes[cause] += request.reported.map_or(0, |reported| reported.written());
    }
    causes
}

fn error(predicted: u64, reported: u64) -> f64 {
    (predicted as f64 - reported as f64) / reported.max(1) as f64 * 100.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<14}{:>12}{:>8}{:>8}{:>8}{:>12}{:>8}{:>8}{:>8}{:>8}{:>9}",
            "session",
            "read",
            "rules%",
            "count%",
            "unaid%",
            "written",
            "rules%",
            "count%",
            "unaid%",
            "scale",
            "outside"
        )?;
        let mut reported = Traffic::default();
        let mut predicted = [Traffic::default(); 3];
        let mut causes = [0_u64; 4];
        for session in &self.sessions {
            reported += session.reported;
            predicted.iter_mut().zip(session.predicted).for_each(|(sum, one)| *sum += one);
            causes.iter_mut().zip(session.causes).for_each(|(sum, one)| *sum += one);
            write!(f, "{:<14}{:>12}", session.name, session.reported.cache_read)?;
            for one in session.predicted {
                write!(f, "{:>+8.1}", error(one.cache_read, session.reported.cache_read))?;
            }
            write!(f, "{:>12}", session.reported.written())?;
            for one in session.predicted {
                write!(f, "{:>+8.1}", error(one.written(), session.reported.written()))?;
            }
            writeln!(f, "{:>8.2}{:>9}", session.scale, session.outside)?;
        }
        writeln!(f, "\n{:<22}{:>14}{:>10}{:>14}{:>10}", "", "read, total %", "median %", "write, total %", "median %")?;
        for ((_, name), (level, sum)) in LEVELS.iter().zip(predicted.iter().enumerate()) {
            let errors = |pick: fn(&Traffic) -> u64| {
                let one = |session: &Session| {
                    session.predicted.get(level).map(|predicted| error(pick(predicted), pick(&session.reported)).abs())
                };
                median(self.sessions.iter().filter_map(one).collect())
            };
            let read = (error(sum.cache_read, reported.cache_read), errors(|traffic| traffic.cache_read));
            let write = (error(sum.written(), reported.written()), errors(Traffic::written));
            writeln!(f, "{name:<22}{:>+14.2}{:>10.2}{:>+14.2}{:>10.2}", read.0, read.1, write.0, write.1)?;
        }
        let marking: Vec<f64> = self.sessions.iter().map(|session| session.marking).collect();
        let slowest = marking.iter().copied().fold(0.0, f64::max);
        writeln!(f, "\nplacing cache marks: median {:.0} µs, slowest {slowest:.0} µs", median(marking))?;
        let all: u64 = causes.iter().sum();
        writeln!(f, "\nwritten tokens by cause, as reported:")?;
        let names = ["growth", "cold cache", "the client changed its prompt", "the client compacted"];
        for (name, tokens) in names.iter().zip(causes) {
            writeln!(f, "  {name:<32}{tokens:>12}{:>7.1} %", tokens as f64 * 100.0 / all.max(1) as f64)?;
        }
        Ok(())
    }
}
