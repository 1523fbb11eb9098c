//! Classifies errors of each vendor.

use crate::refusal::{self, RefusalKind};
use foldline_core::summary::{Failure, FailureClass};
use serde_json::Value;

/// Words that tell a class whatever the status says, in the order in which they are looked for. Those for a request that
/// is too long are the gateway's own ([`refusal`]).
const WORDS: [(FailureClass, &[&str]); 3] = [
    (
        FailureClass::Quota,
        &[
            "insufficient_quota",
            "exceeded your current quota",
            "credit balance",
            "out of credits",
            "insufficient credit",
            "insufficient funds",
            "billing",
            "payment required",
        ],
    ),
    (
        FailureClass::NotFound,
        &["model_not_found", "does not exist", "no available channel", "unknown model", "not_found_error"],
    ),
    (FailureClass::Access, &["invalid_api_key", "authentication_error", "permission_error", "invalid x-api-key"]),
];

/// The failure that a response with this status and body means.
pub fn of_response(status: u16, body: &str) -> Failure {
    let said = message_of(body);
    let class = told_by_words(body).filter(|_| status < 500 || status == 503).unwrap_or(match status {
        401 | 403 | 407 => FailureClass::Access,
        402 => FailureClass::Quota,
        404 | 405 => FailureClass::NotFound,
        408 | 504 => FailureClass::Timeout,
        413 => FailureClass::ContextLength,
        429 => FailureClass::Rate,
        500.. => FailureClass::Server,
        _ => FailureClass::Refused,
    });
    // A wrong key stays a wrong key, whatever else the message mentions.
    let class = if status == 401 { FailureClass::Access } else { class };
    Failure::new(class, &format!("HTTP {status}: {said}"))
}

/// The failure that an error object inside a reply means.
pub(super) fn of_error(error: &Value) -> Failure {
    let text = error.to_string();
    let kind = ["type", "code"].iter().filter_map(|name| error.get(name)?.as_str()).collect::<Vec<_>>().join(" ");
    let class = told_by_words(&text).unwrap_or(match kind.as_str() {
        kind if kind.contains("rate_limit") => FailureClass::Rate,
        kind if kind.contains("timeout") => FailureClass::Timeout,
        kind if kind.contains("invalid_request") => FailureClass::Refused,
        _ => FailureClass::Server,
    });
    let said = error.get("message").or(error.as_str().map(|_| error)).and_then(Value::as_str).unwrap_or(&kind);
    Failure::new(class, &format!("the reply was interrupted: {said}"))
}

fn told_by_words(text: &str) -> Option<FailureClass> {
    let lower = text.to_lowercase();
    let told =
        || WORDS.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word))).map(|(class, _)| *class);
    match refusal::named_in(&lower) {
        Some(RefusalKind::Window | RefusalKind::Bytes) => Some(FailureClass::ContextLength),
        Some(RefusalKind::Rate) => Some(FailureClass::Rate),
        None => told(),
    }
}

/// The message of an error body; the body itself when it has none.
fn message_of(body: &str) -> String {
    let parsed = serde_json::from_str::<Value>(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").or_else(|| value.get("message")).or_else(|| value.get("detail")).unwrap_or(error).as_str()
    });
    message.unwrap_or(body).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_all_vendors_are_told_apart() {
        use FailureClass::*;
        for (status, body, class) in [
            (401, r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#, Access),
            (401, r#"{"error":{"message":"see the billing page"}}"#, Access),
            (403, r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#, Access),
            (402, "Payment Required", Quota),
            (429, r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#, Quota),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                Quota,
            ),
            (429, r#"{"error":{"message":"Rate limit reached for requests"}}"#, Rate),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192"}}"#,
                ContextLength,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}"#,
                ContextLength,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"request (20030 tokens) exceeds the available context size","type":"exceed_context_size_error"}}"#,
                ContextLength,
            ),
            (
                413,
                r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                ContextLength,
            ),
            (404, r#"{"error":{"message":"The model `x` does not exist"}}"#, NotFound),
            (503, r#"{"error":{"message":"no available channel for model x"}}"#, NotFound),
            (503, r#"{"error":{"message":"Loading model","type":"unavailable_error"}}"#, Server),
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Server),
            (502, "<html>Bad Gateway</html>", Server),
            (504, "", Timeout),
            (408, "", Timeout),
            (400, r#"{"error":{"message":"unsupported parameter"}}"#, Refused),
        ] {
            assert_eq!(of_response(status, body).class, class, "{status} {body}");
        }
    }

    #[test]
    fn errors_inside_a_stream_are_told_apart() {
        for (kind, class) in [
            ("overloaded_error", FailureClass::Server),
            ("rate_limit_error", FailureClass::Rate),
            ("timeout_error", FailureClass::Timeout),
            ("authentication_error", FailureClass::Access),
        ] {
            assert_eq!(of_error(&serde_json::json!({ "type": kind, "message": "x" })).class, class);
        }
    }

    #[test]
    fn a_key_that_a_server_repeats_does_not_get_into_the_message() {
        let key = format!("{}{}", "sk-proj-", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1w");
        let failure = of_response(401, &format!(r#"{{"error":{{"message":"Incorrect API key provided: {key}"}}}}"#));
        assert!(!failure.message.contains(&key), "{failure}");
    }
}
