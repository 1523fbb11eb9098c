//! Spans: what is recorded of a request, from its first byte to the last one of its reply. A span ends when nobody holds
//! it any more.

use super::context::{Sampling, SpanId, TraceContext};
use super::resource::Value;
use super::unix_nanos;
use http::HeaderMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Spans that wait to be exported; further ones are dropped. As the SDKs of OpenTelemetry do it.
const LONGEST_QUEUE: usize = 2_048;
/// Spans that are exported at once.
pub(super) const BATCH: usize = 512;

/// On which side of a call a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work inside the gateway.
    Internal,
    /// Answers somebody.
    Server,
    /// Asks somebody.
    Client,
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) context: TraceContext,
    pub(super) parent: Option<SpanId>,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) noted: Noted,
}

/// What was noted about a span while it lasted.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    pub(super) attributes: Vec<(&'static str, Value)>,
    pub(super) is_error: bool,
}

/// Where ended spans wait.
#[derive(Debug, Default)]
pub struct Spans {
    queue: Mutex<Vec<Ended>>,
    dropped: AtomicU64,
    /// Told when there are enough for a batch.
    pub(super) enough: Notify,
}

impl Spans {
    fn lock(&self) -> MutexGuard<'_, Vec<Ended>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, span: Ended) {
        let mut queue = self.lock();
        if queue.len() >= LONGEST_QUEUE {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        queue.push(span);
        if queue.len() == BATCH {
            self.enough.notify_one();
        }
    }

    /// The oldest ones.
    pub(super) fn take(&self) -> Vec<Ended> {
        let mut queue = self.lock();
        let count = queue.len().min(BATCH);
        queue.drain(..count).collect()
    }

    /// How many were dropped since the last call.
    pub(super) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    /// A span for a request with these headers, which may name the one that it belongs to.
    pub fn serve(self: &Arc<Spans>, name: String, headers: &HeaderMap) -> Span {
        let parent = TraceContext::of(headers);
        let context = match &parent {
            Some(parent) => parent.child(),
            None => TraceContext::root(),
        };
        Span::begin(self, name, SpanKind::Server, context, parent.map(|parent| parent.span))
    }
}

/// A span that lasts as long as somebody holds it; clones are the same span. An empty one records nothing.
#[derive(Clone, Debug, Default)]
pub struct Span(Option<Arc<Open>>);

#[derive(Debug)]
struct Open {
    spans: Arc<Spans>,
    name: String,
    kind: SpanKind,
    context: TraceContext,
    parent: Option<SpanId>,
    start: u64,
    /// The end is measured from here: the clock may be set meanwhile.
    began: Instant,
    noted: Mutex<Noted>,
}

impl Span {
    fn begin(
        spans: &Arc<Spans>,
        name: String,
        kind: SpanKind,
        context: Option<TraceContext>,
        parent: Option<SpanId>,
    ) -> Span {
        Span(context.map(|context| {
            let (start, began, noted) = (unix_nanos(), Instant::now(), Mutex::default());
            Arc::new(Open { spans: spans.clone(), name, kind, context, parent, start, began, noted })
        }))
    }

    /// A part of this one.
    pub fn child(&self, name: &str, kind: SpanKind) -> Span {
        let Some(open) = &self.0 else { return Span::default() };
        Span::begin(&open.spans, name.to_owned(), kind, open.context.child(), Some(open.context.span))
    }

    /// Notes a fact. Never content of a conversation.
    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        if let Some(open) = &self.0 {
            let mut noted = open.noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.attributes.retain(|(known, _)| *known != key);
            noted.attributes.push((key, value.into()));
        }
    }

    /// Notes that it failed, and how.
    pub fn fail(&self, kind: impl Into<Value>) {
        self.set("error.type", kind);
        if let Some(open) = &self.0 {
            open.noted.lock().unwrap_or_else(PoisonError::into_inner).is_error = true;
        }
    }

    /// Makes the receiver of a request with these headers a part of this one.
    pub fn put_into(&self, headers: &mut HeaderMap) {
        if let Some(open) = &self.0 {
            open.context.put_into(headers);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.context.sampling == Sampling::Dropped {
            return;
        }
        let took = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let noted = std::mem::take(self.noted.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.spans.push(Ended {
            name: std::mem::take(&mut self.name),
            kind: self.kind,
            context: self.context,
            parent: self.parent,
            start: self.start,
            end: self.start.saturating_add(took),
            noted,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_when_nobody_holds_it_and_its_children_know_it() {
        let spans = Arc::<Spans>::default();
        let request = spans.serve("POST /v1/messages".to_owned(), &HeaderMap::new());
        let copy = request.clone();
        drop(request.child("rewrite", SpanKind::Internal));
        drop(request);
        let [rewrite] = spans.take().try_into().unwrap();
        copy.set("a", "first");
        copy.set("a", "second");
        drop(copy);
        let [request] = spans.take().try_into().unwrap();
        assert_eq!(rewrite.parent, Some(request.context.span));
        assert_eq!(rewrite.context.trace, request.context.trace);
        assert_eq!(request.noted.attributes, [("a", Value::from("second"))]);
        assert!(request.start <= rewrite.start && rewrite.end <= request.end);
    }

    #[test]
    fn a_trace_that_is_not_sampled_is_passed_on_and_not_kept() {
        let spans = Arc::<Spans>::default();
        let mut headers = HeaderMap::new();
        let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        headers.insert("traceparent", given.parse().unwrap());
        let request = spans.serve("POST".to_owned(), &headers);
        request.put_into(&mut headers);
        let sent = headers["traceparent"].to_str().unwrap();
        assert!(sent.starts_with(&given[..36]) && sent.ends_with("-00") && sent != given, "{sent}");
        drop(request);
        assert!(spans.take().is_empty());
    }

    #[test]
    fn a_full_queue_drops_and_counts() {
        let spans = Arc::<Spans>::default();
        for _ in 0..LONGEST_QUEUE + 3 {
            drop(spans.serve("POST".to_owned(), &HeaderMap::new()));
        }
        assert_eq!((spans.take_dropped(), spans.take_dropped()), (3, 0));
        let mut left = 0;
        while let batch @ 1.. = spans.take().len() {
            left += batch;
        }
        assert_eq!(left, LONGEST_QUEUE);
    }
}
