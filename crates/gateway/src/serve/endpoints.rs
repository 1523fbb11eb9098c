//! The gateway's own endpoints under `/foldline/`.

use super::Body;
use super::answer::{json_answer, text_answer};
use super::gateway::{Gateway, now};
use super::key_figures::KeyFigures;
use super::query::Parameters;
use super::{dates, originals, pages, readiness, tools};
use crate::conversation::{CredentialId, SessionId, SessionView, Sums, TurnEvent, Undo};
use foldline_store::{Forget, Forgotten, KeyScope, Whose};
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
        (&Method::GET | &Method::HEAD, ["readyz"]) => return readiness::answer(&gateway).await,
        _ => {}
    }
    if pages::has(&segments) {
        return pages::answer(&gateway, &segments, &parts, &body).await;
    }
    let setup = gateway.setup();
    let credential = match setup.keys.authorise(&parts.headers, scopes_of(&segments)) {
        Ok(credential) => credential,
        Err(refusal) => {
            gateway.metrics.refusal(refusal.name());
            return error(refusal.status(), &refusal.to_string());
        }
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
        (&Method::GET, ["keys"]) if !is_operator => error(StatusCode::FORBIDDEN, NO_OPERATOR),
        (&Method::GET, ["keys"]) => keys(gateway).await,
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
        (_, ["mcp"]) => tools::answer(&gateway, parts, body, credential).await,
        (
            _,
            ["healthz" | "readyz" | "metrics" | "keys" | "sessions" | "search"]
            | ["sessions", _]
            | ["sessions", _, "compact" | "undo"]
            | ["recall", _],
        ) => error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"),
        _ => error(StatusCode::NOT_FOUND, "not found; see /foldline/sessions and /foldline/metrics"),
    }
}

/// What a key of the store must be for.
fn scopes_of(segments: &[&str]) -> &'static [KeyScope] {
    match segments {
        ["metrics" | "keys", ..] => &[KeyScope::Operator],
        ["recall" | "search" | "mcp", ..] => &[KeyScope::Recall],
        _ => &[KeyScope::Recall, KeyScope::Operator],
    }
}

/// The client keys of the store with their figures.
async fn keys(gateway: Arc<Gateway>) -> Response<Body> {
    let read = tokio::task::spawn_blocking(move || KeyFigures::read(&gateway));
    match read.await {
        Ok(Ok(figures)) => json_answer(StatusCode::OK, &figures.json()),
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to read client keys from the store"),
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
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to read sessions from the store"),
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
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to read the session from the store"),
    }
}

const NO_OPERATOR: &str = "only an operator may see the figures of all clients; append `operator` to a line of the \
 file gateway.client_keys or add a key with `foldline keys add NAME --scope operator`, or see /foldline/sessions for your own sessions";
const BAD_SESSION: &str = "invalid session id; expected fs- and 16 hex digits";
const NO_SESSION: &str = "session not found";
const NOT_YOUR_SESSION: &str =
    "session not found for this key; delete it with the key that sent its requests, or with `foldline forget`";

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
            let page =
                json!({ "session": session.as_str(), "status": "the next request of this session will be folded" });
            json_answer(StatusCode::ACCEPTED, &page)
        }
        Ok(Ok(false)) => error(StatusCode::NOT_FOUND, NO_SESSION),
        Ok(Err(fault)) => error(StatusCode::INTERNAL_SERVER_ERROR, &fault.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to schedule the fold"),
    }
}

/// Undoes the latest fold of a session.
async fn undo(gateway: Arc<Gateway>, id: &str, whose: Option<CredentialId>) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else { return error(StatusCode::BAD_REQUEST, BAD_SESSION) };
    let (status, words) = undo_latest(&gateway, &id, whose).await;
    match status {
        StatusCode::ACCEPTED => json_answer(status, &json!({ "session": id.as_str(), "status": words })),
        _ => error(status, &words),
    }
}

/// Undoes the latest fold of a session; the status and a message.
pub(super) async fn undo_latest(
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
            tracing::info!(session = id.as_str(), tokens, "undone");
            (
                StatusCode::ACCEPTED,
                "the latest fold is undone; the next request is forwarded without it if it fits".to_owned(),
            )
        }
        Ok(Ok(Undo::NoSession)) => (StatusCode::NOT_FOUND, NO_SESSION.to_owned()),
        Ok(Ok(Undo::Nothing)) => (StatusCode::CONFLICT, "nothing to undo: no fold of this session applies".to_owned()),
        Ok(Ok(Undo::TooLarge { tokens, window })) => {
            let words = format!(
                "without its latest fold the next request would have about {tokens} tokens and would not fit the window of \
                 {window}; use recall and search to read what was removed"
            );
            (StatusCode::CONFLICT, words)
        }
        Ok(Err(fault)) => (StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "failed to undo the fold".to_owned()),
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
    let wanted = match asked.as_ref().map(|asked| asked.get("before").map(dates::parse)) {
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
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to delete from the store"),
    }
}

fn view(session: &SessionView) -> Value {
    json!({
        "id": session.id.as_str(),
        "label": session.label,
        "dialect": session.dialect.map(|dialect| dialect.name()),
        "model": session.model,
        "first_at": dates::iso(session.first_at),
        "last_at": dates::iso(session.last_at),
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
        "at": dates::iso(turn.at),
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
