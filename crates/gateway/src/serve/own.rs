//! The gateway's own pages under `/foldline/`.

use super::Body;
use super::answer::{json_answer, text_answer};
use super::gateway::{Gateway, now};
use super::query::Parameters;
use super::{originals, pages, ready, when};
use crate::conversation::{CredentialId, SessionId, SessionView, Sums, TurnEvent, Undo};
use foldline_store::{Forget, Forgotten, Whose};
use http::{Method, Response, StatusCode, request::Parts};
use serde_json::{Value, json};
use std::sync::Arc;

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
        (&Method::GET | &Method::HEAD, ["readyz"]) => return ready::answer(&gateway).await,
        _ => {}
    }
    if pages::has(&segments) {
        return pages::answer(&gateway, &segments, &parts, &body).await;
    }
    let setup = gateway.setup();
    let Some(credential) = setup.keys.admit(&parts.headers) else {
        return error(StatusCode::UNAUTHORIZED, "a client key is needed, as x-foldline-key, x-api-key or bearer token");
    };
    let credential = gateway.accepted.whose(credential);
    // Where everybody is admitted, only this machine is: its user may see all of it. Elsewhere an operator may.
    let is_operator = setup.keys.is_operator(credential);
    let whose = if is_operator { None } else { Some(credential) };
    match (&parts.method, segments.as_slice()) {
        (&Method::GET, ["metrics"]) if !is_operator => error(StatusCode::FORBIDDEN, NO_OPERATOR),
        (&Method::GET, ["metrics"]) => text_answer(
            StatusCode::OK,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            gateway.metrics.page(),
        ),
        (&Method::GET, ["sessions"]) => sessions(gateway, whose).await,
        (&Method::GET, ["sessions", id]) => session(gateway, id, whose).await,
        (&Method::POST, ["sessions", id, "compact"]) => compact(gateway, id, whose, &body).await,
        (&Method::POST, ["sessions", id, "undo"]) => undo(gateway, id, whose).await,
        (&Method::DELETE, ["sessions"]) => forget_all(gateway, &parts, credential).await,
        (&Method::DELETE, ["sessions", id]) => {
            // Without client keys everybody on this machine may look, but each forgets their own.
            let whose = if setup.keys.is_open() { Some(credential) } else { whose };
            forget(gateway, id, whose).await
        }
        (&Method::GET, ["recall", handle]) => originals::recall(gateway, handle, &parts, credential).await,
        (&Method::GET, ["search"]) => originals::search(gateway, &parts, credential).await,
        (
            _,
            ["healthz" | "readyz" | "metrics" | "sessions" | "search"]
            | ["sessions", _]
            | ["sessions", _, "compact" | "undo"]
            | ["recall", _],
        ) => error(StatusCode::METHOD_NOT_ALLOWED, "this page does not take that method"),
        _ => error(StatusCode::NOT_FOUND, "there is no such page; see /foldline/sessions and /foldline/metrics"),
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
pub(super) fn owns(gateway: &Gateway, whose: Option<CredentialId>, id: &SessionId) -> bool {
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

const NO_OPERATOR: &str = "figures of all clients together are for an operator; put the word operator behind the key of one \
                          in the file of gateway.client_keys, or see /foldline/sessions for your own";
const BAD_SESSION: &str = "that is no session id; expected something like fs-0123456789abcdef";
const NO_SESSION: &str = "there is no such session";
const NOT_YOUR_SESSION: &str =
    "you have no such session; it is forgotten with the key that its requests were sent with, or by `foldline forget`";

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

/// Takes back the latest fold of a session.
async fn undo(gateway: Arc<Gateway>, id: &str, whose: Option<CredentialId>) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else { return error(StatusCode::BAD_REQUEST, BAD_SESSION) };
    let (status, words) = taken_back(&gateway, &id, whose).await;
    match status {
        StatusCode::ACCEPTED => json_answer(status, &json!({ "session": id.as_str(), "status": words })),
        _ => error(status, &words),
    }
}

/// Takes back the latest fold of a session; how that went, in words.
pub(super) async fn taken_back(
    gateway: &Arc<Gateway>,
    id: &SessionId,
    whose: Option<CredentialId>,
) -> (StatusCode, String) {
    let (wanted, asked) = (id.clone(), gateway.clone());
    let undone = tokio::task::spawn_blocking(move || {
        if !owns(&asked, whose, &wanted) {
            return Ok(Undo::NoSession);
        }
        asked.conversations.undo(&wanted, now())
    });
    match undone.await {
        Ok(Ok(Undo::Done { tokens })) => {
            tracing::info!(session = id.as_str(), tokens, "taken back");
            let words = "the latest fold is taken back: the next request of this session goes out without it, as long as it fits";
            (StatusCode::ACCEPTED, words.to_owned())
        }
        Ok(Ok(Undo::NoSession)) => (StatusCode::NOT_FOUND, NO_SESSION.to_owned()),
        Ok(Ok(Undo::Nothing)) => {
            (StatusCode::CONFLICT, "nothing of this session is folded, so there is nothing to take back".to_owned())
        }
        Ok(Ok(Undo::TooLarge { tokens, window })) => {
            let words = format!(
                "without its latest fold the next request would have about {tokens} tokens and not fit the window of \
                 {window}; what was removed is still there by recall and search"
            );
            (StatusCode::CONFLICT, words)
        }
        Ok(Err(fault)) => (StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the fold could not be taken back".to_owned()),
    }
}

/// Forgets one session and all that belongs to it.
async fn forget(gateway: Arc<Gateway>, id: &str, whose: Option<CredentialId>) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else { return error(StatusCode::BAD_REQUEST, BAD_SESSION) };
    let namespace = whose.map(|credential| credential.namespace());
    forgotten(gateway, namespace, Wanted::Session(id)).await
}

/// Forgets everything of the one who asks, or what is older than `?before=`.
async fn forget_all(gateway: Arc<Gateway>, parts: &Parts, credential: CredentialId) -> Response<Body> {
    let asked = Parameters::read(parts.uri.query(), &["before"]);
    let wanted = match asked.as_ref().map(|asked| asked.get("before").map(when::parse)) {
        Ok(None) => Wanted::All,
        Ok(Some(Ok(time))) => Wanted::Before(time),
        Ok(Some(Err(wrong))) => return error(StatusCode::BAD_REQUEST, &format!("before: {wrong}")),
        Err(wrong) => return error(StatusCode::BAD_REQUEST, &wrong.to_string()),
    };
    forgotten(gateway, Some(credential.namespace()), wanted).await
}

/// What is to be forgotten.
enum Wanted {
    Session(SessionId),
    Before(i64),
    All,
}

async fn forgotten(gateway: Arc<Gateway>, namespace: Option<String>, wanted: Wanted) -> Response<Body> {
    let is_one = matches!(wanted, Wanted::Session(_));
    let gone = tokio::task::spawn_blocking(move || {
        let whose = namespace.as_deref().map_or(Whose::Everybody, Whose::Namespace);
        let what = match &wanted {
            Wanted::Session(id) => Forgotten::Session(id.as_str()),
            Wanted::Before(time) => Forgotten::Before(*time),
            Wanted::All => Forgotten::All,
        };
        gateway.conversations.forget(&Forget { whose, what })
    });
    match gone.await {
        Ok(Ok(gone)) if is_one && gone.is_nothing() => error(StatusCode::NOT_FOUND, NOT_YOUR_SESSION),
        Ok(Ok(gone)) => {
            let forgotten = json!({
                "sessions": gone.sessions,
                "originals": gone.originals,
                "text_bytes": gone.text_bytes,
                "checkpoints": gone.checkpoints,
                "events": gone.events,
            });
            json_answer(StatusCode::OK, &json!({ "forgotten": forgotten }))
        }
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "nothing could be forgotten"),
    }
}

fn view(session: &SessionView) -> Value {
    json!({
        "id": session.id.as_str(),
        "label": session.label,
        "dialect": session.dialect.map(|dialect| dialect.name()),
        "model": session.model,
        "first_at": when::iso(session.first_at),
        "last_at": when::iso(session.last_at),
        "context_tokens": session.context,
        "trigger_tokens": session.trigger,
        "window_tokens": session.window,
        "sums": sums(&session.sums),
    })
}

/// Sums with their units.
fn sums(sums: &Sums) -> Value {
    json!({
        "requests": sums.requests,
        "folds": sums.folds,
        "prunes": sums.prunes,
        "swaps": sums.swaps,
        "recoveries": sums.recoveries,
        "failed_open": sums.failed_open,
        "before_tokens": sums.tokens_before,
        "after_tokens": sums.tokens_after,
        "reported_prompt_tokens": sums.reported_prompt,
        "reported_cached_tokens": sums.reported_cached,
        "reported_output_tokens": sums.reported_output,
        "charged_dollars": sums.charged,
        "uncompacted_dollars": sums.uncompacted,
        "summary_dollars": sums.summaries,
        "saved_dollars": sums.saved(),
        "shadow_saved_tokens": sums.shadow_tokens,
        "shadow_saved_dollars": sums.shadow_dollars,
    })
}

fn turn(turn: &TurnEvent) -> Value {
    json!({
        "at": when::iso(turn.at),
        "outcome": turn.outcome,
        "before_tokens": turn.before,
        "after_tokens": turn.after,
        "prompt_tokens": turn.prompt,
        "cached_tokens": turn.cached,
        "output_tokens": turn.output,
        "charged_dollars": turn.charged,
        "uncompacted_dollars": turn.uncompacted,
    })
}

pub(super) fn text(status: StatusCode, words: &'static str) -> Response<Body> {
    text_answer(status, "text/plain; charset=utf-8", words)
}

pub(super) fn error(status: StatusCode, words: &str) -> Response<Body> {
    json_answer(status, &json!({ "error": { "message": words } }))
}
