//! Client keys of the store: who comes in, until when, for what and for how much.

use crate::harness::{CHAT, GEMINI, MESSAGES, PATIENCE, TestGateway, TestReply, short};
use foldline_gateway::conversation::CredentialId;
use foldline_gateway::serve::{Gateway, GatewayConfig};
use foldline_script::{Act, Provider};
use foldline_store::{KeyDay, KeyEventKind, KeyScope, KeyTerms, Limits, Store};
use std::path::Path;
use std::time::Duration;

const DAY: i64 = 86_400_000;

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn may(scopes: &[KeyScope]) -> KeyTerms {
    KeyTerms { scopes: scopes.iter().copied().collect(), ..KeyTerms::default() }
}

fn usual() -> KeyTerms {
    may(&[KeyScope::Generate, KeyScope::Recall])
}

fn add(store: &Store, name: &str, key: &str, terms: KeyTerms) {
    store.add_client_key(now(), CredentialId::of_key(key).key(), name, terms).unwrap().unwrap();
}

/// A gateway that takes only clients with a key, and its store with these keys in it.
async fn with_keys(keys: &[(&str, KeyTerms)]) -> (TestGateway, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Limits::default()).unwrap();
    for (name, terms) in keys {
        add(&store, name, &format!("key-of-{name}"), terms.clone());
    }
    let provider = Provider::start([Act::say("Done.")]).await.unwrap();
    (TestGateway::at(provider, folder, |tuned| tuned.gateway.require_key = true).await, store)
}

async fn turn(test: &TestGateway, path: &str, name: &str) -> TestReply {
    let key = format!("key-of-{name}");
    test.post_with(path, &[("x-foldline-key", &key)], short(path, false).as_bytes()).await
}

async fn get(test: &TestGateway, path: &str, name: &str) -> TestReply {
    test.send("GET", path, &[("x-foldline-key", &format!("key-of-{name}"))], b"").await
}

/// Waits until a turn is answered with this status.
async fn until_turn(test: &TestGateway, name: &str, status: u16) -> TestReply {
    let waited = async {
        loop {
            let seen = turn(test, MESSAGES, name).await;
            if seen.status == status {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap_or_else(|_| panic!("{name} is never answered with {status}"))
}

#[tokio::test]
async fn a_key_of_the_store_comes_in_until_it_is_revoked() {
    let (test, store) = with_keys(&[("one", usual())]).await;
    assert_eq!(turn(&test, MESSAGES, "one").await.status, 200);
    let stranger = turn(&test, MESSAGES, "nobody").await;
    assert_eq!((stranger.status, stranger.json()["error"]["type"].as_str()), (401, Some("authentication_error")));
    assert_eq!(test.post(MESSAGES, &short(MESSAGES, false)).await.status, 401);
    // One that is added while the gateway runs.
    add(&store, "two", "key-of-two", usual());
    until_turn(&test, "two", 200).await;
    assert!(store.revoke_client_key(now(), "one").unwrap());
    let refused = until_turn(&test, "one", 401).await;
    assert!(refused.text().contains("revoked"), "{}", refused.text());
    assert_eq!(get(&test, "/foldline/sessions", "one").await.status, 401);
    assert_eq!(turn(&test, MESSAGES, "two").await.status, 200);
}

#[tokio::test]
async fn a_key_of_the_store_comes_in_beside_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "of-the-file\n").unwrap();
    let store = Store::open(&folder.path().join("store.db"), Limits::default()).unwrap();
    add(&store, "one", "key-of-one", usual());
    let provider = Provider::start([Act::say("Done.")]).await.unwrap();
    let keys = file.display().to_string();
    let test = TestGateway::at(provider, folder, |tuned| tuned.gateway.client_keys = Some(keys)).await;
    assert_eq!(turn(&test, MESSAGES, "one").await.status, 200);
    let body = short(MESSAGES, false);
    assert_eq!(test.post_with(MESSAGES, &[("x-foldline-key", "of-the-file")], body.as_bytes()).await.status, 200);
    assert_eq!(turn(&test, MESSAGES, "nobody").await.status, 401);
}

#[tokio::test]
async fn an_expired_key_is_told_so_in_the_form_of_the_vendor() {
    let expired = KeyTerms { expires_at: Some(now() - 1), ..usual() };
    let (test, store) = with_keys(&[("old", expired)]).await;
    let openai = turn(&test, CHAT, "old").await;
    assert_eq!((openai.status, openai.json()["error"]["code"].as_str()), (401, Some("key_expired")));
    let google = turn(&test, GEMINI, "old").await;
    assert_eq!((google.status, google.json()["error"]["status"].as_str()), (401, Some("UNAUTHENTICATED")));
    assert!(google.text().contains("expired at 20"), "{}", google.text());
    assert_eq!(test.provider.requests().len(), 0);
    let told = async {
        while !store.key_events(9).unwrap().iter().any(|event| event.kind == KeyEventKind::RefusedExpired) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("an event");
}

#[tokio::test]
async fn a_scope_allows_what_it_says_and_nothing_else() {
    let (test, _store) = with_keys(&[
        ("writer", may(&[KeyScope::Generate])),
        ("reader", may(&[KeyScope::Recall])),
        ("ops", may(&[KeyScope::Operator])),
    ])
    .await;
    let paths = ["/foldline/sessions", "/foldline/search?q=x", "/foldline/metrics", "/foldline/keys"];
    let expected: [(&str, u16, [u16; 4]); 3] = [
        ("writer", 200, [403, 403, 403, 403]),
        ("reader", 403, [200, 200, 403, 403]),
        ("ops", 403, [200, 403, 200, 200]),
    ];
    for (name, generate, read) in expected {
        let seen = turn(&test, MESSAGES, name).await;
        assert_eq!(seen.status, generate, "{name}: {}", seen.text());
        for (path, status) in paths.iter().zip(read) {
            assert_eq!(get(&test, path, name).await.status, status, "{name} {path}");
        }
    }
    let refused = turn(&test, MESSAGES, "reader").await;
    assert_eq!(refused.json()["error"]["type"], "permission_error");
    // A page sends a browser without a right to look to the form.
    assert_eq!(get(&test, "/foldline/", "writer").await.status, 303);
    assert_eq!(get(&test, "/foldline/client-keys", "reader").await.status, 403);
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_there_again_the_next_day() {
    let few = KeyTerms { tokens_per_day: Some(1), ..usual() };
    let (test, store) = with_keys(&[("few", few), ("free", usual())]).await;
    assert_eq!(turn(&test, MESSAGES, "few").await.status, 200);
    let refused = turn(&test, MESSAGES, "few").await;
    assert_eq!((refused.status, refused.json()["error"]["type"].as_str()), (429, Some("rate_limit_error")));
    let seconds: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    let left = (DAY - now().rem_euclid(DAY)) / 1_000;
    assert!((seconds - left).abs() <= 5, "{seconds} s, {left} s are left");
    assert_eq!(refused.header("x-should-retry"), Some("false"));
    let google = turn(&test, GEMINI, "few").await;
    assert_eq!(google.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(turn(&test, MESSAGES, "free").await.status, 200, "a budget is one key's");
    assert_eq!(get(&test, "/foldline/sessions", "few").await.status, 200, "what is stored can be read");

    // What was used is written down; then it was yesterday.
    let written = async {
        while store.key_usage(0).unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.expect("usage in the store");
    let few = CredentialId::of_key("key-of-few").key();
    let used = store.key_usage(0).unwrap().into_iter().find(|day| day.digest == few).unwrap();
    assert!(used.usage.requests == 1 && used.usage.tokens_in > 0 && used.usage.tokens_out > 0, "{used:?}");
    assert_eq!(used.day, KeyDay::of(now()));
    let file = rusqlite::Connection::open(test.folder.path().join("store.db")).unwrap();
    file.execute("UPDATE key_usage SET day = day - 1", []).unwrap();
    until_turn(&test, "few", 200).await;
}

#[tokio::test]
async fn a_client_that_leaves_early_has_used_its_prompt() {
    let few = KeyTerms { tokens_per_day: Some(1), ..usual() };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Limits::default()).unwrap();
    add(&store, "few", "key-of-few", few);
    let cut = Act::CutAfter { text: "some words that end".into(), pieces: 1 };
    let provider = Provider::start([cut]).await.unwrap();
    let test = TestGateway::at(provider, folder, |tuned| tuned.gateway.require_key = true).await;
    let body = short(CHAT, true);
    let seen = test.post_with(CHAT, &[("x-foldline-key", "key-of-few")], body.as_bytes()).await;
    assert_eq!(seen.status, 200);
    let refused = until_turn(&test, "few", 429).await;
    assert!(refused.text().contains("1 tokens per day"), "{}", refused.text());
}

#[tokio::test]
async fn requests_at_the_same_time_do_not_exceed_a_budget_together() {
    let few = KeyTerms { tokens_per_day: Some(300), ..usual() };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Limits::default()).unwrap();
    add(&store, "few", "key-of-few", few);
    let pace = Duration::from_millis(300);
    let provider = Provider::start([Act::Say { text: "some words".into(), pace }]).await.unwrap();
    let test = TestGateway::at(provider, folder, |tuned| tuned.gateway.require_key = true).await;
    let body = short(MESSAGES, true);
    let headers = [("x-foldline-key", "key-of-few")];
    let one = || test.post_with(MESSAGES, &headers, body.as_bytes());
    let (a, b, c, d, e, f) = tokio::join!(one(), one(), one(), one(), one(), one());
    let seen = [a, b, c, d, e, f];
    let served = seen.iter().filter(|seen| seen.status == 200).count();
    assert!((1..=2).contains(&served), "{served} served");
    for refused in seen.iter().filter(|seen| seen.status != 200) {
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("5")), "{}", refused.text());
    }
    assert_eq!(one().await.status, 200, "they have ended, and used less than was expected");
}

#[tokio::test]
async fn what_is_no_turn_and_what_cannot_be_read_counts_towards_a_budget() {
    let few = || KeyTerms { tokens_per_day: Some(1), ..usual() };
    let (test, _store) = with_keys(&[("completions", few()), ("unreadable", few())]).await;
    let asks = [
        ("completions", "/v1/completions", r#"{"model":"m","prompt":"several words that a model goes on with"}"#),
        ("unreadable", CHAT, r#"{"model":"m","messages":"several words that nobody here can read"}"#),
    ];
    for (name, path, body) in asks {
        let key = format!("key-of-{name}");
        let headers = [("x-foldline-key", key.as_str()), ("content-type", "application/json")];
        assert_eq!(test.send("POST", path, &headers, body.as_bytes()).await.status, 200, "{name}");
        let refused = until_turn(&test, name, 429).await;
        assert!(refused.text().contains("1 tokens per day"), "{}", refused.text());
    }
}

#[tokio::test]
async fn one_key_sees_nothing_of_another_and_only_operators_see_figures() {
    let operator = may(&[KeyScope::Operator, KeyScope::Recall]);
    let (test, _store) = with_keys(&[("one", usual()), ("two", usual()), ("ops", operator)]).await;
    assert_eq!(turn(&test, MESSAGES, "one").await.status, 200);
    let sessions = async |name: &str| {
        let list = get(&test, "/foldline/sessions", name).await.json();
        list["sessions"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (one, two, ops) = (sessions("one").await, sessions("two").await, sessions("ops").await);
    assert_eq!((one.len(), two.len(), ops.len()), (1, 0, 1));
    let id = &one[0];
    assert_eq!(get(&test, &format!("/foldline/sessions/{id}"), "two").await.status, 404);
    assert_eq!(get(&test, &format!("/foldline/view/{id}"), "two").await.status, 404);
    for (path, name) in [("/foldline/keys", "two"), ("/foldline/client-keys", "two"), ("/foldline/metrics", "two")] {
        let seen = get(&test, path, name).await;
        assert!(seen.status == 403 && !seen.text().contains("ops"), "{path}: {}", seen.text());
    }
    // What was used is written down within a second.
    let listed = async {
        loop {
            let seen = get(&test, "/foldline/keys", "ops").await.json();
            let one = seen["keys"].as_array().unwrap().iter().find(|key| key["name"] == "one").unwrap().clone();
            if one["today"]["requests"] == 1 {
                return (seen, one);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let (seen, one) = tokio::time::timeout(PATIENCE, listed).await.expect("figures");
    assert!(one["today"]["input_tokens"].as_u64() > Some(0), "{one}");
    assert_eq!((&one["status"], &one["scopes"][0]), (&"active".into(), &"generate".into()));
    let digest = CredentialId::of_key("key-of-one").namespace();
    let page = get(&test, "/foldline/client-keys", "ops").await.text();
    assert!(page.contains("<th scope=\"row\">one</th>") && page.contains("generate recall"), "{page}");
    for text in [page, seen.to_string()] {
        assert!(!text.contains("key-of-") && !text.contains(&digest), "{text}");
    }
    let metrics = get(&test, "/foldline/metrics", "ops").await.text();
    assert!(metrics.contains("foldline_key_requests_total{key=\"one\"} 1"), "{metrics}");
    assert!(metrics.contains("foldline_key_tokens_total{key=\"one\",kind=\"input\"}"), "{metrics}");
}

#[tokio::test]
async fn a_key_of_the_store_never_leaves_and_stands_for_the_keys_it_is_mapped_to() {
    let variable = |name: &str| vec![("anthropic".to_owned(), name.to_owned())];
    // A variable that is there in every test.
    let mapped = KeyTerms { upstream: variable("CARGO_PKG_NAME"), ..usual() };
    let missing = KeyTerms { upstream: variable("FOLDLINE_TEST_NOT_SET"), ..usual() };
    let (test, _store) = with_keys(&[("mapped", mapped), ("missing", missing), ("plain", usual())]).await;
    let body = short(MESSAGES, false);
    let sent = |header: &str| {
        let last = test.provider.requests().pop().unwrap();
        assert!(!format!("{:?}", last.headers).contains("key-of-"), "{:?}", last.headers);
        last.headers.get(header).map(|value| value.to_str().unwrap().to_owned())
    };
    let seen = test.post_with(MESSAGES, &[("x-api-key", "key-of-mapped")], body.as_bytes()).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    assert_eq!(sent("x-api-key").as_deref(), Some(env!("CARGO_PKG_NAME")));
    let seen = test.post_with(MESSAGES, &[("x-api-key", "key-of-missing")], body.as_bytes()).await;
    assert_eq!(seen.status, 403, "{}", seen.text());
    assert!(seen.text().contains("no key of Anthropic is mapped"), "{}", seen.text());
    let both = [("x-foldline-key", "key-of-plain"), ("x-api-key", "of-the-client")];
    assert_eq!(test.post_with(MESSAGES, &both, body.as_bytes()).await.status, 200);
    assert_eq!(sent("x-api-key").as_deref(), Some("of-the-client"));
    let bearer = [("authorization", "Bearer key-of-plain")];
    assert_eq!(test.post_with(MESSAGES, &bearer, body.as_bytes()).await.status, 200);
    assert_eq!(sent("authorization"), None);
}

#[tokio::test]
async fn where_everybody_comes_in_a_key_of_the_store_still_has_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db"), Limits::default()).unwrap();
    add(&store, "reader", "key-of-reader", may(&[KeyScope::Recall]));
    let provider = Provider::start([Act::say("Done.")]).await.unwrap();
    let test = TestGateway::at(provider, folder, |_| {}).await;
    assert_eq!(test.post(MESSAGES, &short(MESSAGES, false)).await.status, 200);
    assert_eq!(turn(&test, MESSAGES, "reader").await.status, 403);
    assert_eq!(get(&test, "/foldline/metrics", "reader").await.status, 403);
}

#[tokio::test]
async fn a_gateway_that_requires_keys_and_has_none_does_not_start() {
    let mut config = GatewayConfig::default();
    config.gateway.require_key = true;
    let error = Gateway::open(&config).err().unwrap().to_string();
    assert!(error.contains("gateway.require_key") && error.contains("store.path"), "{error}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_ends_on_every_node_and_its_budget_is_one_for_all() {
    use foldline_script::postgres::Postgres;
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = server.url(&server.database().unwrap());
    let store = Store::open(&url, Limits::default()).unwrap();
    add(&store, "one", "key-of-one", usual());
    add(&store, "few", "key-of-few", KeyTerms { tokens_per_day: Some(1), ..usual() });
    let node = async |url: &Path| {
        let provider = Provider::start([Act::say("Done.")]).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        TestGateway::storing(provider, folder, url.to_owned(), |tuned| tuned.gateway.require_key = true).await
    };
    let nodes = [node(&url).await, node(&url).await];
    for node in &nodes {
        assert_eq!(turn(node, MESSAGES, "one").await.status, 200);
    }
    assert_eq!(turn(&nodes[0], MESSAGES, "few").await.status, 200);
    assert!(store.revoke_client_key(now(), "one").unwrap());
    for node in &nodes {
        until_turn(node, "one", 401).await;
        until_turn(node, "few", 429).await;
    }
}
