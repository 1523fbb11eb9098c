//! Lines of an original as they are, byte for byte.

use super::choice::{ChoiceError, Numbers};

/// Some lines of a text, with their breaks. A range may end behind the text, but not begin there.
pub fn raw_lines<'t>(text: &'t str, lines: Numbers, handle: &str) -> Result<&'t str, ChoiceError> {
    let mut ends: Vec<usize> = vec![0];
    ends.extend(text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }));
    let count = ends.len() - 1;
    if lines.first > count {
        return Err(ChoiceError::Line { place: handle.to_owned(), asked: lines.first, count });
    }
    let end = |line: usize| ends.get(line).copied().unwrap_or(text.len());
    Ok(text.get(end(lines.first.saturating_sub(1))..end(lines.last.unwrap_or(count))).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\r\nthree\n\nfive";

    #[test]
    fn lines_are_counted_from_one_and_both_ends_are_in() {
        let select = |range: &str| raw_lines(TEXT, range.parse().unwrap(), "fl-0").unwrap();
        assert_eq!(select("1:1"), "one\n");
        assert_eq!(select("2"), "two\r\n");
        assert_eq!(select("2:4"), "two\r\nthree\n\n");
        assert_eq!(select(":2"), "one\ntwo\r\n");
        assert_eq!(select("4:"), "\nfive");
        assert_eq!(select("5:1000"), "five");
        assert_eq!(select("1:"), TEXT);
        let beyond = raw_lines(TEXT, Numbers::only(6), "fl-0").unwrap_err();
        assert_eq!(beyond.to_string(), "line 6 was asked for; fl-0 has 5 lines, counted from 1");
        assert!(raw_lines("", Numbers::only(1), "fl-0").is_err());
    }
}
