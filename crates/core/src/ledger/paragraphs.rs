//! A text in passages: paragraphs, list items, headings, tables and fenced blocks, each whole.

use std::ops::Range;

/// A fenced block or a table longer than this many lines is taken apart.
const LONGEST_BLOCK: usize = 12;

/// Calls `found` with the place of each passage, in order. A heading, and a line that announces something, belong to
/// what follows them; a list is told whole where it is short, because half a list misleads.
pub(super) fn each(text: &str, mut found: impl FnMut(Range<usize>)) {
    let mut open: Option<(Range<usize>, LineKind)> = None;
    each_block(text, |range, kind| {
        let announces = text.get(range.clone()).is_some_and(|block| block.trim_end_matches('*').ends_with([':', '：']));
        let kind = if announces && kind != LineKind::Fence { LineKind::Heading } else { kind };
        open = match open.take() {
            Some((before, LineKind::Heading)) => Some((before.start..range.end, kind)),
            Some((before, LineKind::Item)) if kind == LineKind::Item && range.end - before.start <= LONGEST_LIST => {
                Some((before.start..range.end, kind))
            }
            Some((before, _)) => {
                found(before);
                Some((range, kind))
            }
            None => Some((range, kind)),
        };
    });
    if let Some((last, _)) = open {
        found(last);
    }
}

/// A list up to this many bytes is told whole.
const LONGEST_LIST: usize = 700;

fn each_block(text: &str, mut found: impl FnMut(Range<usize>, LineKind)) {
    let mut open: Option<Open> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        let kind = LineKind::of(line.trim_end());
        open = match (open, kind) {
            // Inside a fence nothing has a meaning but its end.
            (Some(block), kind) if block.kind == LineKind::Fence => {
                let block = Open { end: if end > start { end } else { block.end }, lines: block.lines + 1, ..block };
                if kind == LineKind::Fence || block.lines >= LONGEST_BLOCK {
                    found(block.start..block.end, block.kind);
                    (kind != LineKind::Fence).then_some(Open { start: at, end: at, lines: 0, kind: LineKind::Fence })
                } else {
                    Some(block)
                }
            }
            (block, LineKind::Blank) => {
                block.iter().for_each(|block| found(block.start..block.end, block.kind));
                None
            }
            (Some(block), LineKind::Words) if block.kind != LineKind::Heading => {
                Some(Open { end, lines: block.lines + 1, ..block })
            }
            (Some(block), LineKind::Row) if block.kind == LineKind::Row && block.lines < LONGEST_BLOCK => {
                Some(Open { end, lines: block.lines + 1, ..block })
            }
            (block, kind) => {
                block.iter().for_each(|block| found(block.start..block.end, block.kind));
                Some(Open { start, end, lines: 1, kind })
            }
        };
    }
    if let Some(block) = open.filter(|block| block.end > block.start) {
        found(block.start..block.end, block.kind);
    }
}

/// A passage that is being read.
#[derive(Clone, Copy)]
struct Open {
    start: usize,
    end: usize,
    lines: usize,
    kind: LineKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Words,
    Item,
    Heading,
    Row,
    Fence,
}

impl LineKind {
    fn of(line: &str) -> LineKind {
        let words = line.trim_start();
        match words.as_bytes().first() {
            None => LineKind::Blank,
            Some(b'#') => LineKind::Heading,
            Some(b'|') => LineKind::Row,
            Some(b'`') if words.starts_with("```") => LineKind::Fence,
            Some(_) if item_number(words).is_some() => LineKind::Item,
            Some(_) => LineKind::Words,
        }
    }
}

/// What a list item is marked with, if a line begins one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemMark {
    Bullet,
    Number(u32),
    Letter(char),
}

/// The mark of a list item: `- x`, `2. x`, `2) x`, `B) x`, also inside bold marks.
pub(super) fn item_number(line: &str) -> Option<ItemMark> {
    let line = line.trim_start();
    if line.strip_prefix(['-', '*', '•']).is_some_and(|rest| rest.starts_with(' ')) {
        return Some(ItemMark::Bullet);
    }
    let bare = line.trim_start_matches(['*', '(']);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let (mark, rest) = match digits {
        0 => {
            let letter = bare.chars().next().filter(char::is_ascii_uppercase)?;
            (ItemMark::Letter(letter), bare.get(1..)?)
        }
        1..=3 => (ItemMark::Number(bare.get(..digits)?.parse().ok()?), bare.get(digits..)?),
        _ => return None,
    };
    let after = rest.strip_prefix(['.', ')', '、', '．'])?;
    (after.is_empty() || after.starts_with([' ', '*', '\t'])).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        each(text, |range| all.push(&text[range]));
        all
    }

    #[test]
    fn paragraphs_items_headings_and_fences_stand_alone() {
        let text = "Intro line\ngoes on.\n\n## Head\nBelow it.\n1. one\n   more of one\n2. two\n```sh\ncode\n\ncode\n```\n| a |\n| b |\nend";
        assert_eq!(
            passages(text),
            [
                "Intro line\ngoes on.",
                "## Head\nBelow it.",
                "1. one\n   more of one\n2. two",
                "```sh\ncode\n\ncode\n```",
                "| a |\n| b |\nend"
            ]
        );
    }

    #[test]
    fn what_announces_stands_with_what_it_announces() {
        assert_eq!(
            passages("Three ways:\n\n1. a\n2. b\n\n### Next\n\nWords."),
            ["Three ways:\n\n1. a\n2. b", "### Next\n\nWords."]
        );
        assert_eq!(passages("原因：\n- 一\n- 二"), ["原因：\n- 一\n- 二"]);
        assert_eq!(passages("The end:"), ["The end:"]);
    }

    #[test]
    fn nothing_is_lost_but_blank_lines() {
        for text in ["", "\n\n", "a", "```\nopen", "# h", "a\n\n\nb\n", "```\n```"] {
            let kept: String = passages(text).concat().split_whitespace().collect();
            let all: String = text.split_whitespace().collect();
            assert_eq!(kept, all, "{text:?}");
        }
        let long = format!("```\n{}```\nafter", "line\n".repeat(40));
        assert_eq!(passages(&long).concat().matches("line").count(), 40);
        assert!(passages(&long).contains(&"after"));
    }

    #[test]
    fn marks_of_items_are_read() {
        assert_eq!(item_number("2. two"), Some(ItemMark::Number(2)));
        assert_eq!(item_number("**B) Refactor**"), Some(ItemMark::Letter('B')));
        assert_eq!(item_number("- x"), Some(ItemMark::Bullet));
        assert_eq!(item_number("2.5 GB"), None);
        assert_eq!(item_number("A word"), None);
        assert_eq!(item_number("-x"), None);
    }
}
