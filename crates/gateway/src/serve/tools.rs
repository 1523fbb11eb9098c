//! Tools for agents at `/foldline/mcp`: streamable HTTP, one request and one answer, for the key that asks.

use super::Body;
use super::gateway::Gateway;
use crate::conversation::{CredentialId, Whom};
use crate::mcp::Tools;
use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// Answers a message of a client.
pub async fn answer(gateway: &Gateway, parts: Parts, body: Bytes, credential: CredentialId) -> Response<Body> {
    let tools = Tools::new(gateway.conversations.clone(), Whom::Client(credential));
    // Hosts and origins were checked at the entrance. Nothing is kept between two calls.
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(NeverSessionManager::default()), settings);
    let answer = service.handle(Request::from_parts(parts, Full::new(body))).await;
    answer.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}
