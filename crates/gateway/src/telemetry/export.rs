//! Sends spans and metrics in batches, retries for a while, and flushes at the end.

use super::metrics::Period;
use super::resource::resource;
use super::span::{BATCH, Ended, Spans};
use super::target::{Endpoint, Target};
use super::{metrics, traces, unix_nanos};
use crate::outbound::Outbound;
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

/// How often a batch is sent before it is dropped.
const MOST_TRIES: u32 = 4;
/// The first wait before a batch is sent again; it doubles with each try.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a receiver may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long everything that is left may take at the end.
const FLUSH: Duration = Duration::from_secs(5);
/// Answers are short; they are read so that the connection can be used again.
const LARGEST_ANSWER: usize = 64 << 10;

/// What is exported comes from here.
pub trait Source: Send + Sync {
    /// All metrics in the text format of OpenMetrics.
    fn page(&self) -> String;
    /// Counts spans that were exported.
    fn exported(&self, spans: u64);
    /// Counts spans that were dropped.
    fn dropped(&self, spans: u64);
}

/// Exports until it is stopped.
pub struct Exporter {
    target: Target,
    spans: Arc<Spans>,
    outbound: Outbound,
    start: u64,
    /// The batch that is being sent: what is interrupted by the end is sent once more.
    batch: Vec<Ended>,
    state: State,
}

/// Whether the last export worked: said when it changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    Failing,
}

impl Exporter {
    /// Exports to a target what ends in the queue that it hands out.
    pub fn new(target: Target, outbound: Outbound) -> Exporter {
        let (spans, start) = (Arc::default(), unix_nanos());
        Exporter { target, spans, outbound, start, batch: Vec::new(), state: State::Working }
    }

    /// Where spans are to end; `None` when nobody wants them.
    pub fn spans(&self) -> Option<Arc<Spans>> {
        self.target.traces.as_ref().map(|_| self.spans.clone())
    }

    /// Exports until `stop` is done, and then what is left.
    pub async fn run(mut self, source: impl Source, stop: impl Future<Output = ()>) {
        let spans = self.spans.clone();
        tokio::pin!(stop);
        let (mut batch_due, mut metrics_due) =
            (Instant::now() + self.target.delay, Instant::now() + self.target.interval);
        loop {
            let is_stopped = tokio::select! {
                () = &mut stop => true,
                () = spans.enough.notified() => false,
                () = sleep_until(batch_due) => false,
                () = sleep_until(metrics_due) => false,
            };
            if is_stopped {
                break;
            }
            // A receiver that does not answer must not keep the process from ending.
            let round = async {
                self.send_spans(&source).await;
                if metrics_due <= Instant::now() {
                    self.send_metrics(&source).await;
                    metrics_due = Instant::now() + self.target.interval;
                }
            };
            tokio::select! {
                () = &mut stop => break,
                () = round => {}
            }
            batch_due = Instant::now() + self.target.delay;
        }
        let left = async {
            self.send_spans(&source).await;
            self.send_metrics(&source).await;
        };
        if timeout(FLUSH, left).await.is_err() {
            warn!("telemetry was not exported completely before the end");
        }
    }

    /// Sends all spans that wait.
    async fn send_spans(&mut self, source: &impl Source) {
        let Some(endpoint) = self.target.traces.clone() else { return };
        loop {
            source.dropped(self.spans.take_dropped());
            if self.batch.is_empty() {
                self.batch = self.spans.take();
            }
            let count = self.batch.len();
            if count == 0 {
                return;
            }
            let body = traces::request(resource(&self.target.resource), &self.batch);
            match self.send(&endpoint, body.into()).await {
                Ok(()) => source.exported(count as u64),
                Err(()) => source.dropped(count as u64),
            }
            self.batch.clear();
            if count < BATCH {
                return;
            }
        }
    }

    async fn send_metrics(&mut self, source: &impl Source) {
        let Some(endpoint) = self.target.metrics.clone() else { return };
        let period = Period { start: self.start, end: unix_nanos() };
        let body = metrics::request(resource(&self.target.resource), &source.page(), period);
        // The next ones say the same and more, so nothing is lost with these.
        let _sent = self.send(&endpoint, body.into()).await;
    }

    /// Sends a body, again where that may help.
    async fn send(&mut self, endpoint: &Endpoint, body: Bytes) -> Result<(), ()> {
        let mut wait = FIRST_WAIT;
        for attempt in 1..=MOST_TRIES {
            let failure = match self.send_once(endpoint, body.clone()).await {
                Ok(()) => {
                    self.note(endpoint, None);
                    return Ok(());
                }
                Err(failure) => failure,
            };
            self.note(endpoint, Some(&failure.reason));
            match failure.retry {
                RetryAfter::Never => return Err(()),
                _ if attempt == MOST_TRIES => return Err(()),
                RetryAfter::Usual => tokio::time::sleep(wait).await,
                RetryAfter::Seconds(seconds) => {
                    tokio::time::sleep(Duration::from_secs(seconds).min(LONGEST_WAIT)).await;
                }
            }
            wait *= 2;
        }
        Err(())
    }

    async fn send_once(&self, endpoint: &Endpoint, body: Bytes) -> Result<(), ExportError> {
        let again = |reason: String| ExportError { reason, retry: RetryAfter::Usual };
        let mut request = Request::post(endpoint.uri.clone())
            .body(Full::new(body))
            .map_err(|error| ExportError { reason: error.to_string(), retry: RetryAfter::Never })?;
        *request.headers_mut() = endpoint.headers.clone();
        request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        request.headers_mut().insert(header::USER_AGENT, USER_AGENT);
        let exchange = async {
            let reply = self.outbound.send(request).await.map_err(|error| again(error.to_string()))?;
            let (parts, body) = reply.into_parts();
            let _read = Limited::new(body, LARGEST_ANSWER).collect().await;
            if parts.status.is_success() {
                return Ok(());
            }
            let asked =
                parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            let retry = match (may_help(parts.status), asked) {
                (false, _) => RetryAfter::Never,
                (true, Some(seconds)) => RetryAfter::Seconds(seconds),
                (true, None) => RetryAfter::Usual,
            };
            Err(ExportError { reason: format!("HTTP {}", parts.status.as_u16()), retry })
        };
        match timeout(self.target.timeout, exchange).await {
            Ok(done) => done,
            Err(_) => Err(again("no answer in time".to_owned())),
        }
    }

    /// Logs when exports begin to fail, and when they work again.
    fn note(&mut self, endpoint: &Endpoint, failure: Option<&str>) {
        let host = endpoint.uri.host().unwrap_or_default();
        match (self.state, failure) {
            (State::Working, Some(reason)) => {
                warn!(host, reason, "failed to export telemetry; it is tried again, and dropped when too much waits");
                self.state = State::Failing;
            }
            (State::Failing, None) => {
                info!(host, "telemetry is exported again");
                self.state = State::Working;
            }
            _ => {}
        }
    }
}

const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("foldline/", env!("CARGO_PKG_VERSION")));

/// Why an export failed; no content of the answer.
struct ExportError {
    reason: String,
    retry: RetryAfter,
}

/// When to try again.
enum RetryAfter {
    Never,
    Usual,
    Seconds(u64),
}

/// The answers after which OTLP has clients try again.
fn may_help(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}
