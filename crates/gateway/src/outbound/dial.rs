//! Opens one connection: directly, through a proxy tunnel (`https`), or to a forward proxy (`http`), with TLS if the
//! URL requires it and within a time limit.

use super::error::{BoxError, OutboundError, TooLate};
use super::proxy::between;
use super::{OutboundSettings, roots};
use http::{HeaderMap, Request, Uri, header};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tower_service::Service;

type Making<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Makes connections for the pool.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    tls: HttpsConnector<Route>,
    matcher: Arc<Matcher>,
    limit: Duration,
    trusts_anyone: bool,
}

impl Dial {
    pub(super) fn new(settings: &OutboundSettings) -> Result<Dial, OutboundError> {
        let trusted = roots::trusted(settings.ca_file.as_deref())?;
        let trusts_anyone = !trusted.is_empty();
        let tls = roots::tls(trusted)?;
        let mut tcp = HttpConnector::new();
        // The TLS layer above decides about schemes.
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_secs(30)));
        // Of several addresses of a name, each gets its share of the limit.
        tcp.set_connect_timeout(Some(settings.connect_timeout));
        let proxy = HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http().enable_http1();
        let matcher = Arc::new(settings.proxies.matcher());
        let route = Route { proxy: proxy.wrap_connector(tcp.clone()), tcp, matcher: Arc::clone(&matcher) };
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().enable_http2();
        Ok(Dial { tls: tls.wrap_connector(route), matcher, limit: settings.connect_timeout, trusts_anyone })
    }

    /// Refuses what cannot work, in words that help.
    pub(super) fn check(&self, destination: &Uri) -> Result<(), OutboundError> {
        let fault = |words: String| Err(OutboundError::Address(words));
        let Some(host) = destination.host() else {
            return fault("the URL has no host; expected https://host/path".into());
        };
        match destination.scheme_str() {
            Some("http") => {}
            Some("https") if self.trusts_anyone => {}
            Some("https") => {
                return fault(format!(
                    "no trusted root certificates found, so {host} cannot be verified; install ca-certificates or set \
                     SSL_CERT_FILE"
                ));
            }
            other => return fault(format!("{host}: expected http or https, not {}", other.unwrap_or("nothing"))),
        }
        match between(&self.matcher, destination).map(|proxy| proxy.uri().clone()) {
            Some(proxy) if !matches!(proxy.scheme_str(), Some("http" | "https")) => fault(format!(
                "the proxy for {host} uses the scheme {}; expected http or https",
                proxy.scheme_str().unwrap_or("nothing known")
            )),
            _ => Ok(()),
        }
    }

    /// Adds what the proxy wants to know, where the request itself goes to it.
    pub(super) fn authorise<B>(&self, request: &mut Request<B>) {
        if request.uri().scheme_str() != Some("http") {
            return;
        }
        let proxy = between(&self.matcher, request.uri());
        if let Some(auth) = proxy.as_ref().and_then(|proxy| proxy.basic_auth()) {
            insert_secret(request.headers_mut(), header::PROXY_AUTHORIZATION, auth.clone());
        }
    }
}

fn insert_secret(headers: &mut HeaderMap, name: header::HeaderName, mut value: header::HeaderValue) {
    value.set_sensitive(true);
    headers.insert(name, value);
}

impl Service<Uri> for Dial {
    type Response = MaybeHttpsStream<UpstreamStream>;
    type Error = BoxError;
    type Future = Making<Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tls.poll_ready(context)
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        let making = self.tls.call(destination);
        let limit = self.limit;
        Box::pin(async move {
            match tokio::time::timeout(limit, making).await {
                Ok(made) => made,
                Err(_) => Err(TooLate(limit).into()),
            }
        })
    }
}

/// Makes the connection below TLS.
#[derive(Clone, Debug)]
pub(super) struct Route {
    tcp: HttpConnector,
    proxy: HttpsConnector<HttpConnector>,
    matcher: Arc<Matcher>,
}

impl Service<Uri> for Route {
    type Response = UpstreamStream;
    type Error = BoxError;
    type Future = Making<UpstreamStream>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        let Some(proxy) = between(&self.matcher, &destination) else {
            let making = self.tcp.call(destination);
            return Box::pin(async move {
                Ok(UpstreamStream { stream: MaybeHttpsStream::Http(making.await?), reach: Reach::Destination })
            });
        };
        if destination.scheme_str() == Some("https") {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), self.proxy.clone());
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            let making = tunnel.call(destination);
            return Box::pin(async move { Ok(UpstreamStream { stream: making.await?, reach: Reach::Destination }) });
        }
        let making = self.proxy.call(proxy.uri().clone());
        Box::pin(async move { Ok(UpstreamStream { stream: making.await?, reach: Reach::Proxy }) })
    }
}

/// Who is at the other end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Destination,
    /// A proxy that wants the whole URL in the request.
    Proxy,
}

/// A connection below TLS.
#[derive(Debug)]
pub(super) struct UpstreamStream {
    stream: MaybeHttpsStream<TokioIo<TcpStream>>,
    reach: Reach,
}

impl Connection for UpstreamStream {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.reach == Reach::Proxy)
    }
}

impl Read for UpstreamStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl Write for UpstreamStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }
}
