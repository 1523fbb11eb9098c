//! One session: how full its context was, what was done to it, what it cost.

use super::access::Viewer;
use super::chart::chart;
use super::layout::figure;
use super::numbers::{dollars, grouped, moment, percent, short};
use super::{Page, Place, read, refusal};
use crate::conversation::{FoldText, FoldView, SessionId, SessionView, TurnEvent};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::own;
use crate::serve::query::Parameters;
use http::{Response, StatusCode};
use maud::{Markup, html as markup};
use std::sync::Arc;

/// Turns of the history.
const TURNS: usize = 200;
/// Turns in the table.
const SHOWN: usize = 20;

/// What the page tells.
struct Seen {
    session: SessionView,
    turns: Vec<TurnEvent>,
    folds: Vec<FoldView>,
    /// The latest fold with content, where the viewer may see it.
    latest: Option<FoldText>,
}

/// The page.
pub async fn page(gateway: &Arc<Gateway>, viewer: &Viewer, id: &str, query: Option<&str>) -> Response<Body> {
    let Some(id) = SessionId::parse(id) else {
        return refusal(viewer, StatusCode::BAD_REQUEST, "That is no session; their names begin with fs-.");
    };
    let (asked, viewing, wanted) = (gateway.clone(), *viewer, id.clone());
    let seen = read(viewer, move || {
        if !own::owns(&asked, viewing.whose(), &wanted) {
            return Ok(None);
        }
        let Some((session, turns)) = asked.conversations.session(&wanted, TURNS)? else { return Ok(None) };
        let folds = asked.conversations.folds(&wanted)?;
        let latest = match folds.iter().find(|fold| fold.is_latest) {
            Some(fold) => asked.conversations.fold(&viewing.credential, &wanted, &fold.id)?,
            None => None,
        };
        Ok(Some(Seen { session, turns, folds, latest }))
    });
    let seen = match seen.await {
        Ok(Some(seen)) => seen,
        Ok(None) => {
            let words = "There is no such session, or it belongs to another key. It may have been forgotten since.";
            return refusal(viewer, StatusCode::NOT_FOUND, words);
        }
        Err(answer) => return *answer,
    };
    let is_undone = Parameters::read(query, &["undone"]).is_ok_and(|asked| asked.get("undone").is_some());
    let title = if seen.session.label.is_empty() { id.as_str().to_owned() } else { seen.session.label.clone() };
    let content = markup! {
        @if is_undone {
            p.told role="status" { "The latest fold is taken back. The next request goes out without it, as long as it fits the window." }
        }
        div #session data-live {
            p.lead {
                @if !seen.session.label.is_empty() { code { (id) } " · " }
                (seen.session.model) " · since " (moment(seen.session.first_at)) ", last request " (moment(seen.session.last_at))
            }
            (figures(&seen.session))
            @if seen.turns.is_empty() { p { "No reply has come yet, so there is no usage to show." } }
            @else { (chart(&seen.session, &seen.turns, &seen.folds)) }
            section aria-labelledby="folds" {
                h2 #folds { "Folds and prunes" }
                (folds(&seen))
            }
            section aria-labelledby="held" {
                h2 #held { "Held as rules and pins" }
                (held(&seen))
            }
            section aria-labelledby="turns" {
                h2 #turns { "Latest turns" }
                (turns(&seen.turns))
            }
        }
    };
    Page { title: &title, place: Place::Elsewhere, content }.answer(viewer)
}

fn figures(session: &SessionView) -> Markup {
    let sums = &session.sums;
    markup! {
        dl.figures {
            (figure("Context", &short(session.context), &format!("{} of the window", percent(session.context, session.window))))
            (figure("Requests", &grouped(sums.requests), ""))
            (figure("Folds", &grouped(sums.folds), &format!("and {} prunes", grouped(sums.prunes))))
            (figure("Tokens not sent", &short(sums.tokens_before.saturating_sub(sums.tokens_after)), ""))
            (figure("From the cache", &percent(sums.reported_cached, sums.reported_prompt), "of prompts"))
            (figure("Spent", &dollars(sums.charged + sums.summaries), &format!("{} for summaries", dollars(sums.summaries))))
            (figure("Saved", &dollars(sums.saved()), ""))
            @if sums.recoveries > 0 { (figure("Recovered", &grouped(sums.recoveries), "refused for their size")) }
            @if sums.failed_open > 0 { (figure("Not kept", &grouped(sums.failed_open), "folds the store failed for")) }
            @if sums.shadow_tokens > 0 {
                (figure("Would be saved", &short(sums.shadow_tokens), &format!("tokens, {}", dollars(sums.shadow_dollars))))
            }
        }
    }
}

fn folds(seen: &Seen) -> Markup {
    let id = &seen.session.id;
    markup! {
        @if seen.folds.is_empty() {
            p {
                "Nothing was folded yet. That happens at " (short(seen.session.trigger)) " tokens, or with "
                code { "POST /foldline/sessions/" (id) "/compact" } "."
            }
        } @else {
            ol.folds {
                @for fold in &seen.folds {
                    li {
                        a href={ "/foldline/view/" (id) "/fold/" (fold.id) } {
                            (kind(fold)) ", " (short(fold.tokens.0)) " → " (short(fold.tokens.1)) " tokens"
                        }
                        " " span.soft { (moment(fold.at)) }
                        @if fold.is_undone { " " span.badge { "taken back" } }
                        p { (fold.reason) }
                        @if fold.is_latest { (undo(id)) }
                    }
                }
            }
        }
    }
}

/// The form that takes back the latest fold.
pub fn undo(id: &SessionId) -> Markup {
    markup! {
        form method="post" action={ "/foldline/view/" (id) "/undo" } {
            button type="submit" { "Take this back" }
        }
    }
}

/// What a fold is called.
pub fn kind(fold: &FoldView) -> &'static str {
    if fold.kind == "prune" { "Prune" } else { "Fold" }
}

fn held(seen: &Seen) -> Markup {
    let account = seen.latest.as_ref().and_then(|latest| latest.account.as_ref());
    let held = account.map(|account| account.held.as_slice());
    markup! {
        @match held {
            Some([]) => p { "The latest handoff holds no standing rules and no pins. Pin something with " code { "/pin …" } " in a chat, or with " code { "compression.pins" } "." },
            Some(held) => ul.held { @for one in held { li { @if one.is_pin { span.badge { "pin" } " " } (one.text) } } },
            None if seen.folds.is_empty() => p { "Nothing is held before the first fold: the whole conversation is still there." },
            None => p { "What is held is shown to the key that this session's agent uses. " a href="/foldline/login" { "Sign in" } " with it." },
        }
    }
}

fn turns(turns: &[TurnEvent]) -> Markup {
    markup! {
        @if turns.is_empty() { p { "None yet." } } @else {
            table.cards {
                caption { "The last " (turns.len().min(SHOWN)) ", newest first" }
                thead {
                    tr {
                        th scope="col" { "When" }
                        th scope="col" { "What was done" }
                        th.number scope="col" { "As it came" }
                        th.number scope="col" { "As it went out" }
                        th.number scope="col" { "Cached" }
                        th.number scope="col" { "Cost" }
                    }
                }
                tbody {
                    @for turn in turns.iter().take(SHOWN) {
                        tr {
                            th scope="row" { (moment(turn.at)) }
                            td data-label="What was done" { (turn.outcome) }
                            td.number data-label="As it came" { (grouped(turn.before)) }
                            td.number data-label="As it went out" { (grouped(turn.after)) }
                            td.number data-label="Cached" { (percent(turn.cached, turn.prompt)) }
                            td.number data-label="Cost" { (dollars(turn.charged)) }
                        }
                    }
                }
            }
        }
    }
}
