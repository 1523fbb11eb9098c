//! The chart of facts kept over tokens, as SVG.

use super::measure::Method;
use super::summary::{Evaluation, Point};
use maud::{Markup, html};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 128.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 50.0;
/// Names of curves that would touch are moved apart by this much.
const LABEL_HEIGHT: f64 = 17.0;

/// Where things are in the picture.
struct Frame {
    most: f64,
}

impl Frame {
    /// Shares are spread by their square root: small budgets are where methods differ.
    fn x(&self, budget: f64) -> f64 {
        LEFT + (budget / self.most).max(0.0).sqrt() * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, kept: f64) -> f64 {
        HEIGHT - BOTTOM - kept / 100.0 * (HEIGHT - TOP - BOTTOM)
    }
}

/// The class of a curve in the style sheet.
pub fn class(method: Method) -> &'static str {
    match method {
        Method::Foldline => "own",
        Method::Stubs => "stubs",
        Method::PlainTail => "tail",
    }
}

/// The picture.
pub fn curve(evaluation: &Evaluation) -> Markup {
    let frame = Frame { most: evaluation.budgets.last().copied().unwrap_or(100.0) };
    let bottom = frame.y(0.0);
    let (left, right) = (frame.x(0.0), frame.x(frame.most));
    html! {
        svg.curve viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby="curve-title" {
            title id="curve-title" { "Facts kept, in percent, by share of tokens" }
            @for kept in [0, 20, 40, 60, 80, 100] {
                @let y = frame.y(f64::from(kept));
                line.grid x1=(left) x2=(right) y1=(y) y2=(y) {}
                text.tick x=(left - 9.0) y=(y + 4.0) text-anchor="end" { (kept) }
            }
            @for &budget in &evaluation.budgets {
                @let x = frame.x(budget);
                line.grid.upright x1=(x) x2=(x) y1=(frame.y(100.0)) y2=(bottom) {}
                text.tick x=(x) y=(bottom + 19.0) text-anchor="middle" { (budget) " %" }
            }
            text.axis x=((left + right) / 2.0) y=(HEIGHT - 8.0) text-anchor="middle" { "tokens that stay" }
            text.axis x="15" y=((TOP + bottom) / 2.0) text-anchor="middle"
                transform=(format!("rotate(-90 15 {})", (TOP + bottom) / 2.0)) { "facts kept, %" }
            @for method in Method::ALL.into_iter().rev() {
                @let points: Vec<&Point> = evaluation.points(method).collect();
                g class=(class(method)) {
                    polyline points=(path(&frame, &points)) {}
                    @for point in &points {
                        circle cx=(frame.x(point.budget)) cy=(frame.y(point.kept_percent)) r="3.6" {
                            title { (method.name()) ": " (format!("{:.1}", point.kept_percent)) " % of the facts at " (point.budget) " % of the tokens" }
                        }
                    }
                }
            }
            @for (method, y) in labels(evaluation, &frame) {
                text.label.(class(method)) x=(right + 10.0) y=(y + 4.5) { (method.name()) }
            }
        }
    }
}

fn path(frame: &Frame, points: &[&Point]) -> String {
    let place = |point: &&Point| format!("{:.1},{:.1}", frame.x(point.budget), frame.y(point.kept_percent));
    points.iter().map(place).collect::<Vec<_>>().join(" ")
}

/// The names at the ends of the curves, from top to bottom, none upon the other.
fn labels(evaluation: &Evaluation, frame: &Frame) -> Vec<(Method, f64)> {
    let end = |method| evaluation.points(method).last().map(|point| (method, frame.y(point.kept_percent)));
    let mut labels: Vec<(Method, f64)> = Method::ALL.into_iter().filter_map(end).collect();
    labels.sort_by(|one, two| one.1.total_cmp(&two.1));
    let mut lowest = f64::NEG_INFINITY;
    for (_, y) in &mut labels {
        *y = y.max(lowest + LABEL_HEIGHT);
        lowest = *y;
    }
    labels
}
