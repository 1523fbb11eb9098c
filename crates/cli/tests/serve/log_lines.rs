//! What the log tells: a line for everything that was done to a request, with figures and without content.

use crate::process::{LOG, MESSAGES, conversation, serve};
use foldline_script::{Act, Provider};
use serde_json::Value;
use tokio::runtime::Runtime;

/// The lines of the log.
fn lines(folder: &std::path::Path) -> Vec<Value> {
    let log = std::fs::read_to_string(folder.join(LOG)).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

/// The first line with one of these messages.
fn told<'l>(lines: &'l [Value], messages: &[&str]) -> &'l Value {
    let is_one = |line: &&Value| messages.iter().any(|message| line["message"] == *message);
    lines.iter().find(is_one).unwrap_or_else(|| panic!("no {messages:?} in {lines:#?}"))
}

#[test]
fn a_fold_a_refusal_a_recovery_and_a_failing_provider_have_a_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let too_long = "prompt is too long: 25000 tokens > 12000 maximum";
    let acts = [Act::say("One."), Act::status(503, "busy"), Act::error(400, "invalid_request_error", too_long)];
    let last = acts.len();
    let provider =
        runtime.block_on(Provider::choosing(move |_, n| acts.get(n).cloned().unwrap_or(Act::say("Done.")))).unwrap();
    let args = ["--window", "16000", "--log-format", "json", "--set", "gateway.max_body_bytes=1000000"];
    let mut served = serve(folder.path(), &provider.url(), &args);
    for turns in [40, 41, 42] {
        served.post(MESSAGES, &conversation(turns, false));
    }
    assert!(provider.requests().len() > last, "the refused request was sent again");
    let huge = serde_json::json!({"model": "m", "messages": "x".repeat(2_000_000)});
    served.post(MESSAGES, &huge);
    served.signal("TERM");
    assert_eq!(served.ended(), Some(0));
    let lines = lines(folder.path());
    let folded = told(&lines, &["folded", "pruned"]);
    assert!(folded["session"].as_str().unwrap().starts_with("fs-"), "{folded}");
    let (before, after) = (folded["tokens_before"].as_u64().unwrap(), folded["tokens_after"].as_u64().unwrap());
    assert!(after < before && folded["ms"].is_u64() && folded["saved_dollars_per_request"].is_f64(), "{folded}");
    assert!(folded["reason"].as_str().unwrap().contains("tokens"), "{folded}");
    assert!(folded["model"].is_string() && folded["level"] == "INFO", "{folded}");
    let failed = told(&lines, &["upstream failed"]);
    assert!(failed["status"] == 503 && failed["host"] == "127.0.0.1" && failed["ms"].is_u64(), "{failed}");
    let recovered = told(&lines, &["recovered"]);
    assert!(recovered["attempt"] == 1 && recovered["session"] == folded["session"], "{recovered}");
    let refused = told(&lines, &["refused"]);
    assert!(refused["kind"] == "too_large" && refused["status"] == 413 && refused["route"] == "messages", "{refused}");
}

#[test]
fn shadow_mode_tells_what_would_have_been_saved() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Runtime::new().unwrap();
    let upstream = provider.block_on(Provider::choosing(|_, _| Act::say("Done."))).unwrap();
    let args = ["--window", "16000", "--log-format", "json", "--set", "gateway.shadow=true"];
    let mut served = serve(folder.path(), &upstream.url(), &args);
    for turns in [40, 41] {
        served.post(MESSAGES, &conversation(turns, false));
    }
    served.wait_until("figures", "/foldline/sessions", |page| {
        let list: Value = serde_json::from_str(page.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        list["sessions"][0]["sums"]["shadow_saved_tokens"].as_u64().is_some_and(|tokens| tokens > 1_000)
    });
    served.signal("TERM");
    assert_eq!(served.ended(), Some(0));
    told(&lines(folder.path()), &["would fold", "would prune"]);
}
