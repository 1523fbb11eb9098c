//! Compacts many damaged transcripts and checks the results with an independent validator.

mod make;
mod strict;

pub use make::transcript;
pub use strict::{Fault, NO_MESSAGE, RULES, judge};

use foldline_core::policy::AutoOr;
use foldline_core::{EngineError, Job, Policy, Request, SessionState, Trigger, compact};
use std::collections::BTreeMap;
use std::fmt;

/// A window that a few messages fill.
const WINDOW: u32 = 1_500;
/// What is too small for most transcripts.
const TARGET: u64 = 900;
/// So many results that were refused are shown.
const MOST_SHOWN: usize = 20;

/// What came of a run.
#[derive(Debug, Default)]
pub struct Figures {
    /// Transcripts.
    pub transcripts: u64,
    /// Those that a provider would have refused as they came.
    pub damaged: u64,
    /// Results that were judged: each transcript repaired alone, folded on request, and brought to a target.
    pub results: u64,
    /// Folds among them.
    pub folds: u64,
    /// Results that would be refused.
    pub invalid: u64,
    /// Transcripts without a message: what could be put there would be all there is, so that they stay as they came.
    pub empty: u64,
    /// Transcripts that break each rule, before.
    pub broken: BTreeMap<Fault, u64>,
    /// What is wrong with results, with their seeds.
    pub shown: Vec<String>,
}

/// Makes, compacts and judges transcripts of the seeds from `first` on.
pub fn run(first: u64, transcripts: u64) -> Figures {
    let mut figures = Figures::default();
    let mut small = Policy::default();
    small.model.window = AutoOr::Fixed(WINDOW);
    let large = Policy::default();
    let jobs = [
        (&large, Request::default()),
        (&small, Request { trigger: Trigger::Manual, keeps_originals: true, ..Request::default() }),
        (&small, Request { target: Some(TARGET), ..Request::default() }),
    ];
    for seed in first..first.saturating_add(transcripts) {
        let (format, body) = transcript(seed);
        figures.transcripts += 1;
        let faults = judge(format, &body, &body);
        figures.damaged += u64::from(!faults.is_empty());
        let is_empty = faults.contains(&NO_MESSAGE);
        figures.empty += u64::from(is_empty);
        faults.into_iter().for_each(|fault| *figures.broken.entry(fault).or_default() += 1);
        for (policy, request) in &jobs {
            let job = Job { format: Some(format), request: request.clone(), ..Job::default() };
            let done = match compact(&body, policy, &SessionState::default(), &job) {
                Ok(done) => done,
                Err(EngineError::CannotFit(_)) => continue,
                Err(error) => {
                    figures.refuse(seed, &error.to_string());
                    continue;
                }
            };
            figures.results += 1;
            figures.folds += u64::from(done.plan.fold.is_some());
            if is_empty && done.body == body {
                continue;
            }
            let faults = judge(format, &body, &done.body);
            if !faults.is_empty() {
                let bodies = if transcripts == 1 { format!("\n{body}\n{}", done.body) } else { String::new() };
                figures.refuse(seed, &format!("{format}, {:?}: {}{bodies}", done.plan.outcome, faults.join(", ")));
            }
        }
    }
    figures
}

impl Figures {
    fn refuse(&mut self, seed: u64, what: &str) {
        self.invalid += 1;
        if self.shown.len() < MOST_SHOWN {
            self.shown.push(format!("seed {seed}: {what}"));
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} transcripts, {} of them damaged", self.transcripts, self.damaged)?;
        for (rule, count) in &self.broken {
            writeln!(f, "  {rule:<16} {count:>8}")?;
        }
        writeln!(f, "{} without a message, left as they came", self.empty)?;
        writeln!(f, "{} results, {} folds, {} invalid", self.results, self.folds, self.invalid)?;
        self.shown.iter().try_for_each(|shown| writeln!(f, "{shown}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_result_is_refused_and_every_rule_is_broken_before() {
        let figures = run(1, 1_000);
        assert_eq!(figures.invalid, 0, "{figures}");
        assert_eq!(run(1_160, 1).empty, 1, "this one has no message");
        assert_eq!(run(1_160, 1).invalid, 0);
        assert!(figures.folds > 250, "{figures}");
        // Only a rewrite can lose reasoning.
        for rule in RULES.iter().filter(|rule| **rule != "reasoning lost" && **rule != NO_MESSAGE) {
            assert!(figures.broken.contains_key(rule), "nothing breaks `{rule}`\n{figures}");
        }
    }
}
