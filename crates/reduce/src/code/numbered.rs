//! Decides whether a text carries line numbers, and takes them off.

use std::borrow::Cow;

use super::CodeLine;
use crate::lines::{lines, trim};

/// How line numbers are set apart from the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// No numbers: lines are counted.
    Counted,
    /// `   12→code`
    Arrow,
    /// `   12\tcode`
    Tab,
    /// `12: code` or `12:code`
    Colon,
    /// `12 | code`
    Bar,
}

/// Lines that are looked at to tell.
const SAMPLE: usize = 40;
/// So many lines of ten have a number where lines are numbered.
const MOST: usize = 7;

/// Lines of one style whose numbers rise.
#[derive(Debug, Clone, Copy, Default)]
struct Rising {
    lines: usize,
    last: usize,
}

impl Rising {
    fn note(&mut self, number: usize) {
        self.lines += usize::from(number > self.last);
        self.last = number;
    }
}

impl Numbering {
    const STYLES: [Numbering; 4] = [Numbering::Arrow, Numbering::Tab, Numbering::Colon, Numbering::Bar];

    /// The style that most of the first lines share, with rising numbers.
    pub(crate) fn of(text: &str) -> Numbering {
        let mut seen = 0usize;
        let mut unnumbered = 0usize;
        let mut rising = [Rising::default(); Numbering::STYLES.len()];
        for line in lines(text).take(SAMPLE).filter(|line| !trim(line).is_empty()) {
            seen += 1;
            let Some((number, rest)) = number(line) else {
                unnumbered += 1;
                // Most texts have no numbers, and that is soon settled.
                if unnumbered * 10 > SAMPLE * (10 - MOST) {
                    return Numbering::Counted;
                }
                continue;
            };
            let styles = Numbering::STYLES.iter().zip(&mut rising);
            styles.filter(|(style, _)| style.code(rest).is_some()).for_each(|(_, rising)| rising.note(number));
        }
        let found = Numbering::STYLES.into_iter().zip(rising);
        let mut fitting = found.filter(|(_, rising)| rising.lines > 0 && rising.lines * 10 >= seen * MOST);
        fitting.next().map_or(Numbering::Counted, |(style, _)| style)
    }

    /// Number and code of one line.
    pub(crate) fn split(self, line: &str) -> Option<(usize, &str)> {
        let (number, rest) = number(line)?;
        Some((number, self.code(rest)?))
    }

    /// What follows a number in this style.
    fn code(self, rest: &str) -> Option<&str> {
        match self {
            Numbering::Counted => None,
            Numbering::Arrow => rest.strip_prefix('→'),
            Numbering::Tab => rest.strip_prefix('\t'),
            Numbering::Colon => rest.strip_prefix(':'),
            Numbering::Bar => rest.trim_start_matches(' ').strip_prefix('|'),
        }
    }
}

/// The number at the start of a line, after blanks, and what follows it.
fn number(line: &str) -> Option<(usize, &str)> {
    let bytes = line.as_bytes();
    let start = bytes.iter().position(|byte| *byte != b' ')?;
    let mut number = 0;
    let mut end = start;
    while let Some(digit) = bytes.get(end).filter(|byte| byte.is_ascii_digit()) {
        if end - start == MOST_DIGITS {
            return None;
        }
        number = number * 10 + usize::from(digit - b'0');
        end += 1;
    }
    if end == start {
        return None;
    }
    Some((number, line.get(end..)?))
}

/// Longer numbers are no line's.
const MOST_DIGITS: usize = 9;

/// The text without its numbers, for every kind but code. `12:` may be a search result, so only the forms that
/// file readers print are taken off.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    match Numbering::of(text) {
        numbering @ (Numbering::Arrow | Numbering::Tab) => {
            let mut plain = String::with_capacity(text.len());
            for line in lines(text) {
                plain.push_str(numbering.split(line).map_or(line, |(_, code)| code));
                plain.push('\n');
            }
            Cow::Owned(plain)
        }
        _ => Cow::Borrowed(text),
    }
}

/// The lines of a file with their numbers; a line without one among numbered lines has the number 0.
pub(super) fn code_lines(text: &str, numbering: Numbering) -> impl Iterator<Item = CodeLine<'_>> {
    lines(text).enumerate().map(move |(index, line)| match numbering {
        Numbering::Counted => CodeLine::new(index + 1, line),
        _ => {
            let (number, code) = numbering.split(line).unwrap_or((0, line));
            CodeLine::new(number, code)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_off() {
        for (text, style) in [
            ("     1→use a;\n     2→\n    10→fn b() {}", Numbering::Arrow),
            ("1\tuse a;\n2\tfn b() {}", Numbering::Tab),
            ("7: use a;\n8: fn b() {}", Numbering::Colon),
            (" 1 | a\n 2 | b", Numbering::Bar),
            ("use a;\nfn b() {}", Numbering::Counted),
        ] {
            assert_eq!(Numbering::of(text), style, "{text}");
        }
        let read: Vec<_> =
            code_lines("note\n  3→x\n  4→y", Numbering::Arrow).map(|line| (line.number, line.text)).collect();
        assert_eq!(read, [(0, "note"), (3, "x"), (4, "y")]);
    }
}
