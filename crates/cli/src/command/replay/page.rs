//! A replay as a page.

use super::chart::{Line, Picture, svg};
use super::compare::{Replay, ReplayedSession};
use crate::command::help::PRESETS;
use crate::page::Page;
use foldline_measure::replay::{Compacted, Metrics, Run};
use foldline_reduce::wording::counted;
use maud::{Markup, html};

/// A colour per policy.
const STYLE: &str = include_str!("page.css");
/// Colours that the style sheet has.
const COLOURS: usize = 7;
/// Sessions that are shown open; the others are a click away.
const OPEN: usize = 1;

/// The page.
pub fn render(replay: &Replay) -> String {
    let requests = replay.totals.first().map_or(0, |metrics| metrics.requests);
    let mut sessions: Vec<&ReplayedSession> = replay.sessions.iter().collect();
    sessions.sort_by_key(|played| std::cmp::Reverse(played.tokens));
    let page = Page {
        title: "Replay",
        heading: "What each policy costs",
        lead: html! {
            (counted(replay.sessions.len(), "recorded session")) " with " (requests) " requests, played turn by turn. The agent's turns "
            "stay as they were; each policy decides how much history a request carries. Caches live and die by the "
            "recorded times."
        },
        style: STYLE,
        content: html! {
            (figures(replay))
            section {
                h2 { "Policies" }
                (money_table(replay))
                (cadence_table(replay))
                details { summary { "What the presets do" } pre { (presets()) } }
            }
            section {
                h2 { "Sessions" }
                p { "The longest first. A dot marks a compaction; what it did stands in the table below the pictures." }
                @for (number, played) in sessions.iter().enumerate() { (session(replay, played, number < OPEN)) }
            }
            (dearer(replay))
            footer { (footnote(replay)) }
        },
    };
    page.render()
}

/// The presets in a sentence each, as `foldline help presets` has them.
fn presets() -> &'static str {
    PRESETS.split("\n\nChoose one:").next().unwrap_or_default()
}

fn figures(replay: &Replay) -> Markup {
    html! {
        dl.figures {
            @for (policy, metrics) in replay.policies.iter().zip(&replay.totals) {
                div { dt { (policy) } dd { (dollars(metrics.dollars)) small { @if let Some(kept) = metrics.kept { " " (percent(kept)) " of facts kept" } @else { " nothing removed" } } } }
            }
        }
    }
}

fn money_table(replay: &Replay) -> Markup {
    html! {
        h3 { "Money" }
        div.scroll { table {
            thead { tr {
                th { "policy" } th.number { "total" } th.number { "cache reads" } th.number { "cache writes" } th.number { "plain input" }
                th.number { "output" } th.number { "summaries" } th.number { "cached" } th.number { "prompt tokens" } th.number { "over the window" }
            } }
            tbody { @for (number, (policy, metrics)) in replay.policies.iter().zip(&replay.totals).enumerate() { tr {
                td class=(colour(number)) { (policy) }
                td.number { (dollars(metrics.dollars)) }
                td.number { (dollars(metrics.bill.cache_read)) }
                td.number { (dollars(metrics.bill.cache_write)) }
                td.number { (dollars(metrics.bill.input)) }
                td.number { (dollars(metrics.bill.output)) }
                td.number { (dollars(metrics.bill.summaries)) }
                td.number { (percent(metrics.cache_read_share)) }
                td.number { (millions(metrics.total_tokens as f64)) }
                td.number { (metrics.over_window) }
            } } }
        } }
    }
}

fn cadence_table(replay: &Replay) -> Markup {
    html! {
        h3 { "Compactions" }
        div.scroll { table {
            thead { tr {
                th { "policy" } th.number { "number" } th.number { "per 100 requests" } th.number { "between" } th.number { "reclaimed" }
                th.number { "first changed" } th.number { "prune : fold" } th.number { "summaries" } th.number { "facts kept" } th.number { "violations" }
            } }
            tbody { @for (number, (policy, metrics)) in replay.policies.iter().zip(&replay.totals).enumerate() { tr {
                td class=(colour(number)) { (policy) }
                (cadence(metrics))
            } } }
        } }
    }
}

fn cadence(metrics: &Metrics) -> Markup {
    html! {
        td.number { (metrics.compactions) }
        td.number { (format!("{:.2}", metrics.per_100_requests)) }
        td.number { @if let Some(between) = metrics.requests_between { (format!("{between:.0}")) } @else { "–" } }
        td.number { (thousands(metrics.reclaimed)) }
        td.number { (format!("{:.1}", metrics.earliest_changed)) }
        td.number { (metrics.prune_only) " : " (metrics.folded) }
        td.number { (metrics.summary_calls) }
        td.number { @if let Some(kept) = metrics.kept { (percent(kept)) " of " (metrics.retention.of) } @else { "–" } }
        td.number { (metrics.violations + metrics.unstable) }
    }
}

fn dearer(replay: &Replay) -> Markup {
    let fits = replay.sessions.iter().filter(|played| played.fits).count();
    html! {
        @if fits > 0 {
            section {
                h2 { "Sessions that fit their window" }
                p {
                    (counted(fits, "session")) " would fit without any compaction. There a policy must not cost more than none; "
                    @if replay.dearer_than_none.is_empty() { "none does." } @else { "where one does, the session mostly ended soon after a fold." }
                }
                @if !replay.dearer_than_none.is_empty() {
                    div.scroll { table {
                        thead { tr { th { "policy" } th { "session" } th.number { "more than none" } th.number { "requests after the last compaction" } } }
                        tbody { @for dearer in &replay.dearer_than_none { tr {
                            td { (dearer.policy) } td { (dearer.session) } td.number { (dollars(dearer.dollars)) } td.number { (dearer.requests_after_last) }
                        } } }
                    } }
                }
            }
        }
    }
}

fn session(replay: &Replay, played: &ReplayedSession, is_open: bool) -> Markup {
    let requests = played.runs.first().map_or(0, |run| run.requests.len());
    let window = played.runs.first().map_or(0, |run| run.window);
    html! {
        details open[is_open] {
            summary {
                span.name { (played.name) }
                small {
                    (requests) " requests, up to " (thousands(played.tokens as f64)) " tokens, " (played.model) ", cache " (played.cache_ttl)
                    @for (policy, run) in replay.policies.iter().zip(&played.runs) { " · " (policy) " " (dollars(run.bill.total())) }
                }
            }
            figure {
                figcaption { "Context in tokens" }
                (svg(&usage(replay, played, window)))
            }
            figure {
                figcaption { "Cost so far" }
                (svg(&cost(replay, played)))
            }
            (events(replay, played))
        }
    }
}

fn usage<'r>(replay: &'r Replay, played: &'r ReplayedSession, window: u64) -> Picture<'r> {
    let line = |(number, (policy, run)): (usize, (&'r String, &Run))| Line {
        name: policy,
        number: number % COLOURS,
        values: run.requests.iter().map(|sent| sent.tokens as f64).collect(),
        marks: marks(policy, run),
    };
    // A window far above everything would press the lines flat.
    let guide = (window <= played.tokens * 3 / 2).then_some((window as f64, "window"));
    let lines = replay.policies.iter().zip(&played.runs).enumerate().map(line).collect();
    Picture { title: "Context in tokens, by request", unit: thousands, guide, lines }
}

fn cost<'r>(replay: &'r Replay, played: &'r ReplayedSession) -> Picture<'r> {
    let line = |(number, (policy, run)): (usize, (&'r String, &Run))| {
        let mut sum = 0.0;
        let add = |sent: &foldline_measure::replay::Sent| {
            sum += sent.dollars;
            sum
        };
        Line {
            name: policy,
            number: number % COLOURS,
            values: run.requests.iter().map(add).collect(),
            marks: marks(policy, run),
        }
    };
    let lines = replay.policies.iter().zip(&played.runs).enumerate().map(line).collect();
    Picture { title: "Dollars so far, by request", unit: dollars, guide: None, lines }
}

fn marks(policy: &str, run: &Run) -> Vec<(usize, String)> {
    let mark = |Compacted { event, .. }: &Compacted| {
        let words =
            format!("{policy}, request {}: {} → {} tokens", event.request + 1, event.tokens.before, event.tokens.after);
        (event.request as usize, words)
    };
    run.events.iter().map(mark).collect()
}

fn events(replay: &Replay, played: &ReplayedSession) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th { "policy" } th.number { "request" } th.number { "tokens" } th.number { "messages folded" } th.number { "outputs reduced" }
                th.number { "handoff" } th.number { "facts kept" } th { "why" }
            } }
            tbody { @for (number, (policy, run)) in replay.policies.iter().zip(&played.runs).enumerate() { @for Compacted { event, retention } in &run.events { tr {
                td class=(colour(number)) { (policy) }
                td.number { (event.request + 1) }
                td.number { (thousands(event.tokens.before as f64)) " → " (thousands(event.tokens.after as f64)) }
                td.number { (event.folded_messages) }
                td.number { (event.reduced_outputs) }
                td.number { (event.handoff_tokens) }
                td.number { @if let Some(tally) = retention { (tally.kept) " of " (tally.of) } @else { "–" } }
                td.reason { (event.reason) }
            } } } }
        } }
    }
}

fn footnote(replay: &Replay) -> Markup {
    html! {
        p {
            "Facts kept: paths, identifiers and hashes that the agent wrote after a compaction before seeing them again, and that still stand in context. "
            "Sessions that recorded no times are played without pauses. Played by Foldline " (env!("CARGO_PKG_VERSION"))
            " in " (format!("{:.1}", replay.seconds)) " s."
        }
        ul { @for tariff in replay.prices.values() {
            li {
                (tariff.model) ": input $" (tariff.prices.input) ", output $" (tariff.prices.output) ", cache read $" (format!("{:.3}", tariff.prices.cache_read))
                " per million tokens" @if let (Some(source), Some(date)) = (&tariff.source, &tariff.date) { " (" (source) ", " (date) ")" }
            }
        } }
        @if !replay.skipped.is_empty() {
            p { "Not played:" }
            ul { @for why in &replay.skipped { li { (why) } } }
        }
    }
}

fn colour(number: usize) -> String {
    format!("p{}", number % COLOURS)
}

fn dollars(amount: f64) -> String {
    format!("${amount:.2}")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn thousands(tokens: f64) -> String {
    format!("{:.0} K", tokens / 1000.0)
}

fn millions(tokens: f64) -> String {
    format!("{:.1} M", tokens / 1e6)
}
