//! Decides how much a reducer may write.

use super::Kind;

/// Bytes that a body may take. Grows with the square root of the input: twice the output does not hold
/// twice as much that is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room(usize);

/// Tenths of a byte per square root of an input byte, where lines are chosen among all by their names.
const CHOSEN: usize = 67;
/// The same where something else decides what stays, and for the lines that stay beside it for the sake of the
/// conversation.
///
/// These are the knobs between size and what is kept. Measured on the outputs above 500 tokens in the first parts of
/// real coding sessions (2,300 tokens on average) and generated ones of rare kinds, with the share of their names that
/// the agent used in the second part (`foldline eval DIR`, "outputs by kind"):
///
/// | chosen | reduced by | kept in the output | still in the conversation | the same, mean of kinds |
/// |---|---|---|---|---|
/// | 90 | 93.5 % | 68 % | 88 % | 92 % |
/// | 78 | 94.2 % | 64 % | 86 % | 91 % |
/// | 67 | 94.7 % | 58 % | 83 % | 90 % |
///
/// What leaves an output can be recalled by its handle; what stays is sent with every request.
const DECIDED: usize = 46;
const BESIDE: usize = 30;
/// The smallest body: a few lines say more than none.
const LEAST: usize = 240;
/// The largest body: about a thousand tokens.
const MOST: usize = 4_000;

impl Room {
    /// What the body of an output of some kind may take.
    pub(super) fn of(kind: Kind, input: usize) -> Room {
        let growth = if kind.is_chosen_by_name() { CHOSEN } else { DECIDED };
        Room((input.isqrt().saturating_mul(growth) / 10).clamp(LEAST, MOST))
    }

    /// What lines may take beside a body that was not chosen by name.
    pub(super) fn beside(input: usize) -> Room {
        Room((input.isqrt().saturating_mul(BESIDE) / 10).min(MOST))
    }

    pub(super) const fn bytes(self) -> usize {
        self.0
    }

    /// A part of the room, for one section of a body.
    pub(super) const fn percent(self, share: usize) -> usize {
        self.0.saturating_mul(share) / 100
    }
}
