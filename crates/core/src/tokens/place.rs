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
pub(super) enum Kind {
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
pub(super) const KINDS: [(Kind, u8); 43] = [
    (Kind::Start, 1),
    (Kind::LowerBare, 9),
    (Kind::LowerSpaced, 9),
    (Kind::LowerMarked, 9),
    (Kind::UpperBare, 9),
    (Kind::UpperSpaced, 9),
    (Kind::UpperMarked, 9),
    (Kind::CapitalBare, 9),
    (Kind::CapitalSpaced, 9),
    (Kind::CapitalMarked, 9),
    (Kind::ForeignBare, 9),
    (Kind::ForeignSpaced, 9),
    (Kind::ForeignMarked, 9),
    (Kind::Digits, 3),
    (Kind::Mark, 1),
    (Kind::Marks, 8),
    (Kind::SpacedMarks, 8),
    (Kind::Spaces, 3),
    (Kind::IndentSpaces, 3),
    (Kind::Tabs, 3),
    (Kind::IndentTabs, 3),
    (Kind::ForeignSpace, 1),
    (Kind::Breaks, 3),
    (Kind::BreaksAfterMarks, 3),
    (Kind::BreaksAfterBlanks, 3),
    (Kind::Greek, 5),
    (Kind::Cyrillic, 5),
    (Kind::Hebrew, 5),
    (Kind::Arabic, 5),
    (Kind::Indic, 5),
    (Kind::Kana, 5),
    (Kind::Han, 5),
    (Kind::Hangul, 5),
    (Kind::SymbolLead, 14),
    (Kind::BoxMiddle, 14),
    (Kind::Line, 14),
    (Kind::Box, 1),
    (Kind::Punctuation, 1),
    (Kind::Sign, 1),
    (Kind::Wide, 1),
    (Kind::PlaneLead, 1),
    (Kind::Emoji, 1),
    (Kind::RareScript, 1),
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

impl Kind {
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
    pub(super) kind: Kind,
    len: u8,
}

impl State {
    pub(super) const START: Self = Self { kind: Kind::Start, len: 1 };
    pub(super) const COUNT: usize = Kind::RareScript.first_row() + 1;

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
            Class::Digit if matches!(self.kind, Kind::Digits) && self.len == 3 => first(Kind::Digits),
            Class::Digit => self.longer(Kind::Digits),
            Class::Space => self.after_blank(Kind::Spaces, Kind::IndentSpaces),
            Class::Tab => self.after_blank(Kind::Tabs, Kind::IndentTabs),
            Class::Break => self.after_break(),
            Class::Mark | Class::Control => self.after_mark(),
            Class::Cont80 | Class::ContLine | Class::ContBox | Class::ContMiddle | Class::ContOther => {
                self.after_continuation(class)
            }
            Class::Greek => self.longer(Kind::Greek),
            Class::Cyrillic => self.longer(Kind::Cyrillic),
            Class::Hebrew => self.longer(Kind::Hebrew),
            Class::Arabic => self.longer(Kind::Arabic),
            Class::Indic => self.longer(Kind::Indic),
            Class::Kana => self.longer(Kind::Kana),
            Class::Han => self.longer(Kind::Han),
            Class::Hangul => self.longer(Kind::Hangul),
            Class::Symbol if matches!(self.kind, Kind::Line) => self.counted(Kind::SymbolLead),
            Class::Symbol => first(Kind::SymbolLead),
            Class::Latin1Sign => first(Kind::Sign),
            Class::Wide => first(Kind::Wide),
            Class::Plane => first(Kind::PlaneLead),
            Class::End => self,
        }
    }

    const fn after_letter(self, letter: Case) -> Self {
        if matches!(self.kind, Kind::ForeignSpace) {
            return first(Kind::ForeignSpaced);
        }
        if !self.kind.is_word() {
            return first(self.kind.word(letter));
        }
        match (self.kind.case(), letter) {
            (Case::Upper, Case::Upper) => self.longer(self.kind),
            // A capital after a small letter starts a piece without a lead.
            (_, Case::Upper) => first(Kind::UpperBare),
            (Case::Foreign, _) | (_, Case::Foreign) => self.counted_on(self.kind.word(Case::Foreign)),
            (Case::Lower, _) => self.longer(self.kind),
            _ => self.counted_on(self.kind.word(Case::Capital)),
        }
    }

    const fn after_blank(self, blanks: Kind, indent: Kind) -> Self {
        match self.kind {
            Kind::Spaces | Kind::Tabs => self.counted_on(blanks),
            Kind::IndentSpaces | Kind::IndentTabs => self.counted_on(indent),
            Kind::ForeignSpace => first(blanks).counted_on(blanks),
            Kind::Start | Kind::Breaks | Kind::BreaksAfterMarks | Kind::BreaksAfterBlanks => first(indent),
            Kind::ForeignBare | Kind::ForeignSpaced | Kind::ForeignMarked if matches!(blanks, Kind::Spaces) => {
                first(Kind::ForeignSpace)
            }
            _ => first(blanks),
        }
    }

    const fn after_break(self) -> Self {
        match self.kind {
            Kind::Breaks | Kind::BreaksAfterMarks | Kind::BreaksAfterBlanks => self.longer(self.kind),
            Kind::Mark | Kind::Marks | Kind::SpacedMarks => first(Kind::BreaksAfterMarks),
            Kind::Spaces | Kind::IndentSpaces | Kind::Tabs | Kind::IndentTabs | Kind::ForeignSpace => {
                first(Kind::BreaksAfterBlanks)
            }
            _ => first(Kind::Breaks),
        }
    }

    const fn after_mark(self) -> Self {
        match self.kind {
            Kind::Mark => self.counted_on(Kind::Marks),
            Kind::Marks | Kind::SpacedMarks => self.longer(self.kind),
            Kind::Spaces | Kind::IndentSpaces | Kind::ForeignSpace => first(Kind::SpacedMarks),
            _ => first(Kind::Mark),
        }
    }

    const fn after_continuation(self, class: Class) -> Self {
        match (self.kind, class) {
            (Kind::SymbolLead, Class::ContBox) => self.counted(Kind::BoxMiddle),
            (Kind::SymbolLead, Class::Cont80) => first(Kind::Punctuation),
            (Kind::SymbolLead, _) => first(Kind::Sign),
            (Kind::BoxMiddle, Class::Cont80 | Class::ContLine) => self.counted_on(Kind::Line),
            (Kind::BoxMiddle, _) => first(Kind::Box),
            (Kind::PlaneLead, Class::ContMiddle) => first(Kind::Emoji),
            (Kind::PlaneLead, _) => first(Kind::RareScript),
            _ => self,
        }
    }

    /// One further in a piece of this kind, or its first state.
    const fn longer(self, kind: Kind) -> Self {
        if self.kind as u8 == kind as u8 { self.counted_on(kind) } else { first(kind) }
    }

    /// Another kind with the same count.
    const fn counted(self, kind: Kind) -> Self {
        Self { kind, len: self.len }
    }

    /// Another kind with the next count.
    const fn counted_on(self, kind: Kind) -> Self {
        let cap = kind.cap();
        Self { kind, len: if self.len < cap { self.len + 1 } else { cap } }
    }
}

/// The tables keep a state in a byte.
const _: () = assert!(State::COUNT <= 256);

const fn first(kind: Kind) -> State {
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
            ("word", Kind::LowerBare, 4),
            ("a word", Kind::LowerSpaced, 4),
            ("(word", Kind::LowerMarked, 4),
            ("((word", Kind::LowerBare, 4),
            ("camelCase", Kind::CapitalBare, 4),
            ("HTTPServer", Kind::CapitalBare, 9),
            (" UPPER", Kind::UpperSpaced, 5),
            ("12345", Kind::Digits, 2),
            ("x = ", Kind::Spaces, 1),
            ("{\n\n", Kind::BreaksAfterMarks, 2),
            ("\n\t\t", Kind::IndentTabs, 2),
            ("  →", Kind::Sign, 1),
            ("───", Kind::Line, 4),
            ("über alles", Kind::ForeignSpaced, 5),
            ("слово", Kind::Cyrillic, 5),
        ] {
            assert_eq!(after(text), State { kind, len }, "{text}");
        }
    }
}
