//! Bodies made to hurt: each is answered with a clear error in the words of the API that was asked, or passed on for
//! the provider to judge, and the gateway serves the next request as if nothing had been.

use crate::harness::{CHAT, End, GEMINI, MESSAGES, PATHS, PATIENCE, TestGateway, TestReply, short};
use foldline_script::Act;
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An error as the SDK of the API reads it: status, kind and words.
fn assert_refused(path: &str, seen: &TestReply, status: u16, name: &str) {
    assert_eq!((seen.status, seen.end), (status, End::Proper), "{path}, {name}: {}", seen.text());
    assert_eq!(seen.header("content-type"), Some("application/json"), "{path}, {name}");
    let body = seen.json();
    assert_eq!(body["type"] == "error", path == MESSAGES, "{path}, {name}: {body}");
    for field in [if path == GEMINI { "status" } else { "type" }, "message"] {
        assert!(body["error"][field].as_str().is_some_and(|text| !text.is_empty()), "{path}, {name}: {body}");
    }
    assert!(path == MESSAGES || body["error"].get("code").is_some(), "{path}, {name}: {body}");
}

async fn assert_alive(test: &TestGateway) {
    for path in PATHS {
        assert_eq!(test.post(path, &short(path, false)).await.status, 200);
    }
    assert_eq!(test.metric("foldline_open_requests ").await, 0.0, "no place is lost");
}

/// A text, packed in every way that clients know.
pub fn packed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let level = flate2::Compression::best();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(text).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    zlib.write_all(text).unwrap();
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("zstd", zstd::encode_all(text, 19).unwrap()),
    ]
}

/// Fifty million spaces in 80 bytes, as `zlib.brotliCompressSync` of Node packs them.
pub fn brotli_bomb() -> Vec<u8> {
    let hex = "cbffff3ff82540e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f0110870500baf77f\
               fcffff835f02200e0b0074effff20f5e0fbf04401c1600e8a0eb01";
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

#[tokio::test]
async fn decompression_bombs_and_truncated_bodies_are_refused() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.max_body_bytes = 1_000_000).await;
    let bomb = vec![b' '; 50_000_000];
    for (coding, body) in packed(&bomb) {
        assert!(body.len() < 1_000_000, "{coding}: {}", body.len());
        for path in PATHS {
            let seen = test.post_with(path, &[("content-encoding", coding)], &body).await;
            assert_refused(path, &seen, 413, coding);
        }
    }
    for path in PATHS {
        assert_refused(path, &test.post_with(path, &[("content-encoding", "br")], &brotli_bomb()).await, 413, "br");
        for (coding, body) in packed(short(path, false).repeat(20).as_bytes()) {
            for torn in [&body[..body.len() / 2], &body[..body.len() - 1], &body[1..], b"".as_slice()] {
                // A body of no bytes at all says nothing, whatever it is packed with.
                let seen = test.post_with(path, &[("content-encoding", coding)], torn).await;
                if !torn.is_empty() {
                    assert_refused(path, &seen, 400, coding);
                }
            }
        }
        let twice = test.post_with(path, &[("content-encoding", "gzip, gzip")], b"x").await;
        assert_refused(path, &twice, 400, "several codings");
        let often = test.post_with(path, &[("content-encoding", "gzip, gzip, gzip, gzip")], b"x").await;
        assert_refused(path, &often, 415, "too many codings");
    }
    assert_alive(&test).await;
}

#[tokio::test]
async fn bodies_with_wrong_length_are_refused() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.body_secs = 1).await;
    for path in PATHS {
        let head = |rest: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n{rest}"
            )
        };
        // A sender that goes away for good, in the middle.
        for torn in ["content-length: 500\r\n\r\n{\"model\"", "transfer-encoding: chunked\r\n\r\n1f4\r\n{\"model\""] {
            let mut stream = TcpStream::connect(test.address).await.unwrap();
            stream.write_all(head(torn).as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut reply = Vec::new();
            let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut reply)).await;
            read.expect("an end in time").unwrap();
            let reply = String::from_utf8_lossy(&reply).into_owned();
            assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{path}: {reply}");
        }
        // Chunks whose lengths are no numbers, or larger than any number.
        for wrong in ["zz\r\n{}\r\n0\r\n\r\n", "ffffffffffffffffff\r\n{}\r\n", "-1\r\n{}\r\n0\r\n\r\n"] {
            let seen = test.raw(head(&format!("transfer-encoding: chunked\r\n\r\n{wrong}")).as_bytes()).await;
            assert!((400..500).contains(&seen.status), "{path}: {wrong:?} {}", seen.status);
        }
    }
    assert!(test.provider.requests().is_empty(), "nothing of it reaches anybody");
    assert_alive(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_body_is_refused_after_its_timeout() {
    let test = TestGateway::tuned([Act::say("x")], |p| p.gateway.body_secs = 1).await;
    for path in PATHS {
        let began = Instant::now();
        let mut stream = TcpStream::connect(test.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reading, mut writing) = stream.into_split();
        // Never a pause that is too long, and never an end.
        let trickle = tokio::spawn(async move {
            while writing.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        let mut reply = Vec::new();
        let read = tokio::time::timeout(PATIENCE, reading.read_to_end(&mut reply)).await;
        trickle.abort();
        assert!(read.is_ok(), "{path}: it still waits after {:?}", began.elapsed());
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(reply.starts_with("HTTP/1.1 408"), "{path}: {reply}");
    }
    assert_alive(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_messages_are_forwarded() {
    let test = TestGateway::with([Act::error(400, "invalid_request_error", "could not parse this")]).await;
    let deep = format!("{{\"model\":\"m\",\"messages\":{}", "[".repeat(1_000_000));
    let wide = format!("{{\"model\":\"m\",\"messages\":[{}]}}", "{},".repeat(200_000).trim_end_matches(','));
    let nested = format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":{}\"x\"{}}}]}}",
        "[{\"type\":\"text\",\"text\":".repeat(50_000),
        "}]".repeat(50_000)
    );
    let long_name =
        format!("{{\"model\":\"{}\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]}}", "m".repeat(1 << 20));
    let bodies: [&[u8]; 10] = [
        deep.as_bytes(),
        wide.as_bytes(),
        nested.as_bytes(),
        long_name.as_bytes(),
        b"",
        b"\xff\xfe\x00",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}",
        b"{\"messages\":[{\"role\":7,\"content\":{\"a\":[null]}}],\"model\":[]}",
        b"null",
        b"{\"messages\":[{\"role\":\"tool\",\"content\":1e999}],\"input\":NaN}",
    ];
    for path in PATHS {
        for body in bodies {
            let seen = test.post_with(path, &[], body).await;
            let start = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            assert_eq!(seen.status, 400, "{path}: {start}");
            assert_eq!(
                seen.json()["error"]["message"],
                "could not parse this",
                "the provider's own words: {path}: {start}"
            );
            assert!(test.provider.requests().last().unwrap().body == body, "as it came: {path}: {start}");
        }
    }
    assert_eq!(test.metric("foldline_fallbacks_total{kind=\"panic\"}").await, 0.0);
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
}

#[tokio::test]
async fn invalid_foldline_headers_are_ignored() {
    let test = TestGateway::with([Act::say("x")]).await;
    let long = "x".repeat(30_000);
    for value in ["", " ", "../../etc/passwd", "a'; DROP TABLE sessions; --", "\u{7}bell", "%00", &long] {
        for name in ["x-foldline-session", "x-foldline-focus", "x-foldline-bypass", "x-foldline-key", "session-id"] {
            let head = format!(
                "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n{name}: {value}\r\ncontent-length: {}\r\n\r\n{}",
                short(CHAT, false).len(),
                short(CHAT, false)
            );
            let status = test.raw(head.as_bytes()).await.status;
            assert!(status == 200 || status == 400, "{name}: {:?}: {status}", value.get(..20).unwrap_or(value));
        }
    }
    let page = test.post("/foldline/sessions/fs-0000000000000000/compact", &"x".repeat(100_000)).await;
    assert_eq!(page.status, 413);
    assert_alive(&test).await;
}
