//! Decides how much a reducer may write.

/// Bytes that a body may take. Grows with the square root of the input: twice the output does not hold
/// twice as much that is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room(usize);

/// Tenths of a byte per square root of an input byte: the one knob between size and what is kept. Measured on the
/// outputs above 500 tokens of real coding sessions (2,000 tokens on average), with the share of names that
/// the agent used later:
///
/// | growth | reduced by | names kept |
/// |---|---|---|
/// | 47 | 94.8 % | 40 % |
/// | 60 | 93.6 % | 48 % |
/// | 80 | 91.8 % | 58 % |
/// | 100 | 90.0 % | 65 % |
/// | 130 | 87.3 % | 74 % |
/// | 160 | 84.7 % | 81 % |
const GROWTH: usize = 70;
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
