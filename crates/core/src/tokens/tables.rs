//! Places, pairs and weights, folded at compile time into the three tables that the estimate walks.

use super::pair::{Ahead, CONTS_AT, LEADS_AT, pair_class};
use super::place::{Class, PieceKind, State};
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

/// The column that closes a text; no byte of UTF-8.
pub(super) const END: u8 = 0xFF;

/// Weights are characters from `#` to `~` without the backslash, zero in the middle.
pub(super) const ZERO: u8 = 45;
pub(super) const LARGEST: u8 = 90;
/// exp(1/6), the odds of one step.
const ODDS_OF_STEP: f64 = 1.181_360_412_865_645_8;
/// The sum of three zero weights.
const EVEN: usize = 3 * ZERO as usize;
/// Keeps the sum with a pair weight within a byte. Even so the chance is above 0.99.
const LARGEST_MOVE: u16 = (u8::MAX - LARGEST) as u16;

pub(super) const fn weight(letter: u8) -> u8 {
    if letter > b'\\' { letter - b'#' - 1 } else { letter - b'#' }
}

// Compile time is spent per step here, so what repeats is worked out once.

const CLASSES: [Class; 256] = {
    let mut classes = [Class::End; 256];
    let mut byte = 0;
    while byte < END as usize {
        classes[byte] = Class::of(byte as u8);
        byte += 1;
    }
    classes
};

const PAIR_CLASSES: [usize; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = pair_class(byte as u8);
        byte += 1;
    }
    classes
};

const fn moves() -> [u16; 1 << 16] {
    let mut table = [0; 1 << 16];
    let mut row = 0;
    let mut aheads = [0; 256];
    while row < State::COUNT {
        let state = State::of_row(row);
        if row == state.kind.first_row() && !matches!(state.kind, PieceKind::Start) {
            aheads = aheads_of(state.kind);
        }
        let places = moves_by_class(state);
        let mut byte = 0;
        while byte < 256 {
            let (next, place) = places[CLASSES[byte] as usize];
            let sum = place + aheads[byte];
            table[row << 8 | byte] = next << 8 | if sum > LARGEST_MOVE { LARGEST_MOVE } else { sum };
            byte += 1;
        }
        row += 1;
    }
    table
}

/// The next state, and the weight of the place by the class that follows.
const fn moves_by_class(state: State) -> [(u16, u16); Class::ALL.len()] {
    let letters = weights::PLACES[state.kind as usize];
    let from = (state.row() - state.kind.first_row()) * Class::COLUMNS;
    let mut moves = [(0, 0); Class::ALL.len()];
    let mut at = 0;
    while at < Class::ALL.len() {
        let class = Class::ALL[at];
        let place = match state.kind {
            // Nothing stands before the start that could be a token.
            PieceKind::Start => 0,
            _ => weight(letters[from + class.column()]) as u16,
        };
        moves[class as usize] = (state.after(class).row() as u16, place);
        at += 1;
    }
    moves
}

/// The weight of each byte that can follow.
const fn aheads_of(kind: PieceKind) -> [u16; 256] {
    let ahead = Ahead::of(kind);
    let mut table = [ZERO as u16; 256];
    let mut byte = 0;
    while byte < 256 {
        let next = PAIR_CLASSES[byte];
        match ahead {
            Ahead::Character(script) if next >= CONTS_AT => {
                table[byte] = weight(weights::AHEAD_CHARACTER[script][next - CONTS_AT]) as u16;
            }
            Ahead::Ascii(kind) if next < LEADS_AT => table[byte] = weight(weights::AHEAD_ASCII[kind][next]) as u16,
            _ => {}
        }
        byte += 1;
    }
    table
}

const fn pairs() -> [u8; 1 << 16] {
    let mut table = [ZERO; 1 << 16];
    let mut byte = 0;
    while byte < 256 {
        let mut before = 0;
        while before < 256 {
            table[byte << 8 | before] = pair(PAIR_CLASSES[before], PAIR_CLASSES[byte]);
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
