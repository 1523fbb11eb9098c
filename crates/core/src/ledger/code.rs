//! Source code in pieces that can be told: a few neighbouring lines with their numbers.

use super::work::{cut, push_line};
use foldline_reduce as reduce;

/// Lines that are told together.
const TOGETHER: usize = 3;
/// A longer line is no constant, but a statement with a literal in it.
const LONGEST_CONSTANT: usize = 120;
/// Constants stand outermost or in a block of their own: at most so many columns in, where a tab takes four.
const DEEPEST_CONSTANT: usize = 4;
const TAB: usize = 4;

/// The most lines of a definition that is told whole.
const MOST_FIELDS: usize = 12;

/// The lines that say what is in a file: those that define something, with the fields of types and the values of constants.
pub(super) fn outline(text: &str) -> Vec<String> {
    pieces(text, |part| part != Part::Inside)
}

/// The lines between those of the outline.
pub(super) fn inside(text: &str) -> Vec<String> {
    pieces(text, |part| part == Part::Inside)
}

/// What each line is to the outline of its file.
pub(super) fn parts(lines: &[&str]) -> Vec<Part> {
    parts_of(&lines.iter().map(|line| Line::of(line)).collect::<Vec<_>>())
}

/// What a line is to the outline of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It defines something, or gives a constant its value.
    Definition,
    /// It defines something whose fields follow.
    Data,
    /// A field.
    Field,
    /// None of these.
    Inside,
}

fn parts_of(lines: &[Line<'_>]) -> Vec<Part> {
    let mut parts: Vec<Part> =
        lines.iter().map(|line| if line.is_outline() { Part::Definition } else { Part::Inside }).collect();
    for at in 0..lines.len() {
        // What has parameters is a function, whose body is work.
        let is_type = |line: &&Line<'_>| !line.code.contains('(') && !line.is_constant();
        let Some(first) = lines.get(at).filter(|_| parts.get(at) == Some(&Part::Definition)).filter(is_type) else {
            continue;
        };
        let rest = lines.iter().zip(&parts).skip(at + 1).take(MOST_FIELDS + 1);
        let body = rest.take_while(|(line, _)| line.code.is_empty() || line.column() > first.column());
        // A body in which nothing is called and nothing else defined is data.
        let is_field = |(line, part): &(&Line<'_>, &Part)| **part == Part::Inside && !line.code.contains('(');
        let body: Vec<(&Line<'_>, &Part)> = body.collect();
        if body.is_empty() || body.len() > MOST_FIELDS || !body.iter().all(is_field) {
            continue;
        }
        let count = body.len();
        for (place, part) in parts.iter_mut().enumerate().skip(at).take(count + 1) {
            *part = if place == at { Part::Data } else { Part::Field };
        }
    }
    parts
}

/// A file that was read, without the numbers of its lines.
pub(super) fn unnumbered(text: &str) -> String {
    text.lines().map(|line| numbered(line).1).collect::<Vec<_>>().join("\n")
}

/// Pieces of the lines that are `wanted`.
fn pieces(text: &str, wanted: impl Fn(Part) -> bool) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut count = 0;
    let lines: Vec<Line<'_>> = text.lines().map(Line::of).collect();
    for (line, part) in lines.iter().zip(parts_of(&lines)) {
        let is_wanted = !line.is_blank() && wanted(part);
        let ends = match part {
            Part::Data => true,
            Part::Field => false,
            Part::Definition | Part::Inside => !is_wanted || count >= TOGETHER,
        };
        if ends && count > 0 {
            pieces.push(std::mem::take(&mut piece));
            count = 0;
        }
        if is_wanted {
            match line.number {
                Some(number) => push_line(&mut piece, &format!("{number}: {}", cut(line.code))),
                None => push_line(&mut piece, cut(line.code)),
            }
            count += 1;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

struct Line<'a> {
    number: Option<&'a str>,
    /// With its indent.
    whole: &'a str,
    code: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Line<'a> {
        let (number, code) = numbered(line);
        Line { number, whole: code, code: code.trim() }
    }

    fn is_blank(&self) -> bool {
        self.code.len() < 2
    }

    fn column(&self) -> usize {
        let blanks = self.whole.bytes().take_while(u8::is_ascii_whitespace);
        blanks.map(|byte| if byte == b'\t' { TAB } else { 1 }).sum()
    }

    fn is_outline(&self) -> bool {
        reduce::defines(self.whole) || self.is_constant()
    }

    /// Whether it gives a name a literal value: `TIMEOUT = 30`, `retries int = 3`, `name: "x",`.
    fn is_constant(&self) -> bool {
        let Some((name, value)) = self.code.split_once(['=', ':']) else {
            return false;
        };
        let is_literal = value.trim_start().starts_with(|c: char| c.is_ascii_digit() || "-\"'`[{".contains(c));
        let is_named = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || "_- .".contains(c))
            && name.split_whitespace().count() <= if self.column() == 0 { 3 } else { 1 };
        is_literal && is_named && self.column() <= DEEPEST_CONSTANT && self.code.len() <= LONGEST_CONSTANT
    }
}

/// Number and code of a line of a numbered file read.
fn numbered(line: &str) -> (Option<&str>, &str) {
    let start = line.trim_start();
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let rest = start.get(digits..).unwrap_or_default();
    match (digits, rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))) {
        (1.., Some(code)) => (start.get(..digits), code),
        _ => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_of_reads_are_kept() {
        assert_eq!(numbered("   12→\tlet x = 1;"), (Some("12"), "\tlet x = 1;"));
        assert_eq!(numbered("12\tlet"), (Some("12"), "let"));
        assert_eq!(numbered("plain 12→"), (None, "plain 12→"));
    }

    #[test]
    fn an_outline_has_definitions_and_constants() {
        let file = "use std::fmt;\n\nconst MOST: usize = 12;\nfn first(x: u32) {\n    let y = 3;\n    if y > x {\n        run(y);\n    }\n}\n\nfn second() {\n    done();\n}\n";
        assert_eq!(outline(file), ["const MOST: usize = 12;\nfn first(x: u32) {", "fn second() {"]);
        assert_eq!(inside(file).first().map(String::as_str), Some("use std::fmt;"));
        let python = "1\tTIMEOUT = 30\n2\tclass Reader:\n3\t    def read(self):\n4\t        return 1\n5\t    def close(self):\n6\t        pass";
        assert_eq!(outline(python), ["1: TIMEOUT = 30\n2: class Reader:\n3: def read(self):", "5: def close(self):"]);
    }

    #[test]
    fn the_fields_of_a_type_are_told_with_it() {
        let file = "func one() {\n\trun()\n}\n\ntype Learnings struct {\n\tRepo []string `json:\"repo\"`\n\tCode []Code   `json:\"code\"`\n}\n\ntype Runner interface {\n\tRun(x int) error\n}\n";
        assert_eq!(
            outline(file),
            [
                "func one() {",
                "type Learnings struct {\nRepo []string `json:\"repo\"`\nCode []Code   `json:\"code\"`",
                "type Runner interface {"
            ]
        );
        let many = format!("type Big struct {{\n{}}}\n", "\tfield int\n".repeat(13));
        assert_eq!(outline(&many), ["type Big struct {"], "a long one is told by its name");
    }

    #[test]
    fn pieces_end_at_blank_lines() {
        assert_eq!(inside("aa\nbb\n\ncc"), ["aa\nbb", "cc"]);
    }
}
