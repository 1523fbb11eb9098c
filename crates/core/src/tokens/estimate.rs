//! A fast estimate of how many o200k tokens a text has, without the vocabulary.
//!
//! Each byte adds the chance that a token starts there. The chance is logistic in three fitted weights: of the place (the
//! state of a small automaton, see [`super::place`]), of the byte that follows, and of the byte before. Place and
//! following byte share a table, so every byte costs three lookups, whatever the text. The automaton has to wait for
//! one lookup before it can begin the next; long texts are therefore cut into three lanes that wait at the same time.
//!
//! Invariant: only the empty text costs nothing, and no text costs more tokens than it has bytes.

use super::escape::Decoder;
use super::tables::{CHANCE, END, MOVES, PAIRS, TOKEN_BITS};

/// Tokens of a plain text.
#[must_use]
pub fn estimate(text: &str) -> u32 {
    tokens(text, walk(lanes(text.as_bytes())))
}

/// Tokens of the text that the inside of a JSON string literal stands for: decoded a stretch at a time, never as a whole.
#[must_use]
pub fn estimate_escaped(raw: &str) -> u32 {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return estimate(raw);
    }
    let mut decoder = Decoder::new(raw);
    let mut stretch = [0; STRETCH];
    let mut sum = 0;
    loop {
        let bytes = decoder.fill(&mut stretch);
        if bytes.is_empty() {
            return tokens(raw, sum);
        }
        sum += walk(lanes(bytes));
    }
}

/// Small enough for the stack and the nearest cache, large enough that words cut in two at its ends do not count.
const STRETCH: usize = 4096;

fn tokens(text: &str, sum: u64) -> u32 {
    if text.is_empty() { 0 } else { rounded(sum) }
}

/// Whole tokens of a text that is not empty.
pub(super) fn rounded(sum: u64) -> u32 {
    let rounded = (sum + (1 << (TOKEN_BITS - 1))) >> TOKEN_BITS;
    u32::try_from(rounded).unwrap_or(u32::MAX).max(1)
}

/// One walk over a stretch of bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Lane {
    /// The last entry taken from [`MOVES`]; its upper half is the state.
    step: usize,
    /// The weight of the last byte by the byte before it.
    pair: usize,
}

impl Lane {
    /// Takes the second byte of the window and gives the chance that a token starts at the place before it.
    #[inline]
    pub(super) fn advance(&mut self, window: &[u8; 2]) -> u64 {
        let window = usize::from(u16::from_le_bytes(*window));
        self.step = usize::from(MOVES[(self.step & 0xFF00) | (window >> 8)]);
        let chance = CHANCE[(self.step + self.pair) & 0xFF];
        self.pair = usize::from(PAIRS[window]);
        u64::from(chance)
    }

    /// The lane of a text whose first byte this is.
    pub(super) fn begin(byte: u8) -> (Lane, u64) {
        let mut lane = Lane::default();
        let chance = lane.advance(&[0, byte]);
        (lane, chance)
    }

    /// The chance that a token starts at the last byte of a text.
    pub(super) fn end(mut self) -> u64 {
        self.advance(&[0, END])
    }
}

fn walk([a, b, c]: [&[u8]; 3]) -> u64 {
    let [mut lane_a, mut lane_b, mut lane_c] = [Lane::default(); 3];
    let mut sum = 0;
    for (lane, part) in [(&mut lane_a, a), (&mut lane_b, b), (&mut lane_c, c)] {
        if let Some(&byte) = part.first() {
            sum += lane.advance(&[0, byte]);
        }
    }
    let shared = a.len().min(b.len()).min(c.len());
    let [(a, rest_a), (b, rest_b), (c, rest_c)] = [a, b, c].map(|part| split_windows(part, shared));
    for ((a, b), c) in a.array_windows().zip(b.array_windows()).zip(c.array_windows()) {
        sum += lane_a.advance(a) + lane_b.advance(b) + lane_c.advance(c);
    }
    for (mut lane, rest) in [(lane_a, rest_a), (lane_b, rest_b), (lane_c, rest_c)] {
        for window in rest.array_windows() {
            sum += lane.advance(window);
        }
        sum += lane.end();
    }
    sum
}

/// The first `len` bytes, and the rest with one byte of overlap, so that the windows of both are the windows of the whole.
fn split_windows(part: &[u8], len: usize) -> (&[u8], &[u8]) {
    let head = part.get(..len).unwrap_or(part);
    let rest = part.get(len.saturating_sub(1)..).unwrap_or_default();
    (head, rest)
}

/// Below this length three lanes gain little, and what is lost at their borders would show.
pub(super) const LANES_FROM: usize = 1024;
/// How far from an even cut a good one is looked for.
const CUT_WINDOW: usize = 128;

/// Three parts of about the same length, or all in the first.
fn lanes(bytes: &[u8]) -> [&[u8]; 3] {
    let cut = |from| border(bytes, from).and_then(|at| bytes.split_at_checked(at));
    if bytes.len() >= LANES_FROM
        && let Some((front, c)) = cut(bytes.len() / 3 * 2)
        && let Some((a, _)) = cut(bytes.len() / 3)
        && let Some(b) = front.get(a.len()..)
    {
        return [a, b, c];
    }
    [bytes, &[], &[]]
}

/// The nearest border: before a space, where a piece starts in any case, or else before any byte that starts a character.
fn border(bytes: &[u8], from: usize) -> Option<usize> {
    let window = bytes.get(from..from + CUT_WINDOW)?;
    let space = window.iter().position(|&byte| byte == b' ');
    let at = space.or_else(|| window.iter().position(|&byte| !matches!(byte, 0x80..0xC0)))?;
    Some(from + at)
}
