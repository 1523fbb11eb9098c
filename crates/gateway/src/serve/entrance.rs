//! Every request comes in here and leaves with an answer.

use super::answer::{Refusal, text_answer};
use super::gateway::Gateway;
use super::presence::Visit;
use super::route::{Route, route};
use super::{Body, inbound, journal, own, pass, path, turn, vendor};
use http::request::Parts;
use http::{Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use std::borrow::Cow;
use std::sync::Arc;

/// Answers a request.
pub async fn answer(gateway: Arc<Gateway>, request: Request<Incoming>, visit: Visit) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let straight = straighten(&mut parts).and_then(|()| vendor::lift_key(&mut parts));
    let route = route(&parts);
    let provider = route.provider();
    let what = route.name();
    let answer = match straight.and_then(|()| gateway.setup().names.check(&parts, visit.presence().entrance)) {
        Ok(()) => served(&gateway, route, parts, body, &visit).await,
        Err(refusal) => Err(refusal),
    };
    let answer = answer.unwrap_or_else(|refusal| {
        gateway.metrics.refusal(refusal.name());
        journal::refused(&refusal, what);
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
        Route::Turn(dialect) => turn::serve(gateway, dialect, parts, body, visit).await,
        Route::Pass(provider) => pass::serve(gateway, provider, parts, body, visit).await,
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

/// Bytes that a request to one of our own pages may have.
const OWN_BODY: u64 = 64 << 10;
