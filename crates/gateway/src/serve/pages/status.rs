//! The settings in force, and how the gateway is.

use super::access::Viewer;
use super::layout::figure;
use super::numbers::grouped;
use super::{Page, Place, read, refusal};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::journal::Figures;
use http::{Response, StatusCode};
use maud::html as markup;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The settings, with where each comes from.
pub fn settings(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    if !viewer.sees_all() {
        return refusal(viewer, StatusCode::FORBIDDEN, "The settings of a shared gateway are for its operators.");
    }
    let shown = gateway.shown_settings();
    let chosen = shown.iter().filter(|setting| setting.origin != "default").count();
    let content = markup! {
        @if shown.is_empty() {
            p.lead { "This gateway was started by a program, not by " code { "foldline serve" } ": where its settings come from is not known." }
        } @else {
            p.lead { (chosen) " of " (shown.len()) " differ from their defaults. The file is read again when it changes." }
            table.cards.settings {
                caption { "Settings in force" }
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "From" } } }
                tbody {
                    @for setting in shown.iter() {
                        tr.chosen[setting.origin != "default"] {
                            th scope="row" { code { (setting.key) } }
                            td data-label="Value" { (setting.value) }
                            td data-label="From" { (setting.origin) }
                        }
                    }
                }
            }
        }
    };
    Page { title: "Settings", place: Place::Settings, content }.answer(viewer)
}

/// How the gateway is.
pub async fn health(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    let asked = gateway.clone();
    let probed = match gateway.trouble() {
        Some(trouble) => Err(trouble),
        None => read(viewer, move || Ok(asked.conversations.probe()))
            .await
            .map_or_else(|_| Err("it does not answer".to_owned()), |probed| probed.map_err(|error| error.to_string())),
    };
    let Figures { sums, fallbacks, refusals, upstream_errors } = Figures::of(gateway);
    let setup = gateway.setup();
    let is_open = gateway.is_open.load(Ordering::Relaxed);
    let content = markup! {
        div #health data-live {
            @match (&probed, is_open) {
                (_, false) => p.wrong role="alert" { "Stopping: open requests get time to finish." },
                (Ok(()), true) => p.lead { "Ready. The store can be read and written." },
                // What the store says names its place; that is the operator's to know.
                (Err(why), true) => p.wrong role="alert" {
                    "The store cannot be used, so requests pass as they come and nothing is folded. "
                    @if viewer.sees_all() { (why) }
                },
            }
            @if viewer.sees_all() {
                dl.figures {
                    (figure("Open requests", &grouped(count(gateway.metrics.open_requests.get())), ""))
                    (figure("Connections", &grouped(count(gateway.metrics.open_connections.get())), ""))
                    (figure("Requests", &grouped(sums.requests), "since the start"))
                    (figure("Recoveries", &grouped(sums.recoveries), "refused for size, folded harder"))
                    (figure("Fallbacks", &grouped(fallbacks), "faults of ours, requests went out all the same"))
                    (figure("Refused", &grouped(refusals), "by this gateway"))
                    (figure("Upstream errors", &grouped(upstream_errors), "by providers"))
                }
                table.cards {
                    caption { "Upstreams" }
                    thead { tr { th scope="col" { "API" } th scope="col" { "Address" } } }
                    tbody {
                        @for (name, base) in [("Anthropic", &setup.anthropic), ("OpenAI", &setup.openai), ("Gemini", &setup.google)] {
                            tr { th scope="row" { (name) } td data-label="Address" { code { (base.text()) } } }
                        }
                    }
                }
                p { "Figures for machines: " a href="/foldline/metrics" { "/foldline/metrics" } ". Probes: " code { "/foldline/healthz" } ", " code { "/foldline/readyz" } "." }
            }
        }
    };
    Page { title: "Health", place: Place::Health, content }.answer(viewer)
}

fn count(gauge: i64) -> u64 {
    u64::try_from(gauge).unwrap_or(0)
}
