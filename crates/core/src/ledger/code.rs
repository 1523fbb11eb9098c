//! Source code in pieces that can be told: a few neighbouring lines with their numbers.

use super::work::{cut, push_line};

/// Lines that are told together.
const TOGETHER: usize = 3;
/// A shorter line that opens a block says nothing alone: `else {`, `try:`.
const SHORTEST_OPENING: usize = 12;

/// Runs of neighbouring lines, which blank lines end.
pub(super) fn runs(text: &str) -> Vec<String> {
    pieces(text, |_, _| true)
}

/// The lines that say what is in a file: those that open a block, and outermost ones with a value.
pub(super) fn outline(text: &str) -> Vec<String> {
    let outermost = text.lines().map(Line::of).filter(|line| !line.is_blank()).map(|line| line.indent).min();
    pieces(text, |line, next| {
        let opens = next.is_some_and(|next| next.indent > line.indent) && line.code.len() >= SHORTEST_OPENING;
        opens || (Some(line.indent) == outermost && line.has_value())
    })
}

/// Pieces of the lines that are `wanted`; it sees a line and the next one that is not blank.
fn pieces(text: &str, wanted: impl Fn(&Line<'_>, Option<&Line<'_>>) -> bool) -> Vec<String> {
    let lines: Vec<Line<'_>> = text.lines().map(Line::of).collect();
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut count = 0;
    for (at, line) in lines.iter().enumerate() {
        let following = lines.get(at + 1..).unwrap_or_default();
        let is_wanted = !line.is_blank() && wanted(line, following.iter().find(|line| !line.is_blank()));
        if (!is_wanted || count == TOGETHER) && count > 0 {
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
    indent: usize,
    code: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Line<'a> {
        let (number, code) = numbered(line);
        let bare = code.trim_start();
        Line { number, indent: code.len() - bare.len(), code: bare.trim_end() }
    }

    fn is_blank(&self) -> bool {
        self.code.len() < 2
    }

    fn has_value(&self) -> bool {
        self.code.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\''))
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
    fn an_outline_has_what_opens_a_block_and_the_constants() {
        let file = "use std::fmt;\n\nconst MOST: usize = 12;\nfn first(x: u32) {\n    let y = 3;\n    if y > x {\n        run(y);\n    }\n}\n\nfn second() {\n    done();\n}\n";
        assert_eq!(outline(file), ["const MOST: usize = 12;\nfn first(x: u32) {", "fn second() {"]);
        let python = "1\tTIMEOUT = 30\n2\tclass Reader:\n3\t    def read(self):\n4\t        return 1\n5\t    def close(self):\n6\t        pass";
        assert_eq!(outline(python), ["1: TIMEOUT = 30\n2: class Reader:\n3: def read(self):", "5: def close(self):"]);
    }

    #[test]
    fn runs_end_at_blank_lines() {
        assert_eq!(runs("aa\nbb\n\ncc"), ["aa\nbb", "cc"]);
    }
}
