//! Pictures of a replay: a line of characters, and lines in SVG.

use foldline_core::replay::Run;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Context usage in `columns` characters, with the places of compactions above it.
pub fn sparkline(run: &Run, columns: usize, most: u64) -> (String, String) {
    let requests = run.requests.len();
    let columns = columns.min(requests).max(1);
    let mut marks = vec![' '; columns];
    for event in &run.events {
        let column = (event.request as usize * columns / requests.max(1)).min(columns - 1);
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
