//! Tokens that are replaced: the same person finds everything again, and nobody else does.

use crate::harness::{MESSAGES, TestGateway};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foldline_core::policy::AutoOr;
use foldline_script::{Act, Received};
use serde_json::{Value, json};

const DEVICE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn long(device: Option<&str>) -> Vec<u8> {
    let words = |n: usize| format!("Step {n}: {}", "the importer reads orders and writes the rest. ".repeat(60));
    let messages: Vec<Value> = (0..41)
        .map(|n: usize| json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    let mut body = json!({"model": "m", "max_tokens": 9, "messages": messages});
    if let Some(device) = device {
        let user = json!({"device_id": device, "account_uuid": "a", "session_id": "s"}).to_string();
        body["metadata"] = json!({ "user_id": user });
    }
    body.to_string().into_bytes()
}

fn narrow(policy: &mut crate::harness::Tuned) {
    policy.model.window = AutoOr::Fixed(40_000);
}

async fn outcome(test: &TestGateway, token: &str, body: &[u8]) -> String {
    let bearer = format!("Bearer {token}");
    let seen = test.post_with(MESSAGES, &[("authorization", &bearer)], body).await;
    seen.header("x-foldline-outcome").unwrap_or_default().to_owned()
}

async fn found(test: &TestGateway, token: &str) -> bool {
    let bearer = format!("Bearer {token}");
    let seen = test.send("GET", "/foldline/search?q=importer", &[("authorization", &bearer)], b"").await;
    assert_eq!(seen.status, 200);
    !seen.text().starts_with("[no original")
}

#[tokio::test]
async fn checkpoints_survive_a_new_subscription_token() {
    let test = TestGateway::tuned([Act::say("Done.")], narrow).await;
    let mine = long(Some(DEVICE));
    assert_eq!(outcome(&test, "sk-ant-oat01-first", &mine).await, "folded");
    let before = test.provider.requests().pop().unwrap().text();
    assert_eq!(outcome(&test, "sk-ant-oat01-second", &mine).await, "checkpoint");
    assert_eq!(test.provider.requests().pop().unwrap().text(), before, "the prefix stays, and with it the cache");
    assert!(found(&test, "sk-ant-oat01-first").await && found(&test, "sk-ant-oat01-second").await);
    // Another device of the same account, nobody, and a key that lasts.
    let other = DEVICE.replace('0', "f");
    assert_eq!(outcome(&test, "sk-ant-oat01-third", &long(Some(&other))).await, "folded");
    assert_eq!(outcome(&test, "sk-ant-oat01-fourth", &long(None)).await, "folded");
    assert_eq!(outcome(&test, "sk-ant-api03-key", &mine).await, "folded");
    assert!(!found(&test, "sk-ant-oat01-fifth").await, "a token that nobody accepted");
}

fn jwt(subject: &str, signature: &str) -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{signature}", part(json!({"alg": "RS256"})), part(json!({"iss": "i", "sub": subject})))
}

#[tokio::test]
async fn a_forged_token_reads_nothing() {
    let choose = |request: &Received, _| match request.headers["authorization"].to_str().unwrap().ends_with("forged") {
        true => Act::error(401, "authentication_error", "invalid bearer token"),
        false => Act::say("Done."),
    };
    let test = TestGateway::choosing(choose, narrow).await;
    let body = long(None);
    assert_eq!(outcome(&test, &jwt("me", "signed"), &body).await, "folded");
    assert_eq!(outcome(&test, &jwt("me", "signed-later"), &body).await, "checkpoint");
    assert!(found(&test, &jwt("me", "signed-later")).await);
    let forged = jwt("me", "forged");
    outcome(&test, &forged, &body).await;
    assert!(!found(&test, &forged).await);
    assert_eq!(outcome(&test, &jwt("you", "signed"), &body).await, "folded", "another person");
}
