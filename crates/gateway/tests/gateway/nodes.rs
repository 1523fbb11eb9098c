//! Several gateways on one PostgreSQL. Skipped, with a line that says so, where it is not installed.

use crate::agent::{WINDOW, assert_nothing_is_lost};
use crate::harness::{CHAT, MESSAGES, PATIENCE, TestGateway, TestReply, Tuned};
use foldline_core::policy::AutoOr;
use foldline_script::postgres::{Postgres, Stop};
use foldline_script::{Act, Agent, Provider, Strict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A gateway on this store, before a strict provider.
async fn node(store: &Path, tune: impl FnOnce(&mut Tuned)) -> TestGateway {
    let strict = Strict::new(WINDOW);
    let provider = Provider::choosing(move |request, _| strict.judge(request, "Go on.")).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    TestGateway::storing(provider, folder, store.to_owned(), |policy| {
        policy.model.window = AutoOr::Fixed(WINDOW as u32);
        tune(policy);
    })
    .await
}

fn database(server: &Postgres) -> PathBuf {
    server.url(&server.database().unwrap())
}

async fn ask(agent: &Agent, node: &TestGateway) -> TestReply {
    let seen = node.post(agent.path, &agent.body()).await;
    assert_eq!(seen.status, 200, "{} messages: {}", agent.history.len(), seen.text());
    seen
}

/// The body that reached the provider last.
fn sent(node: &TestGateway) -> String {
    node.provider.requests().pop().unwrap().text()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_sends_the_bytes_that_one_node_would_send() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let folder = tempfile::tempdir().unwrap();
    let alone = node(&folder.path().join("store.db"), |_| {}).await;
    let url = database(&server);
    let nodes = [node(&url, |_| {}).await, node(&url, |_| {}).await, node(&url, |_| {}).await];
    let mut agent = Agent::new(MESSAGES, "Run all tests and mend what fails.");
    let (mut prunes, mut folds) = (0, 0);
    for turn in 0..160 {
        let one = ask(&agent, &alone).await;
        let other = &nodes[turn % 3];
        let seen = ask(&agent, other).await;
        assert_eq!(seen.header("x-foldline-outcome"), one.header("x-foldline-outcome"), "turn {turn}");
        assert_eq!(sent(other), sent(&alone), "turn {turn}");
        prunes += usize::from(seen.header("x-foldline-outcome") == Some("pruned"));
        folds += usize::from(seen.header("x-foldline-outcome") == Some("folded"));
        agent.act(turn);
    }
    assert!(prunes + folds >= 4 && folds >= 1, "{prunes} prunes and {folds} folds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_is_asked_once_for_one_fold_whichever_nodes_want_it() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = database(&server);
    let writer = Provider::start([Act::say("## Goal\n- Run all tests and mend what fails.")]).await.unwrap();
    let with_writer = |policy: &mut Tuned| {
        policy.summarizer.url = Some(writer.url());
        policy.summarizer.model = Some("writer".to_owned());
        policy.summarizer.window = AutoOr::Fixed(64_000);
    };
    let nodes = [node(&url, with_writer).await, node(&url, with_writer).await, node(&url, with_writer).await];
    let figure = async |name: &str| {
        let mut sum = 0.0;
        for node in &nodes {
            sum += node.metric(name).await;
        }
        sum
    };
    let mut agent = Agent::new(CHAT, "Run all tests and mend what fails.");
    let mut turn = 0;
    while figure("foldline_folds_total").await < 2.0 {
        assert!(turn < 240, "no node folds in {turn} turns");
        agent.act(turn);
        turn += 1;
        // All of them at once want the fold that is due.
        tokio::join!(ask(&agent, &nodes[0]), ask(&agent, &nodes[1]), ask(&agent, &nodes[2]));
        for node in &nodes {
            node.until("foldline_background_folds ", |folds| folds == 0.0).await;
        }
    }
    let asked = writer.requests().len();
    assert_eq!((figure("foldline_folds_total").await, asked), (2.0, 2), "the model is asked once for each fold");
    // Every node finds it, and none asks for another.
    let mut bodies = Vec::new();
    for node in &nodes {
        assert_eq!(ask(&agent, node).await.header("x-foldline-outcome"), Some("checkpoint"));
        bodies.push(sent(node));
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "all send the same");
    assert_eq!((figure("foldline_folds_total").await, writer.requests().len()), (2.0, asked));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_works_on_without_the_database_and_heals() {
    let Some(server) = Postgres::start().unwrap() else { return };
    let url = database(&server);
    let nodes = [node(&url, |_| {}).await, node(&url, |_| {}).await];
    let mut agent = Agent::new(CHAT, "Run all tests and mend what fails.");
    let mut slowest = Duration::ZERO;
    for turn in 0..120 {
        match turn {
            40 => server.stop(Stop::Fast),
            60 => server.go().unwrap(),
            _ => {}
        }
        let began = Instant::now();
        ask(&agent, &nodes[turn % 2]).await;
        slowest = slowest.max(began.elapsed());
        agent.act(turn);
    }
    assert!(slowest < Duration::from_secs(10), "a turn took {slowest:?}");
    // It is asked again from time to time.
    for node in &nodes {
        ready(node).await;
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    ask(&agent, &nodes[0]).await;
    ask(&agent, &nodes[1]).await;
    assert_eq!(sent(&nodes[0]), sent(&nodes[1]), "both know the same again");
    assert_nothing_is_lost(&agent, &sent(&nodes[0]));
    assert!(sent(&nodes[0]).len() < agent.body().len(), "folds go on");
}

/// Waits until a node can use its store.
async fn ready(node: &TestGateway) {
    let until = Instant::now() + PATIENCE;
    while node.get("/foldline/readyz").await.status != 200 {
        assert!(Instant::now() < until, "{}", node.get("/foldline/readyz").await.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_starts_without_the_database_decides_nothing_that_can_wait() {
    let Some(server) = Postgres::start().unwrap() else { return };
    let folder = tempfile::tempdir().unwrap();
    let alone = node(&folder.path().join("store.db"), |_| {}).await;
    let url = database(&server);
    let first = node(&url, |_| {}).await;
    let mut agent = Agent::new(MESSAGES, "Run all tests and mend what fails.");
    // Up to the turn at which one gateway rewrites the conversation.
    for turn in 0.. {
        assert!(turn < 160, "nothing was rewritten");
        let one = ask(&agent, &alone).await;
        if matches!(one.header("x-foldline-outcome"), Some("folded" | "pruned")) {
            break;
        }
        ask(&agent, &first).await;
        agent.act(turn);
    }
    let bodies = [sent(&alone), agent.body()];
    server.stop(Stop::Fast);
    let second = node(&url, |_| {}).await;
    let seen = ask(&agent, &second).await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("failed-open"));
    assert_eq!(sent(&second), bodies[1], "the request goes out as it came");
    server.go().unwrap();
    for node in [&second, &first] {
        ready(node).await;
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    // The outage has left nothing behind: both send what one gateway sends.
    for node in [&second, &first] {
        ask(&agent, node).await;
        assert_eq!(sent(node), bodies[0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_of_one_session_on_several_nodes_lose_nothing_to_each_other() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = database(&server);
    let nodes = [node(&url, |_| {}).await, node(&url, |_| {}).await, node(&url, |_| {}).await];
    let headers = [("x-foldline-session", "one-session")];
    let turns = 20;
    let converse = async |number: usize| {
        let mut agent = Agent::new(CHAT, &format!("Task {number}."));
        let mut session = String::new();
        for turn in 0..turns {
            let node = &nodes[(number + turn) % 3];
            let seen = node.post_with(CHAT, &headers, agent.body().as_bytes()).await;
            assert_eq!(seen.status, 200, "{}", seen.text());
            session = seen.header("x-foldline-session").unwrap().to_owned();
            agent.act(turn);
        }
        session
    };
    let (one, two, three) = tokio::join!(converse(0), converse(1), converse(2));
    assert!(one == two && two == three, "one session: {one} {two} {three}");
    // What waits is written within a second or so.
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = nodes[0].get(&format!("/foldline/sessions/{one}")).await.json();
        let requests = shown.pointer("/sums/requests").and_then(Value::as_u64);
        if requests == Some(3 * turns as u64) {
            break;
        }
        assert!(Instant::now() < until, "expected {} requests: {shown}", 3 * turns);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fold_that_is_undone_at_one_node_is_undone_at_all() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = database(&server);
    let nodes = [node(&url, |_| {}).await, node(&url, |_| {}).await];
    let mut agent = Agent::new(CHAT, "Run all tests and mend what fails.");
    let mut turn = 0;
    let session = loop {
        let seen = ask(&agent, &nodes[turn % 2]).await;
        if matches!(seen.header("x-foldline-outcome"), Some("folded" | "pruned")) {
            break seen.header("x-foldline-session").unwrap().to_owned();
        }
        agent.act(turn);
        turn += 1;
        assert!(turn < 100, "it is folded some time");
    };
    // By the node that did not make it.
    let undone = nodes[(turn + 1) % 2].post(&format!("/foldline/sessions/{session}/undo"), "").await;
    assert_eq!(undone.status, 202, "{}", undone.text());
    for node in &nodes {
        assert_eq!(ask(&agent, node).await.header("x-foldline-outcome"), Some("unchanged"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_one_node_has_learnt_is_known_to_all() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = database(&server);
    let strict = Strict::new(WINDOW);
    let unaware = async || {
        let judge = strict.clone();
        let provider = Provider::choosing(move |request, _| judge.judge(request, "Go on.")).await.unwrap();
        let tune = |policy: &mut Tuned| policy.model.window = AutoOr::Fixed(10 * WINDOW as u32);
        TestGateway::storing(provider, tempfile::tempdir().unwrap(), url.clone(), tune).await
    };
    let nodes = [unaware().await, unaware().await, unaware().await];
    let mut agent = Agent::new(CHAT, "Run all tests and mend what fails.");
    let mut turn = 0;
    while strict.refused() == 0 {
        assert!(turn < 160, "nothing is refused in {turn} turns");
        ask(&agent, &nodes[turn % 3]).await;
        agent.act(turn);
        turn += 1;
    }
    let refused = strict.refused();
    for turn in turn..turn + 60 {
        ask(&agent, &nodes[turn % 3]).await;
        agent.act(turn);
    }
    assert_eq!(strict.refused(), refused, "no node has to find out by itself");
}

/// A session of a client that is folded, with words that only it has.
fn own_session(seed: &str) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Look at all files."})];
    for n in 0..30 {
        let output: String = (0..100).map(|line| format!("line {line} of file {n} holds {seed}\n")).collect();
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJlIHRoYXQgbm9ib2R5IHJlYWRz"},
            {"type": "tool_use", "id": format!("c{n}"), "name": "read", "input": {"path": format!("src/f{n}.txt")}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{n}"), "content": output},
        ]}));
    }
    json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string()
}

/// A file with the keys of two clients and an operator.
fn keys_of_two(folder: &Path) -> PathBuf {
    let file = folder.join("keys");
    std::fs::write(&file, "one\ntwo\nops operator\n").unwrap();
    file
}

fn for_two(file: &Path) -> impl Fn(&mut Tuned) {
    move |policy| {
        policy.gateway.client_keys = Some(file.display().to_string());
        policy.model.window = AutoOr::Fixed(24_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_client_sees_recalls_finds_matches_and_counts_nothing() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = database(&server);
    let keys = tempfile::tempdir().unwrap();
    let file = keys_of_two(keys.path());
    // What one node wrote, asked for at another.
    clients_are_kept_apart(&node(&url, for_two(&file)).await, &node(&url, for_two(&file)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_it_on_one_node_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = keys_of_two(folder.path());
    let alone = node(&folder.path().join("store.db"), for_two(&file)).await;
    clients_are_kept_apart(&alone, &alone).await;
}

/// A client folds a session at the first node; another one tries to get at it at the second.
async fn clients_are_kept_apart(first: &TestGateway, second: &TestGateway) {
    let body = own_session("zirconium");
    let post = async |node: &TestGateway, key: &str| {
        node.post_with(MESSAGES, &[("x-foldline-key", key)], body.as_bytes()).await
    };
    let seen = post(first, "one").await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
    let session = seen.header("x-foldline-session").unwrap().to_owned();
    let forwarded = sent(first);
    let at = forwarded.find(" fl-").expect("a handle in what went out") + 1;
    let handle = forwarded[at..at + 15].to_owned();
    let get = async |key: &str, path: &str| second.send("GET", path, &[("x-foldline-key", key)], b"").await;
    let hits = async |key: &str| {
        let found = get(key, "/foldline/search?q=zirconium&limit=50&format=json").await.json();
        found["hits"].as_array().map_or(0, Vec::len)
    };
    let sessions =
        async |key: &str| get(key, "/foldline/sessions").await.json()["sessions"].as_array().map_or(0, Vec::len);
    let tool = async |key: &str, tool: &str, arguments: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        let headers = [
            ("x-foldline-key", key),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-06-18"),
        ];
        second.post_with("/foldline/mcp", &headers, call.to_string().as_bytes()).await.text()
    };
    // The owner finds all of it at either node.
    assert_eq!(get("one", &format!("/foldline/recall/{handle}")).await.status, 200);
    // The other node may be putting it into the index.
    let until = Instant::now() + PATIENCE;
    while hits("one").await == 0 {
        assert!(Instant::now() < until, "the owner finds nothing");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(sessions("one").await, 1);
    assert_eq!(get("one", &format!("/foldline/sessions/{session}")).await.status, 200);
    assert!(tool("one", "foldline_recall", json!({"handle": handle})).await.contains("zirconium"));
    assert!(tool("one", "foldline_search", json!({"query": "zirconium"})).await.contains(&handle));
    // The other one finds nothing, by any way.
    assert_eq!(get("two", &format!("/foldline/recall/{handle}")).await.status, 404);
    assert_eq!((hits("two").await, sessions("two").await), (0, 0));
    assert_eq!(get("two", &format!("/foldline/sessions/{session}")).await.status, 404);
    assert!(!tool("two", "foldline_recall", json!({"handle": handle})).await.contains("zirconium of file"));
    let found = tool("two", "foldline_search", json!({"query": "zirconium"})).await;
    assert!(!found.contains("fl-"), "{found}");
    assert_eq!(get("two", "/foldline/metrics").await.status, 403);
    // The same messages match no checkpoint of somebody else's.
    let seen = post(second, "one").await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("checkpoint"), "the owner's do");
    let seen = post(second, "two").await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
    assert_ne!(seen.header("x-foldline-session"), Some(session.as_str()));
    // What one deletes of its own stays the other's.
    let deleted = second.send("DELETE", "/foldline/sessions", &[("x-foldline-key", "two")], b"").await;
    assert!(deleted.status < 500, "{}", deleted.text());
    assert_eq!(get("one", &format!("/foldline/recall/{handle}")).await.status, 200);
    assert_eq!(sessions("one").await, 1);
}
