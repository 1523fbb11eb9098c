//! Tells bytes apart, 64 at a time: a block of text as bits.

use super::lexicon::number;

/// The names that somebody looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that nobody writes in a sentence.
    Coined,
    /// Plain words, too.
    All,
}

/// The bytes of a block by what they are to a name, a bit for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Some of each run that may be a name and has not been read.
    unread: u64,
    /// Those of any run.
    all: u64,
    looks: Looks,
    /// Bytes up to the next block: a run that goes on beyond this one is left to it as a whole.
    pub length: usize,
}

pub(super) const BLOCK: usize = u64::BITS as usize;

/// Letters, digits and underscores without a gap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// Where it starts and ends in its block.
    pub start: usize,
    pub end: usize,
    /// Whether something in it makes a coined name of it.
    pub coined: bool,
}

impl Block {
    /// The block at the start of a text, where runs that cannot be such names need not be read.
    #[inline]
    pub(super) fn of(text: &[u8], which: Which) -> Block {
        let looks = match text.first_chunk() {
            Some(bytes) => looks(bytes),
            None => looks(&padded(text)),
        };
        let Looks { lower, upper, joint } = looks;
        let all = lower | upper | joint;
        let going_on = if text.len() > BLOCK { all.leading_ones() as usize } else { 0 };
        if going_on == BLOCK {
            return Block { unread: 0, all, looks, length: data(text) };
        }
        let length = BLOCK - going_on;
        let all = all & u64::MAX >> going_on;
        let unread = match which {
            // Shorter runs are no names.
            Which::All => all & all >> 1 & all >> 2 & all >> 3,
            // What makes a name coined is not its first byte.
            Which::Coined => (joint | upper) & all & all << 1,
        };
        Block { unread, all, looks, length }
    }

    /// The next run that may be a name.
    #[inline]
    pub(super) fn next_run(&mut self) -> Option<Run> {
        let lowest = self.unread & self.unread.wrapping_neg();
        if lowest == 0 {
            return None;
        }
        let gaps_before = !self.all & (lowest - 1);
        let start = BLOCK - gaps_before.leading_zeros() as usize;
        // Adding a bit carries to the first gap after it.
        let end = (self.all.wrapping_add(lowest) & !self.all).trailing_zeros() as usize;
        let upto = u64::MAX.checked_shr((BLOCK - end) as u32).unwrap_or(0);
        self.unread &= !upto;
        let bits = upto & u64::MAX << start;
        let inner = bits & (bits - 1);
        let Looks { lower, upper, joint } = self.looks;
        // What its first byte is makes no name coined, but for a small one before capitals.
        Some(Run { start, end, coined: joint & inner != 0 || upper & inner != 0 && lower & bits != 0 })
    }
}

/// How far a run goes that fills a block: it is data, and no part of it is a name.
fn data(text: &[u8]) -> usize {
    text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(text.len())
}

/// Fewer bytes than a block, copied in pieces of one size: a copy of any length is slower.
#[inline]
fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    const PIECE: usize = 16;
    let mut block = [0; BLOCK];
    match bytes.last_chunk::<PIECE>() {
        Some(last) => {
            let (whole, rest) = bytes.as_chunks::<PIECE>();
            // What whole pieces leave over is the end of the last sixteen bytes.
            let copied = 8 * (PIECE - rest.len()) as u32;
            let rest = u128::from_le_bytes(*last).checked_shr(copied).unwrap_or(0).to_le_bytes();
            for (to, from) in block.as_chunks_mut::<PIECE>().0.iter_mut().zip(whole.iter().chain([&rest])) {
                *to = *from;
            }
        }
        None => {
            if let Some(to) = block.first_chunk_mut() {
                *to = number(bytes).unwrap_or(0).to_le_bytes();
            }
        }
    }
    block
}

/// What bytes are, a bit for each, the first one lowest.
#[derive(Debug, Clone, Copy)]
struct Looks {
    lower: u64,
    upper: u64,
    /// Digits and underscores.
    joint: u64,
}

#[inline]
fn looks(bytes: &[u8; BLOCK]) -> Looks {
    // Gathering bits costs more than telling bytes apart, and two bits are enough for three looks.
    let is_joint = |byte: u8| u8::from(byte.wrapping_sub(b'0') < 10) | u8::from(byte == b'_');
    let no_upper = bits(&bytes.map(|byte| u8::from(byte.wrapping_sub(b'a') < 26) | is_joint(byte)));
    let no_lower = bits(&bytes.map(|byte| u8::from(byte.wrapping_sub(b'A') < 26) | is_joint(byte)));
    Looks { lower: no_upper & !no_lower, upper: no_lower & !no_upper, joint: no_upper & no_lower }
}

/// Zeros and ones as bits, the first one lowest.
#[inline]
fn bits(flags: &[u8; BLOCK]) -> u64 {
    /// Moves the lowest bit of each of eight bytes to its place in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = flags.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |bits, (place, eight)| bits | (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_what_it_is() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in all.as_chunks::<BLOCK>().0 {
            let here = looks(bytes);
            for (place, byte) in bytes.iter().enumerate() {
                assert_eq!(here.lower >> place & 1 == 1, byte.is_ascii_lowercase(), "{byte}");
                assert_eq!(here.upper >> place & 1 == 1, byte.is_ascii_uppercase(), "{byte}");
                assert_eq!(here.joint >> place & 1 == 1, byte.is_ascii_digit() || *byte == b'_', "{byte}");
            }
        }
    }
}
