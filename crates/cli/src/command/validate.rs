//! `foldline validate`: checks a transcript against the provider's rules.

use crate::args::Validate;
use crate::failure::{Failure, Verdict};
use crate::{input, output};
use foldline_reduce::wording::counted;
use foldline_transcript::validate::{in_flight, validate};
use foldline_transcript::wire;
use serde_json::json;
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Validate) -> Result<Verdict, Failure> {
    let document = input::read(&args.source)?;
    let transcript = wire::read(&document.text, input::format_of(args.source.format))
        .map_err(|error| Failure::input(format!("{}: {error}", document.name)))?;
    let violations = validate(&transcript);
    let pending = in_flight(&transcript).len();
    let mut out = String::new();
    if args.json {
        let list: Vec<_> = violations
            .iter()
            .map(|violation| {
                json!({ "message": violation.message, "rule": violation.rule.id(), "detail": violation.detail })
            })
            .collect();
        let report = json!({
            "format": transcript.format.to_string(),
            "messages": transcript.messages.len(),
            "valid": violations.is_empty(),
            "in_flight": pending,
            "violations": list,
        });
        let _ = writeln!(out, "{report:#}");
    } else {
        for violation in &violations {
            let _ = writeln!(out, "message {}: {} [{}]", violation.message, violation.detail, violation.rule.id());
        }
        let flight = if pending > 0 { format!(", {} in flight", counted(pending, "call")) } else { String::new() };
        let verdict = match violations.len() {
            0 => "valid".to_owned(),
            count => counted(count, "violation"),
        };
        let _ = writeln!(
            out,
            "{}: {verdict} ({}, {}{flight})",
            document.name,
            transcript.format,
            counted(transcript.messages.len(), "message")
        );
    }
    output::print(&out)?;
    Ok(if violations.is_empty() { Verdict::Fine } else { Verdict::Found })
}
