//! All sessions, the latest first.

use super::access::{Sign, Viewer};
use super::layout::figure;
use super::numbers::{dollars, grouped, moment, percent, short};
use super::{Page, Place, read};
use crate::conversation::{SessionView, Sums};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use http::Response;
use maud::{Markup, html as markup};
use std::sync::Arc;

/// Sessions on the page.
const MOST: usize = 100;

/// The page.
pub async fn page(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    let (asked, whose) = (gateway.clone(), viewer.whose());
    let found = read(viewer, move || asked.conversations.sessions(whose.as_ref(), MOST)).await;
    let sessions = match found {
        Ok(sessions) => sessions,
        Err(answer) => return *answer,
    };
    let content = markup! {
        @if sessions.is_empty() {
            (empty(gateway, viewer))
        } @else {
            div #list data-live {
                (totals(&sessions))
                (table(&sessions))
            }
        }
    };
    Page { title: "Sessions", place: Place::Sessions, content }.answer(viewer)
}

fn empty(gateway: &Gateway, viewer: &Viewer) -> Markup {
    let address = gateway.address().map_or_else(|| "http://127.0.0.1:8787".to_owned(), |at| format!("http://{at}"));
    markup! {
        div #list data-live {
            p.lead {
                @if viewer.sign == Sign::Out || viewer.sees_all() { "No requests yet. Point an agent at this gateway:" }
                @else { "No requests with your key yet. Point an agent at this gateway:" }
            }
            pre tabindex="0" aria-label="Variables to set" {
                "export ANTHROPIC_BASE_URL=" (address) "\n"
                "export OPENAI_BASE_URL=" (address) "/v1\n"
                "export GOOGLE_GEMINI_BASE_URL=" (address)
            }
            p { "The session appears here with its first request." }
        }
    }
}

fn totals(sessions: &[SessionView]) -> Markup {
    let sum = |of: fn(&Sums) -> u64| sessions.iter().map(|session| of(&session.sums)).sum::<u64>();
    let money = |of: fn(&Sums) -> f64| sessions.iter().map(|session| of(&session.sums)).sum::<f64>();
    let shadow = sum(|sums| sums.shadow_tokens);
    markup! {
        dl.figures {
            (figure("Requests", &grouped(sum(|sums| sums.requests)), ""))
            (figure("Folds", &grouped(sum(|sums| sums.folds)), &format!("and {} prunes", grouped(sum(|sums| sums.prunes)))))
            (figure("Tokens saved", &short(sum(|sums| sums.tokens_before.saturating_sub(sums.tokens_after))), ""))
            (figure("Read from cache", &percent(sum(|sums| sums.reported_cached), sum(|sums| sums.reported_prompt)), "of prompt tokens"))
            (figure("Spent", &dollars(money(|sums| sums.charged + sums.summaries)), ""))
            (figure("Saved", &dollars(money(Sums::saved)), ""))
            @if shadow > 0 { (figure("Shadow mode", &short(shadow), "tokens would be saved")) }
        }
    }
}

fn table(sessions: &[SessionView]) -> Markup {
    markup! {
        table.cards {
            caption { @if sessions.len() == 1 { "1 session" } @else { (sessions.len()) " sessions, newest first" } }
            thead {
                tr {
                    th scope="col" { "Session" }
                    th scope="col" { "Model" }
                    th scope="col" { "Last request" }
                    th.number scope="col" { "Context" }
                    th.number scope="col" { "Requests" }
                    th.number scope="col" { "Folds" }
                    th.number scope="col" { "Spent" }
                    th.number scope="col" { "Saved" }
                }
            }
            tbody {
                @for session in sessions { (row(session)) }
            }
        }
    }
}

fn row(session: &SessionView) -> Markup {
    let name = if session.label.is_empty() { session.id.as_str() } else { &session.label };
    let sums = &session.sums;
    markup! {
        tr {
            th scope="row" { a href={ "/foldline/view/" (session.id) } { (name) } }
            td.wide data-label="Model" { (session.model) }
            td.when.wide data-label="Last request" { (moment(session.last_at)) }
            td.number data-label="Context" {
                span { (short(session.context)) " " small { (percent(session.context, session.window)) } }
            }
            td.number data-label="Requests" { (grouped(sums.requests)) }
            td.number data-label="Folds" { (grouped(sums.folds + sums.prunes)) }
            td.number data-label="Spent" { (dollars(sums.charged + sums.summaries)) }
            td.number data-label="Saved" { (dollars(sums.saved())) }
        }
    }
}
