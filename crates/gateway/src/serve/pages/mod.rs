//! The dashboard under `/foldline/`: rendered here, readable without JavaScript, safe for any content of a conversation.
//!
//! | address | file |
//! |---|---|
//! | `/foldline/`, `view/{session}` | `sessions`, `session`, `chart` |
//! | `view/{session}/fold/{id}`, its `download`, `view/{session}/undo` | `fold` |
//! | `original/{handle}`, `find?q=` | `originals` |
//! | `settings`, `health` | `status` |
//! | `client-keys` | `keys` |
//! | `login`, `logout` | `access` |
//! | `events` | `live`: server-sent events; the script fetches the page again when something changed |
//!
//! A viewer sees the content of the key that the request carries, in a header or by the cookie of the login form.

mod access;
mod chart;
mod fold;
mod keys;
mod layout;
mod live;
mod numbers;
mod originals;
mod session;
mod sessions;
mod status;

pub use access::Visitors;

use super::Body;
use super::answer::text_answer;
use super::gateway::Gateway;
use access::Viewer;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use layout::{Page, Place, refusal};
use std::sync::Arc;

/// Only our own style sheet, script, images and URLs; nothing inline.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The first segments of addresses that are pages.
const FIRST: [&str; 12] = [
    "view",
    "original",
    "find",
    "settings",
    "health",
    "client-keys",
    "login",
    "logout",
    "events",
    "style.css",
    "script.js",
    "icon.svg",
];

/// Whether an address is one of these pages.
pub fn has(segments: &[&str]) -> bool {
    segments.first().is_none_or(|first| FIRST.contains(first))
}

/// Answers a request for one of these pages.
pub async fn answer(gateway: &Arc<Gateway>, segments: &[&str], parts: &Parts, body: &[u8]) -> Response<Body> {
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    match (segments, is_read) {
        (["style.css"], true) => return asset("text/css; charset=utf-8", include_str!("style.css")),
        (["script.js"], true) => return asset("text/javascript; charset=utf-8", include_str!("script.js")),
        (["icon.svg"], true) => return asset("image/svg+xml", include_str!("icon.svg")),
        (["login"], true) => return access::form(gateway, None),
        (["login"], false) if parts.method == Method::POST => return access::enter(gateway, body).await,
        (["logout"], false) if parts.method == Method::POST => return access::leave(gateway, parts),
        _ => {}
    }
    let Some(viewer) = Viewer::of(gateway, parts) else { return see_other("/foldline/login") };
    match (segments, is_read) {
        ([], true) => sessions::page(gateway, &viewer).await,
        (["events"], true) => live::stream(gateway, viewer),
        (["view", id], true) => session::page(gateway, &viewer, id, parts.uri.query()).await,
        (["view", id, "fold", fold], true) => fold::page(gateway, &viewer, id, fold, parts.uri.query()).await,
        (["view", id, "fold", fold, "download"], true) => fold::download(gateway, &viewer, id, fold).await,
        (["view", id, "undo"], false) if parts.method == Method::POST => fold::undo(gateway, &viewer, id).await,
        (["original", handle], true) => originals::page(gateway, &viewer, handle, parts.uri.query()).await,
        (["original", handle, "download"], true) => originals::download(gateway, &viewer, handle).await,
        (["find"], true) => originals::find(gateway, &viewer, parts.uri.query()).await,
        (["client-keys"], true) => keys::page(gateway, &viewer).await,
        (["settings"], true) => status::settings(gateway, &viewer),
        (["health"], true) => status::health(gateway, &viewer).await,
        (_, false) => refusal(&viewer, StatusCode::METHOD_NOT_ALLOWED, "This page only supports GET."),
        _ => refusal(&viewer, StatusCode::NOT_FOUND, "Page not found."),
    }
}

/// A file of ours.
fn asset(kind: &'static str, text: &'static str) -> Response<Body> {
    let mut answer = text_answer(StatusCode::OK, kind, text);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// A page as an answer.
fn html(status: StatusCode, page: maud::Markup) -> Response<Body> {
    let mut answer = text_answer(status, "text/html; charset=utf-8", page.into_string());
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // With `no-referrer`, browsers send `origin: null` with our own forms.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    answer
}

/// Sends a browser elsewhere.
fn see_other(place: &str) -> Response<Body> {
    let mut answer = text_answer(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "see the address in `location`\n");
    if let Ok(place) = HeaderValue::from_str(place) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    answer
}

/// A text to be saved under a name.
fn attachment(name: &str, text: String) -> Response<Body> {
    let mut answer = text_answer(StatusCode::OK, "text/plain; charset=utf-8", text);
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let name: String = name.chars().filter(is_plain).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        answer.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    answer
}

/// Runs work that may block; an error becomes an error page.
async fn read<T: Send + 'static>(
    viewer: &Viewer,
    work: impl FnOnce() -> Result<T, foldline_store::StoreError> + Send + 'static,
) -> Result<T, Box<Response<Body>>> {
    let words = match tokio::task::spawn_blocking(work).await {
        Ok(Ok(found)) => return Ok(found),
        // The error names the path of the store, which only an operator may know.
        Ok(Err(error)) if viewer.sees_all() => error.to_string(),
        Ok(Err(_)) => "The store failed. Its operator can see why on the health page.".to_owned(),
        Err(_) => "Failed to create the page.".to_owned(),
    };
    Err(Box::new(refusal(viewer, StatusCode::INTERNAL_SERVER_ERROR, &words)))
}
