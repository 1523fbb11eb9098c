//! What is found in real sessions.

use crate::Failure;
use foldline_redact::{Mode, find};
use foldline_transcript::PartKind;
use foldline_transcript::wire;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

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
