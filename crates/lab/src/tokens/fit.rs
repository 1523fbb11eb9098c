//! Fits the weights of the token estimate and writes `crates/core/src/tokens/weights.rs`.
//!
//! Every byte of a text either begins a token of the o200k vocabulary or does not; the estimate says how likely that is
//! from three weights. Bytes that share all three are one row, so that a text of any size becomes some hundred thousand
//! rows, and logistic regression (Newton steps, one weight at a time with the others held) is a matter of seconds.
//! Weights are then rounded to the steps that the file can say, each given what the others were rounded to.

use super::{Block, each_block};
use crate::Failure;
use foldline_core::tokens::features::{Features, MOST, NOTHING, STEPS, Table, letter, tables};
use foldline_transcript::wire;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tiktoken::CoreBpe;

/// What is fitted on.
#[derive(Debug)]
pub struct Options {
    /// Files and folders: sessions are read as such, all else as plain text.
    pub texts: Vec<PathBuf>,
    /// Megabytes that are taken of each.
    pub megabytes: usize,
    /// The file to write; without one only figures are printed.
    pub into: Option<PathBuf>,
}

/// A weight that few bytes speak for stays near zero: this many doubtful bytes speak against it.
const PRIOR: f64 = 2.0;
/// Times that all weights are fitted, and rounded.
const SWEEPS: usize = 40;
const ROUNDING_SWEEPS: usize = 4;
/// Of a file no more is taken than this: many kinds of text say more than much of one.
const LARGEST_FILE: u64 = 512 << 10;

/// Fits, and says how well.
pub fn run(options: &Options) -> Result<String, Failure> {
    let exact = tiktoken::get_encoding("o200k_base").ok_or("the o200k vocabulary is not built in")?;
    let mut rows = Rows::default();
    let mut out = String::new();
    for path in &options.texts {
        let bytes = gather(path, options.megabytes << 20, exact, &mut rows)?;
        writeln!(out, "{:>8.1} MB of {}", bytes as f64 / 1e6, path.display())?;
    }
    if rows.seen.is_empty() {
        return Err("no text was found".into());
    }
    let fitted = Fit::of(rows);
    writeln!(out, "{} rows, {} weights in use, loss {:.5} a byte", fitted.rows.len(), fitted.used(), fitted.loss())?;
    let rounded = fitted.rounded();
    if let Some(path) = &options.into {
        std::fs::write(path, source(&rounded, options))?;
        writeln!(out, "{} is written; `cargo build` takes it, `lab tokens` measures it", path.display())?;
    }
    Ok(out)
}

/// Bytes by the weights that decide about them: how many, and how many of them begin a token.
#[derive(Default)]
struct Rows {
    seen: BTreeMap<[u16; 3], (f64, f64)>,
    features: Features,
    lengths: BTreeMap<u32, usize>,
}

/// No weight.
const NONE: u16 = u16::MAX;

impl Rows {
    fn add(&mut self, text: &str, exact: &CoreBpe) {
        let mut starts = vec![false; text.len()];
        let mut at = 0;
        for token in exact.encode(text) {
            if let Some(start) = starts.get_mut(at) {
                *start = true;
            }
            at += *self.lengths.entry(token).or_insert_with(|| exact.decode(&[token]).len());
        }
        let mut starts = starts.into_iter();
        let seen = &mut self.seen;
        self.features.of(text, |found| {
            let key = found.map(|index| index.and_then(|index| u16::try_from(index).ok()).unwrap_or(NONE));
            let (bytes, tokens) = seen.entry(key).or_default();
            *bytes += 1.0;
            *tokens += f64::from(u8::from(starts.next() == Some(true)));
        });
    }
}

/// Takes texts of a file or folder, spread over all files, up to a number of bytes.
fn gather(path: &Path, most: usize, exact: &CoreBpe, rows: &mut Rows) -> Result<usize, Failure> {
    let mut files = Vec::new();
    walk(path, &mut files)?;
    files.sort();
    let total: u64 = files.iter().map(|(_, size)| (*size).min(LARGEST_FILE)).sum();
    // Every n-th file, so that a large folder is seen in all its parts.
    let stride = usize::try_from(total / most.max(1) as u64)? + 1;
    let mut bytes = 0;
    for (file, _) in files.iter().step_by(stride) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match wire::read(&text, None) {
            Ok(transcript) if matches!(ending, "json" | "jsonl") => {
                for index in 0..transcript.messages.len() {
                    for part in transcript.parts_at(index) {
                        each_block(&transcript, part, &mut |block: Block<'_>| {
                            let words = block.words();
                            bytes += words.len();
                            rows.add(&words, exact);
                        });
                    }
                }
            }
            _ => {
                let end = text.floor_char_boundary(LARGEST_FILE as usize);
                bytes += end;
                rows.add(text.get(..end).unwrap_or_default(), exact);
            }
        }
        if bytes >= most {
            break;
        }
    }
    Ok(bytes)
}

fn walk(path: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<(), Failure> {
    let about = std::fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if about.is_file() {
        files.push((path.to_owned(), about.len()));
    } else if about.is_dir() {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.file_name() != "target" && !entry.file_type()?.is_symlink() {
                walk(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}

struct Row {
    weights: [u16; 3],
    bytes: f64,
    tokens: f64,
}

struct Fit {
    rows: Vec<Row>,
    /// The rows in which each weight has a part.
    parts: Vec<Vec<u32>>,
    weights: Vec<f64>,
    /// The sum of its weights, for each row.
    sums: Vec<f64>,
}

impl Fit {
    fn of(rows: Rows) -> Fit {
        let rows: Vec<Row> =
            rows.seen.into_iter().map(|(weights, (bytes, tokens))| Row { weights, bytes, tokens }).collect();
        let count = tables().iter().flat_map(|table| &table.rows).sum();
        let mut parts = vec![Vec::new(); count];
        for (index, row) in (0u32..).zip(&rows) {
            for weight in row.weights {
                if let Some(part) = parts.get_mut(usize::from(weight)) {
                    part.push(index);
                }
            }
        }
        let sums = vec![0.0; rows.len()];
        let mut fit = Fit { rows, parts, weights: vec![0.0; count], sums };
        for _ in 0..SWEEPS {
            for weight in 0..count {
                let step = fit.newton(weight);
                fit.shift(weight, step);
            }
        }
        fit
    }

    fn used(&self) -> usize {
        self.parts.iter().filter(|part| !part.is_empty()).count()
    }

    /// What moves one weight towards its best value while the others stay.
    fn newton(&self, weight: usize) -> f64 {
        let value = self.weights.get(weight).copied().unwrap_or_default();
        let (mut slope, mut curve) = (PRIOR * value / 4.0, PRIOR / 4.0);
        for (row, sum) in self.rows_of(weight) {
            let chance = logistic(sum);
            slope += row.bytes * chance - row.tokens;
            curve += row.bytes * chance * (1.0 - chance);
        }
        (-slope / curve).clamp(-2.0, 2.0)
    }

    fn rows_of(&self, weight: usize) -> impl Iterator<Item = (&Row, f64)> {
        let part = self.parts.get(weight).map(Vec::as_slice).unwrap_or_default();
        part.iter().filter_map(|&row| Some((self.rows.get(row as usize)?, *self.sums.get(row as usize)?)))
    }

    fn shift(&mut self, weight: usize, by: f64) {
        let most = f64::from(NOTHING) / STEPS;
        let Some(value) = self.weights.get_mut(weight) else { return };
        let moved = (*value + by).clamp(-most, most);
        let by = moved - std::mem::replace(value, moved);
        for &row in self.parts.get(weight).map(Vec::as_slice).unwrap_or_default() {
            if let Some(sum) = self.sums.get_mut(row as usize) {
                *sum += by;
            }
        }
    }

    /// Nats a byte.
    fn loss(&self) -> f64 {
        let bytes: f64 = self.rows.iter().map(|row| row.bytes).sum();
        let rows = self.rows.iter().zip(&self.sums);
        rows.map(|(row, &sum)| row.bytes * (1.0 + sum.exp()).ln() - row.tokens * sum).sum::<f64>() / bytes
    }

    /// Whole steps, each the best given the others.
    fn rounded(mut self) -> Vec<u8> {
        for sweep in 0..ROUNDING_SWEEPS {
            for weight in 0..self.weights.len() {
                let value = self.weights.get(weight).copied().unwrap_or_default();
                let wanted = if sweep == 0 { value } else { value + self.newton(weight) };
                let step = (wanted * STEPS).round() / STEPS;
                self.shift(weight, step - value);
            }
        }
        let steps = self.weights.iter().map(|value| (value * STEPS).round() + f64::from(NOTHING));
        steps.map(|step| step.clamp(0.0, f64::from(MOST)) as u8).collect()
    }
}

fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

/// The file with these weights.
fn source(weights: &[u8], options: &Options) -> String {
    let texts: Vec<String> = options.texts.iter().map(|path| path.display().to_string()).collect();
    let mut out = format!(
        "//! Fitted weights of the token estimate: log-odds that a token starts at a byte, one character each. `#` is the lowest,\n\
         //! `~` the highest, zero lies in the middle, a step is a sixth; the backslash is left out.\n\
         //!\n\
         //! `lab fit tokens --megabytes {} {}` writes this file, by logistic regression against the token\n\
         //! starts of o200k; `lab tokens` measures it. A change by hand has no meaning.\n\n\
         use super::pair::{{Ahead, CONTS, CONTS_AT, LEADS_AT}};\n\
         use super::place::KINDS;\n",
        options.megabytes,
        texts.join(" ")
    );
    let mut weights = weights.iter();
    for Table { name, doc, kind, rows } in tables() {
        let _ = write!(out, "\n/// {doc}\npub(super) const {name}: {kind} = [\n");
        for row in rows {
            let letters: String = weights.by_ref().take(row).map(|weight| letter(*weight)).collect();
            let _ = writeln!(out, "    b\"{}\",", letters.replace('"', "\\\""));
        }
        out.push_str("];\n");
    }
    out
}
