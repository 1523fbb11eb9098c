//! The parts of an original that are searched: a few turns, or some lines of a long one. Small enough that words in one
//! part belong together, large enough that a call stands beside its result.

use foldline_core::reading::{Line, LineKind, Reading, Turn};
use std::ops::Range;

/// Bytes of a part. Half or twice as much changes the size of the index by a tenth.
const PART: usize = 4_000;
/// Parts that an original can have, as its rows in the index are numbered.
pub(crate) const MOST_PARTS: usize = 1 << 20;

/// The lines of an original that are searched, and where parts begin and end among them. The same for the same text in
/// every process: rows of the index name parts by number.
pub(crate) struct Parts<'r> {
    lines: Vec<(&'r Turn<'r>, &'r Line<'r>)>,
    parts: Vec<Range<usize>>,
}

impl<'r> Parts<'r> {
    pub(crate) fn of(reading: &'r Reading<'r>) -> Parts<'r> {
        let mut lines = Vec::new();
        let mut parts = Vec::new();
        let mut start = 0;
        let mut bytes = 0;
        for turn in reading.turns.iter().filter(|turn| !turn.is_record()) {
            let mut is_first = true;
            for line in turn.lines.iter().filter(|line| is_searched(line)) {
                let is_full = bytes + line.text.len() > PART || (is_first && bytes > PART / 2);
                if is_full && start < lines.len() {
                    parts.push(start..lines.len());
                    (start, bytes) = (lines.len(), 0);
                }
                is_first = false;
                bytes += line.text.len() + 1;
                lines.push((turn, line));
            }
        }
        if start < lines.len() {
            parts.push(start..lines.len());
        }
        parts.truncate(MOST_PARTS);
        Parts { lines, parts }
    }

    /// The lines of a part, each with its turn.
    pub(crate) fn part(&self, number: usize) -> &[(&'r Turn<'r>, &'r Line<'r>)] {
        self.parts.get(number).and_then(|range| self.lines.get(range.clone())).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[(&'r Turn<'r>, &'r Line<'r>)]> {
        (0..self.parts.len()).map(|number| self.part(number))
    }
}

/// What is told by its size only is no text to be found.
fn is_searched(line: &Line<'_>) -> bool {
    !line.text.is_empty() && (line.kind == LineKind::Words || !line.text.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::reading::read;

    #[test]
    fn parts_cover_every_line_once_and_in_order() {
        let text: String = (0..3_000).map(|n| format!("line {n}\n")).collect();
        let reading = read(&text, "bash");
        let parts = Parts::of(&reading);
        assert!(parts.parts.len() > 5, "{}", parts.parts.len());
        let numbers: Vec<usize> = parts.iter().flatten().map(|(_, line)| line.number).collect();
        assert_eq!(numbers, (1..=3_000).collect::<Vec<_>>());
        assert!(parts.iter().all(|part| part.iter().map(|(_, line)| line.text.len()).sum::<usize>() <= PART));
    }

    #[test]
    fn small_turns_share_a_part_and_records_are_left_out() {
        let text = r#"{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"},{"type":"text","text":"Hello"}]}"#;
        let reading = read(text, "");
        let parts = Parts::of(&reading);
        let lines: Vec<&str> = parts.part(0).iter().map(|(_, line)| line.text.as_ref()).collect();
        assert_eq!((parts.parts.len(), lines), (1, vec!["Hi", "Hello"]));
        assert_eq!(Parts::of(&read("", "")).parts.len(), 0);
    }
}
