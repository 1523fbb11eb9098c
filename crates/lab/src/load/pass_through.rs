//! A minimal pass-through proxy made of the same libraries: the lower bound for forwarding.

use crate::Failure;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri, server::conn::http1};
use hyper_util::client::legacy::{Client, Error, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Passes requests on to `upstream` until the process ends. `tell` hears where it listens.
pub fn serve(upstream: SocketAddr, tell: impl FnOnce(SocketAddr) -> Result<(), Failure>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        tell(listener.local_addr()?)?;
        let client: Client<HttpConnector, Incoming> = Client::builder(TokioExecutor::new()).build_http();
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let client = client.clone();
            let service = service_fn(move |request| forward(client.clone(), upstream, request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn forward(
    client: Client<HttpConnector, Incoming>,
    upstream: SocketAddr,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    if let Ok(uri) = format!("http://{upstream}{path}").parse::<Uri>() {
        *request.uri_mut() = uri;
    }
    client.request(request).await
}
