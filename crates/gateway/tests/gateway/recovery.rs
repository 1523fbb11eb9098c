//! A provider that says a request is too large gets a smaller one before the client hears of it.

use crate::harness::{CHAT, GEMINI, GEMINI_EVENTS, GEMINI_LIST, MESSAGES, RESPONSES, TestGateway, message, request};
use foldline_script::{Act, Received};
use serde_json::{Value, json};

/// A conversation that no setting makes the gateway fold by itself.
fn long(path: &str, stream: bool) -> String {
    let words = |n: usize| {
        format!("Step {n}: {}", "the importer reads orders, checks each row and writes the rest. ".repeat(40))
    };
    let said = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> = (0..41).map(|n| message(path, said(n), &words(n))).collect();
    request(path, stream, messages).to_string()
}

/// Refuses what is larger than a limit, in a provider's words.
fn refusing(limit: usize, refusal: Act) -> impl Fn(&Received, usize) -> Act + Send + Sync {
    move |request, _| if request.body.len() > limit { refusal.clone() } else { Act::say("Done.") }
}

fn wide(policy: &mut crate::harness::Tuned) {
    policy.model.window = foldline_core::policy::AutoOr::Fixed(1_000_000);
}

#[tokio::test]
async fn a_request_refused_as_too_long_is_folded_and_resent() {
    let openai = Act::error(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 16000 tokens. However, your messages resulted in 25000 tokens.",
    );
    let anthropic = Act::error(400, "invalid_request_error", "prompt is too long: 25000 tokens > 16000 maximum");
    let google = Act::error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (25000) exceeds the maximum number of tokens allowed (16000).",
    );
    let cases =
        [(CHAT, &openai), (RESPONSES, &openai), (MESSAGES, &anthropic), (GEMINI, &google), (GEMINI_EVENTS, &google)];
    for (path, refusal) in cases {
        let test = TestGateway::choosing(refusing(64_000, refusal.clone()), wide).await;
        let body = long(path, false);
        assert!(body.len() > 64_000);
        let seen = test.post(path, &body).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.text());
        let requests = test.provider.requests();
        assert!((2..=3).contains(&requests.len()), "{path}: {}", requests.len());
        assert_eq!(requests[0].text(), body);
        // The next turn goes out small at once.
        assert_eq!(test.post(path, &body).await.status, 200);
        assert_eq!(test.provider.requests().len(), requests.len() + 1, "{path}");
    }
}

#[tokio::test]
async fn gemini_size_errors_are_recognised_in_lists_and_events() {
    let error = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
        "message": "The input token count exceeds the maximum number of tokens allowed 16000."}});
    let raw = |status: u16, kind: &str, body: String| Act::Raw {
        status,
        headers: Vec::new(),
        content_type: kind.to_owned(),
        body,
    };
    for (path, refusal) in [
        (GEMINI_LIST, raw(400, "application/json", format!("[{error}]"))),
        (GEMINI_EVENTS, raw(200, "text/event-stream", format!("data: {error}\r\n\r\n"))),
    ] {
        let test = TestGateway::choosing(refusing(64_000, refusal), wide).await;
        let seen = test.post(path, &long(path, true)).await;
        assert!(seen.status == 200 && seen.text().contains("Done."), "{path}: {}", seen.text());
    }
}

#[tokio::test]
async fn a_size_error_in_the_first_stream_event_is_recovered() {
    let failed = json!({"type": "response.failed", "sequence_number": 2, "response": {"id": "resp_1", "status": "failed",
        "error": {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model. Please adjust your input and try again."}}});
    let created = json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "status": "in_progress"}});
    let event = |value: &Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    for before in [String::new(), event(&created)] {
        let body = before + &event(&failed);
        let refusal = Act::Raw { status: 200, headers: Vec::new(), content_type: "text/event-stream".into(), body };
        let test = TestGateway::choosing(refusing(64_000, refusal), wide).await;
        let seen = test.post(RESPONSES, &long(RESPONSES, true)).await;
        assert!(
            seen.text().contains("response.completed") && !seen.text().contains("response.failed"),
            "{}",
            seen.text()
        );
        assert_eq!(seen.text().matches("event: response.created").count(), 1);
    }
}

/// Requests of a stream that begins, as providers' streams do, and then says that the request is too long.
#[tokio::test]
async fn a_size_error_after_the_stream_preamble_is_recovered() {
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let long_prompt = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 25000 tokens > 16000 maximum"}}"#;
    let messages = format!(
        "event: message_start\ndata: {start}\n\nevent: ping\ndata: {{\"type\": \"ping\"}}\n\nevent: error\ndata: {long_prompt}\n\n"
    );
    let nameless = format!("data: {start}\n\ndata: {long_prompt}\n\n");
    let role = r#"{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#;
    let error = r#"{"error":{"message":"This model's maximum context length is 16000 tokens. However, your messages resulted in 25000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
    let chat = format!("data: {role}\n\ndata: {error}\n\n");
    for (path, body) in [(MESSAGES, messages), (MESSAGES, nameless), (CHAT, chat)] {
        let refusal = Act::Raw { status: 200, headers: Vec::new(), content_type: "text/event-stream".into(), body };
        let test = TestGateway::choosing(refusing(64_000, refusal), wide).await;
        let seen = test.post(path, &long(path, true)).await;
        let text = seen.text();
        assert!(text.contains("Done.") && !text.contains("16000"), "{path}: {text}");
        assert!(text.matches("message_start").count() <= 2, "one beginning, named and typed: {text}");
        assert!(text.matches("\"role\":\"assistant\"").count() <= 1, "{text}");
    }
}

#[tokio::test]
async fn an_unrecoverable_size_error_is_forwarded() {
    let refusal = Act::error(400, "invalid_request_error", "prompt is too long: 25000 tokens > 16000 maximum");
    let test = TestGateway::choosing(refusing(0, refusal), wide).await;
    let seen = test.post(MESSAGES, &long(MESSAGES, false)).await;
    assert_eq!(seen.status, 400);
    assert_eq!(seen.json()["error"]["message"], "prompt is too long: 25000 tokens > 16000 maximum");
    assert!(test.provider.requests().len() <= 3, "at most two further tries");
}

#[tokio::test]
async fn bypassed_requests_are_not_recovered() {
    let refusal = Act::error(400, "invalid_request_error", "prompt is too long: 25000 tokens > 16000 maximum");
    let test = TestGateway::choosing(refusing(64_000, refusal), wide).await;
    let seen = test.post_with(MESSAGES, &[("x-foldline-bypass", "1")], long(MESSAGES, false).as_bytes()).await;
    assert_eq!((seen.status, seen.header("x-foldline-outcome")), (400, Some("bypassed")));
    assert_eq!(test.provider.requests().len(), 1);
}
