//! The client keys of the store: who they are, what they may do, what they used. For operators.

use super::access::Viewer;
use super::numbers::{dollars, grouped, moment, short};
use super::{Page, Place, read, refusal};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::key_figures::{KeyFigure, KeyFigures, KeyStatus};
use http::{Response, StatusCode};
use maud::{Markup, html as markup};
use std::sync::Arc;

/// The page.
pub async fn page(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    if !viewer.sees_all() {
        return refusal(viewer, StatusCode::FORBIDDEN, "Only an operator key may see the client keys.");
    }
    let asked = gateway.clone();
    let figures = match read(viewer, move || KeyFigures::read(&asked)).await {
        Ok(figures) => figures,
        Err(answer) => return *answer,
    };
    let content = markup! {
        @if figures.keys.is_empty() {
            p.lead { "No client keys in the store. Create one with " code { "foldline keys add NAME" } "." }
        } @else {
            (keys(&figures))
            (events(&figures))
        }
        p { "Keys of the file " code { "gateway.client_keys" } " have no names and are not listed. For programs: "
            a href="/foldline/keys" { "/foldline/keys" } "." }
    };
    Page { title: "Keys", place: Place::Keys, content }.answer(viewer)
}

fn keys(figures: &KeyFigures) -> Markup {
    let active = figures.keys.iter().filter(|key| key.status == KeyStatus::Active).count();
    markup! {
        p.lead { (active) " of " (figures.keys.len()) " keys can be used now. Days end at midnight UTC." }
        table.cards {
            caption { "Client keys" }
            thead { tr {
                th scope="col" { "Key" }
                th scope="col" { "Status" }
                th scope="col" { "Scopes" }
                th scope="col" { "Requests today" }
                th scope="col" { "Tokens today" }
                th scope="col" { "Cost today" }
                th scope="col" { "Cost in 30 days" }
                th scope="col" { "Last used" }
                th scope="col" { "Expires" }
            } }
            tbody { @for figure in &figures.keys { (row(figure)) } }
        }
    }
}

fn row(figure: &KeyFigure) -> Markup {
    let KeyFigure { key, today, month, status } = figure;
    let terms = &key.terms;
    let at = |time: Option<i64>, none: &str| time.map_or_else(|| none.to_owned(), moment);
    markup! {
        tr {
            th scope="row" { (key.name) }
            td.words data-label="Status" { (status.name()) }
            td data-label="Scopes" { (terms.scope_names()) }
            td data-label="Requests today" { (grouped(today.requests)) }
            td.words.wide data-label="Tokens today" {
                (short(today.tokens())) @if let Some(limit) = terms.tokens_per_day { " of " (short(limit)) }
            }
            td.words.wide data-label="Cost today" {
                (dollars(today.dollars)) @if let Some(limit) = terms.dollars_per_day { " of " (dollars(limit)) }
            }
            td.words data-label="Cost in 30 days" { (dollars(month.dollars)) }
            td.words.wide data-label="Last used" { (at(key.used_at, "never")) }
            td.words.wide data-label="Expires" { (at(terms.expires_at, "never")) }
        }
    }
}

fn events(figures: &KeyFigures) -> Markup {
    markup! {
        table.cards {
            caption { "Latest events" }
            thead { tr { th scope="col" { "Time" } th scope="col" { "Key" } th scope="col" { "Event" } } }
            tbody {
                @for event in &figures.events {
                    tr {
                        th scope="row" { (moment(event.at)) }
                        td data-label="Key" { (event.name) }
                        td data-label="Event" { (event.kind.name()) }
                    }
                }
            }
        }
    }
}
