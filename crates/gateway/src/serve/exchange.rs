//! One turn: prepare the request, send it, shorten and resend it if the provider refuses its size, and return the
//! reply.

use super::answer::{Refusal, whole};
use super::budget::AccountedBytes;
use super::decode::{Coding, decode};
use super::gateway::{Gateway, RequestPermit, now};
use super::log_lines;
use super::reply::{Again, Opening, Reply};
use super::reply_observer::{Ending, Observed, ReplyObserver, Settled};
use super::rewrite::{FAILED_OPEN, RewriteDetails, Rewritten, TurnRequest, UsageRequestedBy};
use super::route::Provider;
use super::setup::Setup;
use super::stored_keys::Reservation;
use super::stream_start::{Preamble, StreamStart};
use super::upload::{ChunkedBody, UploadProgress};
use super::{Body, background};
use super::{counted, headers, mapped_keys, spans};
use crate::conversation::{self, CredentialId, Dialect, SessionId, Turn, read_refusal};
use crate::telemetry::{Span, SpanKind};
use bytes::Bytes;
use foldline_store::KeyUsage;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header, response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tracing::debug;

/// How long the last byte of a reply waits until other nodes can know what was reported, beside the time for which a
/// database that restarts is waited for. One that takes longer is left alone.
const LONGEST_SETTLING: Duration = Duration::from_secs(2);

/// A request on its way through the gateway.
pub struct Exchange {
    /// What all requests share.
    pub gateway: Arc<Gateway>,
    /// The settings when it came.
    pub setup: Arc<Setup>,
    /// Where it goes.
    pub provider: Provider,
    /// Who was let in: the key that was shown.
    pub admitted: CredentialId,
    /// How.
    pub method: Method,
    /// To which address.
    pub target: Uri,
    /// With which headers.
    pub headers: HeaderMap,
    /// The body as it came, packed or not.
    pub wire: AccountedBytes,
    /// The request as the rewriter reads it.
    pub turn_request: TurnRequest,
    /// What traces tell about it.
    pub span: Span,
}

/// An exchange whose request has been made ready.
struct Sent {
    exchange: Exchange,
    turn: Option<Turn>,
    /// The turn as the provider rejected it, until it is known whether it minds the request as it came.
    rejected: Option<Turn>,
    session: Option<SessionId>,
    outcome: &'static str,
    tokens: Option<(u64, u64)>,
    usage: UsageRequestedBy,
    /// Bytes of the body that went out.
    length: usize,
    attempt: u8,
    /// The span of asking the provider, the last time.
    upstream: Span,
    /// Its part of the budget of its key, until the reply is over.
    reserved: Option<Arc<Reservation>>,
}

/// How to send a request again that was refused for its size.
pub struct Retry(Box<Sent>);

/// A request is sent again at most so often.
const MOST_ATTEMPTS: u8 = 2;

/// An error reply larger than this is passed on unread.
const LARGEST_ERROR: usize = 256 << 10;

/// Below this no request is large enough for its stream to begin with a refusal worth waiting for.
const LARGE_REQUEST: usize = 32 << 10;

impl Exchange {
    /// Whether it goes out under a key that several clients share.
    pub fn uses_mapped_key(&self) -> bool {
        self.setup.keys.is_mapped(self.turn_request.credential, self.provider)
    }

    /// Takes what the request counts at least from the budget of its key.
    fn reserve(&self, rewritten: &Rewritten) -> Result<Option<Reservation>, Refusal> {
        let turn = rewritten.details.as_ref().map(|details| &details.turn);
        let expected = counted::expected(turn, self.turn_request.body.len());
        self.gateway.stored_keys.reserve(self.admitted, expected, now().0)
    }

    /// Serves the request.
    pub async fn serve(self, place: RequestPermit) -> Result<Response<Body>, Refusal> {
        let began = Instant::now();
        let rewriting = self.span.child("rewrite", SpanKind::Internal);
        let mut rewritten = self.turn_request.prepare(&self.gateway).await;
        spans::rewritten(&[&rewriting, &self.span], &rewritten);
        drop(rewriting);
        let tokens = rewritten.details.as_ref().map(|details| details.tokens);
        self.gateway.metrics.turn(
            self.turn_request.dialect,
            rewritten.outcome,
            tokens.unwrap_or_default(),
            began.elapsed(),
        );
        let reserved = self.reserve(&rewritten)?;
        let background = rewritten.details.as_mut().and_then(|details| details.background.take());
        let gateway = self.gateway.clone();
        // What we made of a body is no longer than the body, and is there already.
        let _made = rewritten.body.as_ref().map(|body| gateway.memory.owe(body.len()));
        let mut sent = Sent::new(self, &rewritten);
        sent.reserved = reserved.map(Arc::new);
        let first = sent.send(rewritten.body.clone()).await;
        if let Some(task) = background {
            background::fold(&gateway, task, &sent.exchange.span);
        }
        let answer = sent.settle(first?, rewritten.body.is_some()).await?;
        Ok(sent.respond(answer, place))
    }
}

/// A provider's answer: to be streamed on, or read already.
enum Answer {
    Open(Response<Incoming>),
    Read(response::Parts, Body),
}

impl Sent {
    fn new(exchange: Exchange, rewritten: &Rewritten) -> Sent {
        let mut sent = Sent {
            exchange,
            turn: None,
            rejected: None,
            session: None,
            outcome: rewritten.outcome,
            tokens: None,
            usage: rewritten.usage,
            length: 0,
            attempt: 0,
            upstream: Span::default(),
            reserved: None,
        };
        sent.take_note(rewritten);
        sent
    }

    /// Remembers what the request became.
    fn take_note(&mut self, rewritten: &Rewritten) {
        self.outcome = rewritten.outcome;
        self.usage = rewritten.usage;
        if let Some(RewriteDetails { session, tokens, turn, .. }) = &rewritten.details {
            self.session = Some(session.clone());
            self.tokens = Some(*tokens);
            self.turn = Some(turn.clone());
        }
    }

    /// Sends the request; `None` sends what came.
    async fn send(&mut self, body: Option<Bytes>) -> Result<Response<Incoming>, Refusal> {
        let exchange = &self.exchange;
        let mut headers = exchange.headers.clone();
        headers.remove(header::CONTENT_LENGTH);
        if body.is_some() {
            headers.remove(header::CONTENT_ENCODING);
        }
        if self.usage == UsageRequestedBy::Gateway {
            // What is to be taken out of the reply must be readable in it.
            headers.remove(header::ACCEPT_ENCODING);
        }
        let upstream = spans::upstream(&exchange.span, &exchange.method, &exchange.target);
        spans::asked(&upstream, exchange.provider, exchange.turn_request.dialect, self.turn.as_ref());
        upstream.put_into(&mut headers);
        if self.attempt > 0 {
            upstream.set("http.request.resend_count", self.attempt);
        }
        let body = body.unwrap_or_else(|| (*exchange.wire).clone());
        self.length = body.len();
        let upload = UploadProgress::new();
        let mut request = Request::new(ChunkedBody::new(body, upload.clone()));
        *request.method_mut() = exchange.method.clone();
        *request.uri_mut() = exchange.target.clone();
        *request.headers_mut() = headers;
        let began = Instant::now();
        let host = || exchange.target.host().unwrap_or_default().to_owned();
        let patience = exchange.setup.patience.reply;
        let reply = upload
            .answered(exchange.gateway.outbound.send(request), patience)
            .await
            .ok_or_else(|| {
                upstream.fail("timeout");
                Refusal::UpstreamTimeout { host: host(), seconds: patience.as_secs() }
            })?
            .map_err(|error| {
                upstream.fail("connection");
                Refusal::UpstreamUnreachable { host: host(), reason: error.to_string() }
            })?;
        let status = reply.status();
        spans::replied(&upstream, status, began.elapsed());
        self.upstream = upstream;
        let exchange = &self.exchange;
        exchange.gateway.book(exchange.admitted, &KeyUsage { requests: 1, ..KeyUsage::default() });
        exchange.gateway.metrics.reply(exchange.provider, status.as_u16(), began.elapsed());
        if status.is_client_error() || status.is_server_error() {
            log_lines::upstream_failed(&host(), status.as_u16(), self.session.as_ref(), began.elapsed());
        }
        if status.is_success() && exchange.turn_request.credential != exchange.admitted {
            exchange.gateway.accepted.note(exchange.admitted, exchange.turn_request.credential);
        }
        Ok(reply)
    }

    /// Deals with a refusal: shorter where it is one of size, as it came where it is one of what we changed.
    async fn settle(&mut self, first: Response<Incoming>, changed: bool) -> Result<Answer, Refusal> {
        let mut reply = first;
        let mut changed = changed;
        loop {
            if reply.status().is_success() {
                self.drop_rejected().await;
            }
            if !may_be_refusal(reply.status()) || (self.turn.is_none() && !changed) {
                return Ok(Answer::Open(reply));
            }
            let (parts, body) = reply.into_parts();
            let (plain, body) = match read_error(&parts.headers, body).await {
                Ok(read) => read,
                Err(body) => return Ok(Answer::Read(parts, body)),
            };
            let refusal = read_refusal(parts.status.as_u16(), &plain);
            let again = match refusal {
                Some(refusal) => {
                    self.drop_rejected().await;
                    self.shorten(refusal).await
                }
                None if changed && rejects(parts.status) => {
                    self.restore(&plain);
                    Some(None)
                }
                None => None,
            };
            let Some(next) = again else { return Ok(Answer::Read(parts, body)) };
            changed = next.is_some();
            // A second try that cannot even be sent is no better than the first answer.
            reply = match self.send(next).await {
                Ok(reply) => reply,
                Err(_) => return Ok(Answer::Read(parts, body)),
            };
        }
    }

    /// A shorter body for a request that is too large.
    async fn shorten(&mut self, refusal: conversation::SizeRefusal) -> Option<Option<Bytes>> {
        if self.attempt >= MOST_ATTEMPTS {
            return None;
        }
        let turn = self.turn.clone()?;
        self.attempt += 1;
        let gateway = self.exchange.gateway.clone();
        let recovering = self.exchange.span.child("recover", SpanKind::Internal);
        let rewritten = self.exchange.turn_request.shorten(&gateway, &turn, refusal, self.attempt, self.usage).await?;
        spans::rewritten(&[&recovering, &self.exchange.span], &rewritten);
        drop(recovering);
        gateway.metrics.retry("too_large");
        self.take_note(&rewritten);
        if let Some(task) = rewritten.details.and_then(|details| details.background) {
            background::fold(&gateway, task, &self.exchange.span);
        }
        Some(rewritten.body)
    }

    /// The provider refuses what we made of the request: the next try is the request as it came.
    fn restore(&mut self, error: &[u8]) {
        let gateway = &self.exchange.gateway;
        if self.usage == UsageRequestedBy::Gateway && memchr::memmem::find(error, b"stream_options").is_some() {
            gateway.usage_refused.store(true, Ordering::Relaxed);
        }
        gateway.metrics.retry("rejected");
        gateway.metrics.fallback("rejected");
        tracing::warn!(
            kind = "rejected",
            session = self.session.as_ref().map(SessionId::as_str),
            "fallback: rewritten request rejected; forwarded the original"
        );
        self.outcome = FAILED_OPEN;
        self.usage = UsageRequestedBy::Client;
        // A refusal for its size can still be recovered.
        self.rejected = self.turn.take();
        self.turn = self.rejected.as_ref().map(Turn::as_it_came);
    }

    /// What the provider rejected is not tried again: it minds our change, not the request.
    async fn drop_rejected(&mut self) {
        if let Some(turn) = self.rejected.take() {
            let gateway = self.exchange.gateway.clone();
            self.exchange.turn_request.reject(&gateway, turn).await;
        }
    }

    /// The reply to the client.
    fn respond(self, answer: Answer, place: RequestPermit) -> Response<Body> {
        let (mut parts, body) = match answer {
            Answer::Read(parts, body) => (parts, body),
            Answer::Open(reply) => {
                let (parts, source) = reply.into_parts();
                let body = self.stream(&parts, source, place);
                return self.finish(parts, body);
            }
        };
        parts.headers.remove(header::TRANSFER_ENCODING);
        self.finish(parts, body)
    }

    fn finish(&self, mut parts: response::Parts, body: Body) -> Response<Body> {
        headers::end_hop(&mut parts.headers);
        // What is taken out of a stream, or takes its place, has a length of its own.
        if is_stream(&parts.headers) {
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        parts.headers.insert(headers::OUTCOME, HeaderValue::from_static(self.outcome));
        if let Some(session) = &self.session {
            parts.headers.insert(headers::SESSION, headers::value(session.as_str()));
        }
        if let Some((before, after)) = self.tokens
            && let Ok(value) = HeaderValue::from_bytes(format!("{before}→{after}").as_bytes())
        {
            parts.headers.insert(headers::TOKENS, value);
        }
        debug!(outcome = self.outcome, status = parts.status.as_u16(), "answered");
        let mut response = Response::new(body);
        *response.status_mut() = parts.status;
        *response.headers_mut() = parts.headers;
        response
    }

    /// Whether usage events are taken out of a reply.
    fn strips(&self, parts: &response::Parts) -> bool {
        self.usage == UsageRequestedBy::Gateway && is_stream(&parts.headers) && is_plain(&parts.headers)
    }

    /// A reply as it is passed on.
    fn stream(&self, parts: &response::Parts, source: Incoming, place: RequestPermit) -> Body {
        let mut reply = Reply::new(source, self.exchange.setup.patience.idle).placed(place);
        reply = reply.watched(self.watch(parts.status, &parts.headers));
        if self.strips(parts) {
            reply = reply.stripped();
        }
        let may_begin_again = self.turn.is_some() && self.attempt < MOST_ATTEMPTS;
        if may_begin_again && parts.status.is_success() && is_stream(&parts.headers) && is_plain(&parts.headers) {
            let preamble = if self.length >= LARGE_REQUEST { Preamble::Hold } else { Preamble::Pass };
            let peek = StreamStart::new(preamble);
            reply = reply.opened(Opening::new(peek, Retry(Box::new(self.again()))));
        }
        reply.boxed_unsync()
    }

    /// The same request, to be sent again from within its reply.
    fn again(&self) -> Sent {
        let exchange = &self.exchange;
        Sent {
            exchange: Exchange {
                gateway: exchange.gateway.clone(),
                setup: exchange.setup.clone(),
                provider: exchange.provider,
                admitted: exchange.admitted,
                method: exchange.method.clone(),
                target: exchange.target.clone(),
                headers: exchange.headers.clone(),
                wire: exchange.wire.clone(),
                turn_request: exchange.turn_request.clone(),
                span: exchange.span.clone(),
            },
            turn: self.turn.clone(),
            rejected: None,
            session: self.session.clone(),
            outcome: self.outcome,
            tokens: self.tokens,
            usage: self.usage,
            length: self.length,
            attempt: self.attempt,
            upstream: Span::default(),
            reserved: self.reserved.clone(),
        }
    }

    /// Reads along with a reply and tells the conversation what it cost.
    fn watch(&self, status: StatusCode, headers: &HeaderMap) -> ReplyObserver {
        let (gateway, turn) = (self.exchange.gateway.clone(), self.turn.clone());
        let admitted = self.exchange.admitted;
        let (request, upstream) = (self.exchange.span.clone(), self.upstream.clone());
        let runtime = tokio::runtime::Handle::current();
        let (reserved, length) = (self.reserved.clone(), self.exchange.turn_request.body.len());
        let report = move |ending: Ending, observed: Observed| -> Option<Settled> {
            let usage = observed.usage;
            gateway.metrics.ending(ending.name());
            spans::ended(&[&request, &upstream], ending, usage);
            if status.is_success() || usage.is_some() {
                gateway.book(admitted, &counted::used(ending, observed, turn.as_ref(), length));
            }
            drop(reserved);
            let usage = usage?;
            gateway.metrics.used(usage);
            let (turn, observer) = (turn?, gateway.rewriter.clone());
            let noted = catch_unwind(AssertUnwindSafe(|| observer.observe_at_once(&turn, usage, now())));
            if let Ok(true) = noted {
                gateway.reported.notify_one();
                return None;
            }
            // The client's next request may go to another node, which decides by what this one wrote down.
            let is_awaited = gateway.conversations.shares_store();
            let settling = LONGEST_SETTLING + gateway.conversations.longest_restart();
            let noted = runtime.spawn_blocking(move || observer.observe(&turn, usage, now()));
            let told = runtime.spawn(async move {
                match noted.await {
                    Ok(()) => gateway.reported.notify_one(),
                    Err(_) => gateway.metrics.fallback("panic"),
                }
            });
            is_awaited.then(|| -> Settled { Box::pin(async move { drop(timeout(settling, told).await) }) })
        };
        let watch = ReplyObserver::new(self.exchange.turn_request.dialect.format(), headers, Box::new(report));
        let exchange = &self.exchange;
        if exchange.turn_request.dialect != Dialect::Responses || !exchange.uses_mapped_key() {
            return watch;
        }
        let (gateway, credential) = (exchange.gateway.clone(), exchange.turn_request.credential);
        watch.naming(Box::new(move |id| mapped_keys::claim(&gateway, credential, id)))
    }
}

impl Retry {
    /// Sends the request again, shorter. `None` when that cannot be done or does not help.
    pub async fn again(self, refusal: conversation::SizeRefusal) -> Again {
        let mut sent = *self.0;
        let body = sent.shorten(refusal).await?;
        let reply = sent.send(body).await.ok()?;
        // The client has been told that an event stream follows.
        if !reply.status().is_success() || !is_stream(reply.headers()) || !is_plain(reply.headers()) {
            return None;
        }
        let watch = sent.watch(reply.status(), reply.headers());
        let retry = (sent.attempt < MOST_ATTEMPTS).then(|| Retry(Box::new(sent)));
        Some((reply.into_body(), watch, retry))
    }
}

/// Statuses with which somebody says that a request is too large. Servers at home say it with 500, too.
fn may_be_refusal(status: StatusCode) -> bool {
    status.is_client_error() || status == StatusCode::INTERNAL_SERVER_ERROR
}

/// Statuses that speak of what a request says.
fn rejects(status: StatusCode) -> bool {
    status == StatusCode::BAD_REQUEST || status == StatusCode::UNPROCESSABLE_ENTITY
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers::text(headers, &header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn is_plain(headers: &HeaderMap) -> bool {
    Coding::of(headers::text(headers, &header::CONTENT_ENCODING)) == Some(Coding::Identity)
}

/// An error reply, unpacked for us and as it is for the client. What cannot be read whole is passed on as far as it came.
async fn read_error(headers: &HeaderMap, body: Incoming) -> Result<(Bytes, Body), Body> {
    use http_body::Body as _;
    if body.size_hint().lower() > LARGEST_ERROR as u64 {
        return Err(body.map_err(Into::into).boxed_unsync());
    }
    match Limited::new(body, LARGEST_ERROR).collect().await {
        Ok(read) => {
            let wire = read.to_bytes();
            let coding = Coding::of(headers::text(headers, &header::CONTENT_ENCODING));
            let plain = match coding {
                Some(Coding::Identity) | None => wire.clone(),
                Some(coding) => decode(coding, &wire, LARGEST_ERROR * 8).map_or_else(|_| wire.clone(), Bytes::from),
            };
            Ok((plain, whole(wire)))
        }
        Err(error) => Err(Broken(Some(error)).boxed_unsync()),
    }
}

/// A body that breaks off at once.
struct Broken(Option<super::BoxError>);

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = super::BoxError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(Err))
    }
}
