//! The server: one task per connection, one act per request.

use crate::act::Act;
use crate::dialect::{Delivery, Dialect};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Received {
    /// The method.
    pub method: Method,
    /// Path and query; the whole URL when the provider is used as a proxy.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Received {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Chooses an act for a request: the request, and how many came before it.
type Choose = dyn Fn(&Received, usize) -> Act + Send + Sync;

/// A running provider. It ends when it is dropped.
pub struct Provider {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Provider {
    /// Starts a provider that does one act after the other and repeats the last.
    pub async fn start(script: impl IntoIterator<Item = Act>) -> io::Result<Provider> {
        let script: Vec<Act> = script.into_iter().collect();
        Provider::choosing(move |_, earlier| {
            script.get(earlier).or(script.last()).cloned().unwrap_or_else(|| Act::say("Hello."))
        })
        .await
    }

    /// Starts a provider that chooses its act by the request.
    pub async fn choosing(choose: impl Fn(&Received, usize) -> Act + Send + Sync + 'static) -> io::Result<Provider> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let received = Arc::new(Mutex::new(Vec::new()));
        let (log, choose): (_, Arc<Choose>) = (Arc::clone(&received), Arc::new(choose));
        let task = tokio::spawn(async move {
            // Connections end with the provider, also those that stall.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&log), Arc::clone(&choose)));
            }
        });
        Ok(Provider { address, received, task })
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

async fn serve(stream: TcpStream, log: Arc<Mutex<Vec<Received>>>, choose: Arc<Choose>) {
    let service = service_fn(move |request| answer(request, Arc::clone(&log), Arc::clone(&choose)));
    let builder = hyper::server::conn::http1::Builder::new();
    // An act that hangs up ends in an error here, as it should.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<Received>>>,
    choose: Arc<Choose>,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let received = Received { method: head.method, uri: head.uri, headers: head.headers, body };
    let act = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let act = choose(&received, log.len());
        log.push(received.clone());
        act
    };
    let asked = received.json();
    let dialect = Dialect::of(received.uri.path());
    let speech = Speech { model: dialect.model(&received.uri, &asked), dialect, prompt: received.body.len() / 4 };
    let delivery = dialect.delivery(&received.uri, &asked);
    match act {
        Act::Say { .. } if received.uri.path().ends_with(":countTokens") => {
            let count = serde_json::json!({ "totalTokens": speech.prompt });
            Ok(whole(200, &[], "application/json", count.to_string()))
        }
        Act::Say { text, .. } if delivery != Delivery::Events => {
            let body = speech.dialect.whole(&speech.model, &text, speech.prompt);
            let body = if delivery == Delivery::List { format!("[{body}\n]") } else { body };
            Ok(whole(200, &[], "application/json", body))
        }
        Act::Say { text, pace } => Ok(streaming(speech, text, Ending { pieces: usize::MAX, pace, how: How::Properly })),
        Act::Raw { status, headers, content_type, body } => Ok(whole(status, &headers, &content_type, body)),
        Act::StallAfter { text, pieces } => Ok(streaming(speech, text, Ending::after(pieces, How::Never))),
        Act::CutAfter { text, pieces } => Ok(streaming(speech, text, Ending::after(pieces, How::Broken))),
        Act::EndAfter { text, pieces } => Ok(streaming(speech, text, Ending::after(pieces, How::Early))),
        Act::FailAfter { text, kind } => Ok(streaming(speech, text, Ending::after(usize::MAX, How::Fault(kind)))),
        Act::Babble => Ok(streaming(speech, "word ".repeat(1 << 20), Ending::after(usize::MAX, How::Never))),
        Act::Stall => std::future::pending().await,
        Act::HangUp => Err(io::Error::other("scripted")),
    }
}

fn whole(status: u16, headers: &[(String, String)], content_type: &str, body: String) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(body))));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    set(&mut response, "content-type", content_type);
    for (name, value) in headers {
        set(&mut response, name, value);
    }
    response
}

fn set(response: &mut Response<Body>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        response.headers_mut().append(name, value);
    }
}

struct Speech {
    dialect: Dialect,
    model: String,
    prompt: usize,
}

struct Ending {
    pieces: usize,
    pace: Duration,
    how: How,
}

enum How {
    Properly,
    Early,
    Broken,
    Never,
    Fault(String),
}

impl Ending {
    fn after(pieces: usize, how: How) -> Ending {
        Ending { pieces, pace: Duration::ZERO, how }
    }
}

fn streaming(speech: Speech, text: String, ending: Ending) -> Response<Body> {
    let (sender, body) = Channel::new(4);
    tokio::spawn(speak(sender, speech, text, ending));
    let mut response = Response::new(Either::Right(body));
    set(&mut response, "content-type", "text/event-stream");
    response
}

async fn speak(mut sender: Sender<Bytes, io::Error>, speech: Speech, text: String, ending: Ending) {
    let Speech { dialect, model, prompt } = speech;
    if sender.send_data(dialect.opening(&model, prompt).into()).await.is_err() {
        return;
    }
    for words in text.split_inclusive(' ').take(ending.pieces) {
        tokio::time::sleep(ending.pace).await;
        // A client that went away ends the speech.
        if sender.send_data(dialect.piece(&model, words).into()).await.is_err() {
            return;
        }
    }
    match ending.how {
        How::Properly => {
            let _ = sender.send_data(dialect.closing(&model, &text, prompt).into()).await;
        }
        How::Fault(kind) => {
            let _ = sender.send_data(dialect.fault(&kind).into()).await;
        }
        How::Early => {}
        How::Broken => sender.abort(io::Error::other("scripted")),
        How::Never => std::future::pending().await,
    }
}
