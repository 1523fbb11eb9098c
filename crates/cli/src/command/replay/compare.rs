//! Replays sessions under several policies and compares them.

use crate::{batch, input};
use foldline_core::cache::{Layout, Tariff};
use foldline_core::models::ModelTable;
use foldline_core::{Job, Policy};
use foldline_measure::replay::{Exams, Metrics, ReplaySetup, Run, Session, play};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A policy that takes part.
pub struct ComparedPolicy {
    /// Its name.
    pub name: String,
    /// `None` never compacts.
    pub policy: Option<Policy>,
    /// Settings that hold for all: model and window.
    pub base: Policy,
}

/// Who plays, and by which rules.
pub struct Comparison {
    /// The policies.
    pub policies: Vec<ComparedPolicy>,
    /// What is known about models.
    pub models: ModelTable,
    /// Where marks are put.
    pub layout: Layout,
}

/// A session as all contestants played it.
#[derive(Serialize)]
pub struct ReplayedSession {
    /// Its name.
    pub name: String,
    /// The model.
    pub model: String,
    /// Tokens of its longest request, uncompacted.
    pub tokens: u64,
    /// Whether that fits the window.
    pub fits: bool,
    /// Lifetime of cached prefixes.
    pub cache_ttl: &'static str,
    /// Whether times are from a record.
    pub has_times: bool,
    /// Run by run, in the order of the contestants.
    pub runs: Vec<Run>,
}

/// All of it.
#[derive(Serialize)]
pub struct Replay {
    /// The contestants.
    pub policies: Vec<String>,
    /// Figures per contestant.
    pub totals: Vec<Metrics>,
    /// Figures per contestant over the sessions that fit their window uncompacted.
    pub totals_where_it_fits: Vec<Metrics>,
    /// Sessions that fit their window and on which a policy cost more than none.
    pub dearer_than_none: Vec<CostlierSession>,
    /// Prices by model, with source and date.
    pub prices: BTreeMap<String, Tariff>,
    /// Session by session.
    pub sessions: Vec<ReplayedSession>,
    /// Sessions that were not played, and why.
    pub skipped: Vec<String>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// A session on which a policy did not pay.
#[derive(Serialize)]
pub struct CostlierSession {
    /// The session.
    pub session: String,
    /// The policy.
    pub policy: String,
    /// Dollars more than without compaction.
    pub dollars: f64,
    /// Requests after its last compaction: too few of them is the usual reason.
    pub requests_after_last: u64,
}

/// Reads the sessions of a file.
pub fn read(file: &Path, policy: &Policy, job: &Job) -> Vec<Result<Session, String>> {
    let name = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return vec![Err(format!("{}: {error}", file.display()))],
    };
    let conversations = batch::conversations(&text);
    let several = conversations.len() > 1;
    let read = |(text, number): (&&str, usize)| {
        let name = if several { format!("{name}:{number}") } else { name.clone() };
        input::transcript(text, job.format).map_err(|error| format!("{name}: {error}"))?;
        let session =
            Session::read(&name, text, job.format, policy, job).map_err(|error| format!("{name}: {error}"))?;
        match session.turns.is_empty() {
            true => Err(format!("{name}: contains no reply, so there is no request to replay")),
            false => Ok(session),
        }
    };
    conversations.iter().zip(1..).map(read).collect()
}

/// Plays a session with every contestant.
pub fn play_all(comparison: &Comparison, session: &Session) -> Result<ReplayedSession, String> {
    let mut exams = Exams::default();
    let stage = ReplaySetup { models: &comparison.models, layout: comparison.layout, keeps_originals: true };
    let mut runs = Vec::new();
    for policy in &comparison.policies {
        let run = match &policy.policy {
            Some(policy) => play(session, Some(policy), &stage, &mut exams),
            None => {
                // Nothing is compacted, but model and window are those of everybody.
                let mut off = policy.base.clone();
                off.compression.enabled = false;
                play(session, Some(&off), &stage, &mut exams)
            }
        };
        runs.push(run.map_err(|error| format!("{}: {error}", session.name))?);
    }
    let window = runs.first().map_or(0, |run| run.window);
    Ok(ReplayedSession {
        name: session.name.clone(),
        model: session.model.clone(),
        tokens: session.longest(),
        fits: session.longest() <= window,
        cache_ttl: session.ttl.name(),
        has_times: session.has_times,
        runs,
    })
}

impl Replay {
    /// Sums up.
    pub fn of(
        comparison: &Comparison,
        played: Vec<Result<ReplayedSession, String>>,
        mut skipped: Vec<String>,
        took: Duration,
    ) -> Replay {
        let mut sessions = Vec::new();
        for outcome in played {
            match outcome {
                Ok(played) => sessions.push(played),
                Err(why) => skipped.push(why),
            }
        }
        let policies: Vec<String> = comparison.policies.iter().map(|policy| policy.name.clone()).collect();
        let figures = |only_fitting: bool| -> Vec<Metrics> {
            let of = |index: usize| {
                let chosen = sessions.iter().filter(|played: &&ReplayedSession| !only_fitting || played.fits);
                Metrics::of(chosen.filter_map(move |played| played.runs.get(index)))
            };
            (0..policies.len()).map(of).collect()
        };
        let (totals, totals_where_it_fits) = (figures(false), figures(true));
        let mut prices = BTreeMap::new();
        for played in &sessions {
            let named = comparison.policies.first().and_then(|policy| policy.base.model.name.clone());
            let name = named.unwrap_or_else(|| played.model.clone());
            let profile = comparison.models.profile(&name, foldline_core::models::ApiFamily::Anthropic);
            if let Ok(tariff) = Tariff::of(&profile) {
                prices.insert(name, tariff);
            }
        }
        let dearer_than_none = dearer(&policies, &sessions);
        let seconds = took.as_secs_f64();
        Replay { policies, totals, totals_where_it_fits, dearer_than_none, prices, sessions, skipped, seconds }
    }

    /// Whether nothing was broken.
    pub fn is_clean(&self) -> bool {
        self.totals.iter().all(|metrics| metrics.violations == 0 && metrics.unstable == 0)
    }
}

/// Less than this is rounding.
const CENT: f64 = 0.01;

fn dearer(policies: &[String], sessions: &[ReplayedSession]) -> Vec<CostlierSession> {
    let mut found = Vec::new();
    let Some(none) = policies.iter().position(|name| name == super::NONE) else { return found };
    for played in sessions.iter().filter(|played| played.fits) {
        let Some(plain) = played.runs.get(none) else { continue };
        for (policy, run) in policies.iter().zip(&played.runs) {
            let more = run.bill.total() - plain.bill.total();
            if more > CENT {
                let last = run.events.last().map_or(0, |last| last.event.request);
                found.push(CostlierSession {
                    session: played.name.clone(),
                    policy: policy.clone(),
                    dollars: more,
                    requests_after_last: run.requests.len() as u64 - last,
                });
            }
        }
    }
    found.sort_by(|one, two| two.dollars.total_cmp(&one.dollars));
    found
}
