//! The HTTP client below `object_store`: hyper, with time limits and the roots of the system. The crate's own is reqwest.

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as TcpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpService,
};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(2);
/// A slow line is given a second for so many bytes, beside the limit.
const BYTES_PER_SECOND: u64 = 1 << 20;
/// Connections that stay open for the next request.
const IDLE: usize = 16;

/// Makes clients for `object_store`.
#[derive(Debug)]
pub(super) struct Connector {
    client: Caller,
}

/// Sends requests.
#[derive(Clone, Debug)]
struct Caller {
    client: Client<HttpsConnector<TcpConnector>, HttpRequestBody>,
    /// How long an answer may take, beside what its bytes take.
    limit: Duration,
}

impl Connector {
    pub(super) fn new(limit: Duration) -> Result<Connector, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let tls = tls.with_root_certificates(roots).with_no_client_auth();
        let mut tcp = TcpConnector::new();
        // The layer above decides about schemes: plain text where the endpoint says `http://`.
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector.wrap_connector(tcp));
        Ok(Connector { client: Caller { client, limit } })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.client.clone()))
    }
}

#[async_trait]
impl HttpService for Caller {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let bytes = request.body().content_length() as u64;
        let limit = self.limit + Duration::from_secs(bytes / BYTES_PER_SECOND);
        let sent = timeout(limit, self.client.request(request)).await;
        let answer = sent.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Request };
            HttpError::new(kind, error)
        })?;
        let (parts, body) = answer.into_parts();
        Ok(HttpResponse::from_parts(parts, self.read(body).await?.into()))
    }
}

impl Caller {
    /// Reads an answer whole: an object is needed whole. Each part of it has its own time.
    async fn read(&self, mut body: Incoming) -> Result<Bytes, HttpError> {
        let mut bytes = Vec::new();
        loop {
            let next = timeout(self.limit, body.frame()).await;
            match next.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))? {
                None => return Ok(bytes.into()),
                Some(Ok(frame)) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Some(Err(error)) => return Err(HttpError::new(HttpErrorKind::Interrupted, error)),
            }
        }
    }
}
