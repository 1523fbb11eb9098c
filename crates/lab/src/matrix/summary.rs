//! The summary of all runs.

use super::{Check, Run, Violation};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Worst cases that are shown for each check.
const SHOWN: usize = 6;

/// All runs together.
#[derive(Debug, Default)]
pub struct Summary {
    /// How many.
    pub runs: usize,
    /// How they ended.
    pub outcomes: BTreeMap<String, usize>,
    /// Runs without a target whose output is still at or above the trigger: allowed, but worth a look.
    pub above_trigger: Vec<Run>,
    /// The longest compaction.
    pub slowest: Duration,
    /// What does not hold.
    pub violations: Vec<Violation>,
}

impl Summary {
    pub(super) fn add(&mut self, other: Summary) {
        self.runs += other.runs;
        for (outcome, runs) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += runs;
        }
        self.above_trigger.extend(other.above_trigger);
        self.slowest = self.slowest.max(other.slowest);
        self.violations.extend(other.violations);
    }

    /// The worst first, then by name, whatever thread was faster.
    pub(super) fn sort(&mut self) {
        self.above_trigger.sort();
        self.violations
            .sort_by(|a, b| a.check.cmp(&b.check).then(b.weight.cmp(&a.weight)).then_with(|| a.run.cmp(&b.run)));
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "runs                {:>6}", self.runs)?;
        for (outcome, runs) in &self.outcomes {
            writeln!(f, "  {outcome:<17} {runs:>6}")?;
        }
        writeln!(f, "still above trigger {:>6}", self.above_trigger.len())?;
        for run in self.above_trigger.iter().take(SHOWN) {
            writeln!(f, "    {run}")?;
        }
        writeln!(f, "slowest compaction  {:>6.0} ms", self.slowest.as_secs_f64() * 1000.0)?;
        writeln!(f, "\n{:<20}{:>10}{:>8}", "check", "violations", "files")?;
        for (check, name) in Check::NAMES {
            let found: Vec<_> = self.violations.iter().filter(|violation| violation.check == check).collect();
            let files: std::collections::BTreeSet<_> = found.iter().map(|violation| &violation.run.file).collect();
            writeln!(f, "{name:<20}{:>10}{:>8}", found.len(), files.len())?;
            for violation in found.iter().take(SHOWN) {
                writeln!(f, "    {}: {}", violation.run, violation.detail)?;
            }
        }
        Ok(())
    }
}
