//! Streams: as they come, to their end, and no further.

use crate::harness::{
    CHAT, End, GEMINI, GEMINI_EVENTS, GEMINI_LIST, MESSAGES, PATIENCE, RESPONSES, TestGateway, short,
};
use foldline_gateway::serve::Stopped;
use foldline_script::{Act, Dialect};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const WORDS: &str = "one two three four five";

#[tokio::test]
async fn a_stream_arrives_byte_for_byte() {
    let test = TestGateway::with([Act::say(WORDS)]).await;
    for (path, dialect) in
        [(RESPONSES, Dialect::Responses), (MESSAGES, Dialect::Anthropic), (GEMINI_EVENTS, Dialect::Gemini)]
    {
        let body = short(path, true);
        let seen = test.post(path, &body).await;
        let prompt = body.len() / 4;
        let pieces: String = WORDS.split_inclusive(' ').map(|word| dialect.piece("m", word)).collect();
        let expected = dialect.opening("m", prompt) + &pieces + &dialect.closing("m", WORDS, prompt);
        assert_eq!((seen.text(), seen.end), (expected, End::Proper), "{path}");
    }
}

#[tokio::test]
async fn usage_requested_by_the_gateway_is_removed_from_the_stream() {
    let test = TestGateway::with([Act::say(WORDS)]).await;
    let seen = test.post(CHAT, &short(CHAT, true)).await;
    assert!(test.forwarded().json()["stream_options"]["include_usage"].as_bool().unwrap());
    assert!(!seen.text().contains("prompt_tokens"), "{}", seen.text());
    assert!(seen.text().contains("five") && seen.text().ends_with("data: [DONE]\n\n"));

    let asked = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hi"}]}"#;
    let seen = test.post(CHAT, asked).await;
    assert!(seen.text().contains("prompt_tokens"), "a client that asks for usage gets it");
    assert_eq!(test.provider.requests()[1].text(), asked);
}

#[tokio::test]
async fn usage_is_not_requested_again_after_a_rejection() {
    let choose = |request: &foldline_script::Received, _| match request.json().get("stream_options") {
        Some(_) => Act::error(400, "invalid_request_error", "Unrecognized request argument: stream_options"),
        None => Act::say(WORDS),
    };
    let test = TestGateway::choosing(choose, |_| {}).await;
    for _ in 0..2 {
        assert_eq!(test.post(CHAT, &short(CHAT, true)).await.status, 200);
    }
    assert_eq!(test.provider.requests().len(), 3, "one try with, one without, and from then on only without");
}

#[tokio::test]
async fn usage_of_gemini_is_read_whole_as_events_and_as_a_list() {
    for path in [GEMINI, GEMINI_EVENTS, GEMINI_LIST] {
        let test = TestGateway::with([Act::say(WORDS)]).await;
        let body = short(path, false);
        let seen = test.post(path, &body).await;
        assert_eq!((seen.status, seen.end), (200, End::Proper), "{path}");
        assert_eq!(test.forwarded().text(), body, "{path}");
        let id = seen.header("x-foldline-session").unwrap().to_owned();
        test.until("foldline_usage_tokens_total{kind=\"output\"}", |tokens| tokens > 0.0).await;
        let session = test.get(&format!("/foldline/sessions/{id}")).await.json();
        assert_eq!(session["model"], "m", "{path}: {session}");
    }
}

#[tokio::test]
async fn events_are_forwarded_immediately() {
    let pace = Duration::from_millis(60);
    let test = TestGateway::with([Act::Say { text: WORDS.into(), pace }]).await;
    let body = short(MESSAGES, true);
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    let began = Instant::now();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut arrivals = Vec::new();
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        if count == 0 {
            break;
        }
        let piece = String::from_utf8_lossy(&buffer[..count]).into_owned();
        if piece.contains("text_delta") {
            arrivals.push(began.elapsed());
        }
        seen += &piece;
    }
    assert_eq!(arrivals.len(), 5, "{seen}");
    assert!(arrivals[0] < arrivals[4] - 2 * pace, "{arrivals:?}");
}

/// A provider that streams a little and then breaks the connection, or resets it.
async fn breaking(dialect: Dialect, linger: Option<Duration>) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 8192];
            let _ = stream.read(&mut buffer).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            for event in [dialect.opening("m", 1), dialect.piece("m", "one "), dialect.piece("m", "two ")] {
                stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await.unwrap();
            }
            if let Some(linger) = linger {
                tokio::time::sleep(linger).await;
            }
        }
    });
    address
}

#[tokio::test]
async fn an_interrupted_stream_is_interrupted_for_the_client() {
    let cases = [
        (CHAT, Dialect::Chat),
        (RESPONSES, Dialect::Responses),
        (MESSAGES, Dialect::Anthropic),
        (GEMINI_EVENTS, Dialect::Gemini),
    ];
    for (path, dialect) in cases {
        for linger in [None, Some(Duration::from_millis(50))] {
            let upstream = format!("http://{}", breaking(dialect, linger).await);
            let test = TestGateway::tuned([Act::HangUp], |p| {
                p.gateway.upstream_openai = Some(upstream.clone());
                p.gateway.upstream_anthropic = Some(upstream.clone());
                p.gateway.upstream_gemini = Some(upstream);
            })
            .await;
            let seen = test.post(path, &short(path, true)).await;
            assert_eq!((seen.status, seen.end), (200, End::Cut), "{path}");
            assert!(seen.text().contains("two"), "what came is passed on: {path}: {}", seen.text());
            for end in ["[DONE]", "message_stop", "response.completed", "finishReason"] {
                assert!(!seen.text().contains(end), "{path}: {end} was never said");
            }
            assert!(test.metric("foldline_streams_total{kind=\"cut\"}").await > 0.0);
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_its_last_event_does_so_for_the_client() {
    let test = TestGateway::with([Act::EndAfter { text: WORDS.into(), pieces: 2 }]).await;
    let seen = test.post(MESSAGES, &short(MESSAGES, true)).await;
    assert_eq!(seen.end, End::Proper);
    assert!(!seen.text().contains("message_stop"));
}

#[tokio::test]
async fn an_error_inside_a_stream_is_passed_on() {
    let test = TestGateway::with([Act::FailAfter { text: WORDS.into(), kind: "overloaded_error".into() }]).await;
    let seen = test.post(MESSAGES, &short(MESSAGES, true)).await;
    assert!(seen.text().contains("event: error") && seen.text().contains("overloaded_error"));
    assert_eq!(test.provider.requests().len(), 1);
}

#[tokio::test]
async fn a_silent_provider_times_out_the_stream() {
    let test =
        TestGateway::tuned([Act::StallAfter { text: WORDS.into(), pieces: 1 }], |p| p.gateway.idle_secs = 1).await;
    let seen = test.post(MESSAGES, &short(MESSAGES, true)).await;
    assert_eq!(seen.end, End::Cut);
    assert!(test.metric("foldline_streams_total{kind=\"silent\"}").await > 0.0);
}

#[tokio::test]
async fn a_disconnected_client_cancels_the_upstream_request() {
    let test = TestGateway::with([Act::Babble]).await;
    let body = short(MESSAGES, true);
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut buffer = [0; 1024];
    stream.read_exact(&mut buffer).await.unwrap();
    drop(stream);
    let gone = async {
        while test.metric("foldline_streams_total{kind=\"abandoned\"}").await == 0.0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the end is noticed");
    assert_eq!(test.metric("foldline_open_requests ").await, 0.0);
}

#[tokio::test]
async fn shutdown_lets_open_streams_finish() {
    let pace = Duration::from_millis(100);
    let mut test = TestGateway::with([Act::Say { text: WORDS.into(), pace }]).await;
    let address = test.address;
    let client = tokio::spawn(async move {
        let body = short(MESSAGES, true);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await.unwrap();
        String::from_utf8(reply).unwrap()
    });
    tokio::time::sleep(pace * 2).await;
    test.ask_to_stop();
    assert!(client.await.unwrap().contains("message_stop"));
    assert_eq!(test.stopped().await, Stopped::Finished);
}

#[tokio::test]
async fn shutdown_has_a_time_limit() {
    let mut test = TestGateway::tuned([Act::Babble], |p| p.gateway.shutdown_secs = 1).await;
    let body = short(MESSAGES, true);
    let mut stream = TcpStream::connect(test.address).await.unwrap();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    test.ask_to_stop();
    assert_eq!(test.stopped().await, Stopped::CutOff);
}
