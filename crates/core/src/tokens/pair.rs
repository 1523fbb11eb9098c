//! Bytes as the fitted weights tell them apart: which bytes share a weight when they stand next to each other.

use super::place::PieceKind;

/// Classes below are ASCII bytes: control, the small letters, the digits as one, blanks and breaks, the marks, the capitals.
pub(super) const LEADS_AT: usize = 90;
/// Lead bytes up to here, each continuation byte from here on.
pub(super) const CONTS_AT: usize = LEADS_AT + 26;
/// All continuation bytes there are.
pub(super) const CONTS: usize = 64;

pub(super) const fn pair_class(byte: u8) -> usize {
    let class = match byte {
        b'a'..=b'z' => byte - b'a' + 1,
        b'0'..=b'9' => 27,
        b' ' => 28,
        b'\t' => 29,
        b'\n' => 30,
        b'\r' => 31,
        0..=31 | 127 => 0,
        b'!'..=b'/' => byte - b'!' + 32,
        b':'..=b'@' => byte - b':' + 47,
        b'['..=b'`' => byte - b'[' + 54,
        b'{'..=b'~' => byte - b'{' + 60,
        b'A'..=b'Z' => byte - b'A' + 64,
        0xC2 => 90,
        0xC3 => 91,
        0xC0..=0xCB => 92,
        0xCC | 0xCD => 93,
        0xCE => 94,
        0xCF => 95,
        0xD0 => 96,
        0xD1 => 97,
        0xD2..=0xD4 => 98,
        0xD5..=0xD7 => 99,
        0xD8 => 100,
        0xD9 => 101,
        0xDA..=0xDF => 102,
        0xE0..=0xE9 => byte - 0xE0 + 103,
        0xEA..=0xED => 113,
        0xEE | 0xEF => 114,
        0xF0..=0xFF => 115,
        0x80..=0xBF => byte - 0x80 + 116,
    };
    class as usize
}

/// Where the byte that follows a place is weighed exactly, in two sorts: after a lead byte it is the rest of the same
/// character, after the others an ASCII byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ahead {
    Character(usize),
    Ascii(usize),
}

impl Ahead {
    /// How many of each sort there are.
    pub(super) const CHARACTERS: usize = 10;
    pub(super) const ASCIIS: usize = 9;

    pub(super) const fn of(kind: PieceKind) -> Self {
        match kind {
            PieceKind::Greek => Self::Character(0),
            PieceKind::Cyrillic => Self::Character(1),
            PieceKind::Hebrew => Self::Character(2),
            PieceKind::Arabic => Self::Character(3),
            PieceKind::Indic => Self::Character(4),
            PieceKind::Kana => Self::Character(5),
            PieceKind::Han => Self::Character(6),
            PieceKind::Hangul => Self::Character(7),
            PieceKind::SymbolLead => Self::Character(8),
            PieceKind::PlaneLead => Self::Character(9),
            PieceKind::LowerBare | PieceKind::LowerSpaced | PieceKind::LowerMarked => Self::Ascii(0),
            PieceKind::ForeignBare | PieceKind::ForeignSpaced | PieceKind::ForeignMarked => Self::Ascii(1),
            PieceKind::UpperBare
            | PieceKind::UpperSpaced
            | PieceKind::UpperMarked
            | PieceKind::CapitalBare
            | PieceKind::CapitalSpaced
            | PieceKind::CapitalMarked => Self::Ascii(2),
            PieceKind::Mark => Self::Ascii(3),
            PieceKind::Marks | PieceKind::SpacedMarks => Self::Ascii(4),
            PieceKind::Spaces | PieceKind::IndentSpaces | PieceKind::Tabs | PieceKind::IndentTabs => Self::Ascii(5),
            PieceKind::Breaks | PieceKind::BreaksAfterMarks | PieceKind::BreaksAfterBlanks => Self::Ascii(6),
            PieceKind::Digits => Self::Ascii(7),
            _ => Self::Ascii(8),
        }
    }
}
