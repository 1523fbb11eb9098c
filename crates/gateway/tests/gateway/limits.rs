//! Bodies that are too large, too slow, or not what they say; keys; places.

use crate::harness::{CHAT, End, MESSAGES, TestGateway, short};
use foldline_script::Act;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_body_over_the_limit_gets_a_provider_style_error() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.max_body_bytes = 1_000).await;
    let large = vec![b'x'; 2_000];
    let seen = test.post_with(MESSAGES, &[], &large).await;
    assert_eq!((seen.status, seen.json()["error"]["type"].as_str()), (413, Some("request_too_large")));
    // One that does not say how long it is.
    let chunked = [
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n".as_slice(),
        &large,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    let seen = test.raw(&chunked).await;
    assert_eq!((seen.status, seen.json()["error"]["code"].as_str()), (413, Some("too_large")));
    // One that is small only on the wire.
    let bomb = zstd::encode_all(vec![b' '; 1_000_000].as_slice(), 1).unwrap();
    assert!(bomb.len() < 1_000);
    assert_eq!(test.post_with(CHAT, &[("content-encoding", "zstd")], &bomb).await.status, 413);
    assert!(test.provider.requests().is_empty());
}

#[tokio::test]
async fn a_body_that_is_not_what_its_headers_say_is_refused() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.body_secs = 1).await;
    let seen = test.post_with(CHAT, &[("content-encoding", "gzip")], b"no gzip").await;
    assert_eq!((seen.status, seen.json()["error"]["type"].as_str()), (400, Some("invalid_request_error")));
    assert_eq!(test.post_with(CHAT, &[("content-encoding", "lzma")], b"x").await.status, 415);
    // Longer than it says: the rest is no request, and nothing of it reaches anybody.
    let lying = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}GARBAGE\r\n\r\n";
    assert_eq!(test.raw(lying).await.status, 200);
    // Shorter than it says, and then silence.
    let short = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{}";
    let seen = test.raw(short).await;
    assert_eq!((seen.status, seen.json()["error"]["type"].as_str()), (408, Some("timeout_error")));
    assert_eq!(test.provider.requests().len(), 1);
}

#[tokio::test]
async fn hostile_heads_are_refused_and_leave_nothing_behind() {
    let test = TestGateway::with([Act::say("x")]).await;
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "a".repeat(2_000_000));
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x-many: 1\r\n".repeat(5_000));
    let twice = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n{}abc"
        .to_owned();
    let both = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5\r\ntransfer-encoding: xchunked\r\n\r\n{}abc".to_owned();
    for head in [long, many, twice, both, "GET  HTTP/9\r\n\r\n".to_owned()] {
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        let _ = stream.write_all(head.as_bytes()).await;
        let mut reply = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut reply)).await;
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(read.is_ok() && (reply.is_empty() || reply.starts_with("HTTP/1.1 4")), "{reply}");
    }
    assert!(test.provider.requests().is_empty());
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
}

#[tokio::test]
async fn slow_request_headers_time_out() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.header_secs = 1).await;
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost:").await.unwrap();
    let mut reply = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut reply)).await;
    assert!(ended.is_ok(), "the connection ends");
}

#[tokio::test]
async fn requests_over_the_limit_get_retry_after() {
    let test = TestGateway::tuned([Act::Stall], |p| p.gateway.max_requests = 1).await;
    let mut first = TcpStream::connect(test.address).await.unwrap();
    let body = short(CHAT, false);
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    first.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let seen = test.post(MESSAGES, &short(MESSAGES, false)).await;
    assert_eq!((seen.status, seen.header("retry-after")), (503, Some("1")));
    assert_eq!(seen.json()["error"]["type"], "overloaded_error");
    assert_eq!(test.get("/foldline/healthz").await.status, 200, "a full gateway is still alive");
}

#[tokio::test]
async fn client_keys_are_required_and_mapped_to_provider_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, "team-1 openai=up-1\nteam-2\n").unwrap();
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.client_keys = Some(file.display().to_string())).await;
    let body = short(CHAT, false);
    let refused = test.post_with(CHAT, &[("authorization", "Bearer nobody")], body.as_bytes()).await;
    assert_eq!((refused.status, refused.json()["error"]["type"].as_str()), (401, Some("authentication_error")));
    assert_eq!(test.get("/foldline/sessions").await.status, 401);
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
    assert!(test.provider.requests().is_empty());
    test.post_with(CHAT, &[("authorization", "Bearer team-1")], body.as_bytes()).await;
    test.post_with(CHAT, &[("authorization", "Bearer team-2")], body.as_bytes()).await;
    let keys: Vec<String> =
        test.provider.requests().iter().map(|r| r.headers["authorization"].to_str().unwrap().to_owned()).collect();
    assert_eq!(keys, ["Bearer up-1", "Bearer team-2"]);
}

#[tokio::test]
async fn a_client_that_never_reads_is_disconnected() {
    // More than all buffers between here and there can hold.
    let body = "x".repeat(64 << 20);
    let flood = Act::Raw { status: 200, headers: Vec::new(), content_type: "text/plain".into(), body };
    let test = TestGateway::tuned([flood], |p| p.gateway.body_secs = 1).await;
    let body = short(MESSAGES, true);
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let gone = async {
        while test.metric("foldline_streams_total{kind=\"abandoned\"}").await == 0.0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the place is free again");
}

#[tokio::test]
async fn an_unreachable_provider_is_a_502_in_provider_style() {
    let test =
        TestGateway::tuned([Act::HangUp], |p| p.gateway.upstream_openai = Some("http://127.0.0.1:9".to_owned())).await;
    let seen = test.post(CHAT, &short(CHAT, false)).await;
    assert_eq!((seen.status, seen.json()["error"]["code"].as_str()), (502, Some("upstream_unreachable")));
    let seen = test.post(MESSAGES, &short(MESSAGES, false)).await;
    assert_eq!((seen.status, seen.end), (502, End::Proper));
    assert_eq!(seen.json()["type"], "error");
    let slow = TestGateway::tuned([Act::Stall], |p| p.gateway.reply_secs = 1).await;
    assert_eq!(slow.post(CHAT, &short(CHAT, false)).await.status, 504);
}
