//! Decides how much a reducer may write.

/// Bytes that a body may take. Grows with the square root of the input: twice the output does not hold
/// twice as much that is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room(usize);

/// Tenths of a byte per square root of an input byte: the one knob between size and what is kept. Measured on the
/// outputs above 500 tokens in the first parts of real coding sessions (2,300 tokens on average), with the share of
/// their names that the agent used in the second part:
///
/// | growth | beside | reduced by | names kept | without the conversation |
/// |---|---|---|---|---|
/// | 100 | 0 | 91.5 % | 68 % | 55 % |
/// | 70 | 30 | 92.2 % | 67 % | |
/// | 50 | 30 | 93.4 % | 59 % | |
///
/// Averaged over kinds, 70 and 30 keep ten points more than 100 and 0: the kinds that are no lines of code gain.
/// Two more make up for plain words, which do not count in code.
const GROWTH: usize = 72;
/// The same for the lines beside the body; most outputs use little of it.
const BESIDE: usize = 30;
/// The smallest body: a few lines say more than none.
const LEAST: usize = 240;
/// The largest body: about a thousand tokens.
const MOST: usize = 4_000;

impl Room {
    /// What lines may take beside the body that stay for the sake of the conversation around.
    pub(super) fn beside(input: usize) -> Room {
        Room((input.isqrt().saturating_mul(BESIDE) / 10).min(MOST))
    }

    pub(super) fn of(input: usize) -> Room {
        Room((input.isqrt().saturating_mul(GROWTH) / 10).clamp(LEAST, MOST))
    }

    pub(super) const fn bytes(self) -> usize {
        self.0
    }

    /// A part of the room, for one section of a body.
    pub(super) const fn percent(self, share: usize) -> usize {
        self.0.saturating_mul(share) / 100
    }
}
