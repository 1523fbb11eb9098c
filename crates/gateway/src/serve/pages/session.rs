//! One session: context over time, folds, kept rules, cost.

use super::access::Viewer;
use super::chart::chart;
use super::layout::figure;
use super::numbers::{dollars, grouped, moment, percent, short};
use super::{Page, Place, read, refusal};
use crate::conversation::{FoldText, FoldView, SessionId, SessionView, TurnEvent};
use crate::serve::Body;
use crate::serve::endpoints;
use crate::serve::gateway::Gateway;
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
        return refusal(viewer, StatusCode::BAD_REQUEST, "Invalid session id; expected fs- and 16 hex digits.");
    };
    let (asked, viewing, wanted) = (gateway.clone(), *viewer, id.clone());
    let seen = read(viewer, move || {
        if !endpoints::owns(&asked, viewing.whose(), &wanted) {
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
            let words = "Session not found. It belongs to another key, or it was deleted.";
            return refusal(viewer, StatusCode::NOT_FOUND, words);
        }
        Err(answer) => return *answer,
    };
    let is_undone = Parameters::read(query, &["undone"]).is_ok_and(|asked| asked.get("undone").is_some());
    let title = if seen.session.label.is_empty() { id.as_str().to_owned() } else { seen.session.label.clone() };
    let content = markup! {
        @if is_undone {
            p.notice role="status" { "The latest fold is undone. The next request is forwarded without it if it fits the window." }
        }
        div #session data-live {
            p.lead {
                @if !seen.session.label.is_empty() { code { (id) } " · " }
                (seen.session.model) " · since " (moment(seen.session.first_at)) ", last request " (moment(seen.session.last_at))
            }
            (figures(&seen.session))
            @if seen.turns.is_empty() { p { "No reply yet, so there is no usage to show." } }
            @else { (chart(&seen.session, &seen.turns, &seen.folds)) }
            section aria-labelledby="folds" {
                h2 #folds { "Folds and prunes" }
                (folds(&seen))
            }
            section aria-labelledby="kept" {
                h2 #kept { "Rules and pins" }
                (kept(&seen))
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
            (figure("Tokens saved", &short(sums.tokens_before.saturating_sub(sums.tokens_after)), ""))
            (figure("Read from cache", &percent(sums.reported_cached, sums.reported_prompt), "of prompt tokens"))
            (figure("Spent", &dollars(sums.charged + sums.summaries), &format!("{} for summaries", dollars(sums.summaries))))
            (figure("Saved", &dollars(sums.saved()), ""))
            @if sums.recoveries > 0 { (figure("Recovered", &grouped(sums.recoveries), "requests that were too long")) }
            @if sums.failed_open > 0 { (figure("Not stored", &grouped(sums.failed_open), "folds, the store failed")) }
            @if sums.shadow_tokens > 0 {
                (figure("Shadow mode", &short(sums.shadow_tokens), &format!("tokens and {} would be saved", dollars(sums.shadow_dollars))))
            }
        }
    }
}

fn folds(seen: &Seen) -> Markup {
    let id = &seen.session.id;
    markup! {
        @if seen.folds.is_empty() {
            p {
                "Nothing folded yet. The session is folded at " (short(seen.session.trigger)) " tokens, or now with "
                code { "POST /foldline/sessions/" (id) "/compact" } "."
            }
        } @else {
            ol.folds reversed {
                @for fold in &seen.folds {
                    li {
                        a href={ "/foldline/view/" (id) "/fold/" (fold.id) } {
                            (kind(fold)) ", " (short(fold.tokens.0)) " → " (short(fold.tokens.1)) " tokens"
                        }
                        " " span.soft { (moment(fold.at)) }
                        @if fold.is_undone { " " span.badge { "undone" } }
                        p { (fold.reason) }
                        @if fold.is_latest { (undo(id)) }
                    }
                }
            }
        }
    }
}

/// The form that undoes the latest fold.
pub fn undo(id: &SessionId) -> Markup {
    markup! {
        form method="post" action={ "/foldline/view/" (id) "/undo" } {
            button type="submit" { "Undo" }
        }
    }
}

/// What a fold is called.
pub fn kind(fold: &FoldView) -> &'static str {
    if fold.kind == "prune" { "Prune" } else { "Fold" }
}

fn kept(seen: &Seen) -> Markup {
    let details = seen.latest.as_ref().and_then(|latest| latest.details.as_ref());
    let kept = details.map(|details| details.kept.as_slice());
    markup! {
        @match kept {
            Some([]) => p { "The latest handoff lists no rules or pins; rules in messages that were not folded are still in those messages. Pin a text with " code { "/pin …" } " in a chat, or with " code { "compression.pins" } "." },
            Some(kept) => ul.kept { @for one in kept { li { @if one.is_pin { span.badge { "pin" } " " } (one.text) } } },
            None if seen.folds.is_empty() => p { "Listed after the first fold; until then the whole conversation is forwarded." },
            None => p { "Rules and pins are content: only the key of this session's agent can read them. " a href="/foldline/login" { "Sign in" } " with it." },
        }
    }
}

fn turns(turns: &[TurnEvent]) -> Markup {
    markup! {
        @if turns.is_empty() { p { "No turns yet." } } @else {
            table.cards {
                caption { "The last " (turns.len().min(SHOWN)) ", newest first" }
                thead {
                    tr {
                        th scope="col" { "When" }
                        th scope="col" { "Outcome" }
                        th.number scope="col" { "Received" }
                        th.number scope="col" { "Forwarded" }
                        th.number scope="col" { "Cached" }
                        th.number scope="col" { "Cost" }
                    }
                }
                tbody {
                    @for turn in turns.iter().take(SHOWN) {
                        tr {
                            th scope="row" { (moment(turn.at)) }
                            td data-label="Outcome" { (turn.outcome) }
                            td.number data-label="Received" { (grouped(turn.before)) }
                            td.number data-label="Forwarded" { (grouped(turn.after)) }
                            td.number data-label="Cached" { (percent(turn.cached, turn.prompt)) }
                            td.number data-label="Cost" { (dollars(turn.charged)) }
                        }
                    }
                }
            }
        }
    }
}
