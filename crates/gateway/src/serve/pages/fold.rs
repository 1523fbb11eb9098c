//! One fold: the handoff as the agent reads it beside the original, and the reason of each edit.

use super::access::Viewer;
use super::numbers::{grouped, moment, short};
use super::originals::{self, Shown};
use super::session::{kind, undo as undo_form};
use super::{Page, Place, attachment, read, refusal, see_other};
use crate::conversation::{EditDetails, FoldDetails, FoldText, SessionId};
use crate::serve::Body;
use crate::serve::endpoints;
use crate::serve::gateway::Gateway;
use crate::serve::query::Parameters;
use http::{Response, StatusCode};
use maud::{Markup, html as markup};
use std::sync::Arc;

const NOT_HERE: &str = "This fold is not stored, or it belongs to another key. Sign in with the key that the agent of this \
                        session uses to read its content.";

/// How a handoff begins.
const HANDOFF: &str = "[FOLDLINE HANDOFF";

/// The page.
pub async fn page(
    gateway: &Arc<Gateway>,
    viewer: &Viewer,
    session: &str,
    fold: &str,
    query: Option<&str>,
) -> Response<Body> {
    let asked = Parameters::read(query, &["page"]);
    let page = asked.as_ref().ok().and_then(|asked| asked.number("page", 1, 1_000_000).ok().flatten()).unwrap_or(1);
    let Some(id) = SessionId::parse(session) else { return refusal(viewer, StatusCode::BAD_REQUEST, NOT_HERE) };
    let (asked, viewing, wanted, name) = (gateway.clone(), *viewer, id.clone(), fold.to_owned());
    let found = read(viewer, move || {
        let Some(text) = asked.conversations.fold(&viewing.credential, &wanted, &name)? else { return Ok(None) };
        let handle = text.details.as_ref().and_then(FoldDetails::folded).map(str::to_owned);
        let before = handle.map(|handle| originals::shown(&asked, &viewing, &handle, page)).transpose()?.flatten();
        Ok(Some((text, before)))
    });
    let (text, before) = match found.await {
        Ok(Some(found)) => found,
        Ok(None) => return refusal(viewer, StatusCode::NOT_FOUND, NOT_HERE),
        Err(answer) => return *answer,
    };
    let view = &text.view;
    let title = format!("{} of {}", kind(view), moment(view.at));
    let here = format!("/foldline/view/{id}/fold/{}", view.id);
    let content = markup! {
        p { a href={ "/foldline/view/" (id) } { "Back to the session" } }
        p.lead {
            (grouped(view.tokens.0)) " tokens became " (grouped(view.tokens.1)) ": " (view.reason) "."
            @if view.is_undone { " " span.badge { "undone" } }
        }
        div.actions {
            a.button href={ (here) "/download" } download { "Download handoff" }
            @if view.is_latest { (undo_form(&id)) }
        }
        form.find role="search" action="/foldline/find" {
            label for="q" { "Search removed text" }
            input #q name="q" type="search" required;
            input type="hidden" name="session" value=(id);
            button type="submit" { "Search" }
        }
        div.sides {
            section aria-labelledby="before" {
                h2 #before { "Before" }
                (before_side(before.as_ref(), &here))
            }
            section aria-labelledby="after" {
                h2 #after { "After (what the agent reads)" }
                (after_side(&text))
            }
        }
        section aria-labelledby="edits" {
            h2 #edits { "Edits" }
            (edits(text.details.as_ref()))
        }
    };
    Page { title: &title, place: Place::Elsewhere, content }.answer(viewer)
}

fn before_side(before: Option<&Shown>, here: &str) -> Markup {
    markup! {
        @match before {
            None => p { "No original is stored: nothing was folded here, or the original has expired." },
            Some(before) => {
                pre.text tabindex="0" role="region" aria-label="Original" { (before.text) }
                p.pages {
                    "Page " (before.page) " of " (before.pages) " · " (grouped(before.bytes as u64)) " bytes"
                    @if before.page > 1 { " · " a href={ (here) "?page=" (before.page - 1) } { "Previous page" } }
                    @if before.page < before.pages { " · " a href={ (here) "?page=" (before.page + 1) } { "Next page" } }
                    " · " a href={ "/foldline/original/" (before.handle) } { "Open" }
                    " · " a href={ "/foldline/original/" (before.handle) "/download" } download { "Download" }
                }
            },
        }
    }
}

fn after_side(text: &FoldText) -> Markup {
    let handoff = text.messages.iter().rposition(|(_, words)| words.starts_with(HANDOFF));
    markup! {
        @if text.messages.is_empty() { p { "The messages cannot be displayed." } }
        @for (index, (role, words)) in text.messages.iter().enumerate() {
            @match handoff {
                // The handoff is what the reader came for; the messages around it are one click away.
                Some(handoff) if handoff != index => details {
                    summary { "Message of " (role) ", " (grouped(words.chars().count() as u64)) " characters" }
                    (message(role, words))
                },
                Some(_) => (message("the handoff", words)),
                None => {
                    h3 { (role) }
                    (message(role, words))
                },
            }
        }
    }
}

fn message(of: &str, words: &str) -> Markup {
    markup! { pre.text tabindex="0" role="region" aria-label={ "Message: " (of) } { (words) } }
}

fn edits(details: Option<&FoldDetails>) -> Markup {
    let Some(details) = details else {
        return markup! { p { "This fold was made by an earlier release, which did not store its edits." } };
    };
    markup! {
        p {
            (details.messages.0) " messages became " (details.messages.1) "."
            @if details.by == "model" { " A model wrote the handoff, merged with recorded facts." }
            @if details.by == "ledger" { " The handoff was written without a model." }
        }
        @if details.edits.is_empty() { p { "No edits." } } @else {
            table.cards {
                caption { "In the order of the conversation" }
                thead {
                    tr {
                        th scope="col" { "Message" }
                        th scope="col" { "Edit" }
                        th scope="col" { "Tool" }
                        th.number scope="col" { "Before" }
                        th.number scope="col" { "After" }
                        th scope="col" { "Original" }
                    }
                }
                tbody { @for edit in &details.edits { (edit_row(edit)) } }
            }
            @if details.more_edits > 0 { p { "And " (details.more_edits) " more." } }
        }
    }
}

fn edit_row(edit: &EditDetails) -> Markup {
    markup! {
        tr {
            th scope="row" { "#" (edit.message) }
            td.wide data-label="Edit" { (description(&edit.kind)) }
            td data-label="Tool" { (edit.tool) }
            td.number data-label="Before" { (short(edit.tokens.0)) }
            td.number data-label="After" { (short(edit.tokens.1)) }
            td data-label="Original" {
                @if let Some(handle) = &edit.handle { a href={ "/foldline/original/" (handle) } { code { (handle) } } }
            }
        }
    }
}

/// What an edit does, by the name of its step.
fn description(kind: &str) -> &'static str {
    match kind {
        "reduce" => "Old tool output, reduced",
        "duplicate" => "Repeated output, points to the newest copy",
        "superseded" => "Outdated file read, replaced by a later read or write",
        "arguments" => "Long call arguments, shortened",
        "media" => "Image or document, replaced by a note",
        "fold" => "Middle of the conversation, replaced by the handoff",
        "clamp" => "Long text, cut in the middle because nothing else could be removed",
        "unseal" => "Signed reasoning, dropped because a message before it changed",
        "unname" => "Item id, removed together with its reasoning",
        "carry" => "Open request, kept in front of the recent messages",
        "note" => "Note in the system prompt",
        "repair" => "Invalid message, repaired",
        _ => "Other edit",
    }
}

/// The handoff as a file.
pub async fn download(gateway: &Arc<Gateway>, viewer: &Viewer, session: &str, fold: &str) -> Response<Body> {
    let Some(id) = SessionId::parse(session) else { return refusal(viewer, StatusCode::BAD_REQUEST, NOT_HERE) };
    let (asked, viewing, name) = (gateway.clone(), *viewer, fold.to_owned());
    let wanted = id.clone();
    match read(viewer, move || asked.conversations.fold(&viewing.credential, &wanted, &name)).await {
        Ok(Some(text)) => {
            let parts = text.messages.iter().map(|(role, words)| format!("## {role}\n\n{words}\n"));
            attachment(&format!("{id}-{}.md", text.view.id), parts.collect::<Vec<_>>().join("\n"))
        }
        Ok(None) => refusal(viewer, StatusCode::NOT_FOUND, NOT_HERE),
        Err(answer) => *answer,
    }
}

/// Undoes the latest fold, and shows the session.
pub async fn undo(gateway: &Arc<Gateway>, viewer: &Viewer, session: &str) -> Response<Body> {
    let Some(id) = SessionId::parse(session) else { return refusal(viewer, StatusCode::BAD_REQUEST, NOT_HERE) };
    match endpoints::undo_latest(gateway, &id, viewer.whose()).await {
        (StatusCode::ACCEPTED, _) => see_other(&format!("/foldline/view/{id}?undone=1")),
        (status, words) => refusal(viewer, status, &words),
    }
}
