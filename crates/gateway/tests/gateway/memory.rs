//! Bodies that are small on the wire and large in memory: all of them together take what the settings allow.

use crate::harness::{CHAT, PATIENCE, RESPONSES, TestGateway, short};
use crate::hostile::{brotli_bomb, packed};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use foldline_script::Act;
use serde_json::json;
use std::time::Duration;

/// A request that is mostly blanks.
fn airy(megabytes: usize) -> Vec<u8> {
    let mut body = short(CHAT, false).into_bytes();
    body.extend(std::iter::repeat_n(b' ', megabytes << 20));
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_bodies_share_one_memory_budget() {
    let test = TestGateway::tuned([Act::Stall], |p| {
        p.gateway.body_memory_bytes = 60_000_000;
        p.gateway.reply_secs = 3;
        p.gateway.force_usage = false;
    })
    .await;
    for (coding, body) in packed(&airy(8)) {
        assert!(body.len() < 20_000, "{coding}");
        let headers = [("content-encoding", coding)];
        let all = futures(16, || test.post_with(CHAT, &headers, &body)).await;
        let refused: Vec<_> = all.iter().filter(|seen| seen.status == 503).collect();
        let served = all.iter().filter(|seen| seen.status == 504).count();
        assert!(served >= 1 && refused.len() >= 8 && served + refused.len() == 16, "{coding}: {served}");
        for seen in refused {
            assert_eq!(seen.header("retry-after"), Some("1"));
            assert!(seen.text().contains("gateway.body_memory_bytes"), "{}", seen.text());
        }
        // A request that was given up may be worked on for a moment.
        test.until("foldline_body_bytes ", |bytes| bytes == 0.0).await;
    }
    let narrow = TestGateway::tuned([Act::Stall], |p| p.gateway.body_memory_bytes = 24_000_000).await;
    let bomb = narrow.post_with(CHAT, &[("content-encoding", "br")], &brotli_bomb()).await;
    assert_eq!(bomb.status, 503, "what it would have become does not matter");
    narrow.until("foldline_body_bytes ", |bytes| bytes == 0.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uncompressed_bodies_count_towards_the_memory_budget() {
    let test = TestGateway::tuned([Act::Stall], |p| {
        p.gateway.body_memory_bytes = 12_000_000;
        p.gateway.reply_secs = 2;
    })
    .await;
    let body = airy(6);
    let all = futures(4, || test.post_with(CHAT, &[], &body)).await;
    assert!(all.iter().filter(|seen| seen.status == 503).count() >= 2);
    test.until("foldline_body_bytes ", |bytes| bytes == 0.0).await;
    assert_eq!(test.post_with(CHAT, &[], &body).await.status, 504, "forwarded");
    assert_eq!(test.get("/foldline/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compaction_items_have_the_limits_of_bodies() {
    let test = TestGateway::tuned([Act::say("Done.")], |p| {
        p.gateway.body_memory_bytes = 8_000_000;
        p.gateway.max_body_bytes = 3_000_000;
    })
    .await;
    let message = json!({ "type": "message", "role": "user", "content": "word ".repeat(200_000) }).to_string();
    let packed = zstd::bulk::compress(message.as_bytes(), 9).unwrap();
    let item = json!({ "type": "compaction", "encrypted_content": format!("foldline.1.{}", BASE64.encode(packed)) });
    let body = |items: usize| json!({ "model": "gpt-5", "input": vec![item.clone(); items] }).to_string();
    assert!(body(40).len() < 100_000);
    let many = test.post(RESPONSES, &body(40)).await;
    assert_eq!(many.status, 413, "{}", many.text());
    assert_eq!(test.post(RESPONSES, &body(1)).await.status, 200);
    let two = body(2);
    let all = futures(8, || test.post(RESPONSES, &two)).await;
    assert!(all.iter().all(|seen| matches!(seen.status, 200 | 503)), "as with bodies that are packed");
    test.until("foldline_body_bytes ", |bytes| bytes == 0.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parsed_messages_count_towards_the_memory_budget() {
    let test = TestGateway::tuned([Act::Stall], |p| p.gateway.body_memory_bytes = 60_000_000).await;
    let body = format!(r#"{{"messages":[{}0]}}"#, "0,".repeat(1 << 20));
    let seen = test.post("/v1/compress", &body).await;
    assert_eq!((seen.status, seen.header("retry-after")), (503, Some("1")), "{}", seen.text());
    assert_eq!(test.post("/v1/compress", r#"{"messages":[0]}"#).await.status, 200);
    test.until("foldline_body_bytes ", |bytes| bytes == 0.0).await;
}

/// So many at once.
async fn futures<T, F: Future<Output = T>>(count: usize, make: impl Fn() -> F) -> Vec<T> {
    let mut all: Vec<_> = (0..count).map(|_| Box::pin(make())).collect();
    let mut done = Vec::new();
    let every = async {
        while !all.is_empty() {
            let (at, value) = std::future::poll_fn(|context| {
                for (at, one) in all.iter_mut().enumerate() {
                    if let std::task::Poll::Ready(value) = one.as_mut().poll(context) {
                        return std::task::Poll::Ready((at, value));
                    }
                }
                std::task::Poll::Pending
            })
            .await;
            drop(all.swap_remove(at));
            done.push(value);
        }
    };
    tokio::time::timeout(PATIENCE + Duration::from_secs(20), every).await.expect("all in time");
    done
}
