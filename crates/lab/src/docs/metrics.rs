//! The reference of metrics, read from where they are registered.

use crate::Failure;
use regex::Regex;
use std::fmt::Write as _;
use std::path::Path;

/// Where all of them are.
const SOURCE: &str = "crates/gateway/src/serve/metrics.rs";

pub(super) fn page(root: &Path) -> Result<String, Failure> {
    let source = std::fs::read_to_string(root.join(SOURCE))?;
    let mut out = super::heading("Metrics");
    out.push_str(
        "`GET /foldline/metrics`, in the text format of Prometheus. With client keys, for operators only.\n\n",
    );
    out.push_str("| metric | type | labels | meaning |\n|---|---|---|---|\n");
    // A name and a sentence, side by side, wherever they stand.
    let named = Regex::new(r#""([a-z_]+)",\s*"([A-Z][^"]+)",\s*([\w.]+(?:\(\))?)"#)?;
    for found in named.captures_iter(&source) {
        let (_, [name, help, value]) = found.extract();
        let (kind, labels) = kind_of(&source, value, found.get(0).map_or(0, |whole| whole.end()))?;
        let end = if kind == "counter" { "_total" } else { "" };
        writeln!(out, "| `foldline_{name}{end}` | {kind} | {labels} | {help} |")?;
    }
    Ok(out)
}

/// What kind of metric a value is, and its labels.
fn kind_of(source: &str, value: &str, at: usize) -> Result<(&'static str, String), Failure> {
    let Some(field) = value.strip_prefix("metrics.").and_then(|rest| rest.strip_suffix(".clone()")) else {
        // Sums are in lists; what the list becomes stands behind it.
        let rest = source.get(at..).unwrap_or_default();
        let kind = Regex::new(r"Const(Counter|Gauge)")?.captures(rest).ok_or("a sum that nobody encodes")?;
        return Ok((if &kind[1] == "Counter" { "counter" } else { "gauge" }, String::new()));
    };
    let declared = Regex::new(&format!(r"(?m)^\s+(?:pub )?{field}: (\w+)(?:<(\w+), (\w+)(?:<[^>]*>)?>)?,"))?;
    let declared = declared.captures(source).ok_or_else(|| format!("metric {field} is not declared"))?;
    let word = declared.get(3).or(declared.get(1)).map_or("", |word| word.as_str());
    let labels = match declared.get(2) {
        Some(set) => {
            let body = Regex::new(&format!(r"(?s)struct {} \{{(.*?)\}}", set.as_str()))?;
            let body = body.captures(source).map(|found| found[1].to_owned()).unwrap_or_default();
            let names = body.lines().filter_map(|line| line.trim().split_once(':'));
            names.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        None => String::new(),
    };
    let kind = match word {
        "Counter" => "counter",
        "Gauge" => "gauge",
        "Histogram" => "histogram",
        other => return Err(format!("{field} is of an unknown kind: {other}").into()),
    };
    Ok((kind, labels))
}
