//! Generated outputs, to measure kinds that are rare in the sessions.
//!
//! Every sample is a function of its number alone. The names that an agent would act on next are planted among
//! hundreds that it would not, where real tools put them.

use foldline_reduce::{ConversationNames, Kind};
use std::fmt::Write as _;

/// Samples per kind: enough to average over sizes.
const PER_KIND: usize = 12;

/// A made-up output.
pub struct Sample {
    /// The tool.
    pub tool: &'static str,
    /// Its key argument.
    pub argument: &'static str,
    /// What it prints.
    pub text: String,
    /// Names that the next turn uses.
    pub needed: Vec<String>,
}

impl Sample {
    /// What is said after it: as in real sessions, half of the names that are needed again, and as many lines that
    /// are not, of the same output.
    pub fn conversation(&self) -> ConversationNames {
        let needed = self.needed.iter().step_by(2);
        let lines: Vec<&str> = self.text.lines().collect();
        let step = (lines.len() / needed.len().max(1)).max(1);
        let others =
            lines.iter().step_by(step).skip(1).map(|line| line.get(..line.floor_char_boundary(120)).unwrap_or(line));
        ConversationNames::of_words(needed.map(String::as_str).chain(others))
    }
}

const VERBS: [&str; 12] =
    ["load", "merge", "parse", "render", "verify", "fetch", "index", "queue", "retry", "encode", "resolve", "publish"];
const NOUNS: [&str; 14] = [
    "order", "ledger", "session", "invoice", "route", "cursor", "batch", "tenant", "schema", "bucket", "snapshot",
    "worker", "lease", "parcel",
];

/// The samples of a kind.
pub fn of(kind: Kind) -> Vec<Sample> {
    (0..PER_KIND).map(|number| sample(kind, number)).collect()
}

/// Rows of a sample: from a screenful to what fills a small window.
fn rows(number: usize) -> usize {
    120 + 90 * number
}

fn name(seed: usize) -> String {
    let verb = VERBS.get(seed % VERBS.len()).copied().unwrap_or_default();
    let noun = NOUNS.get(seed / VERBS.len() % NOUNS.len()).copied().unwrap_or_default();
    format!("{verb}_{noun}_{}", seed % 97)
}

fn path(seed: usize) -> String {
    let noun = NOUNS.get(seed % NOUNS.len()).copied().unwrap_or_default();
    let verb = VERBS.get(seed / 3 % VERBS.len()).copied().unwrap_or_default();
    format!("src/{noun}/{verb}_{}.rs", seed % 89)
}

fn digest(seed: usize) -> String {
    // A linear congruence spreads the bits; hashes only have to look like some.
    let value = (seed as u64 + 1).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    format!("a{:011x}", value >> 20)
}

fn sample(kind: Kind, number: usize) -> Sample {
    let (tool, argument) = match kind {
        Kind::TestReport => ("bash", "pytest -v"),
        Kind::Build => ("bash", "cargo build"),
        Kind::Log => ("bash", "cat service.log"),
        Kind::Search => ("grep", "resolve_"),
        Kind::Listing => ("bash", "ls -la src"),
        Kind::Table => ("bash", "cat totals.csv"),
        Kind::Json => ("bash", "curl -s https://api.example.test/jobs"),
        Kind::Code => ("read_file", "src/ledger/store.rs"),
        Kind::Diff => ("bash", "git diff"),
        Kind::StackTrace => ("bash", "python app.py"),
        Kind::Web => ("web_fetch", "https://docs.example.test/guide"),
        Kind::KeyValue => ("read_file", "deploy/service.properties"),
        Kind::Command => ("bash", "./deploy.sh"),
        Kind::Prose => ("read_file", "docs/design.md"),
    };
    let mut out = Writer { text: String::new(), needed: Vec::new(), rows: rows(number), seed: number * 1013 };
    match kind {
        Kind::TestReport => test_report(&mut out),
        Kind::Build => build(&mut out),
        Kind::Log => log(&mut out),
        Kind::Search => search(&mut out),
        Kind::Listing => listing(&mut out),
        Kind::Table => table(&mut out),
        Kind::Json => json(&mut out),
        Kind::Code => code(&mut out),
        Kind::Diff => diff(&mut out),
        Kind::StackTrace => stack_trace(&mut out),
        Kind::Web => web(&mut out),
        Kind::KeyValue => key_value(&mut out),
        Kind::Command => command(&mut out),
        Kind::Prose => prose(&mut out),
    }
    Sample { tool, argument, text: out.text, needed: out.needed }
}

/// A sample on its way.
struct Writer {
    text: String,
    needed: Vec<String>,
    rows: usize,
    seed: usize,
}

impl Writer {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}", line.as_ref());
    }

    /// A name that will be needed.
    fn plant(&mut self, name: String) -> String {
        self.needed.push(name.clone());
        name
    }

    /// Whether the line at `row` is one of the few that matter.
    fn matters(&self, row: usize) -> bool {
        row % (self.rows / 3) == self.rows / 5
    }
}

fn test_report(out: &mut Writer) {
    out.line("============================= test session starts ==============================");
    out.line(format!("collected {} items", out.rows));
    let mut failures = Vec::new();
    for row in 0..out.rows {
        let verdict = if out.matters(row) { "FAILED" } else { "PASSED" };
        let test = format!("test_{}", name(out.seed + row));
        out.line(format!("tests/test_store.py::{test} {verdict} [{:3}%]", row * 100 / out.rows));
        if verdict == "FAILED" {
            failures.push(out.plant(test));
        }
    }
    out.line("=================================== FAILURES ===================================");
    for (test, row) in failures.iter().zip(1..) {
        let file = out.plant(format!("tests/{test}.py"));
        out.line(format!("____________ {test} ____________\n\n    def {test}():\n>       assert total(rows) == {row}"));
        out.line(format!("E       assert {} == {row}\n\n{file}:{row}4: AssertionError", row + 1));
    }
    out.line("=========================== short test summary info ============================");
    failures.iter().for_each(|test| out.line(format!("FAILED tests/{test}.py::{test} - assert 2 == 1")));
    out.line(format!(
        "============ {} failed, {} passed in 4.31s ============",
        failures.len(),
        out.rows - failures.len()
    ));
}

fn build(out: &mut Writer) {
    for row in 0..out.rows {
        out.line(format!("   Compiling {} v0.{}.{}", name(out.seed + row), row % 30, row % 7));
        if out.matters(row) {
            let (missing, file) = (out.plant(name(out.seed + row + 7001)), out.plant(path(out.seed + row)));
            out.line(format!("error[E0425]: cannot find function `{missing}` in this scope\n  --> {file}:{row}:9"));
            out.line(format!(
                "   |\n{row} |         {missing}(&rows);\n   |         ^^^^^^^^ not found in this scope\n"
            ));
        }
    }
    out.line("error: could not compile `depot` (lib) due to 3 previous errors");
}

fn log(out: &mut Writer) {
    for row in 0..out.rows {
        let time = format!("2026-03-04T10:{:02}:{:02}Z", row / 60 % 60, row % 60);
        match out.matters(row) {
            true => {
                let (request, place) = (out.plant(digest(out.seed + row)), out.plant(name(out.seed + row + 5003)));
                out.line(format!("{time} ERROR {place}: request {request} ran into a deadlock"));
            }
            false => out.line(format!("{time} INFO {}: took {} ms", name(out.seed + row % 9), row % 113)),
        }
    }
}

fn search(out: &mut Writer) {
    for row in 0..out.rows {
        let file = path(out.seed + row / 12);
        match row % 12 {
            0 if row % 48 == 0 => {
                let (file, found) = (out.plant(file), out.plant(name(out.seed + row + 3001)));
                out.line(format!("{file}:{}:pub fn {found}(order: &Order) -> Result<Route> {{", row + 10));
            }
            _ => out.line(format!("{file}:{}:        let route = resolve_{}(order)?;", row + 10, row % 12)),
        }
    }
}

fn listing(out: &mut Writer) {
    out.line(format!("total {}", out.rows * 8));
    for row in 0..out.rows {
        let file = match out.matters(row) {
            true => out.plant(format!("{}.toml", name(out.seed + row))),
            false => format!("part_{row:04}.rs"),
        };
        let folder = if row % 40 == 7 { 'd' } else { '-' };
        let file = if folder == 'd' { format!("group_{row}") } else { file };
        out.line(format!("{folder}rw-r--r-- 1 depot depot {:6} Mar  4 10:{:02} {file}", row * 37 % 9000, row % 60));
    }
}

fn table(out: &mut Writer) {
    out.line("order_id,customer_name,net_total,tax_rate,shipped_at");
    for row in 0..out.rows {
        let total = if out.matters(row) { 9_000_000 + row } else { 100 + row % 40 };
        let id = if out.matters(row) { out.plant(digest(out.seed + row)) } else { digest(out.seed + row) };
        out.line(format!("{id},Customer {},{total}.50,0.19,2026-02-{:02}", row % 50, row % 28 + 1));
    }
    out.needed.extend(["order_id", "customer_name", "net_total", "tax_rate", "shipped_at"].map(str::to_owned));
}

fn json(out: &mut Writer) {
    let rows: Vec<String> = (0..out.rows)
        .map(|row| match out.matters(row) {
            true => {
                let (id, code) = (out.plant(digest(out.seed + row)), out.plant(name(out.seed + row + 6007)));
                format!(r#"{{"job_id":"{id}","status":"failed","error":{{"code":"{code}","retries":3}}}}"#)
            }
            false => {
                let id = digest(out.seed + row);
                format!(r#"{{"job_id":"{id}","status":"done","error":null,"took_ms":{}}}"#, row % 400)
            }
        })
        .collect();
    out.text = format!("{{\"next_page\":\"{}\",\"jobs\":[{}]}}\n", digest(out.seed + 9), rows.join(","));
    out.needed.push("job_id".into());
}

fn code(out: &mut Writer) {
    out.line("     1\tuse crate::wire::Frame;\n     2\tuse std::collections::BTreeMap;\n     3\t");
    let mut number = 3;
    for row in 0..out.rows / 12 {
        let function = name(out.seed + row);
        let function = if row % 4 == 0 { out.plant(function) } else { function };
        let body = (0..9).map(|step| format!("    let step{step} = frame.next(table, {step})?;"));
        let head = format!("pub fn {function}(frame: &Frame, table: &mut BTreeMap<u64, u64>) -> Option<u64> {{");
        for line in std::iter::once(head).chain(body).chain(["    Some(step8)".into(), "}".into(), String::new()]) {
            number += 1;
            out.line(format!("{number:6}\t{line}"));
        }
    }
}

fn diff(out: &mut Writer) {
    for row in 0..out.rows / 20 {
        let file = out.plant(path(out.seed + row * 11));
        out.line(format!("diff --git a/{file} b/{file}\nindex {}..{} 100644", digest(row), digest(row + 1)));
        let function = out.plant(name(out.seed + row));
        out.line(format!("--- a/{file}\n+++ b/{file}\n@@ -{row},16 +{row},16 @@ pub fn {function}(frame: &Frame) {{"));
        for step in 0..8 {
            out.line(format!("-    let step{step} = frame.old({step})?;\n+    let step{step} = frame.new({step})?;"));
        }
    }
}

fn stack_trace(out: &mut Writer) {
    out.line("Traceback (most recent call last):");
    for row in 0..out.rows / 4 {
        match out.matters(row * 4) || row == 0 {
            true => {
                let (file, function) = (out.plant(format!("/app/depot/{}.py", name(row))), out.plant(name(out.seed + row)));
                out.line(format!("  File \"{file}\", line {row}7, in {function}\n    return handler(order)"));
            }
            false => out.line(format!(
                "  File \"/usr/lib/python3/site-packages/web/layer{row}.py\", line {row}, in call\n    return self.next(request)"
            )),
        }
    }
    let error = out.plant(format!("DepotError{}", out.seed % 71));
    out.line(format!("depot.errors.{error}: the parcel has no route"));
}

fn web(out: &mut Writer) {
    out.line("<!DOCTYPE html><html><head><title>Depot guide</title><script>var a=1;</script></head><body><nav>");
    (0..40).for_each(|row| out.line(format!("<a href=\"/menu/{row}\">Menu {row}</a>")));
    out.line("</nav><main><h1>Depot guide</h1>");
    for row in 0..out.rows / 10 {
        let option = out.plant(name(out.seed + row));
        out.line(format!("<h2>The option {option}</h2>"));
        let words = "It tells the depot how long a parcel may wait before the route is planned again. ".repeat(6);
        out.line(format!("<p class=\"text\"><span>{words}</span></p>"));
    }
    out.line("</main></body></html>");
}

fn key_value(out: &mut Writer) {
    for row in 0..out.rows {
        if row % 15 == 0 {
            out.line(format!("# Section {}", row / 15));
        }
        let key = name(out.seed + row);
        let key = if row % 60 == 1 { out.plant(key) } else { key };
        out.line(format!("depot.{}.{key}={}", row / 15, row * 37 % 1000));
    }
}

fn command(out: &mut Writer) {
    let file = out.plant(path(out.seed));
    out.line(format!("+ deploying with {file}"));
    for row in 0..out.rows {
        match out.matters(row) {
            true => {
                let step = out.plant(name(out.seed + row + 8009));
                out.line(format!("error: step {step} gave up after 3 attempts"));
            }
            false => out.line(format!("copied layer {row} of the image to the depot, {} bytes", row * 977)),
        }
    }
    let release = out.plant(digest(out.seed));
    out.line(format!("released as {release}"));
}

fn prose(out: &mut Writer) {
    for row in 0..out.rows / 12 {
        let topic = out.plant(name(out.seed + row));
        out.line(format!("## Why {topic} exists\n"));
        out.line("A parcel waits in the depot until a lorry has room for it, and nobody likes to wait. ".repeat(7));
        out.line(format!("We decided to keep {topic} because the alternatives lose parcels when the power fails.\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_measure::retention::{Exam, Fact};
    use foldline_reduce::{Source, detect};

    #[test]
    fn every_sample_is_of_its_kind_and_large() {
        for kind in Kind::ALL {
            for sample in of(kind) {
                let source = Source { tool: sample.tool, argument: sample.argument, ..Source::default() };
                assert_eq!(detect(&source, &sample.text), kind, "{:.400}", sample.text);
                assert!(foldline_core::tokens::estimate(&sample.text) > 500, "{kind}");
            }
        }
    }

    #[test]
    fn what_is_planted_can_be_asked_for() {
        for kind in Kind::ALL {
            for sample in of(kind) {
                let facts: Vec<Fact> = sample.needed.iter().filter_map(|name| Fact::named(name)).collect();
                assert!(facts.len() >= 2, "{kind}: {:?}", sample.needed);
                let exam = Exam::on(facts, sample.text.lines());
                assert!(exam.len() >= 2, "{kind}: {:?}", sample.needed);
            }
        }
    }

    #[test]
    fn samples_are_the_same_every_time() {
        let texts = || Kind::ALL.iter().flat_map(|&kind| of(kind)).map(|sample| sample.text).collect::<Vec<_>>();
        assert_eq!(texts(), texts());
    }
}
