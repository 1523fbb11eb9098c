//! The state of one connection: its stage, how long it has been idle, and how to close it.

use super::Body;
use crate::telemetry::Span;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Which requests a connection may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    All,
    /// Only requests to the gateway's own endpoints: it was accepted beyond the connection limit.
    OwnPages,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No request yet, or all answered.
    Waiting,
    /// All its requests are still being received.
    ReceivingGuard,
    /// A request is being answered.
    Serving,
}

/// The order in which connections are closed at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvictionClass {
    /// It has sent no request for a while since it was opened.
    Silent,
    /// It sends a body very slowly.
    Trickling,
    /// It was just opened, or has just begun to send.
    New,
    /// It was served and waits for the next request.
    Idle,
}

/// Bytes per second below which an upload counts as slow.
const TRICKLE: u64 = 16 << 10;
/// How long a connection or upload counts as new.
const NEW: Duration = Duration::from_secs(1);

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionTimeouts {
    /// From the first moment to the end of the first request's head.
    pub head: Duration,
    /// From the end of a reply to the end of the next request's head.
    pub between: Duration,
}

/// How long an idle connection may stay open during shutdown.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);
/// How often that is checked.
const DRAIN_CHECK: Duration = Duration::from_millis(100);

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Where it comes from.
    pub origin: IpAddr,
    /// The local address that it was accepted on.
    pub local_address: IpAddr,
    /// Which requests it may send.
    pub reach: Access,
    began: Instant,
    /// Requests under way.
    open: AtomicU32,
    /// Of these, those whose bodies are still coming in.
    receiving: AtomicU32,
    has_asked: AtomicBool,
    /// The peer has not read everything that was written.
    has_unread: AtomicBool,
    /// When the last request was over, in milliseconds after the beginning.
    rested: AtomicU64,
    /// When data last arrived, the same way.
    heard: AtomicU64,
    /// Bytes that have come.
    bytes: AtomicU64,
    /// Those that had come when it last came to rest or began to ask.
    bytes_before: AtomicU64,
    evict: Notify,
}

impl Connection {
    /// A connection that begins now.
    pub fn new(origin: IpAddr, local_address: IpAddr, reach: Access) -> Connection {
        Connection {
            origin,
            local_address,
            reach,
            began: Instant::now(),
            open: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            has_asked: AtomicBool::new(false),
            has_unread: AtomicBool::new(false),
            rested: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            bytes_before: AtomicU64::new(0),
            evict: Notify::new(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn at(&self, millis: &AtomicU64) -> Instant {
        self.began + Duration::from_millis(millis.load(Ordering::Relaxed))
    }

    /// What it is doing.
    pub fn stage(&self) -> Stage {
        match self.open.load(Ordering::Relaxed) {
            0 if self.has_unread.load(Ordering::Relaxed) => Stage::Serving,
            0 => Stage::Waiting,
            open if self.receiving.load(Ordering::Relaxed) >= open => Stage::ReceivingGuard,
            _ => Stage::Serving,
        }
    }

    /// Since when it waits, or receives.
    pub fn since(&self) -> Instant {
        self.at(&self.rested)
    }

    /// Bytes came in.
    pub fn hear(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.heard.store(self.now(), Ordering::Relaxed);
    }

    /// Its class for closing at a limit; `None` while it is being served.
    pub fn eviction_class(&self) -> Option<EvictionClass> {
        match self.stage() {
            Stage::Waiting if self.has_asked.load(Ordering::Relaxed) => Some(EvictionClass::Idle),
            Stage::Waiting if self.since().elapsed() < NEW => Some(EvictionClass::New),
            Stage::Waiting => Some(EvictionClass::Silent),
            Stage::ReceivingGuard => {
                let took = self.since().elapsed();
                let came = self.bytes.load(Ordering::Relaxed) - self.bytes_before.load(Ordering::Relaxed);
                let trickles = came / took.as_secs().max(1) < TRICKLE;
                trickles.then_some(if took < NEW { EvictionClass::New } else { EvictionClass::Trickling })
            }
            Stage::Serving => None,
        }
    }

    /// Whether the peer has yet to read what was written.
    pub fn set_unread(&self, unread: bool) {
        self.has_unread.store(unread, Ordering::Relaxed);
    }

    /// Closes the connection.
    pub fn evict(&self) {
        self.evict.notify_one();
    }

    /// Completes when the connection is to be closed.
    pub async fn eviction(&self) {
        self.evict.notified().await;
    }

    /// Completes when the connection has been idle for too long.
    pub async fn waited_too_long(&self, waits: ConnectionTimeouts) {
        loop {
            let limit = if self.has_asked.load(Ordering::Relaxed) { waits.between } else { waits.head };
            let due = self.since() + limit;
            let is_waiting = self.stage() == Stage::Waiting;
            if is_waiting && due <= Instant::now() {
                return;
            }
            // Whoever is at work now cannot have waited too long before a whole limit has passed.
            tokio::time::sleep_until(if is_waiting { due } else { Instant::now() + limit }).await;
        }
    }

    /// Completes when a connection has nothing left to finish during shutdown.
    pub async fn is_drained(&self) {
        let asked = Instant::now();
        loop {
            tokio::time::sleep(DRAIN_CHECK).await;
            let since = match self.stage() {
                Stage::Serving => continue,
                Stage::ReceivingGuard => self.at(&self.heard).max(asked),
                Stage::Waiting => asked,
            };
            if since.elapsed() >= DRAIN_LIMIT {
                return;
            }
        }
    }

    /// Registers a request.
    pub fn guard(self: &Arc<Connection>) -> RequestGuard {
        self.has_asked.store(true, Ordering::Relaxed);
        if self.open.fetch_add(1, Ordering::Relaxed) == 0 {
            self.rested.store(self.now(), Ordering::Relaxed);
            self.bytes_before.store(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        RequestGuard(self.clone())
    }
}

/// A request in progress, held until its reply has ended.
pub struct RequestGuard(Arc<Connection>);

impl RequestGuard {
    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.0
    }

    /// Its body is coming in, for as long as the result is held.
    pub fn receive(&self) -> ReceivingGuard {
        self.0.receiving.fetch_add(1, Ordering::Relaxed);
        ReceivingGuard(self.0.clone())
    }

    /// The reply body, which holds this guard and the request's span until it ends.
    pub fn hold_until_end_of(self, body: Body, span: Span) -> Body {
        GuardedBody { body, _visit: self, _span: span }.boxed_unsync()
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.rested.store(self.0.now(), Ordering::Relaxed);
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request body that is coming in.
pub struct ReceivingGuard(Arc<Connection>);

impl Drop for ReceivingGuard {
    fn drop(&mut self) {
        self.0.receiving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A reply body with the guard of its request.
struct GuardedBody {
    body: Body,
    _visit: RequestGuard,
    _span: Span,
}

impl http_body::Body for GuardedBody {
    type Data = Bytes;
    type Error = super::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
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
    use std::net::Ipv4Addr;

    const WAITS: ConnectionTimeouts =
        ConnectionTimeouts { head: Duration::from_secs(5), between: Duration::from_secs(60) };

    fn connection() -> Arc<Connection> {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Arc::new(Connection::new(here, here, Access::All))
    }

    #[tokio::test(start_paused = true)]
    async fn silent_and_idle_connections_have_different_timeouts() {
        let silent = connection();
        let began = Instant::now();
        silent.waited_too_long(WAITS).await;
        assert_eq!(began.elapsed().as_secs(), 5);

        let busy = connection();
        let guard = busy.guard();
        let working = tokio::time::timeout(Duration::from_secs(1_000), busy.waited_too_long(WAITS));
        assert!(working.await.is_err(), "a long reply does not count as idle");
        drop(guard);
        let rested = Instant::now();
        busy.waited_too_long(WAITS).await;
        assert_eq!(rested.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_waits_only_for_connections_being_served() {
        let silent = connection();
        let began = Instant::now();
        silent.is_drained().await;
        assert_eq!(began.elapsed().as_secs(), 1);
        let stalled = connection();
        let guard = stalled.guard();
        let _receiving = guard.receive();
        stalled.is_drained().await;
        let served = connection();
        let _visit = served.guard();
        assert!(tokio::time::timeout(Duration::from_secs(100), served.is_drained()).await.is_err());
    }
}
