//! Usage in Chat Completions streams: requested if the client did not, and removed from the reply.

use bytes::Bytes;
use foldline_transcript::Transcript;
use foldline_transcript::edit::Span;
use foldline_transcript::wire::events::{self, Events};
use foldline_transcript::wire::field;
use serde_json::Value;

/// What is put into a request.
const OPTION: &str = r#""include_usage":true"#;

/// The body with usage asked for. `None` when it is no stream, or the client asks for usage itself.
pub fn ask_for(transcript: &Transcript<'_>) -> Option<String> {
    let body = transcript.text;
    let field = |name: &str| transcript.fields.iter().rfind(|(key, _)| key == name).map(|(_, value)| *value);
    if field("stream")?.of(body) != "true" {
        return None;
    }
    let Some(options) = field("stream_options") else {
        let end = body.trim_end().len().checked_sub(1)?;
        return Some([body.get(..end)?, r#","stream_options":{"#, OPTION, "}", body.get(end..)?].concat());
    };
    let inside = options.of(body).strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let (span, text) = match (inside, field::value(body, options, "include_usage")) {
        (Some(_), Some(include)) if include.of(body) == "true" => return None,
        (Some(_), Some(include)) => (include, "true".to_owned()),
        (Some(inside), None) => {
            let start = options.range().start + 1;
            let comma = if inside.trim().is_empty() { "" } else { "," };
            (Span::new(start, start), format!("{OPTION}{comma}"))
        }
        (None, _) => (options, format!("{{{OPTION}}}")),
    };
    let range = span.range();
    Some([body.get(..range.start)?, &text, body.get(range.end..)?].concat())
}

/// An event that is longer than this is no usage event, and is passed on as it comes.
const LONGEST: usize = 64 << 10;

/// Takes usage events out of a stream that the client did not ask them of.
#[derive(Default)]
pub struct Strip {
    events: Events,
    /// True inside an event that is too long to wait for.
    passing: bool,
}

impl Strip {
    /// Takes in a piece of the stream and gives what of it is the client's.
    pub fn feed(&mut self, bytes: &[u8]) -> Bytes {
        self.events.feed(bytes);
        let mut out = Vec::with_capacity(bytes.len());
        while let Some(event) = self.events.next_event() {
            let is_whole = !std::mem::take(&mut self.passing);
            if !(is_whole && is_usage_only(event)) {
                out.extend_from_slice(event);
            }
        }
        if self.passing || self.events.pending() > LONGEST {
            self.passing = true;
            out.extend_from_slice(&self.events.rest());
        }
        Bytes::from(out)
    }

    /// What is left when the stream ends, whole or not.
    pub fn finish(&mut self) -> Bytes {
        self.events.rest().into()
    }
}

/// True for an event that carries usage and no part of an answer.
fn is_usage_only(event: &[u8]) -> bool {
    let named = memchr::memmem::find(event, b"\"usage\"").is_some();
    named
        && serde_json::from_slice::<Value>(&events::payload(event)).is_ok_and(|chunk| {
            let no_choice = chunk.get("choices").and_then(Value::as_array).is_some_and(Vec::is_empty);
            no_choice && chunk.get("usage").is_some_and(Value::is_object)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::{Format, wire};

    #[test]
    fn usage_is_asked_for_where_the_client_does_not() {
        let cases = [
            (r#"{"stream":true}"#, Some(r#"{"stream":true,"stream_options":{"include_usage":true}}"#)),
            (r#"{ "stream" : true }"#, Some(r#"{ "stream" : true ,"stream_options":{"include_usage":true}}"#)),
            (
                r#"{"stream":true,"stream_options":{}}"#,
                Some(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
            ),
            (
                r#"{"stream_options":null,"stream":true}"#,
                Some(r#"{"stream_options":{"include_usage":true},"stream":true}"#),
            ),
            (
                r#"{"stream":true,"stream_options":{"x":1}}"#,
                Some(r#"{"stream":true,"stream_options":{"include_usage":true,"x":1}}"#),
            ),
            (
                r#"{"stream":true,"stream_options":{"include_usage":false}}"#,
                Some(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
            ),
            (r#"{"stream":true,"stream_options":{"include_usage":true}}"#, None),
            (r#"{"stream":false}"#, None),
            (r#"{"n":1}"#, None),
            ("[]", None),
            (r#"{"stream":true"#, None),
        ];
        let with_messages = |body: &str| body.replacen('{', r#"{"messages":[],"#, 1);
        for (body, expected) in cases {
            let body = with_messages(body);
            let asked = wire::read(&body, Some(Format::OpenAiChat)).ok().and_then(|read| ask_for(&read));
            assert_eq!(asked, expected.map(with_messages), "{body}");
        }
    }

    #[test]
    fn only_the_usage_event_is_taken_out_however_the_stream_is_cut() {
        let kept = [
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\"\"}}],\"usage\":null}\n\n",
            ": ping\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\n",
            "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n",
        ];
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
        let stream = [&kept.concat(), usage, "data: [DONE]\n\n"].concat();
        for piece in 1..stream.len() {
            let mut strip = Strip::default();
            let mut out = Vec::new();
            for bytes in stream.as_bytes().chunks(piece) {
                out.extend_from_slice(&strip.feed(bytes));
            }
            out.extend_from_slice(&strip.finish());
            assert_eq!(String::from_utf8(out).unwrap(), format!("{}data: [DONE]\n\n", kept.concat()), "{piece}");
        }
    }

    #[test]
    fn a_long_event_is_not_waited_for() {
        let mut strip = Strip::default();
        let long = vec![b'x'; LONGEST + 1];
        assert_eq!(strip.feed(&long).len(), long.len());
        assert_eq!(strip.feed(b"y"), "y");
    }
}
