//! Exact token counts for models whose vocabulary is public.
//!
//! Merging byte pairs takes more than linear time in the length of one piece. Pieces are short in any text that people or
//! programs mean to be read; one that is not (a megabyte of `A`) is estimated, so that nobody can make counting slow.

use super::estimate::estimate;
use std::ops::Range;
use tiktoken::CoreBpe;

/// A vocabulary of OpenAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Of the models since GPT-4o.
    O200k,
    /// Of GPT-4 and GPT-3.5.
    Cl100k,
}

/// The longest piece that is counted exactly.
const LONGEST_PIECE: usize = 64 * 1024;

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }
}

/// Counts by the vocabulary itself. The first one of an encoding loads its vocabulary.
#[derive(Clone, Copy)]
pub struct Exact {
    bpe: &'static CoreBpe,
}

impl Exact {
    /// `None` where the vocabulary was not built in.
    #[must_use]
    pub fn new(encoding: Encoding) -> Option<Self> {
        tiktoken::get_encoding(encoding.name()).map(|bpe| Self { bpe })
    }

    /// Tokens of a plain text; names of special tokens count as the text they are.
    #[must_use]
    pub fn count(&self, text: &str) -> u32 {
        let mut total = 0_u32;
        let mut rest = text;
        while let Some(piece) = long_piece(rest) {
            let (before, after) = rest.split_at(piece.start);
            let (long, after) = after.split_at(piece.len());
            total = total.saturating_add(self.count_pieces(before)).saturating_add(estimate(long));
            rest = after;
        }
        total.saturating_add(self.count_pieces(rest))
    }

    fn count_pieces(&self, text: &str) -> u32 {
        u32::try_from(self.bpe.count(text)).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").finish_non_exhaustive()
    }
}

/// The kinds of long pieces that a character can be part of, as bits: letters, marks, blanks. Line breaks also end runs of
/// marks; combining marks go with letters and with marks; digits are cut into threes and never make a long piece.
fn piece_kinds(char: char) -> u8 {
    const LETTERS: u8 = 1;
    const MARKS: u8 = 2;
    const BLANKS: u8 = 4;
    match char {
        '\r' | '\n' => MARKS | BLANKS,
        _ if char.is_whitespace() => BLANKS,
        _ if char.is_alphabetic() => LETTERS,
        _ if char.is_numeric() => 0,
        _ if char.is_ascii() => MARKS,
        _ => LETTERS | MARKS,
    }
}

/// The first stretch that is too long to merge.
fn long_piece(text: &str) -> Option<Range<usize>> {
    if text.len() <= LONGEST_PIECE {
        return None;
    }
    let mut starts = [0; 3];
    for (at, char) in text.char_indices() {
        let kinds = piece_kinds(char);
        for (kind, start) in starts.iter_mut().enumerate() {
            if kinds & (1 << kind) == 0 {
                if at - *start > LONGEST_PIECE {
                    return Some(*start..at);
                }
                *start = at + char.len_utf8();
            }
        }
    }
    let start = starts.into_iter().min()?;
    (text.len() - start > LONGEST_PIECE).then_some(start..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_endless_piece_is_found() {
        for unit in ["A", "aB", "=", " ", "\n", " \n", "/\n", "=\u{2500}", "\u{e9}", "\u{6f22}", "a\u{301}", "\u{3000}"]
        {
            let text = unit.repeat(2 * LONGEST_PIECE);
            assert_eq!(long_piece(&text), Some(0..text.len()), "{unit:?}");
            let framed = format!("1 x1{text}1 y");
            assert_eq!(long_piece(&framed), Some(4..4 + text.len()), "{unit:?} in a frame");
        }
    }

    #[test]
    fn text_with_breaks_has_no_endless_piece() {
        for unit in ["word ", "a1", "x;", "{\"a\":1},", "\u{6f22}\u{5b57}, ", "7"] {
            assert_eq!(long_piece(&unit.repeat(LONGEST_PIECE)), None, "{unit:?}");
        }
    }
}
