//! Connections to providers: TLS, proxies, certificates, a pool.
//!
//! One [`Outbound`] serves the gateway's forwarded requests and the summariser's own. Bodies stream
//! both ways. HTTP/2 is used where the provider offers it. Which proxy to use follows the
//! environment, as curl reads it.

mod dial;
mod error;
mod proxy;
mod roots;

pub use error::{BoxError, OutboundError};
pub use proxy::Proxies;

use dial::Dial;
use http::{Request, Response, Version};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::path::PathBuf;
use std::time::Duration;

/// How connections are made.
#[derive(Clone, Debug)]
pub struct OutboundSettings {
    /// Which proxies to use.
    pub proxies: Proxies,
    /// A PEM file with certificate authorities to trust beside those of the operating system.
    pub ca_file: Option<PathBuf>,
    /// The longest wait until a connection stands: name, proxy and TLS included.
    pub connect_timeout: Duration,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
}

impl Default for OutboundSettings {
    fn default() -> Self {
        OutboundSettings {
            proxies: Proxies::Environment,
            ca_file: None,
            // A provider that does not answer within this time is not going to.
            connect_timeout: Duration::from_secs(10),
            // Load balancers close idle connections after 60 s or later; ours must go first.
            idle_timeout: Duration::from_secs(55),
        }
    }
}

/// A client with a pool of connections. Cheap to clone; clones share the pool.
#[derive(Clone, Debug)]
pub struct Outbound {
    client: Client<Dial, UnsyncBoxBody<Bytes, BoxError>>,
    dial: Dial,
}

impl Outbound {
    /// A client with these settings. Reads the trusted certificates; connects to nothing.
    pub fn new(settings: OutboundSettings) -> Result<Outbound, OutboundError> {
        let dial = Dial::new(&settings)?;
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(settings.idle_timeout)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http2_adaptive_window(true)
            // A dead HTTP/2 connection would otherwise hold every request that is multiplexed on it.
            .http2_keep_alive_interval(Duration::from_secs(20))
            .http2_keep_alive_timeout(Duration::from_secs(20))
            .build(dial.clone());
        Ok(Outbound { client, dial })
    }

    /// Sends a request to the absolute URL that it carries and returns as soon as the response's
    /// headers are there. Any status is a response, not an error.
    ///
    /// `host` is set from the URL, and `proxy-authorization` from the proxy's.
    pub async fn send<B>(&self, request: Request<B>) -> Result<Response<Incoming>, OutboundError>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let mut request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        // The protocol is agreed on with the server; what a client spoke to us does not matter.
        *request.version_mut() = Version::HTTP_11;
        self.dial.check(request.uri())?;
        self.dial.authorise(&mut request);
        self.client.request(request).await.map_err(OutboundError::of)
    }
}

#[cfg(test)]
mod tests;
