//! R11 over HTTP: what was removed is read in pages and found by words, by the one whose request removed it.

use crate::harness::{MESSAGES, TestGateway, TestReply};
use foldline_core::policy::AutoOr;
use foldline_script::Act;
use serde_json::json;

const SIGNATURE: &str = "c2lnbmF0dXJlIHRoYXQgbm9ib2R5IHJlYWRz";

/// A gateway that has folded a long session of client `one`.
struct Folded {
    test: TestGateway,
    handle: String,
    session: String,
    body: String,
}

impl Folded {
    async fn new() -> Folded {
        let test = TestGateway::tuned([Act::say("Done.")], |p| p.model.window = AutoOr::Fixed(24_000)).await;
        let mut messages = vec![json!({"role": "user", "content": "Look at all files."})];
        for n in 0..30 {
            let output: String = (0..100).map(|line| format!("line {line} of file {n} holds nothing\n")).collect();
            messages.push(json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
                {"type": "tool_use", "id": format!("c{n}"), "name": "read", "input": {"path": format!("src/f{n}.txt")}},
            ]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("c{n}"), "content": format!("{output}needle-{n}\n")},
            ]}));
        }
        let body = json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string();
        let seen = test.post_with(MESSAGES, &[("x-api-key", "one")], body.as_bytes()).await;
        assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
        let session = seen.header("x-foldline-session").unwrap().to_owned();
        let sent = test.forwarded().text();
        let at = sent.find(" fl-").expect("a handle in what went out") + 1;
        let handle = sent[at..at + 15].to_owned();
        Folded { test, handle, session, body }
    }

    async fn as_one(&self, path: &str) -> TestReply {
        self.test.send("GET", path, &[("x-api-key", "one")], b"").await
    }

    async fn recall(&self, query: &str) -> TestReply {
        self.as_one(&format!("/foldline/recall/{}{query}", self.handle)).await
    }
}

#[tokio::test]
async fn recall_returns_pages_to_the_owner_only() {
    let folded = Folded::new().await;
    let mut path = format!("/foldline/recall/{}", folded.handle);
    let mut pages = 0;
    loop {
        let page = folded.as_one(&path).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/plain; charset=utf-8")));
        assert_eq!(folded.test.send("GET", &path, &[("x-api-key", "two")], b"").await.status, 404);
        let text = page.text();
        assert!(text.chars().count() <= 16_000 && !text.contains(SIGNATURE));
        let is_told = text.contains("[signed reasoning, ") && text.contains("result of read: src/f");
        assert!(is_told || pages > 0, "{text}");
        pages += 1;
        match text.trim_end().rsplit_once("next: ") {
            Some((_, next)) => path = next.trim_end_matches(']').to_owned(),
            None => break,
        }
    }
    assert!(pages > 2, "{pages}");
    let raw = folded.recall("?raw=1").await.text();
    assert!(folded.body.contains(raw.trim_end()) && raw.contains(SIGNATURE), "raw means every byte");
}

/// What a handoff says about the way to what it stands for.
fn way_in(sent: &str) -> String {
    let start = sent.find("Originals by episode: ").expect("a line about originals");
    let line = &sent[start..];
    line[..line.find("\\n").unwrap()].replace("\\\"", "\"")
}

#[tokio::test]
async fn a_handoff_names_an_address_that_works_for_this_fold_and_all_before_it() {
    let folded = Folded::new().await;
    let line = way_in(&folded.test.forwarded().text());
    assert!(!line.contains("foldline recall"), "the agent has no such command: {line}");
    // The host is the one that the client named.
    let wanted = r#"`curl -s -H "x-api-key: $ANTHROPIC_API_KEY" "http://localhost/foldline/recall/HANDLE?turn=A:B"`"#;
    assert!(line.contains(wanted), "{line}");
    // The conversation goes on, and is folded again.
    let mut body: serde_json::Value = serde_json::from_str(&folded.body).unwrap();
    for n in 100..130 {
        let output: String = (0..100).map(|line| format!("line {line} of file {n} holds nothing\n")).collect();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("c{n}"), "name": "read", "input": {"path": format!("src/f{n}.txt")}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{n}"), "content": output},
        ]}));
    }
    let seen = folded.test.post_with(MESSAGES, &[("x-api-key", "one")], body.to_string().as_bytes()).await;
    assert_eq!(seen.header("x-foldline-outcome"), Some("folded"), "{}", seen.text());
    let line = way_in(&folded.test.provider.requests().pop().unwrap().text());
    let handles: Vec<&str> = line.match_indices("fl-").filter_map(|(at, _)| line.get(at..at + 15)).collect();
    assert!(handles.len() >= 2 && handles.contains(&folded.handle.as_str()), "{line}");
    for handle in handles {
        let page = folded.as_one(&format!("/foldline/recall/{handle}?turn=1:3")).await;
        assert_eq!(page.status, 200, "{handle}");
        assert!(page.text().chars().count() <= 16_000);
    }
}

#[tokio::test]
async fn turns_lines_and_matches_are_chosen() {
    let folded = Folded::new().await;
    let turn = folded.recall("?turn=2").await.text();
    assert!(turn.starts_with("[2] ") && !turn.contains("[3] "), "{turn}");
    let found = folded.recall("?grep=needle-1%5B12%5D&context=1").await.text();
    assert!(found.contains("101-  line 99 of file 11 holds nothing\n102:  needle-11\n"), "{found}");
    assert!(found.ends_with("[2 matching lines in 2 turns]\n"), "{found}");
    let json = folded.recall("?turn=2&lines=1&format=json").await;
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!((json.json()["page"].as_u64(), json.json()["content"][0]["turn"].as_u64()), (Some(1), Some(2)));
    let path = format!("/foldline/recall/{}", folded.handle);
    let accepted = [("x-api-key", "one"), ("accept", "application/json")];
    let json = folded.test.send("GET", &path, &accepted, b"").await.json();
    assert!(json["pages"].as_u64() > Some(1) && json["next"].as_str().is_some(), "{json}");
    for (query, status, words) in [
        ("?turn=0", 400, "turn=0: `0` begins or ends with 0; counting starts at 1"),
        ("?turn=9999", 400, "turn 9999 was asked for; "),
        ("?lines=3", 400, "lines are counted within a turn: say which with turn=N"),
        ("?grep=(", 400, "grep=(: regex parse error"),
        ("?context=2", 400, "context=N requires grep=RE"),
        ("?page=999", 400, "page 999 was asked for; there are "),
        ("?page_size=5", 400, "page_size=5: expected a whole number from 1000 to 1000000"),
        ("?raw=1&turn=2", 400, "turn=2: raw=1 can only be combined with lines"),
        ("?format=xml", 400, "format=xml: expected json or text"),
        ("?line=3", 400, "unknown parameter `line`; expected turn, lines, "),
        ("?grep=nothing-like-it", 404, "matches `nothing-like-it`"),
    ] {
        let seen = folded.recall(query).await;
        let message = seen.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(seen.status, status, "{query}: {message}");
        assert!(message.contains(words), "{query}: {message}");
    }
}

#[tokio::test]
async fn search_finds_only_the_clients_own_originals() {
    let folded = Folded::new().await;
    let found = folded.as_one("/foldline/search?q=%22needle%207%22").await.text();
    assert!(found.starts_with(&folded.handle) && found.contains("\n  needle-7\n"), "{found}");
    let show = found.lines().find_map(|line| line.strip_prefix("  → ")).unwrap();
    assert!(folded.as_one(show).await.text().contains("needle-7"), "{show}");
    let stranger = folded.test.send("GET", "/foldline/search?q=needle", &[("x-api-key", "two")], b"").await;
    assert_eq!(
        (stranger.status, stranger.text().as_str()),
        (200, "[no original matches `needle`; try fewer or other words]\n")
    );

    let of = |session: &str| format!("/foldline/search?q=needle&limit=3&format=json&session={session}");
    let json = folded.as_one(&of(&folded.session)).await.json();
    assert_eq!(json["hits"].as_array().unwrap().len(), 3, "{json}");
    assert_eq!(json["hits"][0]["sessions"][0], folded.session.as_str());
    assert!(json["hits"][0]["show"].as_str().unwrap().ends_with("&format=json"), "{json}");
    assert_eq!(folded.as_one(&of("fs-0000000000000000")).await.json()["hits"], json!([]));
    let more = folded.as_one(&format!("/foldline/search?q=needle&limit=3&session={}", folded.session)).await.text();
    assert!(
        more.contains(&format!(" · more: /foldline/search?q=needle&session={}&limit=6]", folded.session)),
        "{more}"
    );
    for (query, words) in [
        ("", "expected ?q=WORDS"),
        ("?q=", "expected ?q=WORDS"),
        ("?q=%3F!", "contains no word to search for"),
        ("?q=a&limit=0", "limit=0: expected a whole number from 1 to 100"),
        ("?q=a&session=x", "session=x: expected fs- and 16 hex digits"),
        ("?words=a", "unknown parameter `words`; expected q, session, limit, format"),
    ] {
        let seen = folded.as_one(&format!("/foldline/search{query}")).await;
        let message = seen.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(seen.status, 400, "{query}: {message}");
        assert!(message.contains(words), "{query}: {message}");
    }
    assert_eq!(folded.test.post("/foldline/search", "").await.status, 405);
}

#[tokio::test]
async fn originals_are_indexed_after_the_request() {
    let folded = Folded::new().await;
    let store = folded.test.folder.path().join("store.db");
    let waiting = || {
        let store = rusqlite::Connection::open(&store).unwrap();
        let sql = "SELECT count(*) FROM originals WHERE parts IS NULL";
        store.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for _ in 0..100 {
        if waiting() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nobody searches, and {} originals still wait", waiting());
}
