//! HTTP/2 written by hand, by somebody who means harm: the connection ends, and everybody else is served.

use crate::harness::{CHAT, PATIENCE, TestGateway, short};
use foldline_script::Act;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header that no table knows.
fn header(name: &str, value: &str) -> Vec<u8> {
    let mut out = vec![0];
    for text in [name, value] {
        assert!(text.len() < 127);
        out.push(text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
    out
}

/// The head of a request: POST, http, and the rest in full.
fn head(path: &str) -> Vec<u8> {
    let rest = [header(":path", path), header(":authority", "localhost"), header("content-type", "application/json")];
    [vec![0x83, 0x86], rest.concat()].concat()
}

async fn open(test: &TestGateway) -> TcpStream {
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    let hello = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(SETTINGS, 0, 0, &[])].concat();
    stream.write_all(&hello).await.unwrap();
    stream
}

/// What the gateway sends until it hangs up.
async fn until_it_hangs_up(stream: &mut TcpStream) -> Vec<u8> {
    let mut seen = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut seen)).await;
    // It may also reset the connection.
    let _ = read.expect("it hangs up");
    seen
}

/// Whether frames of this kind are among what was sent.
fn has(mut sent: &[u8], kind: u8) -> bool {
    while let [a, b, c, seen, _, _, _, _, _, rest @ ..] = sent {
        if *seen == kind {
            return true;
        }
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        sent = rest.get(length..).unwrap_or_default();
    }
    false
}

async fn assert_alive(test: &TestGateway) {
    assert_eq!(test.post(CHAT, &short(CHAT, false)).await.status, 200);
    assert_eq!(test.metric("foldline_open_requests ").await, 0.0, "no place is lost");
}

#[tokio::test]
async fn http2_rapid_resets_close_the_connection() {
    let test = TestGateway::with([Act::say("x")]).await;
    let mut stream = open(&test).await;
    let cancel = 8_u32.to_be_bytes();
    for number in 0..5_000 {
        let id = 2 * number + 1;
        let pair = [frame(HEADERS, END_HEADERS, id, &head(CHAT)), frame(RESET, 0, id, &cancel)].concat();
        if stream.write_all(&pair).await.is_err() {
            break;
        }
    }
    let sent = until_it_hangs_up(&mut stream).await;
    assert!(has(&sent, GO_AWAY) || sent.is_empty(), "{} bytes", sent.len());
    assert!(test.provider.requests().is_empty());
    assert_alive(&test).await;
}

#[tokio::test]
async fn endless_http2_headers_are_refused() {
    let test = TestGateway::with([Act::say("x")]).await;
    let mut stream = open(&test).await;
    stream.write_all(&frame(HEADERS, 0, 1, &head(CHAT))).await.unwrap();
    let more: Vec<u8> = (0..100).flat_map(|n| header(&format!("x-{n}"), &"y".repeat(100))).collect();
    let mut sent = 0;
    // Two hundred megabytes, if it were let.
    for _ in 0..20_000 {
        if stream.write_all(&frame(CONTINUATION, 0, 1, &more)).await.is_err() {
            break;
        }
        sent += more.len();
    }
    until_it_hangs_up(&mut stream).await;
    assert!(sent < 50_000_000, "{sent} bytes of headers were taken");
    assert!(test.provider.requests().is_empty());
    assert_alive(&test).await;
}

#[tokio::test]
async fn invalid_http2_frames_close_the_connection() {
    let data = frame(DATA, END_STREAM, 7, b"for nobody");
    let cases: [(&str, Vec<u8>); 5] = [
        ("data for a stream that was never opened", data),
        ("a frame larger than was agreed", frame(SETTINGS, 0, 0, &vec![0; 60_000])),
        ("headers that cannot be unpacked", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff; 40])),
        ("a stream with an even number", frame(HEADERS, END_HEADERS | END_STREAM, 2, &head(CHAT))),
        ("no frame at all", b"GET / HTTP/1.1\r\n\r\n".repeat(100)),
    ];
    let test = TestGateway::with([Act::say("x")]).await;
    for (number, (name, bytes)) in cases.into_iter().enumerate() {
        let mut stream = open(&test).await;
        let _ = stream.write_all(&bytes).await;
        until_it_hangs_up(&mut stream).await;
        assert_eq!(test.provider.requests().len(), number, "{name}");
        assert_alive(&test).await;
    }
}

#[tokio::test]
async fn a_missing_body_holds_no_request_permit() {
    let test = TestGateway::tuned([Act::say("x")], |policy| policy.gateway.body_secs = 1).await;
    let mut stream = open(&test).await;
    let promised = [head(CHAT), header("content-length", "1000")].concat();
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, &promised)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(test.metric("foldline_open_requests ").await, 0.0, "a place is for requests that are there");
    // It stays in touch, and sends nothing.
    let mut reply = vec![0; 4096];
    let mut seen = Vec::new();
    let answered = async {
        while !has(&seen, HEADERS) {
            stream.write_all(&frame(PING, 0, 0, &[7; 8])).await.unwrap();
            let count = stream.read(&mut reply).await.unwrap();
            assert!(count > 0, "it hung up without a word");
            seen.extend_from_slice(&reply[..count]);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.expect("it is told that it is too late");
    assert!(test.provider.requests().is_empty());
    assert_alive(&test).await;
}
