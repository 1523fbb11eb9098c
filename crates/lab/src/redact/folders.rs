//! False positives: sources and documentation contain no secrets, so every finding is one.

use crate::Failure;
use foldline_redact::{Mode, find};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Findings in a folder, by rule, with examples.
#[derive(Debug, Default)]
pub struct Alarms {
    files: usize,
    bytes: usize,
    rules: BTreeMap<&'static str, Vec<String>>,
}

/// Searches all texts below a folder, except those in folders with one of the given names. Keys in PEM armour are real
/// keys, if only for tests, and are listed like the rest.
pub fn alarms(folder: &Path, without: &[String]) -> Result<Alarms, Failure> {
    let mut alarms = Alarms::default();
    for file in files_below(folder, without)? {
        // What is no text is nothing that an agent reads.
        if let Ok(text) = fs::read_to_string(&file) {
            alarms.add(&file, &text);
        }
    }
    Ok(alarms)
}

fn files_below(folder: &Path, without: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let skipped = || without.iter().any(|name| entry.file_name() == name.as_str());
            if kind.is_dir() && !skipped() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

impl Alarms {
    fn add(&mut self, file: &Path, text: &str) {
        self.files += 1;
        self.bytes += text.len();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for finding in find(text, Mode::Text) {
            let before = text.floor_char_boundary(finding.start.saturating_sub(48));
            let shown = text.floor_char_boundary(finding.end.min(finding.start + 48));
            let lead = text.get(before..finding.start).unwrap_or_default();
            let found = text.get(finding.start..shown).unwrap_or_default();
            self.rules.entry(finding.rule).or_default().push(format!("{name}: {lead}«{found}»").replace('\n', "⏎"));
        }
    }

    /// How much was searched.
    pub fn megabytes(&self) -> f64 {
        self.bytes as f64 / 1e6
    }

    /// Findings per megabyte.
    pub fn per_megabyte(&self) -> f64 {
        let total: usize = self.rules.values().map(Vec::len).sum();
        total as f64 * 1e6 / self.bytes.max(1) as f64
    }
}

impl fmt::Display for Alarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Enough to see what a rule takes for a secret.
        const EXAMPLES: usize = 8;
        let total: usize = self.rules.values().map(Vec::len).sum();
        let megabytes = self.bytes / 1_000_000;
        writeln!(f, "{total} findings in {} files, {megabytes} MB: {:.2} per MB", self.files, self.per_megabyte())?;
        for (rule, findings) in &self.rules {
            writeln!(f, "{:>6}  {rule}", findings.len())?;
            for example in findings.iter().step_by(findings.len().div_ceil(EXAMPLES)) {
                writeln!(f, "          {example}")?;
            }
        }
        Ok(())
    }
}
