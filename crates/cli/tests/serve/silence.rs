//! Logs hold no content: not what people say, not what tools print, not a key, whatever goes wrong.

use crate::process::{LOG, MESSAGES, command, start};
use foldline_script::{Act, Provider};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use tokio::runtime::Runtime;

/// What must not be seen, by where it stands.
struct Marks {
    all: Vec<(&'static str, String)>,
}

impl Marks {
    fn new() -> Marks {
        let names = [
            "words", "output", "system", "key", "reply", "error", "header", "query", "focus", "session", "summary",
            "model",
        ];
        // Words that no rule for secrets would hide, but for the key.
        let made = |name: &str| match name {
            "key" => format!("sk-{}{}", "ant-api03-", "Zq7x".repeat(12)),
            name => format!("zebra {name} crossing"),
        };
        Marks { all: names.into_iter().map(|name| (name, made(name))).collect() }
    }

    fn of(&self, name: &str) -> &str {
        self.all.iter().find(|(known, _)| *known == name).map(|(_, mark)| mark.as_str()).unwrap()
    }
}

fn list(path: &str) -> &'static str {
    if path.ends_with("responses") { "input" } else { "messages" }
}

/// A conversation in which everything is marked.
fn conversation(marks: &Marks, path: &str, turns: usize) -> Value {
    let said = |n: usize| format!("{} {n} {}", marks.of("words"), "please look at the orders. ".repeat(30));
    let read = |n: usize| format!("{} {n} {}", marks.of("output"), "row of the table\n".repeat(40));
    let messages: Vec<Value> = (0..turns)
        .flat_map(|n| [json!({"role": "user", "content": said(n)}), json!({"role": "assistant", "content": read(n)})])
        .chain([json!({"role": "user", "content": said(turns)})])
        .collect();
    json!({"model": marks.of("model"), "max_tokens": 9, "system": marks.of("system"), list(path): messages})
}

fn send(address: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(crate::process::PATIENCE)).unwrap();
    let head = format!(
        "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}

/// Drives everything that can go wrong through a gateway that says all it can; what it printed.
fn drive(folder: &Path, marks: &Marks, format: &str) -> String {
    let runtime = Runtime::new().unwrap();
    let error = format!("no good: {} {}", marks.of("error"), marks.of("words"));
    let acts = [
        Act::say(marks.of("reply")),
        Act::status(500, &error),
        Act::error(400, "invalid_request_error", &error),
        Act::error(400, "invalid_request_error", &format!("prompt is too long: 25000 tokens > 16000 maximum {error}")),
        Act::HangUp,
        Act::CutAfter { text: error.clone(), pieces: 2 },
        Act::FailAfter { text: error.clone(), kind: marks.of("error").to_owned() },
        Act::say(marks.of("reply")),
    ];
    let (cycle, length) = (acts.clone(), acts.len());
    let provider = runtime.block_on(Provider::choosing(move |_, n| cycle[n % length].clone())).unwrap();
    let summaries = [
        Act::status(401, marks.of("summary")),
        Act::say(marks.of("summary")),
        Act::error(400, "bad", &format!("{} {}", marks.of("summary"), marks.of("words"))),
        Act::HangUp,
    ];
    let summariser = runtime.block_on(Provider::choosing(move |_, n| summaries[n % 4].clone())).unwrap();
    let upstream = provider.url();
    let mut command = command(
        folder,
        &[
            "--listen",
            "127.0.0.1:0",
            "--upstream-openai",
            &upstream,
            "--upstream-anthropic",
            &upstream,
            "--preset",
            "hermes",
            "--window",
            "16000",
            "--log",
            "debug",
            "--log-format",
            format,
        ],
    );
    command.args(["--set", &format!("summarizer.url={}/v1", summariser.url())]);
    command.args(["--set", "summarizer.retries=0", "--set", "gateway.max_body_bytes=1000000"]);
    command.env("FOLDLINE_SUMMARIZER_KEY", marks.of("key"));
    let mut served = start(folder, command);
    let greeting = served.greeting.clone();
    let key = marks.of("key");
    let marked = format!(
        "authorization: Bearer {key}\r\nx-api-key: {key}\r\nx-odd: {}\r\nx-foldline-focus: {}\r\nx-foldline-session: {}",
        marks.of("header"),
        marks.of("focus"),
        marks.of("session")
    );
    for path in ["/v1/chat/completions", "/v1/responses", MESSAGES] {
        for turns in [1, 8, 16, 24, 40, 60, 61, 62] {
            for stream in [false, true] {
                let mut body = conversation(marks, path, turns);
                body["stream"] = stream.into();
                let head = format!("POST {path}?q={} HTTP/1.1\r\n{marked}", marks.of("query").replace(' ', "%20"));
                send(&served.address, &head, body.to_string().as_bytes());
            }
        }
        // What is no conversation, no JSON, no text, too much, or packed badly.
        for (extra, body) in [
            ("", format!("{{\"messages\": \"{}\"", marks.of("words")).into_bytes()),
            ("", [marks.of("words").as_bytes(), &[0xff, 0xfe]].concat()),
            ("\r\ncontent-encoding: gzip", marks.of("words").as_bytes().to_vec()),
            ("", marks.of("words").repeat(30_000).into_bytes()),
        ] {
            send(&served.address, &format!("POST {path} HTTP/1.1\r\n{marked}{extra}"), &body);
        }
    }
    for page in ["sessions", "metrics", "recall/", "sessions/", "search?q=", "recall/fl-0123456789ab?grep="] {
        let head = format!("GET /foldline/{page}{} HTTP/1.1\r\n{marked}", marks.of("query").replace(' ', "%20"));
        send(&served.address, &head, b"");
    }
    send(&served.address, &format!("{} / HTTP/1.1\r\n{marked}", marks.of("words")), b"");
    served.wait_until("folds are done", "/foldline/metrics", |page| page.contains("foldline_background_folds 0"));
    assert!(served.metric("foldline_folds_total") >= 3.0, "something was folded");
    assert!(served.metric("foldline_summaries_total{kind=\"failed\"}") >= 1.0, "a summariser failed");
    // A store that breaks on top of it.
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        for found in glob(folder, file) {
            std::fs::write(found, marks.of("words").repeat(1_000)).unwrap();
        }
    }
    for turns in [63, 90] {
        let body = conversation(marks, MESSAGES, turns).to_string().replacen("words", "others", 1);
        send(&served.address, &format!("POST {MESSAGES} HTTP/1.1\r\n{marked}"), body.as_bytes());
    }
    served.signal("TERM");
    served.ended();
    greeting + &std::fs::read_to_string(folder.join(LOG)).unwrap()
}

/// The files of a name under a folder.
fn glob(folder: &Path, name: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    let here = paths.iter().filter(|path| path.file_name().is_some_and(|found| found == name)).cloned();
    here.chain(paths.iter().filter(|path| path.is_dir()).flat_map(|path| glob(path, name))).collect()
}

#[test]
fn the_most_talkative_log_holds_nothing_that_was_said() {
    let marks = Marks::new();
    for format in ["text", "json"] {
        let folder = tempfile::tempdir().unwrap();
        let said = drive(folder.path(), &marks, format);
        assert!(said.lines().count() > 100, "it did talk: {}", said.lines().count());
        for (name, mark) in &marks.all {
            // Also half of one is too much; in addresses a blank is written otherwise.
            for part in [mark.as_str(), &mark[..mark.len() / 2], &mark.replace(' ', "%20")] {
                let line = said.lines().find(|line| line.contains(part));
                assert!(line.is_none(), "{name} shows in the log: {line:?}");
            }
        }
    }
}
