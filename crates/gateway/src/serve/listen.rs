//! Accepting connections, speaking HTTP/1.1 and HTTP/2 on them, and stopping without cutting anybody off.

use super::gateway::{Gateway, StartError};
use super::patient::Patient;
use super::{background, entrance};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
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
/// The wait after the system refuses a connection, usually because too many files are open.
const BACKOFF: Duration = Duration::from_millis(50);

/// Opens the address of the settings.
pub async fn bind(gateway: &Gateway) -> Result<TcpListener, StartError> {
    let address = gateway.setup().listen()?;
    TcpListener::bind(address).await.map_err(|error| StartError::Listen { address, error })
}

/// Serves until `stop` is done, then finishes what is open, within the limit of the settings.
pub async fn serve(gateway: Arc<Gateway>, listener: TcpListener, stop: impl Future<Output = ()>) -> Stopped {
    let (books_stop, books_stopped) = oneshot::channel::<()>();
    let books = tokio::spawn(background::keep_books(gateway.clone(), async move {
        let _ = books_stopped.await;
    }));
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(gateway.setup().policy.gateway.max_connections as usize));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        match accepted {
            Ok((stream, _, permit)) => {
                let connection = connection(&gateway, stream);
                let watched = graceful.watch(connection);
                let open = gateway.metrics.open_connections.clone();
                open.inc();
                tokio::spawn(async move {
                    if let Err(error) = watched.await {
                        debug!(%error, "a connection ended early");
                    }
                    open.dec();
                    drop(permit);
                });
            }
            Err(error) => {
                warn!(%error, "a connection was not accepted");
                tokio::time::sleep(BACKOFF).await;
            }
        }
    }
    drop(listener);
    gateway.is_open.store(false, Ordering::Relaxed);
    let patience = Duration::from_secs(u64::from(gateway.setup().policy.gateway.shutdown_secs));
    let open = gateway.metrics.open_requests.get();
    info!(open, seconds = patience.as_secs(), "stopping; open requests get time to finish");
    let stopped = match tokio::time::timeout(patience, graceful.shutdown()).await {
        Ok(()) => Stopped::Finished,
        Err(_) => Stopped::CutOff,
    };
    let _ = books_stop.send(());
    let _ = books.await;
    stopped
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let permit = connections.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Events are small and must not wait for each other.
    stream.set_nodelay(true)?;
    Ok((stream, peer, permit))
}

/// One connection, as a future that ends with it.
fn connection(
    gateway: &Arc<Gateway>,
    stream: TcpStream,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = super::BoxError> + Send + use<> {
    let settings = &gateway.setup().policy.gateway;
    let seconds = |n: u32| Duration::from_secs(u64::from(n));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(seconds(settings.header_secs));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .keep_alive_interval(seconds(settings.body_secs))
        .adaptive_window(true);
    let stream = TokioIo::new(Patient::new(stream, seconds(settings.body_secs)));
    let gateway = gateway.clone();
    let service = service_fn(move |request| entrance::answer(gateway.clone(), request));
    builder.serve_connection(stream, service).into_owned()
}
