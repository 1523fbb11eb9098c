//! What a web page can make its visitor's browser do to a gateway on the visitor's machine: nothing.

use crate::harness::{CHAT, MESSAGES, TestGateway, short};
use foldline_script::Act;

async fn raw(test: &TestGateway, head: &str) -> u16 {
    test.raw(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).await.status
}

#[tokio::test]
async fn dns_rebinding_is_refused() {
    let test = TestGateway::with([Act::say("x")]).await;
    for path in ["/foldline/sessions", "/foldline/healthz", "/v1/models", "/"] {
        assert_eq!(raw(&test, &format!("GET {path} HTTP/1.1\r\nhost: rebound.example:8787")).await, 403, "{path}");
        // The address in the request line counts, too.
        let absolute = format!("GET http://rebound.example{path} HTTP/1.1\r\nhost: localhost");
        assert_eq!(raw(&test, &absolute).await, 403, "{path}");
    }
    assert_eq!(raw(&test, &format!("GET /foldline/healthz HTTP/1.1\r\nhost: {}", test.address)).await, 200);
    assert!(test.provider.requests().is_empty());
    let open = TestGateway::tuned([Act::say("x")], |p| p.gateway.hosts = vec!["gate.example".to_owned()]).await;
    assert_eq!(raw(&open, "GET /foldline/sessions HTTP/1.1\r\nhost: gate.example").await, 200);
}

#[tokio::test]
async fn missing_or_duplicate_host_is_refused() {
    let test = TestGateway::with([Act::say("x")]).await;
    assert_eq!(raw(&test, "GET /foldline/healthz HTTP/1.1").await, 400);
    assert_eq!(raw(&test, "GET /foldline/healthz HTTP/1.1\r\nhost: localhost\r\nhost: evil.example").await, 400);
    assert_eq!(raw(&test, "GET /foldline/healthz HTTP/1.1\r\nhost: localhost\r\nhost: localhost").await, 400);
}

#[tokio::test]
async fn requests_from_other_sites_pages_are_refused() {
    let test = TestGateway::with([Act::say("x")]).await;
    let first = test.post(MESSAGES, &short(MESSAGES, false)).await;
    let id = first.header("x-foldline-session").unwrap().to_owned();
    let compact = format!("/foldline/sessions/{id}/compact");
    for path in [compact.as_str(), CHAT, MESSAGES, "/v1/embeddings"] {
        let body = short(CHAT, false);
        // What needs nobody's leave in a browser.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"] {
            let seen = test.post_with(path, &[("content-type", kind)], body.as_bytes()).await;
            assert_eq!(seen.status, 415, "{path} {kind}");
            assert!(seen.text().contains("application/json"), "what to do: {}", seen.text());
        }
        for headers in [
            [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
            [("origin", "null"), ("sec-fetch-site", "cross-site")],
            [("origin", "https://evil.example"), ("x-other", "1")],
            [("x-other", "1"), ("sec-fetch-site", "cross-site")],
        ] {
            let seen = test.post_with(path, &headers, body.as_bytes()).await;
            assert_eq!(seen.status, 403, "{path} {headers:?}");
            assert!(seen.text().contains("gateway.origins"), "what to do: {}", seen.text());
        }
    }
    assert_eq!(test.provider.requests().len(), 1);
    assert_eq!(test.post(&compact, "").await.status, 202, "a client may");
    let page = [("origin", "http://localhost:8787"), ("sec-fetch-site", "same-origin")];
    assert_eq!(test.post_with(&compact, &page, b"").await.status, 202, "a page of our own may");
}

#[tokio::test]
async fn own_endpoints_send_browser_security_headers() {
    let test = TestGateway::with([Act::say("x")]).await;
    for path in ["/foldline/healthz", "/foldline/sessions", "/foldline/metrics", "/foldline/nothing", "/api/tags"] {
        let seen = test.get(path).await;
        assert_eq!(seen.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(seen.header("cache-control"), Some("no-store"), "{path}");
        assert!(seen.header("content-security-policy").is_some_and(|p| p.contains("default-src 'none'")), "{path}");
    }
    let reply = test.post(CHAT, &short(CHAT, false)).await;
    assert_eq!(reply.header("content-security-policy"), None, "what a provider says is passed on as it is");
}
