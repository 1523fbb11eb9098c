//! Handles a turn of a conversation: authenticate, read and decompress the body, choose the upstream.

use super::answer::Refusal;
use super::budget::AccountedBytes;
use super::connection::{Access, RequestGuard};
use super::exchange::Exchange;
use super::gateway::Gateway;
use super::header_hints::Hints;
use super::rewrite::{TurnRequest, UrlParameters};
use super::route::provider_of;
use super::{Body, compaction, identity, inbound, mapped_keys, recall_endpoint, slash_commands};
use crate::conversation::Dialect;
use crate::telemetry::{Span, SpanKind};
use foldline_store::KeyScope;
use http::request::Parts;
use http::{Response, header};
use hyper::body::Incoming;
use std::sync::Arc;

/// Serves a turn of a conversation.
pub async fn serve(
    gateway: &Arc<Gateway>,
    dialect: Dialect,
    mut parts: Parts,
    body: Incoming,
    (guard, span): (&RequestGuard, &Span),
) -> Result<Response<Body>, Refusal> {
    may_forward(gateway, guard)?;
    let setup = gateway.setup();
    let provider = provider_of(dialect);
    let credential = setup.keys.authorise(&parts.headers, &[KeyScope::Generate])?;
    // A place is for requests that are there: bodies that come slowly must not keep others waiting.
    let receiving = guard.receive();
    let received = span.child("receive", SpanKind::Internal);
    let wire = inbound::read(body, setup.bounds, &gateway.memory).await?;
    drop(receiving);
    let place = gateway.acquire().await?;
    let mut wire = wire;
    let mut plain = unpack(gateway, &parts, wire.clone(), setup.bounds).await?;
    drop(received);
    if dialect == Dialect::Responses
        && let Some(expanded) = compaction::expand(gateway, &plain, setup.bounds.bytes).await?
    {
        // From here on this is the request as it came.
        parts.headers.remove(header::CONTENT_ENCODING);
        (wire, plain) = (expanded.clone(), expanded);
    }
    if matches!(dialect, Dialect::Responses | Dialect::Gemini) && setup.keys.is_mapped(credential, provider) {
        mapped_keys::check_references(gateway, credential, &plain).await?;
    }
    let path = parts.uri.path_and_query().ok_or(Refusal::InvalidPath)?;
    let target = setup.base(provider).target(path).ok_or(Refusal::InvalidPath)?;
    let headers = setup.outgoing(credential, provider, &parts.headers)?;
    let hints = Arc::new(Hints::of(&parts.headers));
    let admitted = credential;
    // A key of the store is the person, whatever else the request shows.
    let credential = match setup.keys.is_open() && !gateway.stored_keys.has(admitted) {
        true => identity::of_turn(admitted, provider, &parts.headers, &hints, &plain),
        false => admitted,
    };
    let writer = setup.writer(&target, &headers);
    let url = UrlParameters::of(&parts.uri);
    let site = recall_endpoint::recall_endpoint(&parts.headers, dialect).map(Arc::new);
    let turn_request = TurnRequest { dialect, body: plain, url, credential, hints, writer, site };
    if setup.gateway.slash_compress
        && let Some(answer) = slash_commands::answer(gateway, &turn_request).await
    {
        return Ok(answer);
    }
    if setup.gateway.answer_compactions
        && let Some(answer) = compaction::answer_summary(gateway, &turn_request).await
    {
        return Ok(answer);
    }
    let before = if dialect == Dialect::Responses { compaction::without_trigger(&turn_request.body) } else { None };
    if let Some(before) = &before
        && setup.base(provider).vendor() != Some(provider)
        && let Some(answer) = compaction::answer(gateway, &turn_request, before.clone()).await
    {
        return Ok(answer);
    }
    let asked = before.map(|before| (before, turn_request.clone()));
    let exchange = Exchange {
        gateway: gateway.clone(),
        setup,
        provider,
        admitted,
        method: parts.method,
        target,
        headers,
        wire,
        turn_request,
        span: span.clone(),
    };
    let answer = exchange.serve(place).await?;
    match asked {
        Some((before, turn_request)) if compaction::is_refused(answer.status()) => {
            Ok(compaction::answer(gateway, &turn_request, before).await.unwrap_or(answer))
        }
        _ => Ok(answer),
    }
}

/// Refuses to forward for a connection that came in for the gateway's own pages.
pub fn may_forward(gateway: &Gateway, guard: &RequestGuard) -> Result<(), Refusal> {
    match guard.connection().reach {
        Access::All => Ok(()),
        Access::OwnPages => Err(Refusal::TooManyConnections { limit: gateway.setup().gateway.max_connections }),
    }
}

/// Unpacking a body that is packed takes a while, and belongs on a thread that may block.
pub async fn unpack(
    gateway: &Arc<Gateway>,
    parts: &Parts,
    wire: AccountedBytes,
    bounds: inbound::Bounds,
) -> Result<AccountedBytes, Refusal> {
    if !parts.headers.contains_key(header::CONTENT_ENCODING) {
        return Ok(wire);
    }
    let (headers, memory) = (parts.headers.clone(), gateway.memory.clone());
    // Few at once: more would only take memory from each other.
    let worker = gateway.workers.clone().acquire_owned().await;
    let job = tokio::task::spawn_blocking(move || {
        let _worker = worker;
        inbound::unpack(&headers, wire, bounds, &memory)
    });
    job.await.unwrap_or(Err(Refusal::Incomplete))
}
