//! Recognises a provider's "too long" and "too large" errors. Many servers implement each API, so all phrases are
//! checked for all of them.

use serde_json::Value;

/// What a request is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Tokens for the model's window.
    Window,
    /// Bytes for the server.
    Bytes,
    /// Tokens for one minute of the account: waiting never helps.
    Rate,
}

/// A request was refused for its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRefusal {
    /// Of what it is too much.
    pub kind: RefusalKind,
    /// Tokens that the provider counted, if it says so.
    pub asked: Option<u64>,
    /// Tokens that it takes, if it says so.
    pub limit: Option<u64>,
}

/// Error bodies are short; a longer body is an answer.
const LONGEST_BODY: usize = 64 << 10;

/// Codes and types that say it without words.
const CODES: &[(&str, RefusalKind)] = &[
    ("context_length_exceeded", RefusalKind::Window),
    ("exceed_context_size_error", RefusalKind::Window),
    ("context_window_exceeded", RefusalKind::Window),
    ("model_context_window_exceeded", RefusalKind::Window),
    ("string_above_max_length", RefusalKind::Bytes),
    ("request_too_large", RefusalKind::Bytes),
];

/// Words that say it, in lower case, where codes do not.
const WORDS: &[(&str, RefusalKind)] = &[
    ("prompt is too long", RefusalKind::Window),
    ("exceed context limit", RefusalKind::Window),
    ("maximum context length", RefusalKind::Window),
    ("exceeds the context window", RefusalKind::Window),
    ("exceeds the available context size", RefusalKind::Window),
    ("context length exceeded", RefusalKind::Window),
    ("context size has been exceeded", RefusalKind::Window),
    ("exceeds the maximum number of tokens", RefusalKind::Window),
    ("longer than the maximum model length", RefusalKind::Window),
    ("longer than the model's context length", RefusalKind::Window),
    ("input is too long for requested model", RefusalKind::Window),
    ("too many tokens in the prompt", RefusalKind::Window),
    ("reduce the length of the messages", RefusalKind::Window),
    ("request too large for", RefusalKind::Rate),
    ("request exceeds the maximum size", RefusalKind::Bytes),
    ("request entity too large", RefusalKind::Bytes),
    ("payload too large", RefusalKind::Bytes),
    ("maximum request size", RefusalKind::Bytes),
];

/// How the words say numbers: what comes before what was asked, and before the limit. The first pair of
/// which both are found counts.
const NUMBERS: &[(&str, &str)] = &[
    ("prompt is too long: ", "> "),
    ("resulted in ", "maximum context length is "),
    ("you requested about ", "maximum context length is "),
    ("you requested ", "maximum context length is "),
    ("prompt contains at least ", "maximum context length is "),
    ("request (", "available context size ("),
    ("token count (", "tokens allowed ("),
    ("requested ", "limit "),
    ("prompt length of ", "maximum model length of "),
];

/// What comes before the limit where nothing says what was asked.
const LIMITS: &[&str] =
    &["maximum context length is ", "maximum number of tokens allowed (", "maximum number of tokens allowed "];

/// Reads an error reply, or the data of an error event inside a stream, as a refusal for size; `None` for
/// any other error.
pub fn read_refusal(status: u16, body: &[u8]) -> Option<SizeRefusal> {
    if status == 413 {
        return Some(SizeRefusal { kind: RefusalKind::Bytes, asked: None, limit: None });
    }
    // Errors come with a status of their own, or inside a stream that began well.
    if !(matches!(status, 200) || (400..=599).contains(&status)) || body.len() > LONGEST_BODY {
        return None;
    }
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = error_of(&body)?;
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let message = match error {
        Value::String(message) => message.to_lowercase(),
        _ => text("message").to_lowercase(),
    };
    let by_code = || CODES.iter().find(|(code, _)| text("code") == *code || text("type") == *code);
    let by_words = || WORDS.iter().find(|(words, _)| message.contains(words));
    let kind = by_code().or_else(by_words).map(|(_, kind)| *kind)?;
    let (asked, limit) = numbers(error, &message);
    Some(SizeRefusal { kind, asked, limit })
}

/// What an error of any shape says that a request is too much of, by words and codes anywhere in it.
pub fn named_in(error: &str) -> Option<RefusalKind> {
    let error = error.to_lowercase();
    CODES.iter().chain(WORDS).find(|(words, _)| error.contains(words)).map(|(_, kind)| *kind)
}

/// The error inside a body or an event.
fn error_of(body: &Value) -> Option<&Value> {
    let places = ["/error", "/response/error", "/detail"];
    let found =
        places.iter().filter_map(|place| body.pointer(place)).find(|error| error.is_object() || error.is_string());
    // Some servers put the error's fields at the top.
    let found = found.or_else(|| body.get("message").map(|_| body));
    // A stream that is a list begins with its error.
    found.or_else(|| error_of(body.get(0)?))
}

/// Tokens that were asked for, and that are allowed.
fn numbers(error: &Value, message: &str) -> (Option<u64>, Option<u64>) {
    let field = |key: &str| error.get(key).and_then(Value::as_u64);
    if let (Some(asked), Some(limit)) = (field("n_prompt_tokens"), field("n_ctx")) {
        return (Some(asked), Some(limit));
    }
    // "exceed context limit: 195000 + 8192 > 200000": input, reply, limit.
    if let Some(at) = message.find("context limit: ") {
        let mut words = message.get(at..).unwrap_or_default().split(['+', '>', ',']).map(last_number);
        if let (Some(Some(input)), Some(Some(reply)), Some(Some(limit))) = (words.next(), words.next(), words.next()) {
            return (Some(input + reply), Some(limit));
        }
    }
    let both = NUMBERS.iter().find_map(|(asked, limit)| Some((after(message, asked)?, after(message, limit)?)));
    match both {
        Some((asked, limit)) => (Some(asked), Some(limit)),
        None => (None, LIMITS.iter().find_map(|words| after(message, words))),
    }
}

/// The number that follows these words.
fn after(message: &str, words: &str) -> Option<u64> {
    let rest = message.get(message.find(words)? + words.len()..)?;
    let digits: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',' || *c == '_')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

fn last_number(text: &str) -> Option<u64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use RefusalKind::{Bytes, Rate, Window};

    fn read(status: u16, body: &str) -> Option<(RefusalKind, Option<u64>, Option<u64>)> {
        read_refusal(status, body.as_bytes()).map(|it| (it.kind, it.asked, it.limit))
    }

    #[test]
    fn every_provider_is_understood() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens (140000 in the messages, 10123 in the functions). Please reduce the length of the messages or functions.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
                (Window, Some(150_123), Some(128_000)),
            ),
            (
                r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
                (Window, None, None),
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"r"}"#,
                (Window, Some(210_000), Some(200_000)),
            ),
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}"#,
                (Window, Some(203_192), Some(200_000)),
            ),
            (
                r#"{"error":{"code":400,"message":"request (20030 tokens) exceeds the available context size (16384 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20030,"n_ctx":16384}}"#,
                (Window, Some(20_030), Some(16_384)),
            ),
            (
                r#"{"object":"error","message":"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (38000 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
                (Window, Some(40_000), Some(32_768)),
            ),
            (
                r#"{"error":{"message":"This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (70000 of text input). Please reduce the length of either one, or use the \"middle-out\" transform.","code":400,"metadata":{"provider_name":null}}}"#,
                (Window, Some(70_000), Some(65_536)),
            ),
            (
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                (Window, Some(1_200_000), Some(1_048_576)),
            ),
            (
                r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                (Bytes, None, None),
            ),
            (r#"{"error":"prompt is too long: 10 tokens > 5 maximum"}"#, (Window, Some(10), Some(5))),
        ] {
            assert_eq!(read(400, body), Some(expected), "{body}");
        }
        let minute = r#"{"error":{"message":"Request too large for gpt-5 in organization org on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#;
        assert_eq!(read(429, minute), Some((Rate, Some(41_000), Some(30_000))));
        assert_eq!(read(413, "<html>"), Some((Bytes, None, None)));
    }

    #[test]
    fn events_inside_a_stream_are_understood() {
        let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#;
        assert_eq!(read(200, failed), Some((Window, None, None)));
        let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
        assert_eq!(read(200, error), Some((Window, Some(9), Some(8))));
        let chunk = r#"{"error":{"message":"context length exceeded","code":"context_length_exceeded"}}"#;
        assert_eq!(read(200, chunk), Some((Window, None, None)));
    }

    #[test]
    fn other_errors_are_no_refusals_for_size() {
        for (status, body) in [
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29876, Requested 900. Please try again in 1s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            ),
            (400, r#"{"error":{"message":"Invalid request","type":"invalid_request_error"}}"#),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            (502, "<html>Bad gateway</html>"),
            (500, ""),
            (200, r#"{"choices":[{"message":{"content":"The prompt is too long: 5 tokens > 4"}}]}"#),
            (200, r#"{"type":"response.created","response":{"status":"in_progress","error":null}}"#),
            (302, r#"{"error":{"code":"context_length_exceeded"}}"#),
        ] {
            assert_eq!(read(status, body), None, "{body}");
        }
    }
}
