//! A request that is none of ours to understand: it passes as it comes, and so does its reply.

use super::answer::Refusal;
use super::gateway::Gateway;
use super::lending::Trace;
use super::passage::{Passage, Passing, Pieces};
use super::presence::Visit;
use super::reply::Reply;
use super::route::Provider;
use super::turn::{may_forward, unpack};
use super::{Body, headers, inbound, journal, lending};
use http::request::Parts;
use http::{HeaderMap, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::sync::Arc;

/// A body up to this length that says how long it is, is read before it takes a place.
const READ_FIRST: u64 = 4 << 20;

/// Whether a body is the form that files are sent with, which refers to nothing.
fn is_form(headers: &HeaderMap) -> bool {
    headers::text(headers, &header::CONTENT_TYPE).is_some_and(|kind| kind.trim_start().starts_with("multipart/"))
}

/// Serves such a request. Its reply streams, and so does its body unless it is small.
pub async fn serve(
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
    let status = reply.status();
    gateway.metrics.reply(provider, status.as_u16(), began.elapsed());
    if status.is_client_error() || status.is_server_error() {
        journal::upstream_failed(setup.base(provider).host(), status.as_u16(), None, began.elapsed());
    }
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
