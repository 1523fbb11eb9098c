//! How well a part of an original fits a query, and which of its lines shows it best.

use super::query::{Group, Query};
use super::words::each_word;
use foldline_core::reading::{Line, Turn};
use std::ops::Range;

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Characters of a line that are shown.
const SNIPPET: usize = 240;

/// A part that fits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitting {
    pub(crate) score: f64,
    /// Groups of the query that it holds.
    pub(crate) groups: usize,
    /// The line that shows it best, by its place in the part.
    pub(crate) line: usize,
    /// What of it is shown.
    pub(crate) snippet: String,
}

/// What a group is worth: rare words tell more.
pub(crate) fn weight(parts: usize, holding: usize) -> f64 {
    let (parts, holding) = (parts.max(holding) as f64, holding as f64);
    ((parts - holding + 0.5) / (holding + 0.5)).ln_1p()
}

/// Where a group stands in a part.
struct Found {
    line: usize,
    place: Range<usize>,
}

/// How well a part fits; `None` when it holds no group. BM25 over the groups, with `usual` words in a part, more when they
/// stand on one line: who asks for several words mostly means one thing.
pub(crate) fn fitting(part: &[(&Turn<'_>, &Line<'_>)], query: &Query, weights: &[f64], usual: f64) -> Option<Fitting> {
    let mut words: Vec<(String, Found)> = Vec::new();
    for (line, (_, found)) in part.iter().enumerate() {
        each_word(&found.text, |word, place| words.push((word.to_owned(), Found { line, place })));
    }
    let length = 1.0 - B + B * words.len() as f64 / usual.max(1.0);
    let mut held = 0;
    let mut score = 0.0;
    let mut on_lines = vec![0_usize; part.len()];
    let mut firsts: Vec<Option<Range<usize>>> = vec![None; part.len()];
    for (group, weight) in query.groups.iter().zip(weights) {
        let places = occurrences(&words, group);
        if places.is_empty() {
            continue;
        }
        held += 1;
        let times = places.len() as f64;
        score += weight * times * (K1 + 1.0) / (times + K1 * length);
        let mut last = None;
        for found in places {
            if last.replace(found.line) != Some(found.line)
                && let (Some(count), Some(first)) = (on_lines.get_mut(found.line), firsts.get_mut(found.line))
            {
                *count += 1;
                first.get_or_insert_with(|| found.place.clone());
            }
        }
    }
    let (line, &most) = on_lines.iter().enumerate().max_by_key(|(line, count)| (**count, std::cmp::Reverse(*line)))?;
    if most == 0 {
        return None;
    }
    let (_, shown) = part.get(line)?;
    let at = firsts.get(line)?.clone()?;
    let together = most as f64 / query.groups.len() as f64;
    Some(Fitting { score: score * (1.0 + together), groups: held, line, snippet: snippet(&shown.text, at) })
}

fn occurrences<'w>(words: &'w [(String, Found)], group: &Group) -> Vec<&'w Found> {
    let size = group.terms.len();
    let fits = |window: &[(String, Found)]| group.terms.iter().zip(window).all(|(term, (word, _))| term.is(word));
    words
        .windows(size)
        .filter(|window| fits(window))
        .filter_map(|window| window.first().map(|(_, found)| found))
        .collect()
}

/// A line around a place.
fn snippet(line: &str, place: Range<usize>) -> String {
    let line_length = line.chars().count();
    if line_length <= SNIPPET {
        return line.trim().to_owned();
    }
    let before = line.get(..place.start).unwrap_or_default().chars().count();
    let from = before.saturating_sub(SNIPPET / 3).min(line_length - SNIPPET);
    let shown: String = line.chars().skip(from).take(SNIPPET).collect();
    let start = if from > 0 { "… " } else { "" };
    let end = if from + SNIPPET < line_length { " …" } else { "" };
    format!("{start}{}{end}", shown.trim())
}

#[cfg(test)]
mod tests {
    use super::super::parts::Parts;
    use super::*;
    use foldline_core::reading::read;

    fn fit(text: &str, typed: &str) -> Option<Fitting> {
        let reading = read(text, "bash");
        let query = Query::parse(typed).unwrap();
        fitting(Parts::of(&reading).part(0), &query, &vec![1.0; query.groups.len()], 10.0)
    }

    #[test]
    fn the_line_with_most_of_it_is_shown() {
        let text = "the writer waits\nthe lock of the writer is held\nlock";
        let found = fit(text, "lock writer").unwrap();
        assert_eq!((found.line, found.groups, found.snippet.as_str()), (1, 2, "the lock of the writer is held"));
        assert!(fit("nothing here", "lock").is_none());
        assert!(fit("fold keep", "keep_fold").is_none(), "a phrase has its order");
        assert_eq!(fit("to keep\nfold", "keep_fold").unwrap().line, 0);
    }

    #[test]
    fn more_often_and_on_one_line_is_better() {
        let score = |text: &str| fit(text, "lock writer").unwrap().score;
        assert!(score("lock writer") > score("lock\nwriter"));
        assert!(score("lock writer\nlock writer") > score("lock writer\nother words"));
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let line = format!("{} needle {}", "é ".repeat(5_000), "ü ".repeat(5_000));
        let found = fit(&line, "needle").unwrap();
        assert!(
            found.snippet.contains(" needle ") && found.snippet.chars().count() <= SNIPPET + 4,
            "{}",
            found.snippet
        );
        assert!(found.snippet.starts_with("… é") && found.snippet.ends_with("ü …"), "{}", found.snippet);
    }

    #[test]
    fn rare_words_weigh_more() {
        assert!(weight(1_000, 1) > weight(1_000, 100) && weight(1_000, 1_000) > 0.0 && weight(0, 0) > 0.0);
    }
}
