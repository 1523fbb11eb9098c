//! Measures requests with and without thousands of silent and slow connections.

use super::wire::{self, Client};
use super::{CLIENTS, Gateway, LoadTest, PATH};
use crate::Failure;
use std::fmt;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many connections of each kind.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionFlood {
    /// Those that never say anything.
    pub silent: usize,
    /// Those whose bodies come a byte at a time.
    pub slow: usize,
}

/// What 32 clients saw, with and without the crowd, round after round.
#[derive(Clone, Debug)]
pub struct FloodFigures {
    crowd: ConnectionFlood,
    /// The slowest of a hundred requests in milliseconds, by round: without, with.
    p99: Vec<(f64, f64)>,
    /// Requests that were answered: without, with.
    answered: (usize, usize),
    /// Requests that failed, and connections of clients that had to be made again.
    failed: usize,
    /// Resident memory of the gateway in megabytes: before the crowd, and the most with it.
    memory: (f64, f64),
}

/// A busy machine disturbs both sides of a round alike; the best rounds are the least disturbed.
const ROUNDS: usize = 5;
/// How long clients work on each side of a round.
const WORK: Duration = Duration::from_secs(4);
/// One byte of every slow body.
const TRICKLE: Duration = Duration::from_millis(500);

/// Measures.
pub fn crowded(plan: &LoadTest, crowd: ConnectionFlood, tell: impl Fn(&str)) -> Result<FloodFigures, Failure> {
    let upstream = wire::upstream()?;
    let gateway = Gateway::start(plan, upstream, 1_000_000)?;
    // The first requests open connections to the provider.
    work(gateway.address)?;
    let before = gateway.resident()?;
    let mut figures = FloodFigures { crowd, p99: Vec::new(), answered: (0, 0), failed: 0, memory: (before, before) };
    for round in 0..ROUNDS {
        tell(&format!("round {}", round + 1));
        let alone = work(gateway.address)?;
        let (ready, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (with, memory) = std::thread::scope(|scope| -> Result<(Seen, f64), Failure> {
            let (ready, over) = (&ready, &over);
            let address = gateway.address;
            scope.spawn(move || hold(address, crowd, ready, over));
            while !ready.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let seen = work(gateway.address);
            let memory = gateway.resident();
            over.store(true, Ordering::Release);
            Ok((seen?, memory?))
        })?;
        figures.p99.push((alone.p99(), with.p99()));
        figures.answered.0 += alone.times.len();
        figures.answered.1 += with.times.len();
        figures.failed += alone.failed + with.failed;
        figures.memory.1 = figures.memory.1.max(memory);
    }
    Ok(figures)
}

/// Opens the crowd and keeps it up until it is over: what the gateway closes is opened again.
fn hold(address: SocketAddr, crowd: ConnectionFlood, ready: &AtomicBool, over: &AtomicBool) {
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{";
    let slow = |_| {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.write_all(head.as_bytes()).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    };
    let silent: Vec<TcpStream> = (0..crowd.silent).filter_map(|_| TcpStream::connect(address).ok()).collect();
    let mut trickling: Vec<Option<TcpStream>> = (0..crowd.slow).map(slow).collect();
    ready.store(true, Ordering::Release);
    while !over.load(Ordering::Acquire) {
        for place in &mut trickling {
            let is_open = place.as_mut().is_some_and(|stream| stream.write_all(b" ").is_ok());
            if !is_open {
                *place = slow(0);
            }
            if over.load(Ordering::Acquire) {
                break;
            }
        }
        std::thread::sleep(TRICKLE);
    }
    drop(silent);
}

/// What clients saw.
struct Seen {
    times: Vec<Duration>,
    failed: usize,
}

impl Seen {
    fn p99(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() * 99 / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
    }
}

/// Clients that work side by side, each with a pause between its requests as agents have.
fn work(address: SocketAddr) -> Result<Seen, Failure> {
    const PAUSE: Duration = Duration::from_millis(40);
    let end = Instant::now() + WORK;
    let body = br#"{"model":"load","messages":[{"role":"user","content":"hi"}]}"#;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(move || {
                    let mut seen = Seen { times: Vec::new(), failed: 0 };
                    let mut client = None;
                    while Instant::now() < end {
                        let mut open = match client.take() {
                            Some(open) => open,
                            None => match Client::to(address) {
                                Ok(open) => open,
                                Err(_) => {
                                    seen.failed += 1;
                                    continue;
                                }
                            },
                        };
                        match open.post(PATH, body) {
                            Ok(timing) => {
                                seen.times.push(timing.last);
                                client = Some(open);
                            }
                            Err(_) => seen.failed += 1,
                        }
                        std::thread::sleep(PAUSE);
                    }
                    seen
                })
            })
            .collect();
        let mut all = Seen { times: Vec::new(), failed: 0 };
        for client in clients {
            let seen = client.join().map_err(|_| "a client panicked")?;
            all.times.extend(seen.times);
            all.failed += seen.failed;
        }
        Ok(all)
    })
}

impl fmt::Display for FloodFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConnectionFlood { silent, slow } = self.crowd;
        writeln!(f, "{CLIENTS} clients, {silent} silent and {slow} slow connections beside them")?;
        for (alone, with) in &self.p99 {
            writeln!(f, "  p99 {alone:>6.1} ms without, {with:>6.1} ms with: {:>+6.1} ms", with - alone)?;
        }
        let best = |side: fn(&(f64, f64)) -> f64| self.p99.iter().map(side).fold(f64::INFINITY, f64::min);
        let (alone, with) = (best(|pair| pair.0), best(|pair| pair.1));
        writeln!(f, "best rounds: p99 {alone:.1} ms without, {with:.1} ms with: {:+.1} ms (limit +50)", with - alone)?;
        writeln!(f, "answered {} and {}, failed {}", self.answered.0, self.answered.1, self.failed)?;
        write!(f, "memory of the gateway: {:.0} MB before, at most {:.0} MB", self.memory.0, self.memory.1)
    }
}
