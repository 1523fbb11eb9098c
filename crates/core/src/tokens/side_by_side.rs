//! Estimates of many short texts, three at a time.
//!
//! A walk waits for one lookup before it can begin the next. Long texts are cut into lanes that wait together (see
//! [`super::estimate`]); short ones are not, because borders cost accuracy. Instead several of them wait together here,
//! each walked from its beginning to its end: a text costs what it costs alone.

use super::Spelling;
use super::escape::Decoder;
use super::estimate::{LANES_FROM, Lane, rounded};

/// A text is decoded as a whole; the decoder wants room for one more character than there is.
const ROOM: usize = LANES_FROM + 8;

/// Sums of texts that are still on their way.
pub(super) struct SideBySide {
    walks: [Walk; 3],
    sums: Vec<u64>,
}

/// One text on its way.
#[derive(Clone)]
struct Walk {
    bytes: [u8; ROOM],
    length: usize,
    at: usize,
    lane: Lane,
    chance: u64,
    /// Which sum it belongs to; none while there is no text.
    sum: Option<usize>,
}

impl SideBySide {
    pub(super) fn new() -> SideBySide {
        let idle = Walk { bytes: [0; ROOM], length: 0, at: 0, lane: Lane::default(), chance: 0, sum: None };
        SideBySide { walks: [idle.clone(), idle.clone(), idle], sums: Vec::new() }
    }

    /// Begins another sum with what is known of it, and gives its number.
    pub(super) fn begin(&mut self, tokens: u32) -> usize {
        self.sums.push(tokens.into());
        self.sums.len() - 1
    }

    /// Whether a text is short enough to be added.
    pub(super) fn takes(raw: &str) -> bool {
        raw.len() < LANES_FROM
    }

    /// Adds a short text to a sum.
    pub(super) fn add(&mut self, sum: usize, raw: &str, spelling: Spelling) {
        debug_assert!(Self::takes(raw), "longer texts have lanes of their own");
        if raw.is_empty() {
            return;
        }
        let place = loop {
            match self.walks.iter().position(|walk| walk.sum.is_none()) {
                Some(place) => break place,
                None => self.go_on(),
            }
        };
        if let Some(walk) = self.walks.get_mut(place) {
            walk.start(sum, raw, spelling);
        }
    }

    /// The tokens of each sum.
    pub(super) fn finish(mut self) -> Vec<u64> {
        for place in 0..self.walks.len() {
            if let Some(walk) = self.walks.get_mut(place) {
                walk.run_out();
            }
            self.settle(place);
        }
        self.sums
    }

    /// Goes on with all texts until one of them is over.
    fn go_on(&mut self) {
        let shared = self.walks.iter().map(Walk::left).min().unwrap_or_default();
        let [a, b, c] = &mut self.walks;
        let [(mut lane_a, windows_a), (mut lane_b, windows_b), (mut lane_c, windows_c)] =
            [&*a, &*b, &*c].map(|walk| (walk.lane, walk.ahead(shared).array_windows()));
        let [mut chance_a, mut chance_b, mut chance_c] = [0, 0, 0];
        for ((window_a, window_b), window_c) in windows_a.zip(windows_b).zip(windows_c) {
            chance_a += lane_a.advance(window_a);
            chance_b += lane_b.advance(window_b);
            chance_c += lane_c.advance(window_c);
        }
        a.advance(shared, lane_a, chance_a);
        b.advance(shared, lane_b, chance_b);
        c.advance(shared, lane_c, chance_c);
        (0..self.walks.len()).for_each(|place| self.settle(place));
    }

    /// Adds a text that is over to its sum.
    fn settle(&mut self, place: usize) {
        let Some(walk) = self.walks.get_mut(place).filter(|walk| walk.left() == 0) else { return };
        if let Some(sum) = walk.sum.take().and_then(|sum| self.sums.get_mut(sum)) {
            *sum += u64::from(rounded(walk.chance + walk.lane.end()));
        }
    }
}

impl Walk {
    fn start(&mut self, sum: usize, raw: &str, spelling: Spelling) {
        self.length = match spelling {
            Spelling::Plain => {
                let (into, _) = self.bytes.split_at_mut(raw.len());
                into.copy_from_slice(raw.as_bytes());
                raw.len()
            }
            Spelling::Escaped => Decoder::new(raw).fill(&mut self.bytes).len(),
        };
        (self.lane, self.chance) = Lane::begin(self.bytes[0]);
        self.at = 1;
        self.sum = Some(sum);
    }

    fn left(&self) -> usize {
        self.length.saturating_sub(self.at)
    }

    /// The next bytes after the last one that was walked.
    fn ahead(&self, length: usize) -> &[u8] {
        self.bytes.get(self.at.saturating_sub(1)..self.at + length).unwrap_or_default()
    }

    fn advance(&mut self, length: usize, lane: Lane, chance: u64) {
        self.at += length;
        self.lane = lane;
        self.chance += chance;
    }

    fn run_out(&mut self) {
        let (mut lane, left) = (self.lane, self.left());
        let chance = self.ahead(left).array_windows().map(|window| lane.advance(window)).sum();
        self.advance(left, lane, chance);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{estimate, estimate_escaped};
    use super::*;

    #[test]
    fn texts_side_by_side_cost_what_they_cost_alone() {
        let texts: Vec<String> =
            (0..40).map(|n| "fn keep(a: &str) → \\\"Ü\\n\\u00e4\\\" { 12345 } ".repeat(n % 7 * 3 % 20 + 1)).collect();
        let mut walks = SideBySide::new();
        let mut alone = Vec::new();
        for text in texts.iter().filter(|text| SideBySide::takes(text)) {
            for (spelling, cost) in [(Spelling::Plain, estimate(text)), (Spelling::Escaped, estimate_escaped(text))] {
                let sum = walks.begin(0);
                walks.add(sum, text, spelling);
                alone.push(u64::from(cost));
            }
        }
        let sum = walks.begin(7);
        ["a", "", "bc"].iter().for_each(|text| walks.add(sum, text, Spelling::Plain));
        alone.push(7 + u64::from(estimate("a") + estimate("bc")));
        assert_eq!(walks.finish(), alone);
    }
}
