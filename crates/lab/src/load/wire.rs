//! A minimal HTTP client and server for measurements.

use crate::Failure;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// How long anything may take before the measurement gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The head of a message.
struct Head {
    first: String,
    length: Option<usize>,
    outcome: Option<String>,
}

fn read_head(reader: &mut impl BufRead) -> std::io::Result<Option<Head>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let (mut length, mut outcome) = (None, None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(Some(Head { first, length, outcome }));
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().ok(),
            Some(("x-foldline-outcome", value)) => outcome = Some(value.trim().to_owned()),
            _ => {}
        }
    }
}

/// A connection that is kept for many requests.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
    body: Vec<u8>,
    /// What the gateway says it did with the last request.
    pub(crate) outcome: Option<String>,
}

/// What one request gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Until the first byte of the body.
    pub(crate) first: Duration,
    /// Until the last.
    pub(crate) last: Duration,
}

impl Client {
    /// Connects.
    pub(crate) fn to(address: SocketAddr) -> Result<Client, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Client { reader: BufReader::with_capacity(1 << 16, stream), body: Vec::new(), outcome: None })
    }

    /// Sends a request and reads its reply. Fails for every status but 200.
    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> Result<Timing, Failure> {
        self.post_with(path, "authorization: Bearer load\r\n", body)
    }

    /// The same with these lines in its head.
    pub(crate) fn post_with(&mut self, path: &str, headers: &str, body: &[u8]) -> Result<Timing, Failure> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        let began = Instant::now();
        self.reader.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        let head = read_head(&mut self.reader)?.ok_or("the connection was closed")?;
        if !head.first.contains(" 200 ") {
            return Err(format!("expected status 200, got {}", head.first.trim_end()).into());
        }
        self.outcome = head.outcome;
        match head.length {
            Some(length) => {
                self.body.resize(length, 0);
                self.reader.read_exact(&mut self.body)?;
                Ok(Timing { first: began.elapsed(), last: began.elapsed() })
            }
            None => self.read_chunks(began),
        }
    }

    fn read_chunks(&mut self, began: Instant) -> Result<Timing, Failure> {
        let mut first = None;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Err("the stream was cut".into());
            }
            first.get_or_insert_with(|| began.elapsed());
            let length = usize::from_str_radix(line.trim_end(), 16)?;
            self.body.resize(length + 2, 0);
            self.reader.read_exact(&mut self.body)?;
            if length == 0 {
                return Ok(Timing { first: first.unwrap_or_default(), last: began.elapsed() });
            }
        }
    }
}

/// A provider that answers at once, or as a slow stream; its threads end with the process.
pub(crate) fn upstream() -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(answer(stream)));
        }
    });
    Ok(address)
}

/// How long a slow stream waits before its first event, and between events.
const SLOW: Duration = Duration::from_millis(20);
/// Events of a slow stream.
const EVENTS: usize = 5;

/// A reply whose usage is what the request weighs, so that nothing is learnt that is not so.
fn reply(bytes: usize) -> String {
    let usage = format!(r#"{{"prompt_tokens":{},"completion_tokens":1}}"#, bytes / 4);
    let choice = r#"{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}"#;
    format!(r#"{{"id":"load","object":"chat.completion","choices":[{choice}],"usage":{usage}}}"#)
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut body = Vec::new();
    while let Some(head) = read_head(&mut reader)? {
        body.resize(head.length.unwrap_or(0), 0);
        reader.read_exact(&mut body)?;
        let out = reader.get_mut();
        if body.starts_with(STREAM) {
            out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
            for number in 0..EVENTS {
                std::thread::sleep(SLOW);
                let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{number}\"}}}}]}}\n\n");
                out.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
            }
            out.write_all(b"0\r\n\r\n")?;
        } else {
            let reply = reply(body.len());
            let length = reply.len();
            out.write_all(
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{reply}")
                    .as_bytes(),
            )?;
        }
    }
    Ok(())
}

/// How a request for a stream begins.
pub(crate) const STREAM: &[u8] = br#"{"stream":true"#;
