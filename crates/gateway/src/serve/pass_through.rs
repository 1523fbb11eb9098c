//! Forwards a request that is not a turn, and its reply, unchanged.

use super::answer::Refusal;
use super::connection::RequestGuard;
use super::gateway::{Gateway, now};
use super::mapped_keys::Trace;
use super::reply::Reply;
use super::reply_observer::{Ending, Observed, ReplyObserver, Settled};
use super::route::{Provider, operation};
use super::stored_keys::Reservation;
use super::turn::{may_forward, unpack};
use super::upload::{ChunkedBody, LimitedUpload, UploadProgress};
use super::{Body, counted, headers, inbound, log_lines, mapped_keys, spans};
use crate::conversation::CredentialId;
use crate::telemetry::Span;
use foldline_core::Format;
use foldline_store::{KeyScope, KeyUsage};
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
    (guard, span): (&RequestGuard, &Span),
) -> Result<Response<Body>, Refusal> {
    use http_body::Body as _;
    may_forward(gateway, guard)?;
    let setup = gateway.setup();
    let credential = setup.keys.authorise(&parts.headers, &[KeyScope::Generate])?;
    let trace = match setup.keys.is_mapped(credential, provider) {
        true => mapped_keys::check_passed(gateway, credential, &parts).await?,
        false => Trace::Nothing,
    };
    let counting = Counting { gateway: gateway.clone(), credential, is_generation: is_generation(&parts) };
    let must_be_read = trace == Trace::Objects && !is_form(&parts.headers);
    let limit = setup.bounds.bytes;
    let length = body.size_hint();
    if length.lower() > limit {
        return Err(Refusal::TooLarge { limit });
    }
    let path = parts.uri.path_and_query().ok_or(Refusal::InvalidPath)?;
    let target = setup.base(provider).target(path).ok_or(Refusal::InvalidPath)?;
    let host = target.host().unwrap_or_default().to_owned();
    let mut headers = setup.outgoing(credential, provider, &parts.headers)?;
    headers.remove(header::CONTENT_LENGTH);
    let upload = UploadProgress::new();
    let receiving = guard.receive();
    let mut held = None;
    let (place, body) = if length.exact().is_some_and(|length| length <= READ_FIRST) {
        let read = inbound::read(body, setup.bounds, &gateway.memory).await?;
        drop(receiving);
        if must_be_read && !read.is_empty() {
            let plain = unpack(gateway, &parts, read.clone(), setup.bounds).await?;
            mapped_keys::check_references(gateway, credential, &plain).await?;
        }
        let pieces = ChunkedBody::new((*read).clone(), upload.clone()).boxed_unsync();
        held = Some(read);
        (gateway.acquire().await?, pieces)
    } else if must_be_read {
        // What it refers to is known when it is there as a whole.
        return Err(Refusal::TooLarge { limit: READ_FIRST });
    } else {
        let place = gateway.acquire_for_upload().await?;
        (place, LimitedUpload::new(body, setup.bounds, upload.clone(), Some(receiving)).boxed_unsync())
    };
    let reserved = counting.reserve(length.exact())?;
    let upstream = spans::upstream(span, &parts.method, &target);
    upstream.put_into(&mut headers);
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = target;
    *request.headers_mut() = headers;
    let began = std::time::Instant::now();
    let patience = setup.patience.reply;
    let reply = upload
        .answered(gateway.outbound.send(request), patience)
        .await
        .ok_or_else(|| {
            upstream.fail("timeout");
            Refusal::UpstreamTimeout { host: host.clone(), seconds: patience.as_secs() }
        })?
        .map_err(|error| {
            upstream.fail("connection");
            upload.refusal().unwrap_or_else(|| Refusal::UpstreamUnreachable { host, reason: error.to_string() })
        })?;
    drop(held);
    let status = reply.status();
    spans::replied(&upstream, status, began.elapsed());
    gateway.metrics.reply(provider, status.as_u16(), began.elapsed());
    gateway.book(credential, &KeyUsage { requests: 1, ..KeyUsage::default() });
    if status.is_client_error() || status.is_server_error() {
        log_lines::upstream_failed(setup.base(provider).host(), status.as_u16(), None, began.elapsed());
    }
    let (mut reply, source) = reply.into_parts();
    headers::end_hop(&mut reply.headers);
    let mut passed = Reply::new(source, setup.patience.idle).placed(place).traced(upstream);
    match trace {
        Trace::Objects if reply.status.is_success() => {
            passed = passed.watched(mapped_keys::watch(gateway, credential, &reply.headers));
        }
        Trace::Nothing if reply.status.is_success() && gateway.stored_keys.has(credential) => {
            passed = passed.watched(counting.watch(&reply.headers, upload, reserved));
        }
        _ => {}
    }
    let mut response = Response::new(passed.boxed_unsync());
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    Ok(response)
}

/// Whether a model answers, though the request is no turn of a conversation.
fn is_generation(parts: &Parts) -> bool {
    operation(parts.uri.path()).0.trim_end_matches('/') == "/completions"
}

/// What a request that is passed on counts towards the budget of its key.
struct Counting {
    gateway: Arc<Gateway>,
    credential: CredentialId,
    /// Whether it counts though nobody reports it.
    is_generation: bool,
}

impl Counting {
    fn reserve(&self, length: Option<u64>) -> Result<Option<Reservation>, Refusal> {
        if !self.is_generation {
            return Ok(None);
        }
        let length = usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX);
        self.gateway.stored_keys.reserve(self.credential, counted::expected(None, length), now().0)
    }

    fn watch(self, headers: &HeaderMap, upload: Arc<UploadProgress>, reserved: Option<Reservation>) -> ReplyObserver {
        let report = move |ending: Ending, observed: Observed| -> Option<Settled> {
            if self.is_generation || observed.usage.is_some() {
                let length = usize::try_from(upload.length()).unwrap_or(usize::MAX);
                self.gateway.book(self.credential, &counted::used(ending, observed, None, length));
            }
            drop(reserved);
            None
        };
        ReplyObserver::new(Format::OpenAiChat, headers, Box::new(report))
    }
}
