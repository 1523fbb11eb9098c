//! Forgetting over HTTP, and other keys for the store while it serves.

use crate::harness::{MESSAGES, TestGateway};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use foldline_store::{Cleaning, Forget, Forgotten, Keyring, Limits, Opening, Store, Whose};
use serde_json::{Value, json};
use std::time::Duration;

fn body(of: &str) -> Vec<u8> {
    let words = |n: usize| format!("Step {n} of {of}: {}", "some longer words of a turn ".repeat(80));
    let messages: Vec<Value> = (0..41)
        .map(|n: usize| json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": words(n)}))
        .collect();
    json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string().into_bytes()
}

async fn of_two() -> (TestGateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "a\nb\nops operator\n").unwrap();
    let test = TestGateway::tuned([Act::say("Done.")], |p| {
        p.gateway.client_keys = Some(file.display().to_string());
        p.model.window = AutoOr::Fixed(40_000);
    })
    .await;
    (test, folder)
}

async fn fold(test: &TestGateway, key: &str, session: &str) -> String {
    let headers = [("x-foldline-key", key), ("x-foldline-session", session)];
    let seen = test.post_with(MESSAGES, &headers, &body(session)).await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
    seen.header("x-foldline-session").unwrap().to_owned()
}

async fn hits(test: &TestGateway, key: &str) -> usize {
    let found = test.send("GET", "/foldline/search?q=step&format=json", &[("x-foldline-key", key)], b"").await.json();
    found["hits"].as_array().map_or(0, Vec::len)
}

async fn sessions(test: &TestGateway, key: &str) -> usize {
    let list = test.send("GET", "/foldline/sessions", &[("x-foldline-key", key)], b"").await.json();
    list["sessions"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_can_delete_only_its_own_sessions() {
    let (test, _folder) = of_two().await;
    let (one, two) = (fold(&test, "a", "label-one").await, fold(&test, "a", "label-two").await);
    let other = fold(&test, "b", "label-three").await;
    let delete = async |path: &str, key: &str| test.send("DELETE", path, &[("x-foldline-key", key)], b"").await;
    let before = (hits(&test, "a").await, hits(&test, "b").await);
    assert!(before.0 > 0 && before.1 > 0);

    assert_eq!(delete(&format!("/foldline/sessions/{one}"), "b").await.status, 404, "another's");
    assert_eq!(delete("/foldline/sessions/fs-nope", "a").await.status, 400);
    assert_eq!(delete("/foldline/sessions?before=soon", "a").await.status, 400);
    assert_eq!(test.send("DELETE", "/foldline/sessions", &[], b"").await.status, 401);
    assert_eq!((sessions(&test, "a").await, hits(&test, "b").await), (2, before.1), "nothing went");

    let gone = delete(&format!("/foldline/sessions/{one}"), "a").await;
    assert_eq!(gone.status, 200, "{}", gone.text());
    assert!(gone.json()["forgotten"]["checkpoints"].as_u64() > Some(0), "{}", gone.text());
    assert_eq!((sessions(&test, "a").await, sessions(&test, "b").await), (1, 1));
    let files = std::fs::read_dir(test.folder.path()).unwrap();
    let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(memchr::memmem::find(&bytes, b"label-one").is_none(), "not even its name is left");
    assert!(memchr::memmem::find(&bytes, b"label-two").is_some() || sessions(&test, "a").await == 1);

    // It goes on as a new one.
    assert_eq!(fold(&test, "a", "label-one").await, one);
    let old = delete("/foldline/sessions?before=2020-01-01", "a").await;
    assert_eq!(old.json()["forgotten"]["sessions"], 0);
    assert_eq!(delete("/foldline/sessions", "a").await.status, 200);
    assert_eq!((sessions(&test, "a").await, hits(&test, "a").await), (0, 0));
    assert_eq!((sessions(&test, "b").await, hits(&test, "b").await), (1, before.1));
    assert_eq!(delete(&format!("/foldline/sessions/{other}"), "ops").await.status, 200, "an operator may");
    assert_eq!(delete(&format!("/foldline/sessions/{two}"), "a").await.status, 404, "gone already");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletions_by_another_process_clear_the_memory() {
    let (test, _folder) = of_two().await;
    fold(&test, "a", "label-one").await;
    let store = Store::open(&test.folder.path().join("store.db"), Limits::default()).unwrap();
    let all = Forget { whose: Whose::Everybody, what: Forgotten::All };
    assert!(store.forget(&all, Cleaning::Thorough).unwrap().sessions > 0);
    let gone = async || {
        while sessions(&test, "a").await > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone()).await.expect("within a second or so");
    fold(&test, "a", "label-one").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_while_the_gateway_serves() {
    let (mut test, _folder) = of_two().await;
    let keys = [Keyring::generate().unwrap(), Keyring::generate().unwrap()];
    fold(&test, "a", "label-plain").await;
    for ring in [keys[0].clone(), format!("{}\n{}", keys[1], keys[0])] {
        test.config.keys = Keyring::parse(&ring).unwrap();
        test.gateway.reload(&test.config).unwrap();
        fold(&test, "a", &format!("label-{}", ring.len())).await;
    }
    // Another process encrypts everything anew while turns go on.
    let path = test.folder.path().join("store.db");
    let opened = Store::open(&path, Opening { keys: test.config.keys.clone(), ..Opening::default() }).unwrap();
    let rekeying = tokio::task::spawn_blocking(move || opened.rekey(&mut |_| ()).unwrap());
    for turn in 0..5 {
        fold(&test, "b", &format!("label-{turn}")).await;
    }
    let done = rekeying.await.unwrap();
    assert_eq!((done.damaged, done.retired), (0, 1), "{done:?}");
    assert!(hits(&test, "a").await > 0 && sessions(&test, "a").await == 3);
    test.config.keys = Keyring::parse(&keys[0]).unwrap();
    let refused = test.gateway.reload(&test.config).unwrap_err().to_string();
    assert!(refused.contains("needs key"), "{refused}");
    test.config.keys = Keyring::parse(&keys[1]).unwrap();
    test.gateway.reload(&test.config).unwrap();
    assert!(hits(&test, "a").await > 0 && hits(&test, "b").await > 0);
}
