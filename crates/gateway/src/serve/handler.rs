//! The entry point of every request: normalise, check, route, answer.

use super::answer::{Refusal, text_answer};
use super::connection::RequestGuard;
use super::gateway::Gateway;
use super::route::{Route, route};
use super::{Body, credentials, endpoints, inbound, log_lines, outputs, pass_through, path, spans, turn};
use crate::telemetry::Span;
use http::request::Parts;
use http::{Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use std::borrow::Cow;
use std::sync::Arc;

/// Handles a request.
pub async fn handle(gateway: Arc<Gateway>, request: Request<Incoming>, guard: RequestGuard) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let straight = normalise_path(&mut parts).and_then(|()| credentials::lift_key(&mut parts));
    let route = route(&parts);
    let provider = route.provider();
    let what = route.name();
    let span = spans::of_request(&gateway, &route, &parts);
    let answer = match straight.and_then(|()| gateway.setup().names.check(&parts, guard.connection().local_address)) {
        Ok(()) => dispatch(&gateway, route, parts, body, (&guard, &span)).await,
        Err(refusal) => Err(refusal),
    };
    let answer = answer.unwrap_or_else(|refusal| {
        gateway.metrics.refusal(refusal.name());
        log_lines::refused(&refusal, what);
        span.set("error.type", refusal.name());
        refusal.answer(provider)
    });
    spans::answered(&span, answer.status());
    answer.map(|body| guard.hold_until_end_of(body, span))
}

/// Normalises the path before anything is decided by it.
fn normalise_path(parts: &mut Parts) -> Result<(), Refusal> {
    let straight = match parts.uri.path_and_query().map(path::normal) {
        Some(Some(Cow::Borrowed(_))) => return Ok(()),
        Some(Some(Cow::Owned(straight))) => straight,
        Some(None) | None => return Err(Refusal::InvalidPath),
    };
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    uri.path_and_query = Some(straight);
    parts.uri = Uri::from_parts(uri).map_err(|_| Refusal::InvalidPath)?;
    Ok(())
}

async fn dispatch(
    gateway: &Arc<Gateway>,
    route: Route,
    parts: Parts,
    body: Incoming,
    (guard, span): (&RequestGuard, &Span),
) -> Result<Response<Body>, Refusal> {
    match route {
        Route::Own(path) => own_endpoint(gateway, path, parts, body, guard).await,
        Route::Compress => outputs::compress(gateway, parts, body, guard).await,
        Route::Retrieve(hash) => outputs::retrieve(gateway, hash, parts).await,
        Route::Alive => Ok(text_answer(StatusCode::OK, "text/plain; charset=utf-8", "foldline\n")),
        Route::Upgrade => Err(Refusal::WebSocket),
        Route::Ambiguous => Err(Refusal::AmbiguousProvider),
        Route::Foreign => Err(Refusal::NotFound),
        Route::Turn(dialect) => turn::serve(gateway, dialect, parts, body, (guard, span)).await,
        Route::Pass(provider) => pass_through::serve(gateway, provider, parts, body, (guard, span)).await,
    }
}

async fn own_endpoint(
    gateway: &Arc<Gateway>,
    path: String,
    parts: Parts,
    body: Incoming,
    guard: &RequestGuard,
) -> Result<Response<Body>, Refusal> {
    let bounds = inbound::Bounds { bytes: OWN_BODY, ..gateway.setup().bounds };
    let receiving = guard.receive();
    let body = inbound::read(body, bounds, &gateway.memory).await?;
    drop(receiving);
    Ok(endpoints::answer(gateway.clone(), path, parts, (*body).clone()).await)
}

/// Largest body of a request to the gateway's own endpoints.
const OWN_BODY: u64 = 64 << 10;
