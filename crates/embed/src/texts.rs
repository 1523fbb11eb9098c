//! What needs no session: checks, secrets, single outputs, counts.

use crate::error::Error;
use crate::options::format_of;
use foldline_core::models::ModelTable;
use foldline_core::planning::{count as count_transcript, family_of};
use foldline_core::tokens::Counter;
use foldline_core::{Policy, SessionState, Setting};
use foldline_redact::Mode;
use foldline_reduce::Source;
use foldline_transcript::validate::{in_flight, validate as violations};
use foldline_transcript::{Format, wire};
use serde_json::json;

/// What a strict provider would refuse, as the JSON that `foldline validate --json` prints.
pub fn validate(body: &str, format: Option<&str>) -> Result<String, Error> {
    let transcript = wire::read(body, format.map(format_of).transpose()?)?;
    let found = violations(&transcript);
    let list = found.iter().map(
        |violation| json!({"message": violation.message, "rule": violation.rule.id(), "detail": violation.detail}),
    );
    let report = json!({
        "format": transcript.format.to_string(),
        "messages": transcript.messages.len(),
        "valid": found.is_empty(),
        "in_flight": in_flight(&transcript).len(),
        "violations": list.collect::<Vec<_>>(),
    });
    Ok(report.to_string())
}

/// A text with its secrets masked; `mode` is `text` or `code`.
pub fn redact(text: &str, mode: &str) -> Result<String, Error> {
    let mode = match mode {
        "text" => Mode::Text,
        "code" => Mode::Code,
        other => return Err(Error::Options(format!("mode: {other:?} is not known, expected \"text\" or \"code\""))),
    };
    Ok(foldline_redact::redact(text, mode).into_owned())
}

/// A shorter output and what it was taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Such as `log` or `test-report`.
    pub kind: String,
    /// What is left.
    pub text: String,
}

/// One tool output, shorter; `None` when nothing worth it would be saved. `argument` is the call's command, path or
/// pattern; both may be empty.
pub fn reduce(text: &str, tool: &str, argument: &str) -> Option<Reduced> {
    let shorter = foldline_reduce::reduce(&Source { tool, argument, ..Source::default() }, text)?;
    Some(Reduced { kind: shorter.kind.to_string(), text: shorter.text })
}

/// Tokens of a body or of messages, as they are counted for the model that is named, or that the body names.
pub fn count(body: &str, model: Option<&str>, format: Option<&str>) -> Result<u64, Error> {
    let transcript = wire::read(body, format.map(format_of).transpose()?)?;
    let mut policy = Policy::default();
    policy.model.name = model.map(str::to_owned);
    let setting = Setting::of(&transcript, &policy, ModelTable::embedded(), None, 1.0);
    Ok(count_transcript(&transcript, &setting, &SessionState::default()).total())
}

/// Tokens of a plain text.
pub fn count_text(text: &str, model: Option<&str>) -> u64 {
    let family = family_of(Format::OpenAiChat);
    let profile = ModelTable::embedded().profile(model.unwrap_or_default(), family);
    Counter::for_model(&profile, text.len()).count(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello, world"}]}"#;

    #[test]
    fn a_body_costs_more_than_its_words() {
        let words = count_text("Hello, world", Some("gpt-5"));
        assert_eq!(words, 3);
        assert!(count(BODY, None, None).unwrap() > words);
    }

    #[test]
    fn violations_name_message_and_rule() {
        let orphan = r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}]"#;
        let report: serde_json::Value = serde_json::from_str(&validate(orphan, None).unwrap()).unwrap();
        assert_eq!((&report["valid"], &report["violations"][0]["message"]), (&json!(false), &json!(1)));
        assert!(validate("[1", None).unwrap_err().to_string().starts_with("line 1, column "));
    }

    #[test]
    fn a_mode_that_is_none_is_refused() {
        assert!(redact("x", "txt").unwrap_err().to_string().contains("expected \"text\" or \"code\""));
    }
}
