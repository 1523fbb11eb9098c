//! Streams a reply to the client while observing it. It can be replaced by another reply until the first byte was
//! forwarded. An interrupted reply is interrupted for the client, too.

use super::BoxError;
use super::exchange::Retry;
use super::gateway::RequestPermit;
use super::reply_observer::{Ending, ReplyObserver, Settled};
use super::stream_start::{Beginning, StreamStart};
use super::usage::Strip;
use crate::telemetry::Span;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// A reply on its way.
pub struct Reply {
    source: Incoming,
    clock: Pin<Box<Sleep>>,
    patience: Duration,
    watch: Option<ReplyObserver>,
    strip: Option<Strip>,
    opening: Option<Opening>,
    /// Passed on before anything else.
    ready: Bytes,
    is_over: bool,
    /// Awaited before the last bytes go out.
    settled: Option<Settled>,
    /// Why it broke off, to be told after what came before has been written out.
    broken: Option<BoxError>,
    has_waited: bool,
    _place: Option<RequestPermit>,
    /// The span of asking the provider.
    _span: Span,
}

/// The beginning of a stream, and how to begin again.
pub struct Opening {
    peek: StreamStart,
    retry: Option<Retry>,
    /// A second try that is under way, with what goes out if it fails.
    trying: Option<(Trying, Bytes)>,
    /// When held events go out, whatever follows.
    until: Pin<Box<Sleep>>,
}

/// A second try.
type Trying = Pin<Box<dyn Future<Output = Again> + Send>>;

/// What a second try gives.
pub type Again = Option<(Incoming, ReplyObserver, Option<Retry>)>;

/// Events that wait for the one after them wait no longer than this.
const HOLD: Duration = Duration::from_millis(250);

impl Opening {
    /// Looks at the beginning with `peek`; begins again with `retry`.
    pub fn new(peek: StreamStart, retry: Retry) -> Opening {
        Opening { peek, retry: Some(retry), trying: None, until: Box::pin(sleep(HOLD)) }
    }
}

impl Reply {
    /// Passes `source` on. A silence longer than `patience` ends it.
    pub fn new(source: Incoming, patience: Duration) -> Reply {
        Reply {
            source,
            clock: Box::pin(sleep(patience)),
            patience,
            watch: None,
            strip: None,
            opening: None,
            ready: Bytes::new(),
            is_over: false,
            settled: None,
            broken: None,
            has_waited: false,
            _place: None,
            _span: Span::default(),
        }
    }

    /// Reads along.
    pub fn watched(mut self, watch: ReplyObserver) -> Reply {
        self.watch = Some(watch);
        self
    }

    /// Takes usage events out.
    pub fn stripped(mut self) -> Reply {
        self.strip = Some(Strip::default());
        self
    }

    /// Looks at the beginning.
    pub fn opened(mut self, opening: Opening) -> Reply {
        self.opening = Some(opening);
        self
    }

    /// Keeps the request's place until the end.
    pub(super) fn placed(mut self, place: RequestPermit) -> Reply {
        self._place = Some(place);
        self
    }

    /// Ends the span with the reply.
    pub fn traced(mut self, span: Span) -> Reply {
        self._span = span;
        self
    }

    fn end(&mut self, ending: Ending) {
        self.is_over = true;
        if let Some(mut watch) = self.watch.take() {
            self.settled = watch.end(ending);
        }
    }

    /// What of a piece goes to the client now.
    fn pass(&mut self, bytes: Bytes) -> Bytes {
        if let Some(watch) = &mut self.watch {
            watch.feed(&bytes);
        }
        match &mut self.strip {
            Some(strip) => strip.feed(&bytes),
            None => bytes,
        }
    }

    /// All that is still held back.
    fn rest(&mut self) -> Bytes {
        let held = self.opening.take().map(|mut opening| opening.peek.finish()).unwrap_or_default();
        let mut rest = self.pass(held).to_vec();
        if let Some(strip) = &mut self.strip {
            rest.extend_from_slice(&strip.finish());
        }
        Bytes::from(rest)
    }

    /// What a piece at the beginning of the stream means.
    fn open(&mut self, bytes: Bytes) -> Bytes {
        let Some(opening) = &mut self.opening else { return self.pass(bytes) };
        match opening.peek.feed(&bytes) {
            Beginning::Unclear(bytes) => self.pass(bytes),
            Beginning::Ordinary(bytes) => {
                self.opening = None;
                self.pass(bytes)
            }
            Beginning::Refused(refusal, bytes) => match opening.retry.take() {
                Some(retry) => {
                    opening.trying = Some((Box::pin(retry.again(refusal)), bytes));
                    Bytes::new()
                }
                None => {
                    self.opening = None;
                    self.pass(bytes)
                }
            },
        }
    }

    /// Waits for a second try, or for the end of holding back.
    fn poll_opening(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(opening) = &mut self.opening else { return Poll::Ready(()) };
        let Some((trying, _)) = &mut opening.trying else {
            if opening.until.as_mut().poll(context).is_ready() {
                let held = opening.peek.finish();
                self.opening = None;
                self.ready = self.pass(held);
            }
            return Poll::Ready(());
        };
        let again = ready!(trying.as_mut().poll(context));
        let said = opening.trying.take().map(|(_, bytes)| bytes).unwrap_or_default();
        match again {
            Some((source, watch, retry)) => {
                self.source = source;
                if let Some(old) = &mut self.watch {
                    old.forget();
                }
                self.watch = Some(watch);
                opening.retry = retry;
                if opening.retry.is_none() {
                    self.opening = None;
                }
            }
            None => {
                self.opening = None;
                self.ready = self.pass(said);
            }
        }
        Poll::Ready(())
    }
}

impl Drop for Reply {
    /// A reply of known length is not asked for its end once all of it has been taken.
    fn drop(&mut self) {
        if !self.is_over && self.source.is_end_stream() {
            self.end(Ending::Complete);
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        loop {
            if let Some(settled) = &mut this.settled {
                ready!(settled.as_mut().poll(context));
                this.settled = None;
            }
            if !this.ready.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut this.ready)))));
            }
            if let Some(error) = this.broken.take() {
                // A connection is written out while its body waits, but dropped with all it holds when the body fails.
                if !std::mem::replace(&mut this.has_waited, true) {
                    this.broken = Some(error);
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                return Poll::Ready(Some(Err(error)));
            }
            if this.is_over {
                return Poll::Ready(None);
            }
            ready!(this.poll_opening(context));
            if !this.ready.is_empty() {
                continue;
            }
            let frame = match Pin::new(&mut this.source).poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    ready!(this.clock.as_mut().poll(context));
                    this.end(Ending::Silent);
                    return Poll::Ready(Some(
                        Err("the upstream sent nothing for longer than gateway.idle_secs".into()),
                    ));
                }
            };
            this.clock.as_mut().reset(Instant::now() + this.patience);
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => {
                        this.ready = this.open(bytes);
                        // What a reply tells is known before its last byte is.
                        if this.opening.is_none() && this.strip.is_none() && this.source.is_end_stream() {
                            this.end(Ending::Complete);
                        }
                    }
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Some(Err(error)) => {
                    this.ready = this.rest();
                    this.end(Ending::Cut);
                    this.broken = Some(error.into());
                }
                None => {
                    this.ready = this.rest();
                    this.end(Ending::Complete);
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let nothing_held = self.strip.is_none() && self.opening.is_none() && self.broken.is_none();
        self.ready.is_empty()
            && self.settled.is_none()
            && (self.is_over && self.broken.is_none() || (nothing_held && self.source.is_end_stream()))
    }

    fn size_hint(&self) -> SizeHint {
        if self.strip.is_none() && self.opening.is_none() && self.ready.is_empty() {
            self.source.size_hint()
        } else {
            SizeHint::default()
        }
    }
}
