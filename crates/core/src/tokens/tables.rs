//! Places, pairs and weights, folded at compile time into the three tables that the estimate walks.

use super::pair::{Ahead, CONTS_AT, LEADS_AT, pair_class};
use super::place::{Class, State};
use super::weights;

/// By state (upper byte) and byte that follows (lower byte): the weight of the place given that byte in the lower half,
/// the next state in the upper half.
pub(super) static MOVES: [u16; 1 << 16] = moves();

/// By byte (upper byte) and byte before it (lower byte), which is how two bytes of text read as one number: the weight
/// of the pair.
pub(super) static PAIRS: [u8; 1 << 16] = pairs();

/// By sum of both weights: the chance that a token starts there, in units of `1 / ONE_TOKEN`.
pub(super) static CHANCE: [u16; 256] = chance();

pub(super) const TOKEN_BITS: u32 = 12;
const ONE_TOKEN: u32 = 1 << TOKEN_BITS;

/// Columns that no byte of UTF-8 can take. `END` closes a text. `SKIP` stays where it is and adds nothing.
pub(super) const END: u8 = 0xFF;
pub(super) const SKIP: u8 = 0xFE;

/// Weights are characters from `#` to `~` without the backslash, zero in the middle.
const ZERO: u8 = 45;
const LARGEST: u8 = 90;
/// exp(1/6), the odds of one step.
const ODDS_OF_STEP: f64 = 1.181_360_412_865_645_8;
/// The sum of three zero weights.
const EVEN: usize = 3 * ZERO as usize;
/// Keeps the sum with a pair weight within a byte. Even so the chance is above 0.99.
const LARGEST_MOVE: u8 = u8::MAX - LARGEST;

const fn weight(letter: u8) -> u8 {
    if letter > b'\\' { letter - b'#' - 1 } else { letter - b'#' }
}

const fn moves() -> [u16; 1 << 16] {
    let mut table = [0; 1 << 16];
    let mut row = 0;
    while row < State::COUNT {
        let state = State::of_row(row);
        let mut byte = 0;
        while byte < 256 {
            table[row << 8 | byte] = match byte as u8 {
                SKIP => (row as u16) << 8,
                END => move_weight(state, Class::End, ZERO) as u16,
                next => {
                    let class = Class::of(next);
                    let weight = move_weight(state, class, ahead(state, pair_class(next)));
                    (state.after(class).row() as u16) << 8 | weight as u16
                }
            };
            byte += 1;
        }
        row += 1;
    }
    table
}

const fn move_weight(state: State, class: Class, ahead: u8) -> u8 {
    let first = state.kind.first_row();
    let row = state.row();
    if row == State::START.row() {
        // Before the first byte there is nothing that could be a token.
        return 0;
    }
    let letters = weights::PLACES[state.kind as usize];
    let sum = weight(letters[(row - first) * Class::COLUMNS + class.column()]) + ahead;
    if sum > LARGEST_MOVE { LARGEST_MOVE } else { sum }
}

const fn ahead(state: State, next: usize) -> u8 {
    match Ahead::of(state.kind) {
        Ahead::Character(script) if next >= CONTS_AT => weight(weights::AHEAD_CHARACTER[script][next - CONTS_AT]),
        Ahead::Ascii(kind) if next < LEADS_AT => weight(weights::AHEAD_ASCII[kind][next]),
        _ => ZERO,
    }
}

const fn pairs() -> [u8; 1 << 16] {
    let mut table = [ZERO; 1 << 16];
    let mut byte = 0;
    while byte < 256 {
        let second = pair_class(byte as u8);
        let mut before = 0;
        while before < 256 {
            table[byte << 8 | before] = pair(pair_class(before as u8), second);
            before += 1;
        }
        byte += 1;
    }
    table
}

/// Continuation bytes are weighed by their place alone.
const fn pair(first: usize, second: usize) -> u8 {
    if second >= CONTS_AT {
        ZERO
    } else if first < LEADS_AT {
        weight(weights::AFTER_ASCII[first][second])
    } else if first < CONTS_AT {
        ZERO
    } else if second < LEADS_AT {
        weight(weights::AFTER_CONT[(first - CONTS_AT) / 16][second])
    } else {
        weight(weights::LEAD_AFTER_CONT[second - LEADS_AT][first - CONTS_AT])
    }
}

/// The logistic function, by repeated multiplication: `exp` is not available at compile time.
const fn chance() -> [u16; 256] {
    let mut table = [0; 256];
    let mut odds = 1.0;
    let mut sum = EVEN;
    while sum < 256 {
        table[sum] = share(odds);
        odds *= ODDS_OF_STEP;
        sum += 1;
    }
    odds = 1.0;
    sum = EVEN;
    while sum > 0 {
        sum -= 1;
        odds /= ODDS_OF_STEP;
        table[sum] = share(odds);
    }
    table
}

const fn share(odds: f64) -> u16 {
    (ONE_TOKEN as f64 * odds / (1.0 + odds) + 0.5) as u16
}
