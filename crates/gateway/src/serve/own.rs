//! The gateway's own pages under `/foldline/`.

use super::Body;
use super::answer::{json_answer, text_answer};
use super::gateway::Gateway;
use super::originals;
use crate::conversation::{CredentialId, SessionId, SessionView, TurnEvent};
use http::{Method, Response, StatusCode, request::Parts};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Sessions on the list.
const SESSIONS: usize = 200;
/// Turns in the history of a session.
const TURNS: usize = 200;

/// Answers a request for `path`, which is what follows `/foldline/`.
pub async fn answer(gateway: Arc<Gateway>, path: String, parts: Parts, body: bytes::Bytes) -> Response<Body> {
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // Whether somebody is alive is everybody's to know; all else belongs to those who may use the gateway.
    match (&parts.method, segments.as_slice()) {
        (&Method::GET | &Method::HEAD, ["healthz"]) => return text(StatusCode::OK, "ok\n"),
        (&Method::GET | &Method::HEAD, ["readyz"]) => return ready(&gateway).await,
        _ => {}
    }
    let setup = gateway.setup();
    let Some(credential) = setup.keys.admit(&parts.headers) else {
        return error(StatusCode::UNAUTHORIZED, "a client key is needed, as x-foldline-key, x-api-key or bearer token");
    };
    // Where everybody is admitted, only this machine is: its user may see all of it.
    let whose = if setup.keys.is_open() { None } else { Some(credential) };
    match (&parts.method, segments.as_slice()) {
        (&Method::GET, ["metrics"]) => text_answer(
            StatusCode::OK,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            gateway.metrics.page(),
        ),
        (&Method::GET, ["sessions"]) => sessions(gateway, whose).await,
        (&Method::GET, ["sessions", id]) => session(gateway, id, whose).await,
        (&Method::POST, ["sessions", id, "compact"]) => compact(gateway, id, whose, &body).await,
        (&Method::GET, ["recall", handle]) => originals::recall(gateway, handle, &parts, credential).await,
        (&Method::GET, ["search"]) => originals::search(gateway, &parts, credential).await,
        (
            _,
            ["healthz" | "readyz" | "metrics" | "sessions" | "search"]
            | ["sessions", _]
            | ["sessions", _, "compact"]
            | ["recall", _],
        ) => error(StatusCode::METHOD_NOT_ALLOWED, "this page does not take that method"),
        _ => error(StatusCode::NOT_FOUND, "there is no such page; see /foldline/sessions and /foldline/metrics"),
    }
}

async fn ready(gateway: &Arc<Gateway>) -> Response<Body> {
    if !gateway.is_open.load(Ordering::Relaxed) {
        return text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    if gateway.trouble().is_some() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "the store could not be opened; requests pass as they come\n");
    }
    let conversations = gateway.conversations.clone();
    match tokio::task::spawn_blocking(move || conversations.sessions(None, 1)).await {
        Ok(Ok(_)) => text(StatusCode::OK, "ready\n"),
        // Requests are still forwarded, but nothing is folded: whoever balances load should know.
        Ok(Err(_)) | Err(_) => text(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n"),
    }
}

async fn sessions(gateway: Arc<Gateway>, whose: Option<CredentialId>) -> Response<Body> {
    let found = tokio::task::spawn_blocking(move || gateway.conversations.sessions(whose.as_ref(), SESSIONS)).await;
    match found {
        Ok(Ok(sessions)) => {
            let list: Vec<Value> = sessions.iter().map(view).collect();
            json_answer(StatusCode::OK, &json!({ "sessions": list }))
        }
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "sessions could not be read"),
    }
}

/// True when a session belongs to somebody. Ids are digests that include the credential, so they cannot be guessed;
/// this is the second lock.
fn owns(gateway: &Gateway, whose: Option<CredentialId>, id: &SessionId) -> bool {
    let Some(credential) = whose else { return true };
    let mine = gateway.conversations.sessions(Some(&credential), usize::MAX);
    mine.is_ok_and(|mine| mine.iter().any(|session| session.id == *id))
}

async fn session(gateway: Arc<Gateway>, id: &str, whose: Option<CredentialId>) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else { return error(StatusCode::BAD_REQUEST, BAD_SESSION) };
    let found = tokio::task::spawn_blocking(move || {
        if !owns(&gateway, whose, &id) {
            return Ok(None);
        }
        gateway.conversations.session(&id, TURNS)
    });
    match found.await {
        Ok(Ok(Some((session, turns)))) => {
            let mut page = view(&session);
            if let Value::Object(page) = &mut page {
                page.insert("turns".to_owned(), turns.iter().map(turn).collect());
            }
            json_answer(StatusCode::OK, &page)
        }
        Ok(Ok(None)) => error(StatusCode::NOT_FOUND, NO_SESSION),
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the session could not be read"),
    }
}

const BAD_SESSION: &str = "that is no session id; expected something like fs-0123456789abcdef";
const NO_SESSION: &str = "there is no such session";

async fn compact(gateway: Arc<Gateway>, id: &str, whose: Option<CredentialId>, body: &[u8]) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else { return error(StatusCode::BAD_REQUEST, BAD_SESSION) };
    let focus = match body {
        [] => None,
        body => match serde_json::from_slice::<Value>(body) {
            Ok(Value::Object(fields)) => fields.get("focus").and_then(Value::as_str).map(str::to_owned),
            _ => return error(StatusCode::BAD_REQUEST, r#"expected no body, or {"focus": "what matters most"}"#),
        },
    };
    let session = id.clone();
    let asked = tokio::task::spawn_blocking(move || {
        if !owns(&gateway, whose, &id) {
            return Ok(false);
        }
        gateway.conversations.compact_now(&id, focus.as_deref())
    });
    match asked.await {
        Ok(Ok(true)) => {
            let page = json!({ "session": session.as_str(), "status": "the next request of this session is folded" });
            json_answer(StatusCode::ACCEPTED, &page)
        }
        Ok(Ok(false)) => error(StatusCode::NOT_FOUND, NO_SESSION),
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the session could not be folded"),
    }
}

fn view(session: &SessionView) -> Value {
    json!({
        "id": session.id.as_str(),
        "label": session.label,
        "dialect": session.dialect.map(|dialect| dialect.name()),
        "model": session.model,
        "first_at": session.first_at,
        "last_at": session.last_at,
        "context": session.context,
        "trigger": session.trigger,
        "window": session.window,
        "sums": session.sums,
    })
}

fn turn(turn: &TurnEvent) -> Value {
    let mut page = json!(turn);
    if let Value::Object(page) = &mut page {
        page.insert("at".to_owned(), turn.at.into());
    }
    page
}

fn text(status: StatusCode, words: &'static str) -> Response<Body> {
    text_answer(status, "text/plain; charset=utf-8", words)
}

pub(super) fn error(status: StatusCode, words: &str) -> Response<Body> {
    json_answer(status, &json!({ "error": { "message": words } }))
}
