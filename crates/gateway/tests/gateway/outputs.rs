//! `/v1/compress` and `/v1/retrieve/{hash}` as LiteLLM's guardrail calls them.

use crate::harness::TestGateway;
use serde_json::{Value, json};

fn log(name: &str) -> String {
    let mut log = format!("$ make {name}\n");
    (0..300).for_each(|part| log.push_str(&format!("cc -O2 -c src/{name}_{part}.c -o build/{name}_{part}.o\n")));
    log + &format!("src/{name}.c:17:5: error: unknown type name 'size'\nmake: *** [build/{name}.o] Error 1\n")
}

fn messages() -> Value {
    json!([
        { "role": "system", "content": "You build things." },
        { "role": "user", "content": "Build all of it." },
        { "role": "tool", "tool_call_id": "c1", "content": log("first") },
        { "role": "tool", "tool_call_id": "c2", "content": "ok" },
        { "role": "tool", "tool_call_id": "c3", "content": [{ "type": "text", "text": log("second"), "cache_control": { "type": "ephemeral" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c4", "content": log("third") }, { "type": "text", "text": "Go on." }] },
    ])
}

async fn compressed(gateway: &TestGateway, key: &str) -> Value {
    let body = json!({ "messages": messages(), "model": "m", "config": { "mode": "ccr" } }).to_string();
    let bearer = format!("Bearer {key}");
    let seen = gateway.post_with("/v1/compress", &[("authorization", &bearer)], body.as_bytes()).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    serde_json::from_str(&seen.text()).unwrap()
}

#[tokio::test]
async fn outputs_become_shorter_in_place_and_come_back_by_their_hash() {
    let gateway = TestGateway::with([]).await;
    let reply = compressed(&gateway, "one").await;
    let (before, after) = (messages(), reply["messages"].clone());
    assert_eq!(after.as_array().unwrap().len(), before.as_array().unwrap().len());
    for same in [0, 1, 3] {
        assert_eq!(after[same], before[same]);
    }
    assert_eq!(after[4]["content"][0]["cache_control"], before[4]["content"][0]["cache_control"]);
    assert_eq!(after[5]["content"][1], before[5]["content"][1]);
    assert!(reply["tokens_after"].as_u64().unwrap() * 3 < reply["tokens_before"].as_u64().unwrap(), "{reply}");
    let hashes: Vec<&str> = reply["ccr_hashes"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
    let originals = [log("first"), log("second"), log("third")];
    let shown = [&after[2]["content"], &after[4]["content"][0]["text"], &after[5]["content"][0]["content"]];
    assert_eq!(hashes.len(), 3);
    for ((hash, original), shown) in hashes.iter().zip(&originals).zip(shown) {
        assert!(hash.len() == 24 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        assert!(shown.as_str().unwrap().contains(&format!("hash={hash}")), "{shown}");
        let path = format!("/v1/retrieve/{hash}");
        let seen = gateway.send("GET", &path, &[("authorization", "Bearer one")], b"").await;
        let page: Value = serde_json::from_str(&seen.text()).unwrap();
        assert_eq!(page["original_content"], original.as_str());
        assert_eq!(
            gateway.send("GET", &path, &[("authorization", "Bearer two")], b"").await.status,
            404,
            "another's key"
        );
    }
    let path = format!("/v1/retrieve/{}?query=first_299+unknown", hashes[0]);
    let some: Value =
        serde_json::from_str(&gateway.send("GET", &path, &[("authorization", "Bearer one")], b"").await.text())
            .unwrap();
    let some = some["original_content"].as_str().unwrap();
    assert!(
        some.contains("first_299.o") && some.contains("unknown type") && some.len() < originals[0].len() / 4,
        "{some}"
    );
    assert!(gateway.provider.requests().is_empty(), "nobody else is asked");
}

#[tokio::test]
async fn the_same_messages_come_out_in_the_same_bytes() {
    let gateway = TestGateway::with([]).await;
    let first = compressed(&gateway, "one").await;
    assert_eq!(compressed(&gateway, "one").await.to_string(), first.to_string());
    assert_eq!(compressed(&gateway, "two").await["messages"], first["messages"], "whoever asks");
    // What was made shorter once is not made shorter again.
    let again = json!({ "messages": first["messages"] }).to_string();
    let again: Value = serde_json::from_str(&gateway.post("/v1/compress", &again).await.text()).unwrap();
    assert_eq!((&again["messages"], again["ccr_hashes"].as_array().unwrap().len()), (&first["messages"], 0));
}

#[tokio::test]
async fn what_is_no_list_of_messages_is_refused() {
    let gateway = TestGateway::with([]).await;
    for body in ["", "{}", r#"{"messages":[]}"#, r#"{"messages":"x"}"#, "[1]"] {
        assert_eq!(gateway.post("/v1/compress", body).await.status, 400, "{body}");
    }
    assert_eq!(gateway.get("/v1/retrieve/xyz").await.status, 400);
    assert_eq!(gateway.get("/v1/retrieve/0123456789abcdef01234567").await.status, 404);
}
