//! A key reaches its own vendor, and nobody else.

use crate::harness::{CHAT, GEMINI, MESSAGES, TestGateway, short};
use foldline_script::{Act, Provider};

/// A gateway with two upstreams; the desk's provider is OpenAI.
async fn two(keys: Option<&str>) -> (TestGateway, Provider, tempfile::TempDir) {
    let anthropic = Provider::start([Act::say("x")]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, keys.unwrap_or_default()).unwrap();
    let url = anthropic.url();
    let test = TestGateway::tuned([Act::say("x")], |p| {
        p.gateway.upstream_anthropic = Some(url);
        p.gateway.client_keys = keys.map(|_| file.display().to_string());
    })
    .await;
    (test, anthropic, folder)
}

/// All values of all headers that a provider has seen.
fn seen_by(provider: &Provider) -> String {
    let values = |request: &foldline_script::Received| {
        let values = request.headers.values().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        values.collect::<Vec<_>>().join("\n")
    };
    provider.requests().iter().map(values).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn unknown_paths_are_routed_by_key_and_headers() {
    let (test, anthropic, _folder) = two(None).await;
    let claude = ("authorization", "Bearer sk-ant-oat01-secret");
    assert_eq!(test.send("GET", "/v1/unknown", &[claude], b"").await.status, 200);
    let beta = [("authorization", "Bearer opaque-secret"), ("anthropic-beta", "files-1")];
    assert_eq!(test.send("GET", "/v1/files", &beta, b"").await.status, 200);
    assert_eq!(anthropic.requests().len(), 2);
    assert!(!seen_by(&test.provider).contains("secret"));
    let openai = [("authorization", "Bearer sk-proj-other")];
    assert_eq!(test.send("GET", "/v1/files", &openai, b"").await.status, 200);
    assert_eq!(test.provider.requests().len(), 1);
}

#[tokio::test]
async fn an_ambiguous_key_is_not_sent() {
    let (test, anthropic, _folder) = two(None).await;
    let both = [("authorization", "Bearer one-secret"), ("x-api-key", "two-secret")];
    let seen = test.send("GET", "/v1/unknown", &both, b"").await;
    assert_eq!(seen.status, 400, "{}", seen.text());
    assert!(seen.text().contains("anthropic-version"), "what to do: {}", seen.text());
    let body = short(CHAT, false);
    let wrong = test.post_with(CHAT, &[("authorization", "Bearer sk-ant-api03-secret")], body.as_bytes()).await;
    assert_eq!((wrong.status, wrong.json()["error"]["code"].as_str()), (401, Some("wrong_provider_key")));
    let wrong = test.post_with(MESSAGES, &[("x-api-key", "sk-proj-secret")], short(MESSAGES, false).as_bytes()).await;
    assert_eq!(wrong.status, 401);
    assert!(test.provider.requests().is_empty() && anthropic.requests().is_empty());
    // Where the path says it, the key in the other vendor's place stays here.
    assert_eq!(test.post_with(CHAT, &both, body.as_bytes()).await.status, 200);
    let seen = seen_by(&test.provider);
    assert!(seen.contains("one-secret") && !seen.contains("two-secret"));
}

#[tokio::test]
async fn google_keys_are_sent_only_to_google() {
    let google = Provider::start([Act::say("x")]).await.unwrap();
    let (url, anthropic) = (google.url(), Provider::start([Act::say("x")]).await.unwrap());
    let other = anthropic.url();
    let test = TestGateway::tuned([Act::say("x")], |p| {
        p.gateway.upstream_gemini = Some(url);
        p.gateway.upstream_anthropic = Some(other);
    })
    .await;
    let body = short(GEMINI, false);
    let key = ["AI", "zaSy-secret"].concat();
    // In each place where Google takes it.
    let with_key = format!("{GEMINI}?key={key}");
    let bearer = format!("Bearer {key}");
    for (path, headers) in [
        (GEMINI, vec![("x-goog-api-key", key.as_str())]),
        (with_key.as_str(), vec![]),
        (GEMINI, vec![("authorization", bearer.as_str())]),
        (GEMINI, vec![("x-goog-api-key", key.as_str()), ("authorization", "Bearer sk-proj-other"), ("x-api-key", "k")]),
    ] {
        let seen = test.post_with(path, &headers, body.as_bytes()).await;
        assert_eq!(seen.status, 200, "{path}, {headers:?}: {}", seen.text());
    }
    assert_eq!(google.requests().len(), 4);
    assert!(google.requests().iter().all(|request| request.uri.path() == GEMINI && request.uri.query().is_none()));
    assert_eq!(seen_by(&google).matches(&key).count(), 4);
    assert!(!seen_by(&google).contains("sk-proj-other"));
    // Counting and lists go there, too.
    assert_eq!(test.post_with("/v1beta/models/m:countTokens", &[("x-goog-api-key", &key)], b"{}").await.status, 200);
    assert_eq!(test.send("GET", "/v1beta/models", &[("x-goog-api-key", &key)], b"").await.status, 200);
    assert_eq!(test.send("GET", "/v1/models", &[("x-goog-api-key", &key)], b"").await.status, 200);
    assert_eq!(google.requests().len(), 7);
    // Nobody else sees it, wherever it stands.
    for path in [CHAT, MESSAGES] {
        for headers in [[("x-goog-api-key", key.as_str())], [("authorization", bearer.as_str())]] {
            let seen = test.post_with(path, &headers, short(path, false).as_bytes()).await;
            assert_eq!(seen.status, 401, "{path}: {}", seen.text());
        }
        let seen = test.post(&format!("{path}?key={key}"), &short(path, false)).await;
        assert_eq!(seen.status, 401, "{path}: {}", seen.text());
    }
    for foreign in ["sk-proj-other", "sk-ant-other"] {
        let seen = test.post_with(GEMINI, &[("x-goog-api-key", foreign)], body.as_bytes()).await;
        assert_eq!((seen.status, seen.json()["error"]["status"].as_str()), (401, Some("UNAUTHENTICATED")));
    }
    assert!(test.provider.requests().is_empty() && anthropic.requests().is_empty());
}

#[tokio::test]
async fn client_keys_are_never_forwarded() {
    let (test, anthropic, _folder) = two(Some("gate-secret openai=up-1\n")).await;
    for header in
        [("authorization", "Bearer gate-secret"), ("x-api-key", "gate-secret"), ("x-foldline-key", "gate-secret")]
    {
        assert_eq!(test.post_with(CHAT, &[header], short(CHAT, false).as_bytes()).await.status, 200, "{header:?}");
        let seen = test.post_with(MESSAGES, &[header], short(MESSAGES, false).as_bytes()).await;
        assert_eq!((seen.status, seen.json()["error"]["type"].as_str()), (403, Some("permission_error")), "{header:?}");
        assert!(seen.text().contains("client_keys"), "what to do: {}", seen.text());
    }
    assert!(anthropic.requests().is_empty());
    assert!(!seen_by(&test.provider).contains("gate-secret"));
}

#[tokio::test]
async fn paths_cannot_leave_the_base_url() {
    let provider = Provider::start([Act::say("x")]).await.unwrap();
    let url = format!("{}/tenant/v1", provider.url());
    let test = TestGateway::of(provider, |p| {
        p.gateway.upstream_openai = Some(url.clone());
        p.gateway.upstream_anthropic = Some(url);
    })
    .await;
    for path in ["/v1/../../admin", "/v1/%2e%2e/%2e%2e/admin", "/../admin", "/v1/x/../../../../admin"] {
        test.send("GET", path, &[("authorization", "Bearer k")], b"").await;
    }
    for path in ["/v1/..%2f..%2fadmin", "/v1/..%5c..%5cadmin", "/v1/..;/admin", "/v1/..%c0%af..%c0%afadmin"] {
        assert_eq!(test.send("GET", path, &[("authorization", "Bearer k")], b"").await.status, 400, "{path}");
    }
    let paths: Vec<String> = test.provider.requests().iter().map(|request| request.uri.path().to_owned()).collect();
    assert_eq!(paths, ["/tenant/v1/admin"; 4]);
    assert_eq!(test.get("/v1/../foldline/healthz").await.text(), "ok\n", "what is routed is what is meant");
}
