//! Charts of a replay: characters for the terminal, SVG for the page.

use foldline_measure::replay::Run;
use maud::{Markup, html};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Context usage in `columns` characters, with the places of compactions above it.
pub fn sparkline(run: &Run, columns: usize, most: u64) -> (String, String) {
    let requests = run.requests.len();
    let columns = columns.min(requests).max(1);
    let mut marks = vec![' '; columns];
    for event in &run.events {
        let column = (event.event.request as usize * columns / requests.max(1)).min(columns - 1);
        if let Some(mark) = marks.get_mut(column) {
            *mark = '▾';
        }
    }
    let bar = |column: usize| {
        let (from, to) = (column * requests / columns, ((column + 1) * requests / columns).max(1));
        let slice = run.requests.get(from..to).unwrap_or_default();
        let tokens = slice.iter().map(|sent| sent.tokens).max().unwrap_or_default();
        let step = (tokens as f64 / most.max(1) as f64 * (BARS.len() - 1) as f64).round() as usize;
        BARS.get(step.min(BARS.len() - 1)).copied().unwrap_or(' ')
    };
    (marks.into_iter().collect(), (0..columns).map(bar).collect())
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 112.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 42.0;
/// Names of lines that would touch are moved apart by this much.
const LABEL_HEIGHT: f64 = 15.0;
/// More points than pixels show nothing.
const MOST_POINTS: usize = 430;
/// Horizontal lines of the grid.
const STEPS: u32 = 4;

/// One line of a picture.
pub struct Line<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number, which decides the colour.
    pub number: usize,
    /// Values, request by request.
    pub values: Vec<f64>,
    /// Places with a mark, and what to say there.
    pub marks: Vec<(usize, String)>,
}

/// What a picture shows.
pub struct Picture<'a> {
    /// What it is.
    pub title: &'a str,
    /// The unit of values.
    pub unit: fn(f64) -> String,
    /// A value with a line of its own, and its name.
    pub guide: Option<(f64, &'a str)>,
    /// The lines.
    pub lines: Vec<Line<'a>>,
}

struct Frame {
    requests: f64,
    most: f64,
}

impl Frame {
    fn x(&self, request: usize) -> f64 {
        LEFT + request as f64 / self.requests * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.most * (HEIGHT - TOP - BOTTOM)
    }
}

/// The picture in SVG.
pub fn svg(picture: &Picture<'_>) -> Markup {
    let values = || picture.lines.iter().flat_map(|line| line.values.iter().copied());
    let requests = picture.lines.iter().map(|line| line.values.len()).max().unwrap_or(1);
    let most = values().chain(picture.guide.map(|(value, _)| value)).fold(f64::MIN_POSITIVE, f64::max);
    let step_height = round_step(most / f64::from(STEPS));
    let frame =
        Frame { requests: requests.saturating_sub(1).max(1) as f64, most: (step_height * f64::from(STEPS)).max(most) };
    let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
    html! {
        svg.curve viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(picture.title) {
            title { (picture.title) }
            @for step in 0..=STEPS {
                @let value = step_height * f64::from(step);
                line.grid x1=(left) x2=(right) y1=(rounded(frame.y(value))) y2=(rounded(frame.y(value))) {}
                text.tick x=(left - 8.0) y=(rounded(frame.y(value) + 4.0)) text-anchor="end" { ((picture.unit)(value)) }
            }
            @for step in 0..=STEPS {
                @let request = (requests - 1) * step as usize / STEPS as usize;
                text.tick x=(rounded(frame.x(request))) y=(bottom + 17.0) text-anchor="middle" { (request + 1) }
            }
            text.axis x=((left + right) / 2.0) y=(HEIGHT - 6.0) text-anchor="middle" { "request" }
            @if let Some((value, name)) = picture.guide {
                line.guide x1=(left) x2=(right) y1=(rounded(frame.y(value))) y2=(rounded(frame.y(value))) {}
                text.tick x=(right + 6.0) y=(rounded(frame.y(value) + 4.0)) { (name) }
            }
            @for line in &picture.lines {
                g class=(format!("p{}", line.number)) {
                    polyline points=(points(&frame, &line.values)) {}
                    @for (request, words) in &line.marks {
                        circle cx=(rounded(frame.x(*request))) cy=(rounded(frame.y(line.values.get(*request).copied().unwrap_or_default()))) r="3.2" {
                            title { (words) }
                        }
                    }
                }
            }
            @for (line, y) in labels(&frame, &picture.lines) {
                text class=(format!("label p{}", line.number)) x=(right + 6.0) y=(rounded(y + 4.0)) { (line.name) }
            }
        }
    }
}

/// A step that people can count in.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0]
        .into_iter()
        .map(|times| times * power)
        .find(|&step| step >= least)
        .unwrap_or(10.0 * power)
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn points(frame: &Frame, values: &[f64]) -> String {
    let stride = values.len().div_ceil(MOST_POINTS).max(1);
    let last = values.len().saturating_sub(1);
    let chosen = values.iter().enumerate().filter(|(index, _)| index % stride == 0 || *index == last);
    let place = |(index, value): (usize, &f64)| format!("{:.1},{:.1}", frame.x(index), frame.y(*value));
    chosen.map(place).collect::<Vec<_>>().join(" ")
}

/// The names at the ends of the lines, from top to bottom, none upon the other.
fn labels<'p, 'a>(frame: &Frame, lines: &'p [Line<'a>]) -> Vec<(&'p Line<'a>, f64)> {
    let end = |line: &'p Line<'a>| line.values.last().map(|&value| (line, frame.y(value)));
    let mut labels: Vec<(&Line<'_>, f64)> = lines.iter().filter_map(end).collect();
    labels.sort_by(|one, two| one.1.total_cmp(&two.1));
    // From the bottom up, so that none falls onto the axis.
    let mut highest = HEIGHT - BOTTOM + LABEL_HEIGHT / 2.0;
    for (_, y) in labels.iter_mut().rev() {
        *y = y.min(highest - LABEL_HEIGHT / 2.0);
        highest = *y - LABEL_HEIGHT / 2.0;
    }
    // Many that end high would leave the picture above.
    let mut lowest = TOP - LABEL_HEIGHT;
    for (_, y) in &mut labels {
        *y = y.max(lowest + LABEL_HEIGHT);
        lowest = *y;
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_measure::replay::Sent;

    #[test]
    fn a_line_of_characters_has_the_shape_of_the_run() {
        let sent = |tokens| Sent { at: 0.0, tokens, traffic: Default::default(), dollars: 0.0 };
        let run = Run { requests: vec![sent(0), sent(50), sent(100), sent(25)], ..Run::default() };
        let (marks, line) = sparkline(&run, 4, 100);
        assert_eq!((marks.as_str(), line.as_str()), ("    ", "▁▅█▃"));
        assert_eq!(sparkline(&run, 2, 100).1.chars().count(), 2);
        assert_eq!(sparkline(&Run::default(), 5, 100).1.chars().count(), 1);
    }

    #[test]
    fn steps_are_round_and_large_enough() {
        for (least, step) in [(1.0, 1.0), (89_000.0, 100_000.0), (11.25, 12.0), (0.21, 0.25), (3.0, 3.0)] {
            assert!((round_step(least) - step).abs() < step * 1e-9, "{least}: {}", round_step(least));
        }
    }

    #[test]
    fn names_of_lines_stand_apart() {
        let frame = Frame { requests: 1.0, most: 100.0 };
        let line = |number| Line { name: "x", number, values: vec![50.0], marks: Vec::new() };
        let lines = [line(0), line(1), line(2)];
        let places: Vec<f64> = labels(&frame, &lines).iter().map(|(_, y)| *y).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_HEIGHT - 0.01), "{places:?}");
        let high: Vec<Line<'_>> = (0..7).map(|number| Line { values: vec![100.0], ..line(number) }).collect();
        let places: Vec<f64> = labels(&frame, &high).iter().map(|(_, y)| *y).collect();
        assert!(places.iter().all(|y| (TOP..HEIGHT - BOTTOM).contains(y)), "{places:?}");
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_HEIGHT - 0.01), "{places:?}");
    }
}
