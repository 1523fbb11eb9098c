//! Outputs in an object that a client put around them: `{"output":"…","exit_code":0}`. What the tool printed is one
//! string in there, and as such one line without end: no reader of lines would see its parts.

use foldline_transcript::edit::Span;
use foldline_transcript::wire::json::{Scanner, decode};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What stands in an envelope.
pub(super) struct Envelope {
    /// What the tool printed.
    pub printed: String,
    /// What else is said, on a line: exit code, duration.
    pub label: String,
}

/// More fields are data.
const MOST_FIELDS: usize = 12;
/// An envelope is mostly its content, in percent.
const LEAST_CONTENT: usize = 60;
/// Longer values are no part of the label.
const LONGEST_VALUE: usize = 160;

/// What a tool printed, whatever its client put around it.
pub fn printed(output: &str) -> Cow<'_, str> {
    opened(output).map_or(Cow::Borrowed(output), |envelope| Cow::Owned(envelope.printed))
}

/// The envelope, if an output is one.
pub(super) fn opened(output: &str) -> Option<Envelope> {
    let text = output.trim();
    if !(text.starts_with('{') && text.ends_with('}')) {
        return None;
    }
    let fields = fields(text)?;
    let (content, others): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| is_content(value.of(text)));
    let bytes: usize = content.iter().map(|(_, value)| value.len()).sum();
    if bytes * 100 < text.len() * LEAST_CONTENT {
        return None;
    }
    let mut printed = String::with_capacity(bytes);
    for (key, value) in &content {
        if content.len() > 1 {
            let _ = writeln!(printed, "[{key}]");
        }
        printed.push_str(&decode(value.inner().of(text)));
        if content.len() > 1 && !printed.ends_with('\n') {
            printed.push('\n');
        }
    }
    let label: Vec<String> =
        others.iter().filter_map(|(key, value)| Some(format!("{key}: {}", told(value.of(text))?))).collect();
    Some(Envelope { printed, label: label.join("; ") })
}

/// The fields of an object, and where their values stand.
fn fields(text: &str) -> Option<Vec<(String, Span)>> {
    let mut fields = Vec::new();
    let mut scanner = Scanner::new(text, 0);
    let object = scanner.object(|scanner, key| {
        if fields.len() == MOST_FIELDS {
            return Err(scanner.error("too many fields for an envelope"));
        }
        fields.push((key.to_owned(), scanner.skip()?));
        Ok(())
    });
    (object.ok()?.len() == text.len()).then_some(fields)
}

/// A string of several lines.
fn is_content(value: &str) -> bool {
    value.starts_with('"') && memchr::memmem::find(value.as_bytes(), b"\\n").is_some()
}

/// A value for the label.
fn told(value: &str) -> Option<Cow<'_, str>> {
    if value == "null" || value == "\"\"" || value.len() > LONGEST_VALUE {
        return None;
    }
    Some(match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(text) => decode(text),
        None => Cow::Borrowed(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_of_clients_are_opened() {
        let codex = r#"{"output":"one\ntwo \"x\"\n","metadata":{"exit_code":101,"duration_seconds":1.2}}"#;
        let lines = r#"{"output":"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve","exit_code":1,"error":null}"#;
        assert_eq!(printed(codex), codex, "less content than envelope");
        let opened = opened(lines).expect("an envelope");
        assert!(opened.printed.starts_with("one\ntwo\n") && opened.printed.lines().count() == 12);
        assert_eq!(opened.label, "exit_code: 1");
    }

    #[test]
    fn two_streams_are_told_apart() {
        let both = r#"{"stdout":"a line of output\nand another\n","stderr":"warning: old\nerror: new","ok":false}"#;
        let opened = opened(both).expect("an envelope");
        assert_eq!(opened.printed, "[stdout]\na line of output\nand another\n[stderr]\nwarning: old\nerror: new\n");
        assert_eq!(opened.label, "ok: false");
    }

    #[test]
    fn data_stays_data() {
        for text in
            ["{}", r#"{"a":1}"#, r#"[{"output":"a\nb"}]"#, r#"{"output":"a\nb"} and more}"#, "{\"a\":", "{ not json }"]
        {
            assert_eq!(printed(text), text);
        }
    }
}
