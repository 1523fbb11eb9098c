//! Several clients of one gateway: what one does costs the others nothing, and shows them nothing.

use crate::harness::{MESSAGES, TestGateway, short};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use serde_json::{Value, json};

async fn of_three(tune: impl FnOnce(&mut crate::harness::Tuned)) -> (TestGateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "a\nb\nops operator\n").unwrap();
    let test = TestGateway::tuned([Act::say("Done.")], |p| {
        p.gateway.client_keys = Some(file.display().to_string());
        tune(p);
    })
    .await;
    (test, folder)
}

fn long(seed: usize) -> Vec<u8> {
    // Words that hardly shrink when packed.
    let mut state = seed as u64 + 1;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:012x} ", state >> 16)
    };
    let mut words = |n: usize| format!("Step {n}: {}", (0..220).map(|_| word()).collect::<String>());
    let messages: Vec<Value> = (0..41)
        .map(|n: usize| json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string().into_bytes()
}

async fn handles(test: &TestGateway, key: &str) -> usize {
    let path = "/foldline/search?q=step&limit=50&format=json";
    let found = test.send("GET", path, &[("x-foldline-key", key)], b"").await.json();
    found["hits"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_client_cannot_evict_originals_of_another() {
    let (test, _folder) = of_three(|p| {
        p.model.window = AutoOr::Fixed(60_000);
        p.store.max_bytes = 1_000_000;
    })
    .await;
    let post = async |key: &str, seed: usize| {
        let seen = test.post_with(MESSAGES, &[("x-foldline-key", key)], &long(seed)).await;
        assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{key} {seed}: {}", seen.text());
    };
    post("a", 0).await;
    let before = handles(&test, "a").await;
    assert!(before > 0);
    for seed in 1..20 {
        post("b", seed).await;
    }
    assert_eq!(handles(&test, "a").await, before);
    // The search has put all words into the index, which takes room; the next fold makes it.
    post("b", 20).await;
    let sum = "SELECT sum(originals + checkpoints + sessions) FROM tenants";
    let taken: i64 = rusqlite::Connection::open(test.folder.path().join("store.db"))
        .and_then(|file| file.query_row(sum, [], |row| row.get(0)))
        .unwrap();
    // The words of the last fold are put into the index after it.
    assert!(taken <= 1_050_000, "all that is kept counts: {taken}");
}

#[tokio::test]
async fn metrics_of_all_clients_require_an_operator_key() {
    let (test, _folder) = of_three(|_| {}).await;
    let body = short(MESSAGES, false);
    test.post_with(MESSAGES, &[("x-foldline-key", "a")], body.as_bytes()).await;
    let get = async |path: &str, key: &str| test.send("GET", path, &[("x-foldline-key", key)], b"").await;
    for key in ["a", "b"] {
        let refused = get("/foldline/metrics", key).await;
        assert_eq!(refused.status, 403);
        assert!(refused.text().contains("operator") && !refused.text().contains("dollars"), "{}", refused.text());
    }
    let page = get("/foldline/metrics", "ops").await;
    assert!(page.status == 200 && page.text().contains("foldline_saved_dollars"));
    let sessions = async |key: &str| get("/foldline/sessions", key).await.json()["sessions"].as_array().unwrap().len();
    assert_eq!((sessions("a").await, sessions("b").await, sessions("ops").await), (1, 0, 1));
}
