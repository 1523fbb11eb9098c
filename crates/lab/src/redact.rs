//! How fast secrets are found, in ordinary and in hostile text, and what is found in real sessions.

use crate::{Failure, best, generate};
use foldline_core::redact::{Mode, find, redact};
use foldline_core::transcript::PartKind;
use foldline_core::{Format, wire};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Texts made to be slow: almost secrets, repeated without end.
const HOSTILE: [(&str, &str); 9] = [
    ("a.a.a.…=", "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a="),
    ("hexadecimal", "0123456789abcdef"),
    ("eyJ", "eyJ"),
    ("eyJ with dots", "eyJhbGciOi.eyJzdWIi."),
    ("unfinished PEM", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"),
    ("password=", "password="),
    ("names and colons", "password: token: secret: api_key: "),
    ("addresses", "https://a:b:c:d:e@@@https://"),
    ("escaped quotes", "{\\\"password\\\":\\\\\\\""),
];

/// How much text is searched at a time.
const MEGABYTES: usize = 8;

/// Speeds in megabytes per second.
#[derive(Debug)]
pub struct Speeds(Vec<(String, f64)>);

/// Measures; the best of `runs` counts.
pub fn speeds(runs: usize) -> Speeds {
    let mixed: String =
        (0..).map(|seed| generate::transcript(Format::Anthropic, 400, seed)).scan(0, take_until).collect();
    let mut texts = vec![("mixed (generated sessions)".to_owned(), mixed)];
    for (name, unit) in HOSTILE {
        texts.push((format!("hostile: {name}"), unit.repeat((MEGABYTES << 20) / unit.len())));
    }
    let speed = |text: &str| text.len() as f64 / 1e6 / best::of(runs, || redact(text, Mode::Text).len()).as_secs_f64();
    Speeds(texts.into_iter().map(|(name, text)| (name, speed(&text))).collect())
}

fn take_until(total: &mut usize, text: String) -> Option<String> {
    let enough = *total >= MEGABYTES << 20;
    *total += text.len();
    (!enough).then_some(text)
}

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, speed) in &self.0 {
            writeln!(f, "{speed:>8.0} MB/s  {name}")?;
        }
        Ok(())
    }
}

/// What was found in real sessions: by rule, with examples, masked.
#[derive(Debug, Default)]
pub struct Census {
    bytes: usize,
    texts: usize,
    rules: BTreeMap<&'static str, (usize, BTreeMap<String, usize>)>,
}

/// Searches all words of all sessions.
pub fn census(files: &[PathBuf]) -> Result<Census, Failure> {
    let mut census = Census::default();
    for file in files {
        let body = std::fs::read_to_string(file)?;
        let transcript = wire::read(&body, None)?;
        let spoken = |kind| matches!(kind, PartKind::Text | PartKind::ToolCall | PartKind::ToolResult);
        for part in transcript.parts.iter().filter(|part| spoken(part.kind)) {
            census.add(&transcript.words(part));
        }
    }
    Ok(census)
}

impl Census {
    fn add(&mut self, text: &str) {
        self.bytes += text.len();
        self.texts += 1;
        for finding in find(text, Mode::Text) {
            let (count, examples) = self.rules.entry(finding.rule).or_default();
            *count += 1;
            // What stands before a secret tells whether it is one.
            let start = text.ceil_char_boundary(finding.start.saturating_sub(32));
            let before = text.get(start..finding.start).unwrap_or_default().replace('\n', "⏎");
            let length = finding.end - finding.start;
            *examples.entry(format!("{before}«{} · {length}»", finding.masked(text))).or_default() += 1;
        }
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: usize = self.rules.values().map(|(count, _)| count).sum();
        writeln!(f, "{total} findings in {} texts, {} MB", self.texts, self.bytes / 1_000_000)?;
        for (rule, (count, examples)) in &self.rules {
            writeln!(f, "{count:>6}  {rule} ({} different)", examples.len())?;
            let mut examples: Vec<_> = examples.iter().collect();
            examples.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            for (example, count) in examples.iter().take(12) {
                writeln!(f, "        {count:>5} × {example}")?;
            }
        }
        Ok(())
    }
}
