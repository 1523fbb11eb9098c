//! A turn of a conversation: who sends it is let in, its body is read and unpacked, and where it goes is known.

use super::answer::Refusal;
use super::budget::Weighed;
use super::exchange::Exchange;
use super::gateway::Gateway;
use super::hints::Hints;
use super::presence::{Reach, Visit};
use super::rewriting::{Question, Wish};
use super::route::provider_of;
use super::{Body, compaction, compress, identity, inbound, lending, site};
use crate::conversation::Dialect;
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
    visit: &Visit,
) -> Result<Response<Body>, Refusal> {
    may_forward(gateway, visit)?;
    let setup = gateway.setup();
    let provider = provider_of(dialect);
    let credential = setup.keys.admit(&parts.headers).ok_or(Refusal::Unknown)?;
    // A place is for requests that are there: bodies that come slowly must not keep others waiting.
    let receiving = visit.receive();
    let wire = inbound::read(body, setup.bounds, &gateway.memory).await?;
    drop(receiving);
    let place = gateway.enter().await?;
    let mut wire = wire;
    let mut plain = unpack(gateway, &parts, wire.clone(), setup.bounds).await?;
    let expanded = if dialect == Dialect::Responses { compaction::expand(&plain) } else { None };
    if let Some(expanded) = expanded {
        // From here on this is the request as it came.
        parts.headers.remove(header::CONTENT_ENCODING);
        (wire, plain) = (expanded.clone(), expanded);
    }
    if matches!(dialect, Dialect::Responses | Dialect::Gemini) && setup.keys.lends(credential, provider) {
        lending::check_references(gateway, credential, &plain).await?;
    }
    let path = parts.uri.path_and_query().ok_or(Refusal::Path)?;
    let target = setup.base(provider).target(path).ok_or(Refusal::Path)?;
    let headers = setup.outgoing(credential, provider, &parts.headers)?;
    let hints = Arc::new(Hints::of(&parts.headers));
    let admitted = credential;
    let credential = match setup.keys.is_open() {
        true => identity::of_turn(admitted, &parts.headers, &hints, &plain),
        false => admitted,
    };
    let writer = setup.writer(&target, &headers);
    let wish = Wish::of(&parts.uri);
    let site = site::site(&parts.headers, dialect).map(Arc::new);
    let question = Question { dialect, body: plain, wish, credential, hints, writer, site };
    if setup.gateway.slash_compress
        && let Some(answer) = compress::answer(gateway, &question).await
    {
        return Ok(answer);
    }
    if setup.gateway.answer_compactions
        && let Some(answer) = compaction::answer_summary(gateway, &question).await
    {
        return Ok(answer);
    }
    let before = if dialect == Dialect::Responses { compaction::without_trigger(&question.body) } else { None };
    if let Some(before) = &before
        && setup.base(provider).vendor() != Some(provider)
        && let Some(answer) = compaction::answer(gateway, &question, before.clone()).await
    {
        return Ok(answer);
    }
    let asked = before.map(|before| (before, question.clone()));
    let exchange = Exchange {
        gateway: gateway.clone(),
        setup,
        provider,
        admitted,
        method: parts.method,
        target,
        headers,
        wire,
        question,
    };
    let answer = exchange.serve(place).await?;
    match asked {
        Some((before, question)) if compaction::is_refused(answer.status()) => {
            Ok(compaction::answer(gateway, &question, before).await.unwrap_or(answer))
        }
        _ => Ok(answer),
    }
}

/// Refuses to forward for a connection that came in for the gateway's own pages.
pub fn may_forward(gateway: &Gateway, visit: &Visit) -> Result<(), Refusal> {
    match visit.presence().reach {
        Reach::All => Ok(()),
        Reach::OwnPages => Err(Refusal::Crowded { limit: gateway.setup().gateway.max_connections }),
    }
}

/// Unpacking a body that is packed takes a while, and belongs on a thread that may block.
pub async fn unpack(
    gateway: &Arc<Gateway>,
    parts: &Parts,
    wire: Weighed,
    bounds: inbound::Bounds,
) -> Result<Weighed, Refusal> {
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
