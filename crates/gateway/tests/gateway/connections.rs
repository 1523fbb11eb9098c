//! Connections that say nothing, say it slowly, or never stop: they end in time, and nobody else notices.

use crate::harness::{CHAT, PATIENCE, TestGateway, short};
use foldline_script::Act;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a connection lasts that sends these bytes and no more.
async fn lasts(test: &TestGateway, said: &[u8]) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    stream.write_all(said).await.unwrap();
    let mut reply = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut reply)).await;
    assert!(end.is_ok(), "{:?} never ends", String::from_utf8_lossy(said));
    began.elapsed()
}

#[tokio::test]
async fn silent_connections_time_out() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.header_secs = 1).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [preface.as_slice(), &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    for said in [b"".as_slice(), b"P", &preface[..10], &preface[..23], preface, &settings, b"GET / HT"] {
        let took = lasts(&test, said).await;
        assert!(took >= Duration::from_millis(900) && took < Duration::from_secs(5), "{said:?}: {took:?}");
    }
}

#[tokio::test]
async fn idle_connections_have_their_own_timeout() {
    let test = TestGateway::tuned([Act::say("x")], |p| {
        p.gateway.header_secs = 1;
        p.gateway.keep_alive_secs = 3;
    })
    .await;
    let asks = b"GET /foldline/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let took = lasts(&test, asks).await;
    assert!(took >= Duration::from_millis(2_900) && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_served_beside_floods_of_silent_and_slow_connections() {
    let test = TestGateway::tuned([Act::say("x")], |p| {
        p.gateway.max_connections = 64;
        p.gateway.max_connections_per_address = 48;
        p.gateway.max_requests = 8;
    })
    .await;
    let slow = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{{"
    );
    let mut held = Vec::new();
    for n in 0..200 {
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        // Bodies that never come hold no place; heads that never come and silence hold nothing at all.
        let said = match n % 10 {
            0 => slow.as_bytes(),
            1..5 => b"POST /v1/chat",
            _ => b"",
        };
        stream.write_all(said).await.unwrap();
        held.push(stream);
    }
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(test.post(CHAT, &short(CHAT, false)).await.status, 200);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    assert!(test.metric("foldline_open_connections ").await <= 64.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_uploads_from_the_same_address_are_closed_for_turns() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.max_connections_per_address = 32).await;
    let slow = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{{"
    );
    let mut held = Vec::new();
    for _ in 0..60 {
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        stream.write_all(slow.as_bytes()).await.unwrap();
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    for _ in 0..40 {
        assert_eq!(test.post(CHAT, &short(CHAT, false)).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_endpoints_are_reachable_at_the_connection_limit() {
    let test = TestGateway::tuned([Act::Stall], |p| p.gateway.max_connections = 3).await;
    let body = short(CHAT, false);
    let turn = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        stream.write_all(turn.as_bytes()).await.unwrap();
        held.push(stream);
    }
    let at_work = async {
        while test.provider.requests().len() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, at_work).await.expect("all are forwarded");
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
    assert_eq!(test.get("/foldline/sessions").await.status, 200);
    let refused = test.post(CHAT, &body).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!(refused.text().contains("max_connections"), "{}", refused.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_do_not_delay_shutdown() {
    let mut test = TestGateway::with([Act::say("x")]).await;
    let mut held = Vec::new();
    let stalled = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{{"
    );
    for said in [b"".as_slice(), b"PRI * HTTP/2.0\r\n\r\n", b"GET / HTTP/1.1\r\nhost:", stalled.as_bytes()] {
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        stream.write_all(said).await.unwrap();
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    test.ask_to_stop();
    assert_eq!(test.stopped().await, foldline_gateway::serve::Stopped::Finished);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
