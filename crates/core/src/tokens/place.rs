//! What the estimate knows about a place in a text before it looks at the bytes themselves: the class of a byte, and the
//! state of a small automaton after it.
//!
//! The states follow the way o200k cuts text into pieces before it merges byte pairs: a word takes along one mark or
//! space before it and ends where a capital follows a small letter, digits go by threes, a run of marks takes a space
//! before it and line breaks after it, and blanks leave their last one to the piece that follows.
//! Everything here runs at compile time only.

/// Bytes that move the automaton in the same way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Control,
    Lower,
    Upper,
    Digit,
    Space,
    Tab,
    Break,
    Mark,
    /// Continuation bytes, as far as they tell symbols apart: U+2000 (dashes, quotes), box drawing and its horizontal
    /// lines, and the plane of the emoji.
    Cont80,
    ContLine,
    ContBox,
    ContMiddle,
    ContOther,
    /// Lead bytes by script.
    Latin1Sign,
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Indic,
    Symbol,
    Kana,
    Han,
    Hangul,
    Wide,
    Plane,
    /// No byte: the text is over.
    End,
}

impl Class {
    pub(super) const ALL: [Self; 27] = [
        Self::Control,
        Self::Lower,
        Self::Upper,
        Self::Digit,
        Self::Space,
        Self::Tab,
        Self::Break,
        Self::Mark,
        Self::Cont80,
        Self::ContLine,
        Self::ContBox,
        Self::ContMiddle,
        Self::ContOther,
        Self::Latin1Sign,
        Self::Latin,
        Self::Greek,
        Self::Cyrillic,
        Self::Hebrew,
        Self::Arabic,
        Self::Indic,
        Self::Symbol,
        Self::Kana,
        Self::Han,
        Self::Hangul,
        Self::Wide,
        Self::Plane,
        Self::End,
    ];

    pub(super) const fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            b' ' => Self::Space,
            b'\t' => Self::Tab,
            b'\n' | b'\r' => Self::Break,
            0..=31 | 127 => Self::Control,
            33..=126 => Self::Mark,
            0x80 => Self::Cont80,
            0x81 | 0x90 => Self::ContLine,
            0x94 | 0x95 => Self::ContBox,
            0x96..=0x9F => Self::ContMiddle,
            0x82..=0xBF => Self::ContOther,
            0xC2 => Self::Latin1Sign,
            0xC0..=0xCD => Self::Latin,
            0xCE | 0xCF => Self::Greek,
            0xD0..=0xD4 => Self::Cyrillic,
            0xD5..=0xD7 => Self::Hebrew,
            0xD8..=0xDF => Self::Arabic,
            0xE0 | 0xE1 => Self::Indic,
            0xE2 => Self::Symbol,
            0xE3 => Self::Kana,
            0xE4..=0xE9 => Self::Han,
            0xEA..=0xED => Self::Hangul,
            0xEE | 0xEF => Self::Wide,
            0xF0..=0xFF => Self::Plane,
        }
    }

    /// What the weight of a place depends on in the byte that follows it, as a column.
    pub(super) const fn column(self) -> usize {
        match self {
            Self::End => 0,
            Self::Lower | Self::Latin => 1,
            Self::Upper => 2,
            Self::Digit => 3,
            Self::Space => 4,
            Self::Tab => 5,
            Self::Break => 6,
            Self::Mark | Self::Control => 7,
            Self::Cont80 | Self::ContLine | Self::ContBox | Self::ContMiddle | Self::ContOther => 8,
            _ => 9,
        }
    }

    pub(super) const COLUMNS: usize = 10;
}

/// What kind of piece the automaton is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PieceKind {
    Start,
    // Words, by case and by what stands before them in their own piece: nothing, a space, a mark. Foreign words have a
    // letter that English lacks, or follow such a word: fewer of them are a token of their own.
    LowerBare,
    LowerSpaced,
    LowerMarked,
    UpperBare,
    UpperSpaced,
    UpperMarked,
    CapitalBare,
    CapitalSpaced,
    CapitalMarked,
    ForeignBare,
    ForeignSpaced,
    ForeignMarked,
    Digits,
    /// One mark, which may still become the lead of a word.
    Mark,
    Marks,
    SpacedMarks,
    Spaces,
    IndentSpaces,
    Tabs,
    IndentTabs,
    /// The space after a foreign word.
    ForeignSpace,
    Breaks,
    BreaksAfterMarks,
    BreaksAfterBlanks,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Indic,
    Kana,
    Han,
    Hangul,
    /// The lead byte of a symbol, counted along a run of horizontal lines.
    SymbolLead,
    BoxMiddle,
    /// `─`, `━` or `═`.
    Line,
    Box,
    /// Dashes, typographic quotes, the ellipsis.
    Punctuation,
    Sign,
    Wide,
    PlaneLead,
    Emoji,
    RareScript,
}

/// Every kind with the length at which its states stop counting, because longer tells no more. In declaration order.
pub(super) const KINDS: [(PieceKind, u8); 43] = [
    (PieceKind::Start, 1),
    (PieceKind::LowerBare, 9),
    (PieceKind::LowerSpaced, 9),
    (PieceKind::LowerMarked, 9),
    (PieceKind::UpperBare, 9),
    (PieceKind::UpperSpaced, 9),
    (PieceKind::UpperMarked, 9),
    (PieceKind::CapitalBare, 9),
    (PieceKind::CapitalSpaced, 9),
    (PieceKind::CapitalMarked, 9),
    (PieceKind::ForeignBare, 9),
    (PieceKind::ForeignSpaced, 9),
    (PieceKind::ForeignMarked, 9),
    (PieceKind::Digits, 3),
    (PieceKind::Mark, 1),
    (PieceKind::Marks, 8),
    (PieceKind::SpacedMarks, 8),
    (PieceKind::Spaces, 3),
    (PieceKind::IndentSpaces, 3),
    (PieceKind::Tabs, 3),
    (PieceKind::IndentTabs, 3),
    (PieceKind::ForeignSpace, 1),
    (PieceKind::Breaks, 3),
    (PieceKind::BreaksAfterMarks, 3),
    (PieceKind::BreaksAfterBlanks, 3),
    (PieceKind::Greek, 5),
    (PieceKind::Cyrillic, 5),
    (PieceKind::Hebrew, 5),
    (PieceKind::Arabic, 5),
    (PieceKind::Indic, 5),
    (PieceKind::Kana, 5),
    (PieceKind::Han, 5),
    (PieceKind::Hangul, 5),
    (PieceKind::SymbolLead, 14),
    (PieceKind::BoxMiddle, 14),
    (PieceKind::Line, 14),
    (PieceKind::Box, 1),
    (PieceKind::Punctuation, 1),
    (PieceKind::Sign, 1),
    (PieceKind::Wide, 1),
    (PieceKind::PlaneLead, 1),
    (PieceKind::Emoji, 1),
    (PieceKind::RareScript, 1),
];

const FIRST_ROWS: [usize; KINDS.len()] = {
    let mut rows = [0; KINDS.len()];
    let mut kind = 1;
    while kind < KINDS.len() {
        rows[kind] = rows[kind - 1] + KINDS[kind - 1].1 as usize;
        kind += 1;
    }
    rows
};

impl PieceKind {
    const fn cap(self) -> u8 {
        KINDS[self as usize].1
    }

    /// Row of the kind's first state.
    pub(super) const fn first_row(self) -> usize {
        FIRST_ROWS[self as usize]
    }

    const fn is_word(self) -> bool {
        Self::LowerBare as u8 <= self as u8 && self as u8 <= Self::ForeignMarked as u8
    }

    /// The kind of a word that goes on from this one (or starts after it) in another case.
    const fn word(self, case: Case) -> Self {
        let lead = if self.is_word() {
            (self as usize - Self::LowerBare as usize) % 3
        } else {
            match self {
                Self::Spaces | Self::IndentSpaces | Self::Tabs | Self::IndentTabs | Self::ForeignSpace => 1,
                Self::Mark | Self::Sign | Self::Punctuation => 2,
                _ => 0,
            }
        };
        KINDS[Self::LowerBare as usize + case as usize * 3 + lead].0
    }

    const fn case(self) -> Case {
        match self {
            Self::LowerBare | Self::LowerSpaced | Self::LowerMarked => Case::Lower,
            Self::UpperBare | Self::UpperSpaced | Self::UpperMarked => Case::Upper,
            Self::CapitalBare | Self::CapitalSpaced | Self::CapitalMarked => Case::Capital,
            _ => Case::Foreign,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    Capital,
    Foreign,
}

/// Where the automaton stands after a byte: in which kind of piece, and how far into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub(super) kind: PieceKind,
    len: u8,
}

impl State {
    pub(super) const START: Self = Self { kind: PieceKind::Start, len: 1 };
    pub(super) const COUNT: usize = PieceKind::RareScript.first_row() + 1;

    pub(super) const fn row(self) -> usize {
        self.kind.first_row() + self.len as usize - 1
    }

    /// The state of a row; rows past the last are the start.
    pub(super) const fn of_row(row: usize) -> Self {
        let mut rest = row;
        let mut kind = 0;
        while kind < KINDS.len() {
            let (found, cap) = KINDS[kind];
            if rest < cap as usize {
                return Self { kind: found, len: rest as u8 + 1 };
            }
            rest -= cap as usize;
            kind += 1;
        }
        Self::START
    }

    pub(super) const fn after(self, class: Class) -> Self {
        match class {
            Class::Lower => self.after_letter(Case::Lower),
            Class::Upper => self.after_letter(Case::Upper),
            Class::Latin => self.after_letter(Case::Foreign),
            Class::Digit if matches!(self.kind, PieceKind::Digits) && self.len == 3 => first(PieceKind::Digits),
            Class::Digit => self.longer(PieceKind::Digits),
            Class::Space => self.after_blank(PieceKind::Spaces, PieceKind::IndentSpaces),
            Class::Tab => self.after_blank(PieceKind::Tabs, PieceKind::IndentTabs),
            Class::Break => self.after_break(),
            Class::Mark | Class::Control => self.after_mark(),
            Class::Cont80 | Class::ContLine | Class::ContBox | Class::ContMiddle | Class::ContOther => {
                self.after_continuation(class)
            }
            Class::Greek => self.longer(PieceKind::Greek),
            Class::Cyrillic => self.longer(PieceKind::Cyrillic),
            Class::Hebrew => self.longer(PieceKind::Hebrew),
            Class::Arabic => self.longer(PieceKind::Arabic),
            Class::Indic => self.longer(PieceKind::Indic),
            Class::Kana => self.longer(PieceKind::Kana),
            Class::Han => self.longer(PieceKind::Han),
            Class::Hangul => self.longer(PieceKind::Hangul),
            Class::Symbol if matches!(self.kind, PieceKind::Line) => self.counted(PieceKind::SymbolLead),
            Class::Symbol => first(PieceKind::SymbolLead),
            Class::Latin1Sign => first(PieceKind::Sign),
            Class::Wide => first(PieceKind::Wide),
            Class::Plane => first(PieceKind::PlaneLead),
            Class::End => self,
        }
    }

    const fn after_letter(self, letter: Case) -> Self {
        if matches!(self.kind, PieceKind::ForeignSpace) {
            return first(PieceKind::ForeignSpaced);
        }
        if !self.kind.is_word() {
            return first(self.kind.word(letter));
        }
        match (self.kind.case(), letter) {
            (Case::Upper, Case::Upper) => self.longer(self.kind),
            // A capital after a small letter starts a piece without a lead.
            (_, Case::Upper) => first(PieceKind::UpperBare),
            (Case::Foreign, _) | (_, Case::Foreign) => self.counted_on(self.kind.word(Case::Foreign)),
            (Case::Lower, _) => self.longer(self.kind),
            _ => self.counted_on(self.kind.word(Case::Capital)),
        }
    }

    const fn after_blank(self, blanks: PieceKind, indent: PieceKind) -> Self {
        match self.kind {
            PieceKind::Spaces | PieceKind::Tabs => self.counted_on(blanks),
            PieceKind::IndentSpaces | PieceKind::IndentTabs => self.counted_on(indent),
            PieceKind::ForeignSpace => first(blanks).counted_on(blanks),
            PieceKind::Start | PieceKind::Breaks | PieceKind::BreaksAfterMarks | PieceKind::BreaksAfterBlanks => {
                first(indent)
            }
            PieceKind::ForeignBare | PieceKind::ForeignSpaced | PieceKind::ForeignMarked
                if matches!(blanks, PieceKind::Spaces) =>
            {
                first(PieceKind::ForeignSpace)
            }
            _ => first(blanks),
        }
    }

    const fn after_break(self) -> Self {
        match self.kind {
            PieceKind::Breaks | PieceKind::BreaksAfterMarks | PieceKind::BreaksAfterBlanks => self.longer(self.kind),
            PieceKind::Mark | PieceKind::Marks | PieceKind::SpacedMarks => first(PieceKind::BreaksAfterMarks),
            PieceKind::Spaces
            | PieceKind::IndentSpaces
            | PieceKind::Tabs
            | PieceKind::IndentTabs
            | PieceKind::ForeignSpace => first(PieceKind::BreaksAfterBlanks),
            _ => first(PieceKind::Breaks),
        }
    }

    const fn after_mark(self) -> Self {
        match self.kind {
            PieceKind::Mark => self.counted_on(PieceKind::Marks),
            PieceKind::Marks | PieceKind::SpacedMarks => self.longer(self.kind),
            PieceKind::Spaces | PieceKind::IndentSpaces | PieceKind::ForeignSpace => first(PieceKind::SpacedMarks),
            _ => first(PieceKind::Mark),
        }
    }

    const fn after_continuation(self, class: Class) -> Self {
        match (self.kind, class) {
            (PieceKind::SymbolLead, Class::ContBox) => self.counted(PieceKind::BoxMiddle),
            (PieceKind::SymbolLead, Class::Cont80) => first(PieceKind::Punctuation),
            (PieceKind::SymbolLead, _) => first(PieceKind::Sign),
            (PieceKind::BoxMiddle, Class::Cont80 | Class::ContLine) => self.counted_on(PieceKind::Line),
            (PieceKind::BoxMiddle, _) => first(PieceKind::Box),
            (PieceKind::PlaneLead, Class::ContMiddle) => first(PieceKind::Emoji),
            (PieceKind::PlaneLead, _) => first(PieceKind::RareScript),
            _ => self,
        }
    }

    /// One further in a piece of this kind, or its first state.
    const fn longer(self, kind: PieceKind) -> Self {
        if self.kind as u8 == kind as u8 { self.counted_on(kind) } else { first(kind) }
    }

    /// Another kind with the same count.
    const fn counted(self, kind: PieceKind) -> Self {
        Self { kind, len: self.len }
    }

    /// Another kind with the next count.
    const fn counted_on(self, kind: PieceKind) -> Self {
        let cap = kind.cap();
        Self { kind, len: if self.len < cap { self.len + 1 } else { cap } }
    }
}

/// The tables keep a state in a byte.
const _: () = assert!(State::COUNT <= 256);

const fn first(kind: PieceKind) -> State {
    State { kind, len: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_the_order_of_their_declaration() {
        for (slot, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, slot, "{kind:?}");
        }
    }

    #[test]
    fn every_row_is_one_state() {
        for row in 0..State::COUNT {
            assert_eq!(State::of_row(row).row(), row);
        }
    }

    #[test]
    fn pieces_end_where_the_tokeniser_ends_them() {
        let after = |text: &str| text.bytes().fold(State::START, |state, byte| state.after(Class::of(byte)));
        for (text, kind, len) in [
            ("word", PieceKind::LowerBare, 4),
            ("a word", PieceKind::LowerSpaced, 4),
            ("(word", PieceKind::LowerMarked, 4),
            ("((word", PieceKind::LowerBare, 4),
            ("camelCase", PieceKind::CapitalBare, 4),
            ("HTTPServer", PieceKind::CapitalBare, 9),
            (" UPPER", PieceKind::UpperSpaced, 5),
            ("12345", PieceKind::Digits, 2),
            ("x = ", PieceKind::Spaces, 1),
            ("{\n\n", PieceKind::BreaksAfterMarks, 2),
            ("\n\t\t", PieceKind::IndentTabs, 2),
            ("  →", PieceKind::Sign, 1),
            ("───", PieceKind::Line, 4),
            ("über alles", PieceKind::ForeignSpaced, 5),
            ("слово", PieceKind::Cyrillic, 5),
        ] {
            assert_eq!(after(text), State { kind, len }, "{text}");
        }
    }
}
