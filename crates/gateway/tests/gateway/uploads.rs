//! Bodies of requests that are passed on: those that stall end in time and hold nobody up, those that take long arrive.

use crate::harness::{CHAT, PATIENCE, TestGateway, short};
use foldline_script::Act;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const FILES: &str =
    "POST /v1/audio/transcriptions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer k\r\nconnection: close\r\n";

async fn opened(test: &TestGateway, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    stream.write_all(format!("{FILES}{head}\r\n\r\n").as_bytes()).await.unwrap();
    stream
}

async fn status(stream: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut reply)).await;
    read.expect("an answer in time").unwrap();
    String::from_utf8_lossy(reply.get(9..12).unwrap_or_default()).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_pass_through_body_times_out() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.body_secs = 1).await;
    for head in ["content-length: 50000000", "content-length: 500", "transfer-encoding: chunked"] {
        let began = Instant::now();
        let mut stream = opened(&test, head).await;
        let start = if head.starts_with('c') { "some of it" } else { "a\r\nsome of it\r\n" };
        stream.write_all(start.as_bytes()).await.unwrap();
        assert_eq!(status(&mut stream).await, "408", "{head}");
        assert!(began.elapsed() < Duration::from_secs(6), "{head}: {:?}", began.elapsed());
    }
    test.until("foldline_open_requests ", |open| open == 0.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_uploads_do_not_block_turns() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.max_requests = 8).await;
    let mut held = Vec::new();
    for n in 0..40 {
        let head = ["content-length: 50000000", "content-length: 500", "transfer-encoding: chunked"][n % 3];
        held.push(opened(&test, head).await);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    for _ in 0..10 {
        let began = Instant::now();
        assert_eq!(test.post(CHAT, &short(CHAT, false)).await.status, 200);
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert_eq!(test.get("/v1/models").await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_upload_may_exceed_the_reply_timeout() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.reply_secs = 1).await;
    let mut stream = opened(&test, "transfer-encoding: chunked").await;
    for _ in 0..10 {
        stream.write_all(format!("8000\r\n{}\r\n", "x".repeat(0x8000)).as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(status(&mut stream).await, "200");
    assert_eq!(test.forwarded().body.len(), 10 * 0x8000);
}

#[tokio::test]
async fn a_streamed_body_over_the_limit_is_refused() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.max_body_bytes = 100_000).await;
    let mut stream = opened(&test, "transfer-encoding: chunked").await;
    for _ in 0..4 {
        let _ = stream.write_all(format!("8000\r\n{}\r\n", "x".repeat(0x8000)).as_bytes()).await;
    }
    assert_eq!(status(&mut stream).await, "413");
}
