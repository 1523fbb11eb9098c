//! `foldline serve` as a process: what it prints, how it stops, and what survives when it is killed.
#![allow(clippy::unwrap_used)]

use foldline_script::{Act, Provider};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(20);

struct Served {
    process: Child,
    address: String,
    greeting: String,
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
    command.arg("serve").args(args).current_dir(folder);
    command.env_clear().env("XDG_DATA_HOME", folder.join("data")).env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

/// Starts the gateway and reads what it prints up to the status of the cache, which is the last line.
fn serve(folder: &Path, upstream: &str, args: &[&str]) -> Served {
    let common = ["--listen", "127.0.0.1:0", "--upstream-openai", upstream, "--upstream-anthropic", upstream];
    let mut command = command(folder, &[&common, args].concat());
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut greeting = String::new();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    while !greeting.contains("Prompt caching") {
        assert!(out.read_line(&mut greeting).unwrap() > 0, "it ended: {greeting}");
    }
    let first = greeting.lines().next().unwrap();
    let address = first.rsplit("http://").next().unwrap().to_owned();
    Served { process, address, greeting }
}

impl Served {
    /// Sends a request; the reply as far as it came.
    fn post(&self, path: &str, body: &Value) -> String {
        let mut stream = self.open(path, body);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }

    fn open(&self, path: &str, body: &Value) -> TcpStream {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    fn wait_until(&self, what: &str, path: &str, holds: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(&self.get(path)) {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    fn ended(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn refused(folder: &Path, args: &[&str]) -> (i32, String) {
    let Output { status, stderr, .. } = command(folder, args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

/// A conversation in tools, of so many turns.
fn conversation(turns: usize, stream: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Run all tests."})];
    for n in 0..turns {
        let output: String = (0..30).map(|line| format!("case_{line}_{n} PASSED in 0.{line:03}s\n")).collect();
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("c{n}"), "name": "shell", "input": {"command": format!("pytest {n}")}}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("c{n}"), "content": output}]}));
    }
    json!({"model": "m", "max_tokens": 99, "stream": stream, "messages": messages})
}

const MESSAGES: &str = "/v1/messages";

#[test]
fn a_first_run_says_what_to_export_and_where_things_are() {
    let folder = tempfile::tempdir().unwrap();
    let served = serve(folder.path(), "http://127.0.0.1:9", &[]);
    let greeting = &served.greeting;
    assert!(greeting.contains(&format!("export ANTHROPIC_BASE_URL=http://{}\n", served.address)), "{greeting}");
    assert!(greeting.contains(&format!("export OPENAI_BASE_URL=http://{}/v1\n", served.address)), "{greeting}");
    assert!(greeting.contains(&folder.path().join("data").display().to_string()), "the store: {greeting}");
    assert!(greeting.contains("Prompt caching: ENABLED (Claude via") && greeting.contains("5m TTL"), "{greeting}");
    assert!(served.get("/foldline/healthz").starts_with("HTTP/1.1 200"));
}

#[test]
fn what_cannot_work_is_said_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let (code, words) = refused(folder.path(), &["--listen", "0.0.0.0:0"]);
    assert!(code == 2 && words.contains("client_keys"), "{code} {words}");
    let (code, words) = refused(folder.path(), &["--upstream-openai", "api.openai.com"]);
    assert!(code == 2 && words.contains("scheme"), "{code} {words}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (code, words) = refused(folder.path(), &["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(code == 2 && words.contains("cannot listen"), "{code} {words}");
}

#[test]
fn a_signal_lets_an_open_stream_finish_and_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let slow = Act::Say { text: "one two three four five".into(), pace: Duration::from_millis(80) };
    let provider = runtime.block_on(Provider::start([slow])).unwrap();
    for signal in ["TERM", "INT"] {
        let mut served = serve(folder.path(), &provider.url(), &[]);
        let mut stream = served.open(MESSAGES, &conversation(1, true));
        let mut start = [0; 20];
        stream.read_exact(&mut start).unwrap();
        served.signal(signal);
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("message_stop"), "{rest}");
        assert_eq!(served.ended(), Some(0), "{signal}");
    }
}

#[test]
fn a_settings_file_that_changes_takes_effect_and_a_bad_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let provider = runtime.block_on(Provider::start([Act::say("Done.")])).unwrap();
    let file = folder.path().join("foldline.yaml");
    std::fs::write(&file, "gateway:\n  max_body_bytes: 100000\n").unwrap();
    let served = serve(folder.path(), &provider.url(), &[]);
    let status = || served.post(MESSAGES, &conversation(2, false))[9..12].to_owned();
    assert_eq!(status(), "200");
    std::fs::write(&file, "gateway:\n  max_body_bytes: 1000\n").unwrap();
    served.wait_until("the settings are read again", "/foldline/metrics", |page| {
        page.contains("config_reloads_total{kind=\"done\"}")
    });
    assert_eq!(status(), "413");
    std::fs::write(&file, "gateway:\n  max_body_bytes: nonsense\n").unwrap();
    served.wait_until("bad settings are refused", "/foldline/metrics", |page| {
        page.contains("config_reloads_total{kind=\"refused\"}")
    });
    assert_eq!(status(), "413");
}

#[test]
fn a_kill_between_turns_or_in_a_stream_changes_no_byte_of_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let pace = Duration::from_millis(30);
    let provider = runtime.block_on(Provider::start([Act::Say { text: "one two three four".into(), pace }])).unwrap();
    let start = || serve(folder.path(), &provider.url(), &["--window", "16000"]);
    let changes = |served: &Served| {
        served.wait_until("folds are done", "/foldline/metrics", |page| page.contains("foldline_background_folds 0"));
        let page = served.get("/foldline/metrics");
        let changes = page
            .lines()
            .filter(|line| line.starts_with("foldline_folds_total") || line.starts_with("foldline_prunes_total"));
        changes.map(str::to_owned).collect::<Vec<_>>()
    };
    // A fold that is made beside a request shows in the next one; from then on nothing moves.
    let settle = |served: &Served, request: &Value| {
        let mut quiet = 0;
        while quiet < 2 {
            let before = changes(served);
            served.post(MESSAGES, request);
            quiet = if changes(served) == before { quiet + 1 } else { 0 };
        }
    };
    let forwarded = || provider.requests().pop().unwrap().text();
    let mut served = start();
    let mut folded = 0;
    for turns in (4..60).step_by(4) {
        let request = conversation(turns, turns % 8 == 0);
        settle(&served, &request);
        let before = forwarded();
        // No client asks again within the moment in which a report is written down.
        std::thread::sleep(Duration::from_millis(50));
        if turns % 8 == 0 {
            // In the middle of its stream.
            let mut stream = served.open(MESSAGES, &request);
            let mut start = [0; 20];
            stream.read_exact(&mut start).unwrap();
            served.signal("KILL");
            served.ended();
        } else {
            served.signal("KILL");
            served.ended();
        }
        served = start();
        served.post(MESSAGES, &request);
        let after = forwarded();
        assert!(after == before, "after {turns} turns: {} bytes became {}", before.len(), after.len());
        folded += usize::from(before.len() < request.to_string().len());
    }
    assert!(folded >= 5, "the conversation was folded in {folded} of 14 rounds");
}
