//! Metrics as OTLP has them (`metrics.proto`), read from the page that Prometheus gets: each metric is declared once.

use super::protobuf::Message;
use super::resource::{attribute, scope};
use std::collections::BTreeMap;

/// From when to when figures count, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    /// The start of the process.
    pub(super) start: u64,
    /// Now.
    pub(super) end: u64,
}

/// `ExportMetricsServiceRequest` for a page in the text format of OpenMetrics.
pub(super) fn request(resource: Message, page: &str, period: Period) -> Vec<u8> {
    let families = families(page);
    let metrics = families.iter().map(|family| family.message(period));
    let scoped = Message::default().message(1, scope()).messages(2, metrics);
    let all = Message::default().message(1, resource).message(2, scoped);
    Message::default().message(1, all).into_bytes()
}

/// The lines about one metric.
#[derive(Debug, Default)]
struct Family<'p> {
    name: &'p str,
    help: &'p str,
    kind: &'p str,
    samples: Vec<Sample<'p>>,
}

#[derive(Debug, PartialEq)]
struct Sample<'p> {
    /// What follows the name of the metric: `_total`, `_bucket`, `_sum`, `_count` or nothing.
    suffix: &'p str,
    labels: Vec<(&'p str, String)>,
    value: f64,
}

fn families(page: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in page.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            families.push(Family { name, help: help.trim_end_matches('.'), ..Family::default() });
            continue;
        }
        let Some(family) = families.last_mut() else { continue };
        if let Some((_, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            family.kind = kind;
        } else if let Some(sample) = line.strip_prefix(family.name).and_then(sample) {
            family.samples.push(sample);
        }
    }
    families.retain(|family| !family.samples.is_empty());
    families
}

/// What follows the name of the metric in a line.
fn sample(rest: &str) -> Option<Sample<'_>> {
    let end = rest.find(['{', ' '])?;
    let (suffix, rest) = rest.split_at(end);
    let (labels, value) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    Some(Sample { suffix, labels, value: value.trim().parse().ok()? })
}

/// Labels behind an opening brace, and what follows the closing one.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches(',');
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = after.char_indices();
        loop {
            match characters.next()? {
                (at, '"') => {
                    rest = after.get(at + 1..)?;
                    break;
                }
                (_, '\\') => match characters.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        }
        labels.push((name, value));
    }
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: figures count since the start.
const CUMULATIVE: u64 = 2;

impl Family<'_> {
    fn message(&self, period: Period) -> Message {
        let metric = Message::default().text(1, self.name).text(2, self.help).text(3, unit(self.name));
        match self.kind {
            "counter" => {
                let points = self.samples.iter().map(|sample| sample.point(period));
                metric.message(7, Message::default().messages(1, points).number(2, CUMULATIVE).number(3, 1))
            }
            "histogram" => {
                let points = self.histograms().into_values().map(|histogram| histogram.point(period));
                metric.message(9, Message::default().messages(1, points).number(2, CUMULATIVE))
            }
            _ => metric.message(5, Message::default().messages(1, self.samples.iter().map(|s| s.point(period)))),
        }
    }

    /// The histograms of a family by their labels.
    fn histograms(&self) -> BTreeMap<Vec<(&str, &str)>, HistogramData> {
        let mut all: BTreeMap<_, HistogramData> = BTreeMap::new();
        for sample in &self.samples {
            let own = sample.labels.iter().filter(|(name, _)| *name != "le");
            let histogram = all.entry(own.map(|(name, value)| (*name, value.as_str())).collect()).or_default();
            match sample.suffix {
                "_sum" => histogram.sum = sample.value,
                "_count" => histogram.count = sample.value as u64,
                _ => {
                    let bound = sample.labels.iter().find(|(name, _)| *name == "le");
                    let bound = bound.and_then(|(_, bound)| bound.parse::<f64>().ok());
                    histogram.buckets.extend(bound.map(|bound| (bound, sample.value as u64)));
                }
            }
        }
        all
    }
}

impl Sample<'_> {
    /// `NumberDataPoint`.
    fn point(&self, period: Period) -> Message {
        Message::default()
            .fixed64(2, period.start)
            .fixed64(3, period.end)
            .set_double(4, self.value)
            .messages(7, self.labels.iter().map(|(name, value)| attribute(name, &value.as_str().into())))
    }
}

#[derive(Debug, Default)]
struct HistogramData {
    sum: f64,
    count: u64,
    /// Upper bounds, the last one infinite, with the number of values up to each.
    buckets: Vec<(f64, u64)>,
}

impl HistogramData {
    /// `HistogramDataPoint`: values in each bucket, and the bounds between buckets.
    fn point(&self, period: Period) -> Message {
        let below = std::iter::once(0).chain(self.buckets.iter().map(|(_, count)| *count));
        let counts = self.buckets.iter().zip(below).map(|((_, count), below)| count.saturating_sub(below));
        let bounds = self.buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite());
        Message::default()
            .fixed64(2, period.start)
            .fixed64(3, period.end)
            .fixed64(4, self.count)
            .set_double(5, self.sum)
            .packed(6, counts)
            .packed(7, bounds.map(f64::to_bits))
    }
}

/// The unit that the name of a metric ends with, as UCUM writes it.
fn unit(name: &str) -> &'static str {
    let units = [("_seconds", "s"), ("_bytes", "By"), ("_tokens", "{token}"), ("_dollars", "{USD}")];
    units.into_iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP foldline_turns Conversation turns by outcome.\n\
        # TYPE foldline_turns counter\n\
        foldline_turns_total{dialect=\"chat\",outcome=\"a \\\"b\\\" \\\\ }\"} 3\n\
        # HELP foldline_key_requests Nobody yet.\n\
        # TYPE foldline_key_requests counter\n\
        # HELP foldline_wait_seconds Waiting.\n\
        # TYPE foldline_wait_seconds histogram\n\
        foldline_wait_seconds_sum 2.5\n\
        foldline_wait_seconds_count 4\n\
        foldline_wait_seconds_bucket{le=\"0.5\"} 1\n\
        foldline_wait_seconds_bucket{le=\"1.0\"} 3\n\
        foldline_wait_seconds_bucket{le=\"+Inf\"} 4\n\
        # EOF\n";

    #[test]
    fn a_page_is_read_family_by_family() {
        let families = families(PAGE);
        let names: Vec<_> = families.iter().map(|family| (family.name, family.kind, family.help)).collect();
        let turns = ("foldline_turns", "counter", "Conversation turns by outcome");
        assert_eq!(names, [turns, ("foldline_wait_seconds", "histogram", "Waiting")]);
        let labels = vec![("dialect", "chat".to_owned()), ("outcome", "a \"b\" \\ }".to_owned())];
        assert_eq!(families[0].samples, [Sample { suffix: "_total", labels, value: 3.0 }]);
        let histograms = families[1].histograms();
        let [histogram] = histograms.values().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((histogram.sum, histogram.count), (2.5, 4));
        assert_eq!(histogram.buckets, [(0.5, 1), (1.0, 3), (f64::INFINITY, 4)]);
    }
}
