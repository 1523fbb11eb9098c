//! The figures that redaction has to reach, from one run.

use super::sets::{Leaks, SETS};
use super::{Alarms, Speeds};
use std::fmt;
use std::path::PathBuf;

/// What leaks, what is masked in vain and how fast, each beside its limit.
#[derive(Debug)]
pub struct Figures {
    /// Shapes and leaks, of the groups that were promised first and of the others, by set.
    leaks: Vec<(&'static str, [(usize, usize); 2])>,
    alarms: Vec<(PathBuf, Alarms)>,
    speeds: Speeds,
}

impl Figures {
    /// Measures all shapes, and takes what was measured in folders and of time.
    pub fn new(alarms: Vec<(PathBuf, Alarms)>, speeds: Speeds) -> Self {
        let leaks = SETS.iter().map(|(name, shapes)| (*name, Leaks::of(&shapes()).named_and_others())).collect();
        Self { leaks, alarms, speeds }
    }
}

/// Limits: share of leaks in the groups that X2 names and in the others, findings per megabyte, megabytes per second.
const LEAKS: [(&str, f64); 2] = [("groups that X2 names", 3.0), ("other groups", 15.0)];
const ALARMS: f64 = 6.0;
const MIXED: f64 = 200.0;
const HOSTILE: f64 = 50.0;

fn share((shapes, leaks): (usize, usize)) -> f64 {
    100.0 * leaks as f64 / shapes.max(1) as f64
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (groups, limit)) in LEAKS.into_iter().enumerate() {
            let of = |counts: &[(usize, usize); 2]| counts.get(index).copied().unwrap_or_default();
            let sum = |(shapes, leaks): (usize, usize), (more, leaked): (usize, usize)| (shapes + more, leaks + leaked);
            let all = self.leaks.iter().map(|(_, counts)| of(counts)).fold((0, 0), sum);
            writeln!(f, "{:>4} of {:>4} shapes leak: {:.1} % (limit {limit} %), {groups}", all.1, all.0, share(all))?;
            for (name, counts) in &self.leaks {
                let (shapes, leaks) = of(counts);
                writeln!(f, "       {leaks:>4} of {shapes:>4}, {name} set")?;
            }
        }
        for (folder, alarms) in &self.alarms {
            let (rate, megabytes) = (alarms.per_megabyte(), alarms.megabytes());
            writeln!(f, "{rate:>7.2} false alarms per MB (limit {ALARMS}), {megabytes:.0} MB, {}", folder.display())?;
        }
        writeln!(f, "{:>7.0} MB/s mixed (limit {MIXED})", self.speeds.mixed())?;
        let (slowest, name) = self.speeds.slowest_hostile();
        writeln!(f, "{slowest:>7.0} MB/s hostile (limit {HOSTILE}), the slowest: {name}")?;
        let (slowest, name) = self.speeds.slowest_rule();
        writeln!(f, "{slowest:>7.0} MB/s with examples of one rule (limit {HOSTILE}), the slowest: {name}")?;
        let (ratio, name) = self.speeds.least_linear();
        writeln!(f, "{ratio:>7.2} times the speed at sixteen times the size, the least linear: {name}")
    }
}
