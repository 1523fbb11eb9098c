//! Accepts connections, serves HTTP/1.1 and HTTP/2 on them, and shuts down gracefully.

use super::connection::{Connection, ConnectionTimeouts};
use super::connections::{ConnectionLimits, Connections};
use super::gateway::{Gateway, StartError};
use super::write_timeout::WriteTimeout;
use super::{background, handler};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tracing::{debug, info, warn};

/// How a gateway stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All requests came to their end.
    Finished,
    /// Some were cut off because they took too long.
    CutOff,
}

/// Streams at once on one HTTP/2 connection.
const STREAMS: u32 = 256;
/// Bytes of a request's head, and of what is read ahead: every connection may take so much memory before anybody knows
/// who it is.
const LARGEST_HEAD: usize = 64 << 10;
/// The wait after the system refuses a connection, usually because too many files are open.
const BACKOFF: Duration = Duration::from_millis(50);

/// Opens the address of the settings.
pub async fn bind(gateway: &Gateway) -> Result<TcpListener, StartError> {
    let address = gateway.setup().listen()?;
    TcpListener::bind(address).await.map_err(|error| StartError::Listen { address, error })
}

/// Serves until `stop` is done, then finishes what is open, within the limit of the settings.
pub async fn serve(gateway: Arc<Gateway>, listener: TcpListener, stop: impl Future<Output = ()>) -> Stopped {
    let (statistics_stop, statistics_stopped) = oneshot::channel::<()>();
    let statistics = tokio::spawn(background::write_statistics(gateway.clone(), async move {
        let _ = statistics_stopped.await;
    }));
    let (export_stop, export_stopped) = oneshot::channel::<()>();
    let export = gateway.take_exporter().map(|exporter| {
        let stopped = async move { drop(export_stopped.await) };
        tokio::spawn(exporter.run(background::Telemetry(gateway.clone()), stopped))
    });
    if let Ok(address) = listener.local_addr() {
        gateway.is_bound_to(address);
    }
    let connections = Connections::new(connection_limits(&gateway));
    // Each connection holds the other end, so that the last one to go is noticed.
    let (stopping, is_stopping) = watch::channel(false);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => accept(&gateway, &connections, stream, peer, is_stopping.clone()),
            Err(error) => {
                // Mostly there are too many files open; those who wait hold some.
                if connections.make_room() == 0 {
                    warn!(%error, "failed to accept a connection");
                }
                tokio::time::sleep(BACKOFF).await;
            }
        }
    }
    drop(listener);
    drop(is_stopping);
    gateway.is_open.store(false, Ordering::Relaxed);
    let patience = Duration::from_secs(u64::from(gateway.setup().gateway.shutdown_secs));
    let open = gateway.metrics.open_requests.get();
    info!(open, seconds = patience.as_secs(), "shutting down; waiting for open requests");
    let _ = stopping.send(true);
    let stopped = match tokio::time::timeout(patience, stopping.closed()).await {
        Ok(()) => Stopped::Finished,
        Err(_) => Stopped::CutOff,
    };
    let _ = statistics_stop.send(());
    let _ = statistics.await;
    // Last, so that it tells everything.
    let _ = export_stop.send(());
    if let Some(export) = export {
        let _ = export.await;
    }
    stopped
}

fn connection_limits(gateway: &Gateway) -> ConnectionLimits {
    let settings = &gateway.setup().gateway;
    ConnectionLimits {
        all: settings.max_connections as usize,
        per_address: settings.max_connections_per_address as usize,
    }
}

fn timeouts(gateway: &Gateway) -> ConnectionTimeouts {
    let settings = &gateway.setup().gateway;
    let seconds = |n: u32| Duration::from_secs(u64::from(n));
    ConnectionTimeouts { head: seconds(settings.header_secs), between: seconds(settings.keep_alive_secs) }
}

/// Serves a connection that has been accepted, if there is room for it.
fn accept(
    gateway: &Arc<Gateway>,
    connections: &Arc<Connections>,
    stream: TcpStream,
    peer: SocketAddr,
    stopping: watch::Receiver<bool>,
) {
    let local_address = stream.local_addr().map_or(peer.ip(), |address| address.ip());
    let Some(open_connection) = connections.admit(peer.ip(), local_address) else {
        gateway.metrics.refusal("connection_dropped");
        return;
    };
    // Events are small and must not wait for each other. A connection that is gone already is found out later.
    let _ = stream.set_nodelay(true);
    let gateway = gateway.clone();
    tokio::spawn(async move {
        gateway.metrics.open_connections.inc();
        serve_connection(&gateway, stream, &open_connection.connection, stopping).await;
        gateway.metrics.open_connections.dec();
        drop(open_connection);
    });
}

/// Serves one connection to its end.
async fn serve_connection(
    gateway: &Arc<Gateway>,
    stream: TcpStream,
    connection: &Arc<Connection>,
    mut stopping: watch::Receiver<bool>,
) {
    let settings = &gateway.setup().gateway;
    let pause = Duration::from_secs(u64::from(settings.body_secs));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // How long a head may take is counted from the first moment, before anybody knows which version it is of.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(LARGEST_HEAD);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS).keep_alive_interval(pause);
    let stream = TokioIo::new(WriteTimeout::new(stream, pause, connection.clone()));
    let (answering, for_requests) = (gateway.clone(), connection.clone());
    let service = service_fn(move |request| {
        let (gateway, guard) = (answering.clone(), for_requests.guard());
        async move { Ok::<_, Infallible>(handler::handle(gateway, request, guard).await) }
    });
    let http = builder.serve_connection(stream, service);
    tokio::pin!(http);
    let timeouts = timeouts(gateway);
    tokio::select! {
        ended = http.as_mut() => return log_end(ended),
        () = connection.waited_too_long(timeouts) => return debug!("connection closed: idle timeout"),
        () = connection.eviction() => return debug!("connection closed: connection limit reached"),
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    http.as_mut().graceful_shutdown();
    tokio::select! {
        ended = http => log_end(ended),
        () = connection.is_drained() => debug!("connection closed: shutting down"),
    }
}

fn log_end(ended: Result<(), super::BoxError>) {
    if let Err(error) = ended {
        debug!(%error, "connection failed");
    }
}
