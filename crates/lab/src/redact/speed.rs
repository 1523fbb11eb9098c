//! How fast secrets are found, in ordinary and in hostile text, at three sizes: linear time shows in equal speeds.

use crate::{best, generate};
use foldline_core::Format;
use foldline_redact::fixtures::expand;
use foldline_redact::hostile::hostile;
use foldline_redact::{Mode, RULES, Rule, Stream, redact};
use std::fmt;

/// How much text is searched at a time.
const SIZES: [usize; 3] = [256 << 10, 1 << 20, 4 << 20];

/// Speeds in megabytes per second, by text: at each size as a whole, and the largest as a stream.
#[derive(Debug)]
pub struct Speeds {
    mixed: [f64; 4],
    hostile: Vec<(&'static str, [f64; 4])>,
    rules: Vec<(&'static str, [f64; 4])>,
}

/// Measures; the best of `runs` counts.
pub fn speeds(runs: usize) -> Speeds {
    let [.., largest] = SIZES;
    let mixed: String = (0..)
        .map(|seed| generate::transcript(Format::Anthropic, 400, seed))
        .scan(0, |total, text| {
            let enough = *total >= largest;
            *total += text.len();
            (!enough).then_some(text)
        })
        .collect();
    let repeated = |unit: &str| unit.repeat(largest / unit.len() + 1);
    Speeds {
        mixed: measure(&mixed, runs),
        hostile: hostile().into_iter().map(|(name, unit)| (name, measure(&repeated(unit), runs))).collect(),
        rules: RULES.iter().map(|rule| (rule.name, measure(&repeated(&unit_of(rule)), RULE_RUNS))).collect(),
    }
}

/// There are many rules, and the slowest of them is what counts.
const RULE_RUNS: usize = 3;

/// What makes a rule work most: an example of it, then its first keyword without an end.
fn unit_of(rule: &Rule) -> String {
    let example = rule.hits.first().map(|example| expand(example, 7)).unwrap_or_default();
    let keyword = rule.keywords.first().copied().unwrap_or_default();
    format!("{example} {keyword}{keyword} ")
}

impl Speeds {
    /// The speed in generated sessions, at the largest size.
    pub fn mixed(&self) -> f64 {
        self.mixed[2]
    }

    /// The lowest speed at the largest size, and the hostile text it was measured with.
    pub fn slowest_hostile(&self) -> (f64, &'static str) {
        least(self.hostile.iter().map(|(name, speeds)| (speeds[2], *name)))
    }

    /// The same for the rules.
    pub fn slowest_rule(&self) -> (f64, &'static str) {
        least(self.rules.iter().map(|(name, speeds)| (speeds[2].min(speeds[3]), *name)))
    }

    /// How many times the speed of the smallest text the largest has, where that is least: one for linear time.
    pub fn least_linear(&self) -> (f64, &'static str) {
        least(self.hostile.iter().chain(&self.rules).map(|(name, speeds)| (speeds[2] / speeds[0], *name)))
    }
}

fn least(values: impl Iterator<Item = (f64, &'static str)>) -> (f64, &'static str) {
    values.min_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or((f64::NAN, "none"))
}

fn measure(text: &str, runs: usize) -> [f64; 4] {
    let speed =
        |text: &str, run: fn(&str) -> usize| text.len() as f64 / 1e6 / best::of(runs, || run(text)).as_secs_f64();
    let [small, middle, large] = SIZES.map(|size| text.get(..text.floor_char_boundary(size)).unwrap_or(text));
    [speed(small, whole), speed(middle, whole), speed(large, whole), speed(large, stream)]
}

fn whole(text: &str) -> usize {
    redact(text, Mode::Text).len()
}

fn stream(text: &str) -> usize {
    /// As much as a pipe holds.
    const PIECE: usize = 64 << 10;
    let mut stream = Stream::new(Mode::Text);
    let released: usize = text.as_bytes().chunks(PIECE).map(|piece| stream.feed(piece).len()).sum();
    released + stream.finish().len()
}

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [small, middle, large] = SIZES.map(|size| format!("{} KB", size >> 10));
        writeln!(f, "{small:>8}{middle:>9}{large:>9}   stream   MB/s")?;
        let mut rows: Vec<_> =
            self.hostile.iter().map(|(name, speeds)| (format!("hostile: {name}"), *speeds)).collect();
        rows.extend(self.rules.iter().map(|(name, speeds)| (format!("rule: {name}"), *speeds)));
        rows.push(("mixed (generated sessions)".to_owned(), self.mixed));
        rows.sort_by(|(_, one), (_, other)| one[2].total_cmp(&other[2]));
        for (name, [small, middle, large, stream]) in rows {
            writeln!(f, "{small:>8.0}{middle:>9.0}{large:>9.0}{stream:>9.0}   {name}")?;
        }
        Ok(())
    }
}
