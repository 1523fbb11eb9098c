//! What the estimate looks at, byte by byte, for the program that fits its weights (`lab fit tokens`).
//!
//! The estimate itself walks folded tables; a test holds them against these features.

use super::pair::{Ahead, CONTS, CONTS_AT, LEADS_AT, pair_class};
use super::place::{Class, KINDS, State};
use super::tables::{END, LARGEST, ZERO, weight};
use super::weights;

/// Weights go from 0 to this.
pub const MOST: u8 = LARGEST;
/// The weight that says nothing.
pub const NOTHING: u8 = ZERO;
/// Steps of a weight in one unit of log-odds.
pub const STEPS: f64 = 6.0;

/// A table of weights: its name in `weights.rs`, its documentation, its type, and the length of each row.
#[derive(Debug)]
pub struct Table {
    /// The name of the constant.
    pub name: &'static str,
    /// What its rows and columns are.
    pub doc: &'static str,
    /// The type of the constant.
    pub kind: &'static str,
    /// How many weights each row has.
    pub rows: Vec<usize>,
}

impl Table {
    fn len(&self) -> usize {
        self.rows.iter().sum()
    }
}

/// All tables, in the order in which weights are numbered.
pub fn tables() -> Vec<Table> {
    let table = |name, doc, kind, rows| Table { name, doc, kind, rows };
    vec![
        table(
            "PLACES",
            "One line per kind of place, ten characters per length: the weight by what follows.",
            "[&[u8]; KINDS.len()]",
            KINDS.iter().map(|(_, cap)| *cap as usize * Class::COLUMNS).collect(),
        ),
        table(
            "AHEAD_CHARACTER",
            "Second byte of a character, by script.",
            "[&[u8; CONTS]; Ahead::CHARACTERS]",
            vec![CONTS; Ahead::CHARACTERS],
        ),
        table(
            "AHEAD_ASCII",
            "ASCII byte that follows, by kind of place.",
            "[&[u8; LEADS_AT]; Ahead::ASCIIS]",
            vec![LEADS_AT; Ahead::ASCIIS],
        ),
        table(
            "AFTER_ASCII",
            "A line per ASCII byte: the weight of the byte after it, ASCII bytes first, then lead bytes.",
            "[&[u8; CONTS_AT]; LEADS_AT]",
            vec![CONTS_AT; LEADS_AT],
        ),
        table(
            "AFTER_CONT",
            "ASCII byte after a continuation byte, by its quarter.",
            "[&[u8; LEADS_AT]; 4]",
            vec![LEADS_AT; 4],
        ),
        table(
            "LEAD_AFTER_CONT",
            "A line per lead byte: its weight by the continuation byte before it.",
            "[&[u8; CONTS]; CONTS_AT - LEADS_AT]",
            vec![CONTS; CONTS_AT - LEADS_AT],
        ),
    ]
}

/// The weights in use, in the same order.
pub fn in_use() -> Vec<u8> {
    let places = weights::PLACES.iter().flat_map(|row| row.iter());
    let characters = weights::AHEAD_CHARACTER.iter().flat_map(|row| row.iter());
    let asciis = weights::AHEAD_ASCII.iter().flat_map(|row| row.iter());
    let after_ascii = weights::AFTER_ASCII.iter().flat_map(|row| row.iter());
    let after_cont = weights::AFTER_CONT.iter().flat_map(|row| row.iter());
    let lead = weights::LEAD_AFTER_CONT.iter().flat_map(|row| row.iter());
    let letters = places.chain(characters).chain(asciis).chain(after_ascii).chain(after_cont).chain(lead);
    letters.map(|letter| weight(*letter)).collect()
}

/// The letter that stands for a weight in `weights.rs`.
pub fn letter(weight: u8) -> char {
    let letter = b'#' + weight.min(MOST);
    char::from(if letter >= b'\\' { letter + 1 } else { letter })
}

/// The weights that decide about each byte: of its place, of the byte that follows, and of the byte before.
#[derive(Debug)]
pub struct Features {
    starts: Vec<usize>,
}

impl Default for Features {
    fn default() -> Self {
        let mut next = 0;
        let starts = tables().into_iter().map(|table| {
            let start = next;
            next += table.len();
            start
        });
        Features { starts: starts.collect() }
    }
}

impl Features {
    /// Calls `each` for every byte of a text. `None` stands for a weight of zero.
    pub fn of(&self, text: &str, mut each: impl FnMut([Option<usize>; 3])) {
        let bytes = text.as_bytes();
        let mut state = State::START;
        let mut before = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            state = state.after(Class::of(byte));
            let next = bytes.get(at + 1).copied();
            each([Some(self.place(state, next)), self.ahead(state, next), self.pair(before, byte)]);
            before = byte;
        }
    }

    fn start(&self, table: usize) -> usize {
        self.starts.get(table).copied().unwrap_or_default()
    }

    fn place(&self, state: State, next: Option<u8>) -> usize {
        let class = next.map_or(Class::End, Class::of);
        self.start(0) + state.row() * Class::COLUMNS + class.column()
    }

    fn ahead(&self, state: State, next: Option<u8>) -> Option<usize> {
        let next = pair_class(next.unwrap_or(END));
        match Ahead::of(state.kind) {
            Ahead::Character(script) if next >= CONTS_AT => Some(self.start(1) + script * CONTS + next - CONTS_AT),
            Ahead::Ascii(kind) if next < LEADS_AT => Some(self.start(2) + kind * LEADS_AT + next),
            _ => None,
        }
    }

    fn pair(&self, before: u8, byte: u8) -> Option<usize> {
        let (first, second) = (pair_class(before), pair_class(byte));
        if second >= CONTS_AT || (LEADS_AT..CONTS_AT).contains(&first) {
            None
        } else if first < LEADS_AT {
            Some(self.start(3) + first * CONTS_AT + second)
        } else if second < LEADS_AT {
            Some(self.start(4) + (first - CONTS_AT) / 16 * LEADS_AT + second)
        } else {
            Some(self.start(5) + (second - LEADS_AT) * CONTS + first - CONTS_AT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::estimate;

    #[test]
    fn the_estimate_is_the_sum_over_these_features() {
        let weights = in_use();
        let features = Features::default();
        for text in [
            "fn main() {\n\tprintln!(\"Hello, {name}: {}\", 12345);\n}\n",
            "The quick brown fox; Ünïcödé, Ελληνικά, привет, עברית, العربية, हिन्दी, 日本語のテキスト, 中文, 한국어 → 🙂 ┌──┐",
            "    indented\r\n\r\n2026-11-17T10:00:00Z ERROR [worker-7] 0xDEADBEEF == !== <html>",
        ] {
            let mut sum = 0.0;
            features.of(text, |found| {
                let steps: i32 = found
                    .iter()
                    .map(|index| index.map_or(0, |index| i32::from(weights[index]) - i32::from(NOTHING)))
                    .sum();
                sum += 1.0 / (1.0 + (-f64::from(steps) / STEPS).exp());
            });
            let estimated = f64::from(estimate(text));
            assert!((estimated - sum).abs() <= 1.0, "{estimated} for {sum}: {text}");
        }
    }

    #[test]
    fn letters_say_weights() {
        for weight_in in 0..=MOST {
            assert_eq!(weight(letter(weight_in) as u8), weight_in);
        }
    }
}
