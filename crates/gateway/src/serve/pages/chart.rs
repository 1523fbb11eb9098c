//! The context of a session over its turns, as SVG.

use super::numbers::{grouped, moment, short};
use crate::conversation::{FoldView, SessionView, TurnEvent};
use maud::{Markup, html as markup};
use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 26.0;

/// The chart of the latest turns, which come newest first.
pub fn chart(session: &SessionView, turns: &[TurnEvent], folds: &[FoldView]) -> Markup {
    let turns: Vec<&TurnEvent> = turns.iter().rev().collect();
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return Markup::default() };
    let most = turns.iter().map(|turn| turn.before.max(turn.after)).max().unwrap_or(0).max(session.trigger);
    let top = if session.window > 0 && session.window < most * 2 { most.max(session.window) } else { most };
    let steps = (turns.len().max(2) - 1) as f64;
    let x = |index: usize| LEFT + (WIDTH - LEFT - RIGHT) * index as f64 / steps;
    let y = |tokens: u64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - tokens as f64 / top.max(1) as f64);
    let line = |of: &dyn Fn(&TurnEvent) -> u64| {
        let mut points = String::new();
        for (index, turn) in turns.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", x(index), y(of(turn)));
        }
        points
    };
    // A fold is marked at the first turn that it shows in.
    let marks = folds.iter().filter(|fold| !fold.is_undone && fold.at >= first.at).filter_map(|fold| {
        let index = turns.iter().position(|turn| turn.at >= fold.at)?;
        Some((index, fold))
    });
    // The name of the window is above its line and that of the trigger below, because the two can be close.
    let level = |tokens: u64, name: &str, offset: f64| {
        markup! {
            @if tokens > 0 && tokens <= top {
                line.level x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y(tokens)) y2=(y(tokens)) {}
                text x=(LEFT + 6.0) y=(y(tokens) + offset) { (name) " " (short(tokens)) }
            }
        }
    };
    let summary = format!(
        "Context over the last {} turns: {} tokens in the first, {} in the last; {} folds and prunes.",
        turns.len(),
        grouped(first.after),
        grouped(last.after),
        folds.len()
    );
    markup! {
        figure.chart {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(summary) {
                @for part in 0..=4_u64 {
                    line class="grid" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y(top * part / 4)) y2=(y(top * part / 4)) {}
                    text x=(LEFT - 6.0) y=(y(top * part / 4) + 4.0) text-anchor="end" { (short(top * part / 4)) }
                }
                (level(session.trigger, "trigger", 12.0))
                (level(session.window, "window", -4.0))
                polyline class="before" points=(line(&|turn| turn.before)) {}
                polyline class="after" points=(line(&|turn| turn.after)) {}
                @for (index, fold) in marks {
                    line class="fold" x1=(x(index)) x2=(x(index)) y1=(TOP) y2=(HEIGHT - BOTTOM) {
                        title { (fold.kind) " at " (moment(fold.at)) ": " (short(fold.tokens.0)) " → " (short(fold.tokens.1)) }
                    }
                }
                text x=(LEFT) y=(HEIGHT - 8.0) { (moment(first.at)) }
                text x=(WIDTH - RIGHT) y=(HEIGHT - 8.0) text-anchor="end" { (moment(last.at)) }
            }
            figcaption {
                span.key-before { "received" } span.key-after { "forwarded" } span.key-fold { "fold or prune" }
            }
        }
    }
}
