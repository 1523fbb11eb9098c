//! Measures the overhead of the gateway: the same requests directly and through it.
//!
//! The gateway is a process of its own, so that its processor time and its memory can be read from the system. Provider
//! and clients are threads of this process. Every request is a body of its own: nothing is answered from memory.

mod connections;
mod pass_through;
pub(crate) mod wire;

pub use connections::{ConnectionFlood, FloodFigures, crowded};
pub use pass_through::serve as pass_through;

use crate::{Failure, generate};
use foldline_core::Format;
use serde_json::{Value, json};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wire::{Client, STREAM};

/// How to measure.
#[derive(Clone, Debug)]
pub struct LoadTest {
    /// The binary.
    pub binary: PathBuf,
    /// Requests of each size for the comparison, one after another.
    pub requests: usize,
    /// Requests after which memory is read.
    pub many: usize,
    /// The processor that the gateway is held to, if it is.
    pub pin: Option<usize>,
}

/// A size of bodies, and what was measured with it.
#[derive(Clone, Debug)]
pub struct Size {
    /// What it shows.
    pub name: &'static str,
    /// Bytes of a body.
    pub bytes: usize,
    /// Half of all requests took less, in milliseconds, directly.
    pub direct: f64,
    /// The same through the gateway.
    pub through: f64,
    /// Processor time of the gateway per request, in milliseconds.
    pub cpu: f64,
    /// Requests per second with 32 clients.
    pub rate: f64,
    /// Processor time of the gateway per request then, in milliseconds.
    pub rush_cpu: f64,
    /// What the gateway did with the last request of the comparison.
    pub outcome: String,
}

/// All figures.
#[derive(Clone, Debug)]
pub struct Figures {
    /// By size of body.
    pub sizes: Vec<Size>,
    /// Memory in megabytes before the first request.
    pub rss_idle: f64,
    /// Requests that memory was read after.
    pub many: usize,
    /// Memory in megabytes then.
    pub rss_many: f64,
    /// The same when each request is a session of its own: small ones, and ones that are folded.
    pub rss_sessions: (f64, f64),
    /// First byte of a slow stream in milliseconds: directly, and through the gateway.
    pub first_byte: (f64, f64),
}

/// Clients at once.
const CLIENTS: usize = 32;
/// How long 32 clients send.
const RUSH: Duration = Duration::from_secs(5);
/// Streams that are timed.
const STREAMS: usize = 40;
const PATH: &str = "/v1/chat/completions";

/// A body, its case, and the window that decides what the gateway does with it.
const CASES: &[(&str, usize, u32)] = &[
    ("2 KB, nothing to do", 2 << 10, 1_000_000),
    ("400 KB, nothing to do", 400 << 10, 1_000_000),
    ("427 KB, nothing to do", 427 << 10, 1_000_000),
    ("400 KB, folded once", 400 << 10, 128_000),
];

/// Bodies of this size also go through a proxy that only passes on.
const BARE: usize = 2 << 10;

/// Bodies of sessions of their own, and the window: nothing to do, and each folded.
const SESSIONS: &[(usize, u32)] = &[(2 << 10, 1_000_000), (48 << 10, 16_000)];

/// Measures.
pub fn measure(plan: &LoadTest, tell: impl Fn(&str)) -> Result<Figures, Failure> {
    let upstream = wire::upstream()?;
    let mut sizes = Vec::new();
    let mut rss_idle = f64::MAX;
    let mut rss_many = 0.0f64;
    for (name, bytes, window) in CASES {
        tell(name);
        let gateway = Gateway::start(plan, upstream, *window)?;
        rss_idle = rss_idle.min(gateway.resident()?);
        sizes.push(compare(plan, &gateway, upstream, name, *bytes)?);
        if *bytes == BARE {
            let bare = Gateway::bare(plan, upstream)?;
            sizes.push(compare(plan, &bare, upstream, "2 KB, bare hyper", *bytes)?);
        }
    }
    tell("many requests");
    let gateway = Gateway::start(plan, upstream, 1_000_000)?;
    let next = AtomicUsize::new(0);
    rush(gateway.address, Until::Count(plan.many), &Bodies::new(2 << 10), &next)?;
    rss_many = rss_many.max(gateway.resident()?);
    tell("many sessions");
    let rss_sessions = many_sessions(plan, upstream)?;
    tell("slow streams");
    let first_byte = (first_byte(upstream)?, first_byte(gateway.address)?);
    Ok(Figures { sizes, rss_idle, many: plan.many, rss_many, rss_sessions, first_byte })
}

/// Memory after as many requests of sessions of their own, small ones and ones that are folded.
fn many_sessions(plan: &LoadTest, upstream: SocketAddr) -> Result<(f64, f64), Failure> {
    let mut resident = Vec::new();
    for (bytes, window) in SESSIONS {
        let gateway = Gateway::start(plan, upstream, *window)?;
        let bodies = Bodies { sessions: Sessions::Apart, ..Bodies::new(*bytes) };
        rush(gateway.address, Until::Count(plan.many), &bodies, &AtomicUsize::new(0))?;
        resident.push(gateway.resident()?);
    }
    Ok((resident.first().copied().unwrap_or_default(), resident.last().copied().unwrap_or_default()))
}

fn compare(
    plan: &LoadTest,
    gateway: &Gateway,
    upstream: SocketAddr,
    name: &'static str,
    bytes: usize,
) -> Result<Size, Failure> {
    let bodies = Bodies::new(bytes);
    let (mut direct, mut through) = (Client::to(upstream)?, Client::to(gateway.address)?);
    for number in 0..20 {
        direct.post(PATH, &bodies.numbered(number))?;
        through.post(PATH, &bodies.numbered(number))?;
    }
    let (mut directly, mut gone_through) = (Vec::new(), Vec::new());
    let before = gateway.processor_time()?;
    // In turn, so that a busy moment of the machine falls on both.
    for number in 0..plan.requests {
        let body = bodies.numbered(1_000 + number);
        directly.push(direct.post(PATH, &body)?.last);
        gone_through.push(through.post(PATH, &body)?.last);
    }
    let cpu = (gateway.processor_time()? - before) / plan.requests as f64;
    let outcome = through.outcome.clone().unwrap_or_default();
    let next = AtomicUsize::new(1_000_000);
    let before = gateway.processor_time()?;
    let began = Instant::now();
    let sent = rush(gateway.address, Until::Time(began + RUSH), &bodies, &next)?;
    let rate = sent as f64 / began.elapsed().as_secs_f64();
    let rush_cpu = (gateway.processor_time()? - before) / sent.max(1) as f64;
    let length = bodies.numbered(0).len();
    let (direct, through) = (median(directly), median(gone_through));
    Ok(Size { name, bytes: length, direct, through, cpu, rate, rush_cpu, outcome })
}

/// When a rush ends.
#[derive(Clone, Copy)]
enum Until {
    Count(usize),
    Time(Instant),
}

/// Many clients at once; the requests that were answered.
fn rush(address: SocketAddr, until: Until, bodies: &Bodies, next: &AtomicUsize) -> Result<usize, Failure> {
    let start = next.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(move || -> Result<usize, Failure> {
                    let mut client = Client::to(address)?;
                    let mut sent = 0;
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let over = match until {
                            Until::Count(count) => number - start >= count,
                            Until::Time(end) => Instant::now() >= end,
                        };
                        if over {
                            return Ok(sent);
                        }
                        client.post(PATH, &bodies.numbered(number))?;
                        sent += 1;
                    }
                })
            })
            .collect();
        let mut sent = 0;
        for client in clients {
            sent += client.join().map_err(|_| "a client panicked")??;
        }
        Ok(sent)
    })
}

fn first_byte(address: SocketAddr) -> Result<f64, Failure> {
    let mut client = Client::to(address)?;
    let body = [
        STREAM,
        br#","stream_options":{"include_usage":true},"model":"load","messages":[{"role":"user","content":"hi"}]}"#,
    ]
    .concat();
    client.post(PATH, &body)?;
    let times: Result<Vec<Duration>, Failure> = (0..STREAMS).map(|_| Ok(client.post(PATH, &body)?.first)).collect();
    Ok(median(times?))
}

/// Bodies of one size that differ in their last message, or from the first on.
struct Bodies {
    before: String,
    sessions: Sessions,
}

/// Whose session a body belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sessions {
    /// The same for all.
    One,
    /// One of its own for each.
    Apart,
}

impl Bodies {
    fn new(bytes: usize) -> Bodies {
        let mut messages = 2;
        let mut chosen = small(bytes);
        // Grown until it has the size; generated transcripts of n and n + 2 messages begin alike.
        while bytes > SMALL && chosen.len() < bytes {
            messages = (messages * 5 / 4).max(messages + 2);
            chosen = generate::transcript(Format::OpenAiChat, messages, 1);
        }
        let mut body: Value = serde_json::from_str(&chosen).unwrap_or_default();
        if let Some(list) = body.get_mut("messages").and_then(Value::as_array_mut) {
            while list.len() > 2 && Value::from(list.clone()).to_string().len() > bytes {
                list.pop();
            }
            // The last message must be one that a user's may follow.
            while list.last().is_some_and(|message| message.get("tool_calls").is_some() || message["role"] == "user") {
                list.pop();
            }
        }
        // What is said first tells sessions apart.
        let list = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
        if let Some(first) = list.into_iter().find(|message| message["role"] == "user") {
            let words = first["content"].as_str().unwrap_or_default().to_owned();
            first["content"] = format!("Session {SESSION}. {words}").into();
        }
        body["model"] = "load".into();
        let text = body.to_string();
        let before = text.strip_suffix("]}").map(str::to_owned).unwrap_or_else(|| {
            let messages = body["messages"].to_string();
            format!("{{\"model\":\"load\",\"messages\":{}", messages.trim_end_matches(']'))
        });
        Bodies { before, sessions: Sessions::One }
    }

    fn numbered(&self, number: usize) -> Vec<u8> {
        let session = if self.sessions == Sessions::Apart { number } else { 0 };
        let before = self.before.replacen(SESSION, &session.to_string(), 1);
        format!("{before},{{\"role\":\"user\",\"content\":\"Request number {number}.\"}}]}}").into_bytes()
    }
}

/// Stands for the number of a session.
const SESSION: &str = "@session@";

/// Up to here a body is one short conversation; above it, a generated one.
const SMALL: usize = 4096;

/// A short conversation of about this many bytes.
fn small(bytes: usize) -> String {
    let text = "Please look at the next item on the list and tell me what is left to do. ";
    let filled = text.repeat(bytes.min(SMALL).saturating_sub(450) / text.len());
    json!({"model": "load", "messages": [{"role": "system", "content": "You help."}, {"role": "user", "content": filled}, {"role": "assistant", "content": "x".repeat(200)}]})
        .to_string()
}

/// A command, held to the processor that the plan names.
fn pinned(plan: &LoadTest, binary: &Path) -> Command {
    let Some(core) = plan.pin else { return Command::new(binary) };
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core.to_string()).arg(binary);
    command
}

/// The gateway as a process; ends with this value.
struct Gateway {
    process: Child,
    address: SocketAddr,
    _folder: PathBuf,
}

impl Gateway {
    fn start(plan: &LoadTest, upstream: SocketAddr, window: u32) -> Result<Gateway, Failure> {
        let folder = std::env::temp_dir().join(format!("foldline-load-{}-{window}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut command = pinned(plan, &plan.binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--window", &window.to_string()])
            .args(["--upstream-openai", &format!("http://{upstream}")])
            .arg("--store")
            .arg(folder.join("store.db"))
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy");
        Gateway::listening(command, folder)
    }

    /// A proxy that only passes on, in the gateway's place.
    fn bare(plan: &LoadTest, upstream: SocketAddr) -> Result<Gateway, Failure> {
        let mut command = pinned(plan, &std::env::current_exe()?);
        command.arg("pass-through").arg(upstream.to_string());
        Gateway::listening(command, PathBuf::new())
    }

    fn listening(mut command: Command, folder: PathBuf) -> Result<Gateway, Failure> {
        command.stdout(Stdio::piped());
        let mut process =
            command.spawn().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.rsplit("http://").next().map(str::trim).unwrap_or_default();
        let address = address.parse().map_err(|_| format!("the gateway did not say where it listens: {line}"))?;
        Ok(Gateway { process, address, _folder: folder })
    }

    /// Resident memory in megabytes.
    fn resident(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// Processor time so far in milliseconds, of all threads.
    fn processor_time(&self) -> Result<f64, Failure> {
        let stat = std::fs::read_to_string(Path::new("/proc").join(self.process.id().to_string()).join("stat"))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: f64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<f64>().ok()).sum();
        // Linux counts in hundredths of a second on every machine that this runs on.
        Ok(ticks * 10.0)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self._folder);
    }
}

/// The median in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| crate::best::milliseconds(*time))
}

impl Figures {
    /// For programs.
    pub fn to_json(&self) -> Value {
        let sizes: Vec<Value> = self
            .sizes
            .iter()
            .map(|size| {
                json!({ "name": size.name, "bytes": size.bytes, "direct_ms": size.direct, "through_ms": size.through,
                        "added_ms": size.through - size.direct, "cpu_ms": size.cpu, "requests_per_second": size.rate, "rush_cpu_ms": size.rush_cpu, "outcome": size.outcome })
            })
            .collect();
        json!({ "sizes": sizes, "rss_idle_mb": self.rss_idle, "many": self.many, "rss_many_mb": self.rss_many,
                "rss_sessions_mb": { "small": self.rss_sessions.0, "folded": self.rss_sessions.1 },
                "first_byte_ms": { "direct": self.first_byte.0, "through": self.first_byte.1 } })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<24}{:>10}{:>12}{:>12}{:>12}{:>12}{:>14}{:>14}  outcome",
            "bodies", "bytes", "direct ms", "through ms", "added ms", "CPU ms", "32 clients/s", "their CPU ms"
        )?;
        for size in &self.sizes {
            writeln!(
                f,
                "{:<24}{:>10}{:>12.3}{:>12.3}{:>12.3}{:>12.3}{:>14.0}{:>14.3}  {}",
                size.name,
                size.bytes,
                size.direct,
                size.through,
                size.through - size.direct,
                size.cpu,
                size.rate,
                size.rush_cpu,
                size.outcome
            )?;
        }
        writeln!(f, "memory idle {:.1} MB, after {} requests {:.1} MB", self.rss_idle, self.many, self.rss_many)?;
        let (small, folded) = self.rss_sessions;
        writeln!(f, "each a session of its own: {small:.1} MB; each folded: {folded:.1} MB")?;
        writeln!(
            f,
            "first byte of a slow stream: direct {:.2} ms, through {:.2} ms",
            self.first_byte.0, self.first_byte.1
        )
    }
}
