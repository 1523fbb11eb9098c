//! What passes through, and that it passes unchanged.

use crate::harness::{CHAT, End, MESSAGES, PATHS, RESPONSES, TestGateway, short};
use foldline_script::Act;
use std::io::Read;

#[tokio::test]
async fn body_query_and_unknown_headers_arrive_as_they_were_sent() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    let body = "{ \"model\" : \"m\",\n\"x_unknown\": 1.0e3, \"max_tokens\":9, \"messages\":[ {\"role\":\"user\",\"content\":\"Hi\",\"odd\":null} ] }";
    let headers = [
        ("session_id", "s-1"),
        ("anthropic-beta", "a-1,b-2"),
        ("X-Stainless-Lang", "js"),
        ("x-api-key", "key-1"),
        ("x-foldline-session", "mine"),
        ("accept-encoding", "gzip, br, zstd"),
    ];
    let seen = test.post_with("/v1/messages?beta=true&x=%20y", &headers, body.as_bytes()).await;
    assert_eq!(seen.status, 200);
    let got = test.forwarded();
    assert_eq!(got.text(), body);
    assert_eq!(got.uri.to_string(), "/v1/messages?beta=true&x=%20y");
    for (name, value) in headers.iter().filter(|(name, _)| !name.starts_with("x-foldline")) {
        assert_eq!(got.headers[name.to_lowercase()], *value, "{name}");
    }
    assert!(!got.headers.contains_key("x-foldline-session"), "headers for the gateway end there");
    assert!(!got.headers.contains_key("connection"));
    assert_eq!(got.headers["content-length"], body.len().to_string());
    assert_eq!(got.headers["host"], test.provider.address().to_string());
}

#[tokio::test]
async fn provider_errors_are_forwarded_unchanged() {
    let words = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow  down"},"request_id":"req_1"}"#;
    let act =
        Act::Raw { status: 429, headers: Vec::new(), content_type: "application/json".into(), body: words.into() }
            .with_header("retry-after", "7")
            .with_header("x-should-retry", "true")
            .with_header("request-id", "req_1")
            .with_header("anthropic-ratelimit-requests-remaining", "0");
    let test = TestGateway::with([act]).await;
    let seen = test.post(MESSAGES, &short(MESSAGES, false)).await;
    assert_eq!((seen.status, seen.text().as_str()), (429, words));
    for (name, value) in [("retry-after", "7"), ("x-should-retry", "true"), ("request-id", "req_1")] {
        assert_eq!(seen.header(name), Some(value));
    }
    assert_eq!(test.provider.requests().len(), 1, "it is the client's to retry");
}

#[tokio::test]
async fn replies_that_are_not_json_are_forwarded() {
    let html = "<html>502 Bad Gateway</html>";
    let act = Act::Raw { status: 502, headers: Vec::new(), content_type: "text/html".into(), body: html.into() };
    let test = TestGateway::with([act]).await;
    let seen = test.post(CHAT, &short(CHAT, false)).await;
    assert_eq!((seen.status, seen.text().as_str()), (502, html));
}

#[tokio::test]
async fn every_prefix_reaches_the_same_operation() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    for path in [CHAT, "/chat/completions", "/openai/v1/chat/completions"] {
        assert_eq!(test.post(path, &short(CHAT, false)).await.status, 200);
    }
    assert!(test.provider.requests().iter().all(|request| request.uri.path() == CHAT));
}

#[tokio::test]
async fn other_operations_pass_with_their_bodies() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    test.get("/v1/models?limit=3").await;
    test.post("/v1/messages/count_tokens?beta=true", "{\"odd\": 1 }").await;
    test.send("DELETE", "/v1/responses/resp_9", &[], b"").await;
    let got: Vec<(String, String, String)> = test
        .provider
        .requests()
        .iter()
        .map(|request| (request.method.to_string(), request.uri.to_string(), request.text()))
        .collect();
    let expected = [
        ("GET", "/v1/models?limit=3", ""),
        ("POST", "/v1/messages/count_tokens?beta=true", "{\"odd\": 1 }"),
        ("DELETE", "/v1/responses/resp_9", ""),
    ];
    assert_eq!(got, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
}

#[tokio::test]
async fn probes_and_websockets_never_reach_the_provider() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    for path in ["/api/tags", "/props", "/v1/props", "/version", "/api/v1/models", "/api/show"] {
        assert_eq!(test.get(path).await.status, 404, "{path}");
    }
    let upgrade = [("upgrade", "websocket"), ("sec-websocket-version", "13")];
    assert_eq!(test.send("GET", RESPONSES, &upgrade, b"").await.status, 426);
    assert_eq!(test.send("HEAD", "/", &[], b"").await.status, 200);
    assert!(test.provider.requests().is_empty());
}

#[tokio::test]
async fn h2c_upgrade_offers_are_ignored() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    let offer = [
        ("connection", "Upgrade, HTTP2-Settings"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"),
    ];
    for path in PATHS {
        assert_eq!(test.post_with(path, &offer, short(path, false).as_bytes()).await.status, 200, "{path}");
        let got = test.provider.requests().pop().unwrap();
        assert!(!got.headers.contains_key("upgrade") && !got.headers.contains_key("http2-settings"), "{path}");
    }
    assert_eq!(test.send("GET", "/v1/models", &offer, b"").await.status, 200);
    assert_eq!(test.send("GET", "/foldline/healthz", &offer, b"").await.status, 200);
}

#[tokio::test]
async fn compressed_bodies_are_read_and_forwarded_unchanged() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    let plain = short(RESPONSES, false);
    let mut gzip = Vec::new();
    flate2::read::GzEncoder::new(plain.as_bytes(), flate2::Compression::fast()).read_to_end(&mut gzip).unwrap();
    let zstd = zstd::encode_all(plain.as_bytes(), 1).unwrap();
    let both = zstd::encode_all(gzip.as_slice(), 1).unwrap();
    for (coding, packed) in [("gzip", &gzip), ("zstd", &zstd), ("gzip, zstd", &both)] {
        let seen = test.post_with(RESPONSES, &[("content-encoding", coding)], packed).await;
        assert_eq!((seen.status, seen.header("x-foldline-outcome")), (200, Some("unchanged")), "{coding}");
        let got = test.provider.requests().pop().unwrap();
        assert_eq!((got.headers["content-encoding"].to_str().unwrap(), &got.body[..]), (coding, &packed[..]));
    }
}

#[tokio::test]
async fn bodies_that_are_not_json_are_forwarded() {
    let test = TestGateway::with([Act::error(400, "invalid_request_error", "We could not parse the JSON body.")]).await;
    for body in [&b"{nope"[..], b"\xff\xfe\x00", b"[]", b"null", b"{\"messages\":3}"] {
        let seen = test.post_with(CHAT, &[], body).await;
        assert_eq!((seen.status, seen.end), (400, End::Proper));
        assert_eq!(test.provider.requests().pop().unwrap().body, body);
    }
}

#[tokio::test]
async fn http1_and_http2_are_served_without_tls() {
    let test = TestGateway::with([Act::say("Hello.")]).await;
    let stream = tokio::net::TcpStream::connect(test.address).await.unwrap();
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(executor, hyper_util::rt::TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = http_body_util::Full::new(bytes::Bytes::from(short(CHAT, true)));
    let request = http::Request::post(format!("http://{}{CHAT}", test.address));
    let request = request.header("content-type", "application/json").body(body).unwrap();
    let reply = sender.send_request(request).await.unwrap();
    assert_eq!((reply.version(), reply.status().as_u16()), (http::Version::HTTP_2, 200));
    let body = http_body_util::BodyExt::collect(reply.into_body()).await.unwrap().to_bytes();
    assert!(body.ends_with(b"data: [DONE]\n\n"));
}
