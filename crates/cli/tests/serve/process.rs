//! The gateway as a process, and a client of it.

use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long agents work, whatever goes wrong meanwhile.
pub const TURNS: usize = 300;
/// The window that they work in.
pub const WINDOW: usize = 32_000;

/// No test waits longer for anything.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Served {
    pub process: Child,
    pub address: String,
    pub greeting: String,
}

pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
    command.arg("serve").args(args).current_dir(folder);
    command.env_clear().env("XDG_DATA_HOME", folder.join("data")).env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

/// The gateway between its clients and an upstream.
pub fn between(folder: &Path, upstream: &str, args: &[&str]) -> Command {
    let common = ["--listen", "127.0.0.1:0", "--upstream-openai", upstream, "--upstream-anthropic", upstream];
    command(folder, &[&common, args].concat())
}

/// Starts it.
pub fn serve(folder: &Path, upstream: &str, args: &[&str]) -> Served {
    start(folder, between(folder, upstream, args))
}

/// Starts the gateway and reads what it prints: one JSON object, or lines up to the status of the cache. What it logs
/// is in the folder.
pub fn start(folder: &Path, mut command: Command) -> Served {
    let log = OpenOptions::new().create(true).append(true).open(folder.join(LOG)).unwrap();
    let mut process = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut greeting = String::new();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    while !greeting.contains("Prompt caching") && !greeting.starts_with('{') {
        assert!(out.read_line(&mut greeting).unwrap() > 0, "it ended: {greeting}");
    }
    let address = match serde_json::from_str::<Value>(&greeting) {
        Ok(line) => line["address"].as_str().unwrap().to_owned(),
        Err(_) => greeting.lines().next().unwrap().to_owned(),
    };
    let address = address.rsplit("http://").next().unwrap().to_owned();
    Served { process, address, greeting }
}

/// Where standard error goes.
pub const LOG: &str = "log";

impl Served {
    /// Sends a request; the reply as far as it came.
    pub fn post(&self, path: &str, body: &Value) -> String {
        let mut stream = self.open(path, body);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }

    pub fn open(&self, path: &str, body: &Value) -> TcpStream {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    pub fn wait_until(&self, what: &str, path: &str, holds: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(&self.get(path)) {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A figure.
    pub fn metric(&self, name: &str) -> f64 {
        let page = self.get("/foldline/metrics");
        let line = page.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.process.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    pub fn ended(&mut self) -> Option<i32> {
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

/// A conversation in tools, of so many turns.
pub fn conversation(turns: usize, stream: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Run all tests."})];
    for n in 0..turns {
        let output: String = (0..30).map(|line| format!("case_{line}_{n} PASSED in 0.{line:03}s\n")).collect();
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("c{n}"), "name": "shell", "input": {"command": format!("pytest {n}")}}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("c{n}"), "content": output}]}));
    }
    json!({"model": "m", "max_tokens": 99, "stream": stream, "messages": messages})
}

pub const MESSAGES: &str = "/v1/messages";
