//! The first part of a session, compacted by the engine and by the baselines.

use super::measure::EvalSetup;
use foldline_core::tokens::{Counts, Measure, measure};
use foldline_core::{Compaction, Job, Request, SessionState, Trigger, compact};
use foldline_measure::retention::{Baseline, Page, baseline};
use foldline_transcript::wire;
use foldline_transcript::wire::WireError;
use foldline_transcript::{Format, Transcript};

/// What is compacted.
pub struct Part<'t> {
    /// The part as it stands in its document.
    pub transcript: Transcript<'t>,
    /// Its lines.
    pub page: Page,
    /// How its tokens are counted.
    pub measure: Measure,
    counts: Counts,
}

impl<'t> Part<'t> {
    /// Reads a part.
    pub fn read(setup: &EvalSetup, text: &'t str, format: Format) -> Result<Part<'t>, WireError> {
        let transcript = wire::read(text, Some(format))?;
        let setting = setup.job.setting(&transcript, &setup.policy, &SessionState::default());
        let counts = measure(&transcript, &setting.measure);
        Ok(Part { page: Page::of(&transcript), measure: setting.measure, transcript, counts })
    }

    /// Its tokens.
    pub fn tokens(&self) -> u64 {
        self.counts.total()
    }

    /// Its messages.
    pub fn messages(&self) -> usize {
        self.transcript.messages.len()
    }

    /// The tokens of a budget in percent.
    pub fn allowed(&self, budget: f64) -> u64 {
        (self.tokens() as f64 * budget / 100.0) as u64
    }

    /// What the engine makes of it; why not, where the budget cannot be met.
    pub fn compacted(&self, setup: &EvalSetup, budget: f64) -> Result<Compaction<'t>, String> {
        let request = Request {
            trigger: Trigger::Manual,
            target: Some(self.allowed(budget)),
            keeps_originals: setup.keep.is_on(),
            ..Request::default()
        };
        let job = Job { request, ..setup.job.clone() };
        compact(self.transcript.text, &setup.policy, &SessionState::default(), &job).map_err(|error| error.to_string())
    }

    /// The lines that something simpler leaves.
    pub fn simpler(&self, kind: Baseline, budget: f64) -> Vec<String> {
        baseline(kind, &self.transcript, &self.page, &self.counts, self.allowed(budget))
    }
}
