//! Request bodies sent upstream: progress tracking, and limits for bodies streamed from a client. The response timeout
//! starts at the last progress.

use super::BoxError;
use super::answer::Refusal;
use super::connection::ReceivingGuard;
use super::inbound::{Bounds, is_too_slow};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The progress of a request body that is being sent.
#[derive(Debug)]
pub struct UploadProgress {
    began: Instant,
    /// When the last chunk was sent, in milliseconds after the start.
    moved: AtomicU64,
    /// Bytes of the body that passed.
    length: AtomicU64,
    /// Why the upload failed, if the client caused it.
    refusal: Mutex<Option<Refusal>>,
}

impl UploadProgress {
    /// A body whose upload begins.
    pub fn new() -> Arc<UploadProgress> {
        let (moved, length) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(UploadProgress { began: Instant::now(), moved, length, refusal: Mutex::new(None) })
    }

    fn note_move(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(now, Ordering::Relaxed);
    }

    /// Bytes of the body that passed so far.
    pub fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    fn note_refusal(&self, refusal: Refusal) -> BoxError {
        let error = refusal.to_string().into();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
        error
    }

    /// Why the upload failed, if the client caused it.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The output of `reply`; `None` after a timeout since the last progress.
    pub async fn answered<T>(&self, reply: impl Future<Output = T>, patience: Duration) -> Option<T> {
        let silence = async {
            loop {
                let due = self.began + Duration::from_millis(self.moved.load(Ordering::Relaxed)) + patience;
                if due <= Instant::now() {
                    return;
                }
                tokio::time::sleep_until(due).await;
            }
        };
        tokio::select! {
            reply = reply => Some(reply),
            () = silence => None,
        }
    }
}

/// The chunk size for bodies in memory.
const PIECE: usize = 256 << 10;

/// A body in memory, sent in chunks.
pub struct ChunkedBody {
    rest: Bytes,
    upload: Arc<UploadProgress>,
}

impl ChunkedBody {
    /// Sends these bytes.
    pub fn new(bytes: Bytes, upload: Arc<UploadProgress>) -> ChunkedBody {
        upload.length.store(bytes.len() as u64, Ordering::Relaxed);
        ChunkedBody { rest: bytes, upload }
    }
}

impl Body for ChunkedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.upload.note_move();
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// A body streamed from a client, within limits of size and time.
pub struct LimitedUpload<B> {
    body: B,
    bounds: Bounds,
    began: Instant,
    length: u64,
    clock: Pin<Box<Sleep>>,
    upload: Arc<UploadProgress>,
    /// Held while it comes.
    receiving: Option<ReceivingGuard>,
}

impl<B> LimitedUpload<B> {
    /// Passes `body` on.
    pub fn new(
        body: B,
        bounds: Bounds,
        upload: Arc<UploadProgress>,
        receiving: Option<ReceivingGuard>,
    ) -> LimitedUpload<B> {
        let (began, clock) = (Instant::now(), Box::pin(sleep(bounds.pause)));
        LimitedUpload { body, bounds, began, length: 0, clock, upload, receiving }
    }
}

impl<B> Body for LimitedUpload<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let too_slow = Refusal::TooSlow { seconds: this.bounds.pause.as_secs() };
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) else {
            ready!(this.clock.as_mut().poll(context));
            return Poll::Ready(Some(Err(this.upload.note_refusal(too_slow))));
        };
        this.upload.note_move();
        this.clock.as_mut().reset(Instant::now() + this.bounds.pause);
        let frame = match frame {
            Some(Ok(frame)) => frame,
            Some(Err(_)) => return Poll::Ready(Some(Err(this.upload.note_refusal(Refusal::Incomplete)))),
            None => {
                this.receiving = None;
                return Poll::Ready(None);
            }
        };
        this.length += frame.data_ref().map_or(0, Bytes::len) as u64;
        this.upload.length.store(this.length, Ordering::Relaxed);
        if this.length > this.bounds.bytes {
            let too_large = Refusal::TooLarge { limit: this.bounds.bytes };
            return Poll::Ready(Some(Err(this.upload.note_refusal(too_large))));
        }
        if is_too_slow(this.began.elapsed(), this.length, this.bounds.pause) {
            return Poll::Ready(Some(Err(this.upload.note_refusal(too_slow))));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt, Full};

    #[tokio::test(start_paused = true)]
    async fn the_response_timeout_starts_at_the_last_progress() {
        let upload = UploadProgress::new();
        let mover = upload.clone();
        tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                mover.note_move();
            }
        });
        let never = std::future::pending::<()>();
        assert_eq!(upload.answered(never, Duration::from_secs(2)).await, None);
        assert_eq!(upload.began.elapsed().as_secs(), 7);
    }

    #[tokio::test]
    async fn chunks_add_up_to_the_body() {
        let bytes = Bytes::from(vec![7u8; PIECE * 2 + 5]);
        let pieces = ChunkedBody::new(bytes.clone(), UploadProgress::new());
        assert_eq!(pieces.size_hint().exact(), Some(bytes.len() as u64));
        assert_eq!(pieces.collect().await.unwrap().to_bytes(), bytes);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_reported_as_the_clients_error() {
        let upload = UploadProgress::new();
        let bounds = Bounds { bytes: 3, pause: Duration::from_secs(1) };
        let passing = LimitedUpload::new(Full::new(Bytes::from("12345")), bounds, upload.clone(), None);
        assert!(passing.collect().await.is_err());
        assert_eq!(upload.refusal(), Some(Refusal::TooLarge { limit: 3 }));
    }
}
