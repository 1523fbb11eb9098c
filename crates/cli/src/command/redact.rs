//! `foldline redact`: masks or lists the secrets in a text.

use crate::args::{Redact, RedactMode};
use crate::failure::{Failure, Verdict};
use crate::{input, output};
use foldline_redact::{Finding, Mode, RULES, Stream, find};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Runs the command.
pub fn run(args: &Redact) -> Result<Verdict, Failure> {
    if args.rules {
        return rules(args.json);
    }
    let mode = match args.mode {
        RedactMode::Text => Mode::Text,
        RedactMode::Code => Mode::Code,
    };
    if args.file.is_none() {
        input::refuse_terminal("a text")?;
    }
    let named = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let name = named.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let fail = |error: io::Error| Failure::input(format!("cannot read {name}: {error}"));
    let mut input: Box<dyn Read> = match named {
        Some(path) => Box::new(File::open(path).map_err(fail)?),
        None => Box::new(io::stdin().lock()),
    };
    if args.list {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(fail)?;
        return list(&String::from_utf8_lossy(&bytes), mode, args.json);
    }
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let mut masked = Vec::new();
            mask(input, &mut masked, mode).map_err(fail)?;
            output::write_bytes(path, &masked)?;
        }
        None => match mask(input, &mut io::stdout().lock(), mode) {
            // A reader that went away has what it wanted.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                return Err(Failure::input(format!("{name} → standard output: {error}")));
            }
            _ => {}
        },
    }
    Ok(Verdict::Fine)
}

/// Large enough that a look at each portion costs little, small enough that a slow stream keeps flowing.
const PORTION: usize = 256 * 1024;

fn mask(mut input: impl Read, output: &mut impl Write, mode: Mode) -> io::Result<()> {
    let mut stream = Stream::new(mode);
    let mut portion = vec![0; PORTION];
    loop {
        let length = match input.read(&mut portion) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        output.write_all(&stream.feed(portion.get(..length).unwrap_or_default()))?;
    }
    output.write_all(&stream.finish())?;
    output.flush()
}

/// One rule, for those who want to know what is looked for.
#[derive(Debug, Serialize)]
struct Looked {
    rule: &'static str,
    what: &'static str,
    keywords: &'static [&'static str],
    pattern: Option<&'static str>,
}

fn rules(json: bool) -> Result<Verdict, Failure> {
    let rules: Vec<Looked> = RULES
        .iter()
        .map(|rule| Looked { rule: rule.name, what: rule.what, keywords: rule.keywords, pattern: rule.pattern() })
        .collect();
    let out = match json {
        true => serde_json::to_string_pretty(&rules).map_err(Failure::input)? + "\n",
        false => rules.iter().fold(String::new(), |mut out, Looked { rule, what, keywords, pattern }| {
            let quoted = |keyword: &&str| format!("{:?}", keyword);
            let _ = writeln!(out, "{rule}: {what}");
            if !keywords.is_empty() {
                let _ = writeln!(out, "    at: {}", keywords.iter().map(quoted).collect::<Vec<_>>().join(", "));
            }
            if let Some(pattern) = pattern {
                let _ = writeln!(out, "    pattern: {pattern}");
            }
            out
        }),
    };
    output::print(&out)?;
    Ok(Verdict::Fine)
}

/// One secret, masked.
#[derive(Debug, Serialize)]
struct Found {
    line: usize,
    column: usize,
    rule: &'static str,
    masked: String,
}

fn list(text: &str, mode: Mode, json: bool) -> Result<Verdict, Failure> {
    let found = locate(text, &find(text, mode));
    let out = match json {
        true => serde_json::to_string_pretty(&found).map_err(Failure::input)? + "\n",
        false => found.iter().fold(String::new(), |mut out, Found { line, column, rule, masked }| {
            let _ = writeln!(out, "{line}:{column}  {rule:<28} {masked}");
            out
        }),
    };
    output::print(&out)?;
    Ok(if found.is_empty() { Verdict::Fine } else { Verdict::Found })
}

fn locate(text: &str, findings: &[Finding]) -> Vec<Found> {
    let (mut line, mut line_start, mut at) = (1, 0, 0);
    let mut found = Vec::with_capacity(findings.len());
    for finding in findings {
        let between = text.as_bytes().get(at..finding.start).unwrap_or_default();
        for (offset, _) in between.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            line += 1;
            line_start = at + offset + 1;
        }
        at = finding.start;
        let masked = finding.masked(text);
        found.push(Found { line, column: finding.start - line_start + 1, rule: finding.rule, masked });
    }
    found
}
