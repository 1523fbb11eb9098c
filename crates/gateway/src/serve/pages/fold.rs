//! One fold: the handoff as the agent reads it beside what it stands for, and why each edit was made.

use super::access::Viewer;
use super::numbers::{grouped, moment, short};
use super::originals::{self, Shown};
use super::session::{kind, undo as undo_form};
use super::{Page, Place, attachment, read, refusal, see_other};
use crate::conversation::{Account, EditNote, FoldText, SessionId};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::own;
use crate::serve::query::Parameters;
use http::{Response, StatusCode};
use maud::{Markup, html as markup};
use std::sync::Arc;

const NOT_HERE: &str = "This fold is not kept, or it belongs to another key. Sign in with the key that the session's agent \
                        uses to read what was said in it.";

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
        let handle = text.account.as_ref().and_then(Account::folded).map(str::to_owned);
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
            @if view.is_undone { " " span.badge { "taken back" } }
        }
        div.actions {
            a.button href={ (here) "/download" } download { "Download the handoff" }
            @if view.is_latest { (undo_form(&id)) }
        }
        form.find role="search" action="/foldline/find" {
            label for="q" { "Search what was removed" }
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
                h2 #after { "After, as the agent reads it" }
                (after_side(&text))
            }
        }
        section aria-labelledby="edits" {
            h2 #edits { "What was done, and why" }
            (edits(text.account.as_ref()))
        }
    };
    Page { title: &title, place: Place::Elsewhere, content }.answer(viewer)
}

fn before_side(before: Option<&Shown>, here: &str) -> Markup {
    markup! {
        @match before {
            None => p { "No original of it is kept: nothing was folded into a handoff here, or the store has let it go." },
            Some(before) => {
                pre.text tabindex="0" role="region" aria-label="What was there before" { (before.text) }
                p.pages {
                    "Page " (before.page) " of " (before.pages) " · " (grouped(before.bytes as u64)) " bytes"
                    @if before.page > 1 { " · " a href={ (here) "?page=" (before.page - 1) } { "Previous page" } }
                    @if before.page < before.pages { " · " a href={ (here) "?page=" (before.page + 1) } { "Next page" } }
                    " · " a href={ "/foldline/original/" (before.handle) } { "Alone" }
                    " · " a href={ "/foldline/original/" (before.handle) "/download" } download { "Download" }
                }
            },
        }
    }
}

fn after_side(text: &FoldText) -> Markup {
    markup! {
        @if text.messages.is_empty() { p { "The messages cannot be shown." } }
        @for (role, words) in &text.messages {
            h3 { (role) }
            pre.text tabindex="0" role="region" aria-label={ "Message of " (role) } { (words) }
        }
    }
}

fn edits(account: Option<&Account>) -> Markup {
    let Some(account) = account else {
        return markup! { p { "An earlier release made this fold and did not write down its edits." } };
    };
    markup! {
        p {
            (account.messages.0) " messages became " (account.messages.1) "."
            @if account.by == "model" { " A model wrote the handoff; recorded facts were merged in." }
            @if account.by == "ledger" { " The handoff was written without a model." }
        }
        @if account.edits.is_empty() { p { "No single output was reduced." } } @else {
            table.cards {
                caption { "Edits, in the order of the conversation" }
                thead {
                    tr {
                        th scope="col" { "Message" }
                        th scope="col" { "What and why" }
                        th scope="col" { "Tool" }
                        th.number scope="col" { "Before" }
                        th.number scope="col" { "After" }
                        th scope="col" { "Original" }
                    }
                }
                tbody { @for edit in &account.edits { (edit_row(edit)) } }
            }
            @if account.more_edits > 0 { p { "And " (account.more_edits) " more." } }
        }
    }
}

fn edit_row(edit: &EditNote) -> Markup {
    markup! {
        tr {
            th scope="row" { "#" (edit.message) }
            td data-label="What and why" { (why(&edit.kind)) }
            td data-label="Tool" { (edit.tool) }
            td.number data-label="Before" { (short(edit.tokens.0)) }
            td.number data-label="After" { (short(edit.tokens.1)) }
            td data-label="Original" {
                @if let Some(handle) = &edit.handle { a href={ "/foldline/original/" (handle) } { code { (handle) } } }
            }
        }
    }
}

/// What an edit does and why, by the name of its step.
fn why(kind: &str) -> &'static str {
    match kind {
        "reduce" => "An old output, reduced to what an agent needs next",
        "duplicate" => "An output that a later message repeats",
        "superseded" => "A file read that a later read or write replaces",
        "arguments" => "Long arguments of a call, made shorter",
        "media" => "An image or document, replaced by a note",
        "fold" => "The middle of the conversation, told in the handoff",
        "clamp" => "A text cut in the middle: nothing else was left to give",
        "unseal" => "Signed reasoning, dropped because something before it changed",
        "unname" => "An id, taken off because its reasoning is gone",
        "carry" => "A request that is still open, carried in front of the tail",
        "note" => "A note for the system prompt",
        "repair" => "Damage in the request, repaired",
        _ => "Another edit",
    }
}

/// The handoff as a file.
pub async fn download(gateway: &Arc<Gateway>, viewer: &Viewer, session: &str, fold: &str) -> Response<Body> {
    let Some(id) = SessionId::parse(session) else { return refusal(viewer, StatusCode::BAD_REQUEST, NOT_HERE) };
    let (asked, viewing, name) = (gateway.clone(), *viewer, fold.to_owned());
    let wanted = id.clone();
    match read(viewer, move || asked.conversations.fold(&viewing.credential, &wanted, &name)).await {
        Ok(Some(text)) => {
            let told = text.messages.iter().map(|(role, words)| format!("## {role}\n\n{words}\n"));
            attachment(&format!("{id}-{}.md", text.view.id), told.collect::<Vec<_>>().join("\n"))
        }
        Ok(None) => refusal(viewer, StatusCode::NOT_FOUND, NOT_HERE),
        Err(answer) => *answer,
    }
}

/// Takes back the latest fold, and shows the session.
pub async fn undo(gateway: &Arc<Gateway>, viewer: &Viewer, session: &str) -> Response<Body> {
    let Some(id) = SessionId::parse(session) else { return refusal(viewer, StatusCode::BAD_REQUEST, NOT_HERE) };
    match own::taken_back(gateway, &id, viewer.whose()).await {
        (StatusCode::ACCEPTED, _) => see_other(&format!("/foldline/view/{id}?undone=1")),
        (status, words) => refusal(viewer, status, &words),
    }
}
