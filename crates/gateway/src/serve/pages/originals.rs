//! Originals, and the search in them.

use super::access::{Sign, Viewer};
use super::numbers::{grouped, moment};
use super::{Page, Place, attachment, read, refusal};
use crate::conversation::SessionId;
use crate::serve::Body;
use crate::serve::gateway::{Gateway, now};
use crate::serve::query::Parameters;
use foldline_core::reading::{self, Choice, Findings, PAGE_SIZE, Reach, Site, Way};
use foldline_store::{Address, Original, Query, Recall, StoreError};
use http::{Response, StatusCode};
use maud::{Markup, html as markup};
use std::str::FromStr;
use std::sync::Arc;

/// Places that a search shows.
const HITS: usize = 20;

const NOT_HERE: &str = "No original with this handle. It belongs to another key, or it has expired.";

/// One page of an original.
pub struct Shown {
    pub handle: String,
    pub text: String,
    pub page: usize,
    pub pages: usize,
    pub bytes: usize,
}

fn original(gateway: &Gateway, viewer: &Viewer, handle: &str) -> Result<Option<Original>, StoreError> {
    let Ok(address) = Address::from_str(handle) else { return Ok(None) };
    match gateway.conversations.recall(&viewer.credential, address, now())? {
        Recall::Found(original) => Ok(Some(original)),
        Recall::Ambiguous(_) | Recall::Unknown | Recall::Expired { .. } => Ok(None),
    }
}

/// A page of an original, if the viewer may see it.
pub fn shown(gateway: &Gateway, viewer: &Viewer, handle: &str, page: usize) -> Result<Option<Shown>, StoreError> {
    let Some(original) = original(gateway, viewer, handle)? else { return Ok(None) };
    let choice = Choice { turns: None, lines: None, grep: None, context: 0, page, page_size: PAGE_SIZE };
    let way = Way { reach: Reach::Http(Site::default()), also: Vec::new() };
    let text = reading::read(&original.text, &original.tool);
    let found = reading::page(&text, &choice, &way, handle)
        .or_else(|_| reading::page(&text, &Choice { page: 1, ..choice }, &way, handle));
    Ok(found.ok().map(|page| Shown {
        handle: handle.to_owned(),
        page: page.page,
        pages: page.pages,
        text: page.to_string(),
        bytes: original.text.len(),
    }))
}

/// An original alone.
pub async fn page(gateway: &Arc<Gateway>, viewer: &Viewer, handle: &str, query: Option<&str>) -> Response<Body> {
    let asked = Parameters::read(query, &["page"]);
    let wanted = asked.ok().and_then(|asked| asked.number("page", 1, 1_000_000).ok().flatten()).unwrap_or(1);
    let (asked, viewing, name) = (gateway.clone(), *viewer, handle.to_owned());
    let shown = match read(viewer, move || shown(&asked, &viewing, &name, wanted)).await {
        Ok(Some(shown)) => shown,
        Ok(None) => return refusal(viewer, StatusCode::NOT_FOUND, NOT_HERE),
        Err(answer) => return *answer,
    };
    let here = format!("/foldline/original/{}", shown.handle);
    let content = markup! {
        p.pages {
            "Page " (shown.page) " of " (shown.pages) " · " (grouped(shown.bytes as u64)) " bytes"
            @if shown.page > 1 { " · " a href={ (here) "?page=" (shown.page - 1) } { "Previous page" } }
            @if shown.page < shown.pages { " · " a href={ (here) "?page=" (shown.page + 1) } { "Next page" } }
            " · " a href={ (here) "/download" } download { "Download" }
        }
        pre.text.whole tabindex="0" role="region" aria-label="Original" { (shown.text) }
    };
    Page { title: &format!("Original {}", shown.handle), place: Place::Elsewhere, content }.answer(viewer)
}

/// An original as a file, byte for byte.
pub async fn download(gateway: &Arc<Gateway>, viewer: &Viewer, handle: &str) -> Response<Body> {
    let (asked, viewing, name) = (gateway.clone(), *viewer, handle.to_owned());
    match read(viewer, move || original(&asked, &viewing, &name)).await {
        Ok(Some(original)) => attachment(&format!("{handle}.txt"), original.text),
        Ok(None) => refusal(viewer, StatusCode::NOT_FOUND, NOT_HERE),
        Err(answer) => *answer,
    }
}

/// The search.
pub async fn find(gateway: &Arc<Gateway>, viewer: &Viewer, query: Option<&str>) -> Response<Body> {
    let asked = match Parameters::read(query, &["q", "session"]) {
        Ok(asked) => asked,
        Err(wrong) => return refusal(viewer, StatusCode::BAD_REQUEST, &wrong.to_string()),
    };
    let words = asked.get("q").unwrap_or_default().to_owned();
    let session = asked.get("session").and_then(SessionId::parse);
    let result = match (words.as_str(), Query::parse(&words)) {
        ("", _) => None,
        (_, Err(wrong)) => Some(Err(wrong.to_string())),
        (_, Ok(query)) => {
            let (gateway, viewing, within) = (gateway.clone(), *viewer, session.clone());
            let found = read(viewer, move || {
                let way = Way { reach: Reach::Http(Site::default()), also: Vec::new() };
                let within = within.as_ref().map(SessionId::as_str);
                gateway.conversations.search(&viewing.credential, &query, within, HITS, &way)
            });
            match found.await {
                Ok(found) => Some(Ok(found)),
                Err(answer) => return *answer,
            }
        }
    };
    let content = markup! {
        form.find role="search" action="/foldline/find" {
            label for="q" { "Search removed text" }
            input #q name="q" type="search" value=(words) required;
            @if let Some(session) = &session { input type="hidden" name="session" value=(session); }
            button type="submit" { "Search" }
        }
        @if let Some(session) = &session {
            p { "Only in " a href={ "/foldline/view/" (session) } { (session) } ". " a href={ "/foldline/find?q=" (encoded(&words)) } { "Search everywhere" } }
        }
        @match &result {
            None => p { "Searches everything that requests with your key removed. Quoted words match as a phrase." },
            Some(Err(wrong)) => p.wrong role="alert" { (wrong) },
            Some(Ok(found)) => (findings(found, viewer)),
        }
    };
    Page { title: "Search", place: Place::Find, content }.answer(viewer)
}

fn findings(found: &Findings, viewer: &Viewer) -> Markup {
    markup! {
        @if found.hits.is_empty() {
            p.lead { "No results in removed text." }
            @if found.waiting > 0 { p { "Older originals are still being indexed. Search again in a moment." } }
            @if viewer.sign == Sign::Out { p { a href="/foldline/login" { "Sign in" } " with the key that your agent uses; only originals of the signed-in key are searched." } }
        } @else {
            p role="status" { (found.places) " results" @if found.places > found.hits.len() { ", the best " (found.hits.len()) " shown" } }
            ol.hits {
                @for hit in &found.hits {
                    li {
                        a href={ "/foldline/original/" (hit.handle) } { code { (hit.handle) } }
                        " " span.soft {
                            @if let Some(turn) = hit.turn { "turn " (turn) ", " } "line " (hit.line) " of " (hit.lines)
                            @if !hit.tool.is_empty() { ", " (hit.tool) } ", removed " (moment(hit.removed_at))
                        }
                        p { (hit.text) }
                    }
                }
            }
        }
    }
}

/// A value for an address.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
