//! The settings in effect, and the health of the gateway.

use super::access::Viewer;
use super::layout::figure;
use super::numbers::grouped;
use super::{Page, Place, read, refusal};
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::log_lines::Figures;
use http::{Response, StatusCode};
use maud::html as markup;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The settings, with where each comes from.
pub fn settings(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    if !viewer.sees_all() {
        return refusal(
            viewer,
            StatusCode::FORBIDDEN,
            "Only an operator key may read the settings of a shared gateway.",
        );
    }
    let shown = gateway.shown_settings();
    let chosen = shown.iter().filter(|setting| setting.origin != "default").count();
    let content = markup! {
        @if shown.is_empty() {
            p.lead { "This gateway was not started by " code { "foldline serve" } ", so the origin of its settings is unknown." }
        } @else {
            p.lead { (chosen) " of " (shown.len()) " settings are not defaults. The settings file is reloaded when it changes." }
            table.cards.settings {
                caption { "Settings in effect" }
                thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "Origin" } } }
                tbody {
                    @for setting in shown.iter() {
                        tr.chosen[setting.origin != "default"] {
                            th scope="row" { code { (setting.key) } }
                            td.wide data-label="Value" { (setting.value) }
                            td.wide data-label="Origin" { (setting.origin) }
                        }
                    }
                }
            }
        }
    };
    Page { title: "Settings", place: Place::Settings, content }.answer(viewer)
}

/// The health of the gateway.
pub async fn health(gateway: &Arc<Gateway>, viewer: &Viewer) -> Response<Body> {
    let asked = gateway.clone();
    let probed = match gateway.trouble() {
        Some(trouble) => Err(trouble),
        None => read(viewer, move || Ok(asked.conversations.probe())).await.map_or_else(
            |_| Err("the store does not answer".to_owned()),
            |probed| probed.map_err(|error| error.to_string()),
        ),
    };
    let Figures { sums, fallbacks, refusals, upstream_errors } = Figures::of(gateway);
    let setup = gateway.setup();
    let is_open = gateway.is_open.load(Ordering::Relaxed);
    let content = markup! {
        div #health data-live {
            @match (&probed, is_open) {
                (_, false) => p.wrong role="alert" { "Shutting down: open requests may finish." },
                (Ok(()), true) => p.lead { "Ready. The store is readable and writable." },
                // The error names the path of the store, which only the operator may know.
                (Err(why), true) => p.wrong role="alert" {
                    "The store fails, so requests are forwarded unchanged unless they would not fit. "
                    @if viewer.sees_all() { (why) }
                },
            }
            @if viewer.sees_all() {
                dl.figures {
                    (figure("Open requests", &grouped(count(gateway.metrics.open_requests.get())), ""))
                    (figure("Connections", &grouped(count(gateway.metrics.open_connections.get())), ""))
                    (figure("Requests", &grouped(sums.requests), "since start"))
                    (figure("Recoveries", &grouped(sums.recoveries), "too long for the provider, folded again"))
                    (figure("Fallbacks", &grouped(fallbacks), "internal errors, requests forwarded unchanged"))
                    (figure("Refused", &grouped(refusals), "requests rejected by the gateway"))
                    (figure("Upstream errors", &grouped(upstream_errors), "error replies of providers"))
                }
                table.cards {
                    caption { "Upstreams" }
                    thead { tr { th scope="col" { "API" } th scope="col" { "Address" } } }
                    tbody {
                        @for (name, base) in [("Anthropic", &setup.anthropic), ("OpenAI", &setup.openai), ("Gemini", &setup.google)] {
                            tr { th scope="row" { (name) } td.wide data-label="Address" { code { (base.text()) } } }
                        }
                    }
                }
                p { "Metrics: " a href="/foldline/metrics" { "/foldline/metrics" } ". Probes: " code { "/foldline/healthz" } ", " code { "/foldline/readyz" } "." }
            }
        }
    };
    Page { title: "Health", place: Place::Health, content }.answer(viewer)
}

fn count(gauge: i64) -> u64 {
    u64::try_from(gauge).unwrap_or(0)
}
