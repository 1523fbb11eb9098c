//! Every request comes in here and leaves with an answer.

use super::answer::{Refusal, text_answer};
use super::budget::Weighed;
use super::exchange::Exchange;
use super::gateway::Gateway;
use super::hints::Hints;
use super::lending::Trace;
use super::passage::{Passage, Passing, Pieces};
use super::presence::{Reach, Visit};
use super::reply::Reply;
use super::rewriting::{Question, Wish};
use super::route::{Provider, Route, provider_of, route};
use super::{Body, compress, headers, identity, inbound, lending, own, path, site, vendor};
use crate::conversation::Dialect;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::borrow::Cow;
use std::sync::Arc;

/// Answers a request.
pub async fn answer(gateway: Arc<Gateway>, request: Request<Incoming>, visit: Visit) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let straight = straighten(&mut parts).and_then(|()| vendor::lift_key(&mut parts));
    let route = route(&parts);
    let provider = route.provider();
    let answer = match straight.and_then(|()| gateway.setup().names.check(&parts, visit.presence().entrance)) {
        Ok(()) => served(&gateway, route, parts, body, &visit).await,
        Err(refusal) => Err(refusal),
    };
    let answer = answer.unwrap_or_else(|refusal| {
        gateway.metrics.refusal(refusal.name());
        tracing::debug!(kind = refusal.name(), "refused");
        refusal.answer(provider)
    });
    answer.map(|body| visit.until_the_end_of(body))
}

/// Takes detours out of the path, before anybody decides by it.
fn straighten(parts: &mut Parts) -> Result<(), Refusal> {
    let straight = match parts.uri.path_and_query().map(path::normal) {
        Some(Some(Cow::Borrowed(_))) => return Ok(()),
        Some(Some(Cow::Owned(straight))) => straight,
        Some(None) | None => return Err(Refusal::Path),
    };
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    uri.path_and_query = Some(straight);
    parts.uri = Uri::from_parts(uri).map_err(|_| Refusal::Path)?;
    Ok(())
}

async fn served(
    gateway: &Arc<Gateway>,
    route: Route,
    parts: Parts,
    body: Incoming,
    visit: &Visit,
) -> Result<Response<Body>, Refusal> {
    match route {
        Route::Own(path) => own_page(gateway, path, parts, body, visit).await,
        Route::Alive => Ok(text_answer(StatusCode::OK, "text/plain; charset=utf-8", "foldline\n")),
        Route::Upgrade => Err(Refusal::Upgrade),
        Route::Doubt => Err(Refusal::Doubt),
        Route::Foreign => Err(Refusal::NotFound),
        Route::Turn(dialect) => turn(gateway, dialect, parts, body, visit).await,
        Route::Pass(provider) => pass(gateway, provider, parts, body, visit).await,
    }
}

async fn own_page(
    gateway: &Arc<Gateway>,
    path: String,
    parts: Parts,
    body: Incoming,
    visit: &Visit,
) -> Result<Response<Body>, Refusal> {
    let bounds = inbound::Bounds { bytes: OWN_BODY, ..gateway.setup().bounds };
    let receiving = visit.receive();
    let body = inbound::read(body, bounds, &gateway.memory).await?;
    drop(receiving);
    Ok(own::answer(gateway.clone(), path, parts, (*body).clone()).await)
}

/// Refuses to forward for a connection that came in for the gateway's own pages.
fn may_forward(gateway: &Gateway, visit: &Visit) -> Result<(), Refusal> {
    match visit.presence().reach {
        Reach::All => Ok(()),
        Reach::OwnPages => Err(Refusal::Crowded { limit: gateway.setup().gateway.max_connections }),
    }
}

/// Bytes that a request to one of our own pages may have.
const OWN_BODY: u64 = 64 << 10;

/// A turn of a conversation.
async fn turn(
    gateway: &Arc<Gateway>,
    dialect: Dialect,
    parts: Parts,
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
    let plain = unpack(gateway, &parts, wire.clone(), setup.bounds).await?;
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
    let gateway = gateway.clone();
    let exchange =
        Exchange { gateway, setup, provider, admitted, method: parts.method, target, headers, wire, question };
    exchange.serve(place).await
}

/// Unpacking a body that is packed takes a while, and belongs on a thread that may block.
async fn unpack(
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
    let desk = gateway.desks.clone().acquire_owned().await;
    let job = tokio::task::spawn_blocking(move || {
        let _desk = desk;
        inbound::unpack(&headers, wire, bounds, &memory)
    });
    job.await.unwrap_or(Err(Refusal::Incomplete))
}

/// A body up to this length that says how long it is, is read before it takes a place.
const READ_FIRST: u64 = 4 << 20;

/// Whether a body is the form that files are sent with, which refers to nothing.
fn is_form(headers: &HeaderMap) -> bool {
    headers::text(headers, &header::CONTENT_TYPE).is_some_and(|kind| kind.trim_start().starts_with("multipart/"))
}

/// A request that is none of ours to understand: its reply streams, and so does its body unless it is small.
async fn pass(
    gateway: &Arc<Gateway>,
    provider: Provider,
    parts: Parts,
    body: Incoming,
    visit: &Visit,
) -> Result<Response<Body>, Refusal> {
    use http_body::Body as _;
    may_forward(gateway, visit)?;
    let setup = gateway.setup();
    let credential = setup.keys.admit(&parts.headers).ok_or(Refusal::Unknown)?;
    let trace = match setup.keys.lends(credential, provider) {
        true => lending::check_passed(gateway, credential, &parts).await?,
        false => Trace::Nothing,
    };
    let must_be_read = trace == Trace::Objects && !is_form(&parts.headers);
    let limit = setup.bounds.bytes;
    let length = body.size_hint();
    if length.lower() > limit {
        return Err(Refusal::TooLarge { limit });
    }
    let path = parts.uri.path_and_query().ok_or(Refusal::Path)?;
    let target = setup.base(provider).target(path).ok_or(Refusal::Path)?;
    let host = target.host().unwrap_or_default().to_owned();
    let mut headers = setup.outgoing(credential, provider, &parts.headers)?;
    headers.remove(header::CONTENT_LENGTH);
    let passage = Passage::new();
    let receiving = visit.receive();
    let mut held = None;
    let (place, body) = if length.exact().is_some_and(|length| length <= READ_FIRST) {
        let read = inbound::read(body, setup.bounds, &gateway.memory).await?;
        drop(receiving);
        if must_be_read && !read.is_empty() {
            let plain = unpack(gateway, &parts, read.clone(), setup.bounds).await?;
            lending::check_references(gateway, credential, &plain).await?;
        }
        let pieces = Pieces::new((*read).clone(), passage.clone()).boxed_unsync();
        held = Some(read);
        (gateway.enter().await?, pieces)
    } else if must_be_read {
        // What it refers to is known when it is there as a whole.
        return Err(Refusal::TooLarge { limit: READ_FIRST });
    } else {
        let place = gateway.enter_slowly().await?;
        (place, Passing::new(body, setup.bounds, passage.clone(), Some(receiving)).boxed_unsync())
    };
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = target;
    *request.headers_mut() = headers;
    let began = std::time::Instant::now();
    let patience = setup.patience.reply;
    let reply = passage
        .answered(gateway.outbound.send(request), patience)
        .await
        .ok_or_else(|| Refusal::Silent { host: host.clone(), seconds: patience.as_secs() })?
        .map_err(|error| {
            passage.refusal().unwrap_or_else(|| Refusal::Unreachable { host, reason: error.to_string() })
        })?;
    drop(held);
    gateway.metrics.reply(provider, reply.status().as_u16(), began.elapsed());
    let (mut reply, source) = reply.into_parts();
    headers::end_hop(&mut reply.headers);
    let mut passed = Reply::new(source, setup.patience.idle).placed(place);
    if trace == Trace::Objects && reply.status.is_success() {
        passed = passed.watched(lending::watch(gateway, credential, &reply.headers));
    }
    let mut response = Response::new(passed.boxed_unsync());
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    Ok(response)
}
