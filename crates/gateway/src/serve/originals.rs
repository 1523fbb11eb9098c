//! Recall and search over HTTP, per credential, with the same output as on the command line.

use super::Body;
use super::answer::{json_answer, text_answer};
use super::endpoints::error;
use super::gateway::{Gateway, now};
use super::query::{ParameterError, Parameters};
use crate::conversation::{CredentialId, SessionId};
use foldline_core::reading::{self, ChoiceError, Findings, MOST_HITS, PAGE_SIZE, PAGE_SIZES, Reach, Site, Way};
use foldline_store::{Address, Query, Recall, StoreError, Wanted, tell};
use http::{HeaderMap, Response, StatusCode, header, request::Parts};
use serde::Serialize;
use std::str::FromStr;
use std::sync::Arc;

/// What a recall can be asked for.
const RECALL: &[&str] = &["turn", "lines", "grep", "context", "page", "page_size", "raw", "format"];
/// What a search can be asked for.
const SEARCH: &[&str] = &["q", "session", "limit", "format"];
/// Places that a search shows unless it is asked for more or fewer.
const HITS: usize = 10;
/// Pages are counted in numbers that people can read.
const MOST: usize = 1_000_000_000;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
}

/// What went wrong, with the status that says so.
struct Refused(StatusCode, String);

impl From<ParameterError> for Refused {
    fn from(error: ParameterError) -> Refused {
        Refused(StatusCode::BAD_REQUEST, error.to_string())
    }
}

impl From<ChoiceError> for Refused {
    fn from(error: ChoiceError) -> Refused {
        let status = match error {
            ChoiceError::NoMatch { .. } => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        Refused(status, error.to_string())
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

/// Answers `recall/{handle}`.
pub async fn recall(gateway: Arc<Gateway>, handle: &str, parts: &Parts, credential: CredentialId) -> Response<Body> {
    let handle = handle.to_owned();
    let (query, headers) = (parts.uri.query().map(str::to_owned), parts.headers.clone());
    on_a_thread(move || recalled(&gateway, &handle, query.as_deref(), &headers, &credential)).await
}

/// Answers `search`.
pub async fn search(gateway: Arc<Gateway>, parts: &Parts, credential: CredentialId) -> Response<Body> {
    let (query, headers) = (parts.uri.query().map(str::to_owned), parts.headers.clone());
    on_a_thread(move || searched(&gateway, query.as_deref(), &headers, &credential)).await
}

async fn on_a_thread(work: impl FnOnce() -> Result<Response<Body>, Refused> + Send + 'static) -> Response<Body> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(Refused(status, words))) => error(status, &words),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to read the original from the store"),
    }
}

fn recalled(
    gateway: &Gateway,
    handle: &str,
    query: Option<&str>,
    headers: &HeaderMap,
    credential: &CredentialId,
) -> Result<Response<Body>, Refused> {
    let address = Address::from_str(handle).map_err(|fault| Refused(StatusCode::BAD_REQUEST, fault.to_string()))?;
    let parameters = Parameters::read(query, RECALL)?;
    let wanted = wanted(&parameters)?;
    let form = form(&parameters, headers)?;
    let absent = |status, words: &str| Err(Refused(status, words.to_owned()));
    let original = match gateway.conversations.recall(credential, address, now())? {
        Recall::Found(original) => original,
        Recall::Ambiguous(_) => {
            return absent(StatusCode::CONFLICT, "the handle is ambiguous; use more of its digits");
        }
        Recall::Unknown => return absent(StatusCode::NOT_FOUND, "no original with that handle for this key"),
        Recall::Expired { .. } => return absent(StatusCode::GONE, "the original has expired"),
    };
    let handle = address.to_string();
    if parameters.switch("raw")? {
        return Ok(plain(match wanted.lines {
            None => original.text,
            Some(lines) => reading::raw_lines(&original.text, lines, &handle)?.to_owned(),
        }));
    }
    let page = wanted.page(&original, &handle, &way(&parameters))?;
    Ok(match form {
        Form::Text => plain(page.to_string()),
        Form::Json => json(&page),
    })
}

/// What a recall is asked for.
fn wanted(parameters: &Parameters) -> Result<Wanted, Refused> {
    if parameters.switch("raw")?
        && let Some(name) =
            ["turn", "grep", "context", "page", "page_size"].iter().find(|name| parameters.get(name).is_some())
    {
        return Err(parameters.wrong(name, "raw=1 can only be combined with lines").into());
    }
    let pattern = parameters.get("grep").map(Wanted::pattern);
    let pattern = pattern.transpose().map_err(|fault| parameters.wrong("grep", fault))?;
    if pattern.is_none() && parameters.get("context").is_some() {
        return Err(parameters.wrong("context", "context=N requires grep=RE").into());
    }
    Ok(Wanted {
        turns: parameters.parse("turn")?,
        lines: parameters.parse("lines")?,
        pattern,
        context: parameters.number("context", 0, MOST)?.unwrap_or(0),
        page: parameters.number("page", 1, MOST)?.unwrap_or(1),
        page_size: parameters.number("page_size", *PAGE_SIZES.start(), *PAGE_SIZES.end())?.unwrap_or(PAGE_SIZE),
    })
}

fn searched(
    gateway: &Gateway,
    query: Option<&str>,
    headers: &HeaderMap,
    credential: &CredentialId,
) -> Result<Response<Body>, Refused> {
    let parameters = Parameters::read(query, SEARCH)?;
    let form = form(&parameters, headers)?;
    let limit = parameters.number("limit", 1, MOST_HITS)?.unwrap_or(HITS);
    let session = parameters.get("session");
    if session.is_some_and(|id| SessionId::parse(id).is_none()) {
        return Err(parameters.wrong("session", "expected fs- and 16 hex digits").into());
    }
    let Some(words) = parameters.get("q") else {
        let words = "missing parameter q; expected ?q=WORDS, phrases in double quotes";
        return Err(Refused(StatusCode::BAD_REQUEST, words.to_owned()));
    };
    let query = Query::parse(words).map_err(|fault| parameters.wrong("q", fault))?;
    let way = way(&parameters);
    let found = gateway.conversations.search(credential, &query, session, limit, &way)?;
    Ok(match form {
        Form::Json => json(&found),
        Form::Text if found.hits.is_empty() => plain(nothing(&found)),
        Form::Text => plain(tell(&found, &query, session, &way)),
    })
}

fn nothing(found: &Findings) -> String {
    let help = match found.waiting {
        0 => "try fewer or other words",
        _ => "older originals are not indexed yet; search again in a moment",
    };
    format!("[no original matches `{}`; {help}]\n", found.words)
}

/// How the client asks again: in the form that it asked for.
fn way(parameters: &Parameters) -> Way {
    let form = parameters.get("format").map(|form| ("format", form.to_owned()));
    Way { reach: Reach::Http(Site::default()), also: form.into_iter().collect() }
}

/// The form that a client wants: what the address says, or else what it accepts.
fn form(parameters: &Parameters, headers: &HeaderMap) -> Result<Form, ParameterError> {
    match parameters.get("format") {
        Some("json") => Ok(Form::Json),
        Some("text") => Ok(Form::Text),
        Some(_) => Err(parameters.wrong("format", "expected json or text")),
        None => {
            let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
            Ok(if accepted.contains("application/json") { Form::Json } else { Form::Text })
        }
    }
}

fn plain(text: String) -> Response<Body> {
    text_answer(StatusCode::OK, "text/plain; charset=utf-8", text)
}

fn json(page: &impl Serialize) -> Response<Body> {
    match serde_json::to_value(page) {
        Ok(page) => json_answer(StatusCode::OK, &page),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "failed to serialise the response"),
    }
}
