//! One call: send the request, read the streamed reply with timeouts.

use super::classify;
use super::dialect::{self, ReplyPiece};
use super::endpoint::Endpoint;
use super::retry;
use super::write::Limits;
use crate::outbound::{Outbound, OutboundError};
use bytes::Bytes;
use foldline_core::summary::{Ask, Failure, FailureClass};
use foldline_core::tokens::estimate;
use foldline_transcript::wire::events::{self, Events};
use foldline_transcript::wire::reply::{self, ReportedUsage};
use foldline_transcript::wire::sse::SseUsage;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// A call that did not work.
#[derive(Debug)]
pub(super) struct CallError {
    pub(super) failure: Failure,
    /// What the server said about trying again.
    pub(super) headers: HeaderMap,
    /// Whether another try may work.
    pub(super) again: bool,
}

impl CallError {
    fn of(class: FailureClass, words: &str) -> CallError {
        CallError { failure: Failure::new(class, words), headers: HeaderMap::new(), again: class.may_pass() }
    }

    /// How long to wait before the same is tried again; `None` when that is of no use, or was done often enough.
    pub(super) fn pause(&self, tries: u32, most: u32) -> Option<Duration> {
        retry::pause(tries, &self.headers).filter(|_| self.again && tries < most)
    }

    fn cut(words: &str) -> CallError {
        CallError { again: true, ..CallError::of(FailureClass::BadReply, words) }
    }
}

/// A page of an error is read up to this much.
const LONGEST_ERROR: usize = 64 * 1024;
/// A stream of thoughts without an answer ends here.
const LONGEST_STREAM: usize = 16 << 20;
/// Characters of an answer per token that it may take: twice what text has. What is longer is cut anyway.
const CHARS_PER_TOKEN: usize = 8;

/// Asks once. `heard` is told how many characters have come; `spent` what it took, as far as the server says.
pub(super) async fn call(
    outbound: &Outbound,
    endpoint: &Endpoint,
    ask: &Ask,
    limits: Limits,
    heard: &mut (dyn FnMut(usize) + Send),
    spent: &mut Option<ReportedUsage>,
) -> Result<String, CallError> {
    let mut watch = Watch { limits, deadline: Instant::now() + limits.first_word, heard: 0 };
    let request = request(endpoint, ask).map_err(|words| CallError::of(FailureClass::Refused, &words))?;
    let response = watch.wait(outbound.send(request)).await?.map_err(|error| of_outbound(&error))?;
    if !response.status().is_success() {
        return Err(refusal(response, endpoint, &mut watch).await);
    }
    // What is answered is charged, whatever becomes of the answer.
    *spent = Some(ReportedUsage { input: u64::from(prompt_tokens(ask)), ..ReportedUsage::default() });
    let most = reply_room(ask) as usize * CHARS_PER_TOKEN;
    let streams = content_type(&response).is_some_and(|kind| kind.starts_with("text/event-stream"));
    match streams {
        true => stream(response, endpoint, most, &mut watch, heard, spent).await,
        false => whole(response, endpoint, &mut watch, spent).await,
    }
}

/// Tokens of a prompt, estimated.
fn prompt_tokens(ask: &Ask) -> u32 {
    match ask {
        Ask::Prompt { system, user, .. } => estimate(system) + estimate(user),
        Ask::Document { body, .. } => estimate(body),
    }
}

/// What the server reported, or else what was estimated with the words that came.
fn note(spent: &mut Option<ReportedUsage>, reported: Option<ReportedUsage>, words: &str) {
    *spent = match (reported.filter(|usage| usage.prompt() > 0), *spent) {
        (Some(usage), _) => Some(usage),
        (None, before) => before.map(|before| ReportedUsage { output: estimate(words).into(), ..before }),
    };
}

fn reply_room(ask: &Ask) -> u32 {
    match ask {
        Ask::Prompt { reply, .. } | Ask::Document { reply, .. } => *reply,
    }
}

fn request(endpoint: &Endpoint, ask: &Ask) -> Result<Request<Full<Bytes>>, String> {
    let body = dialect::body(endpoint.dialect, &endpoint.model, ask);
    let mut request =
        Request::post(endpoint.url.clone()).body(Full::new(Bytes::from(body))).map_err(|e| e.to_string())?;
    let headers = request.headers_mut();
    *headers = endpoint.credentials();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    headers.insert("user-agent", HeaderValue::from_static(concat!("foldline/", env!("CARGO_PKG_VERSION"))));
    Ok(request)
}

async fn stream(
    response: Response<Incoming>,
    endpoint: &Endpoint,
    most: usize,
    watch: &mut Watch,
    heard: &mut (dyn FnMut(usize) + Send),
    spent: &mut Option<ReportedUsage>,
) -> Result<String, CallError> {
    let mut usage = SseUsage::new(dialect::format(endpoint.dialect));
    let mut text = String::new();
    let result = listen(response.into_body(), endpoint, most, watch, heard, &mut usage, &mut text).await;
    note(spent, usage.usage(), &text);
    result.map(|()| text)
}

/// Gathers the words of a stream in `text`.
async fn listen(
    mut body: Incoming,
    endpoint: &Endpoint,
    most: usize,
    watch: &mut Watch,
    heard: &mut (dyn FnMut(usize) + Send),
    usage: &mut SseUsage,
    text: &mut String,
) -> Result<(), CallError> {
    let mut arrived = Events::default();
    let mut bytes = 0;
    loop {
        let frame = watch.wait(body.frame()).await?;
        match frame {
            Some(Ok(frame)) => {
                let data = frame.into_data().unwrap_or_default();
                bytes += data.len();
                usage.feed(&data);
                arrived.feed(&data);
            }
            Some(Err(error)) => return Err(CallError::cut(&format!("the stream broke: {error}"))),
            None => {
                // Some servers forget the last blank line.
                let last = events::payload(&arrived.rest());
                let speech = dialect::event(endpoint.dialect, &String::from_utf8_lossy(&last));
                text.push_str(&speech.words);
                return if speech.ends {
                    Ok(())
                } else {
                    Err(CallError::cut("the stream ended before the reply was complete"))
                };
            }
        }
        while let Some(event) = arrived.next_event() {
            let data = events::payload(event);
            if data.is_empty() {
                continue;
            }
            let data = String::from_utf8_lossy(&data);
            let ReplyPiece { words, thinks, ends, failure } =
                dialect::event(endpoint.dialect, &endpoint.without_key(&data));
            if let Some(failure) = failure {
                return Err(CallError { again: failure.class.may_pass(), failure, headers: HeaderMap::new() });
            }
            if !words.is_empty() || thinks {
                watch.progress();
            }
            text.push_str(&words);
            if ends {
                return Ok(());
            }
        }
        heard(text.len());
        // Long enough: what comes after would be cut. Going away tells the server to stop.
        if text.len() > most {
            return Ok(());
        }
        if bytes > LONGEST_STREAM {
            return Err(CallError::of(FailureClass::BadReply, "the reply exceeds the size limit"));
        }
    }
}

async fn whole(
    response: Response<Incoming>,
    endpoint: &Endpoint,
    watch: &mut Watch,
    spent: &mut Option<ReportedUsage>,
) -> Result<String, CallError> {
    let kind = content_type(&response).unwrap_or("no content type").to_owned();
    let body = read(response, LONGEST_STREAM, watch).await?;
    if !kind.contains("json") {
        return Err(CallError::of(FailureClass::BadReply, &format!("expected an event stream, found {kind}")));
    }
    let speech = dialect::whole(endpoint.dialect, &endpoint.without_key(&body));
    note(spent, reply::read(dialect::format(endpoint.dialect), &body).usage, &speech.words);
    match speech.failure {
        Some(failure) => Err(CallError { again: failure.class.may_pass(), failure, headers: HeaderMap::new() }),
        None => Ok(speech.words),
    }
}

async fn refusal(response: Response<Incoming>, endpoint: &Endpoint, watch: &mut Watch) -> CallError {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = read(response, LONGEST_ERROR, watch).await.unwrap_or_default();
    let failure = classify::of_response(status, &endpoint.without_key(&body));
    let again = failure.class.may_pass() || matches!(status, 408 | 409 | 504);
    CallError { failure, headers, again }
}

async fn read(response: Response<Incoming>, most: usize, watch: &mut Watch) -> Result<String, CallError> {
    let mut body = response.into_body();
    let mut bytes: Vec<u8> = Vec::new();
    while let Some(frame) = watch.wait(body.frame()).await? {
        let frame = frame.map_err(|error| CallError::cut(&format!("the reply was interrupted: {error}")))?;
        watch.progress();
        bytes.extend_from_slice(&frame.into_data().unwrap_or_default());
        if bytes.len() > most {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn content_type(response: &Response<Incoming>) -> Option<&str> {
    response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

fn of_outbound(error: &OutboundError) -> CallError {
    let class = match error {
        OutboundError::ConnectTimeout(_) | OutboundError::Connect(_) | OutboundError::Broken(_) => {
            FailureClass::Network
        }
        _ => FailureClass::Refused,
    };
    CallError::of(class, &error.to_string())
}

/// Watches progress, not total time: a long answer may take as long as it keeps coming.
struct Watch {
    limits: Limits,
    deadline: Instant,
    heard: u32,
}

impl Watch {
    /// Waits for something until the deadline.
    async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Result<T, CallError> {
        timeout_at(self.deadline, future).await.map_err(|_| {
            let words = match self.heard {
                0 => format!("no first token within {}", seconds(self.limits.first_word)),
                _ => format!("no further token within {}", seconds(self.limits.idle)),
            };
            CallError::of(FailureClass::Timeout, &words)
        })
    }

    /// A word came.
    fn progress(&mut self) {
        self.heard = self.heard.saturating_add(1);
        self.deadline = Instant::now() + self.limits.idle;
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
