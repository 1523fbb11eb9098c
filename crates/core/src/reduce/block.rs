//! Tells bytes apart, 64 at a time: a block of text as bits.

use super::lexicon::number;

/// The bytes of a block by what they are to a name, a bit for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Those of runs that may be names and have not been read.
    unread: u64,
    /// Those of any run.
    all: u64,
    pub lower: u64,
    pub upper: u64,
    /// Digits and underscores.
    pub joint: u64,
}

pub(super) const BLOCK: usize = u64::BITS as usize;

impl Block {
    /// The block that starts at `base`.
    #[inline]
    pub(super) fn at(bytes: &[u8], base: usize) -> Block {
        let rest = bytes.get(base..).unwrap_or_default();
        match rest.first_chunk() {
            Some(bytes) => Block::of(bytes),
            None => Block::of(&padded(rest)),
        }
    }

    #[inline]
    fn of(bytes: &[u8; BLOCK]) -> Block {
        let Looks { lower, upper, joint } = looks(bytes);
        let all = lower | upper | joint;
        // Short runs inside of a block are no names; one that touches its end may go on.
        let starts = all & all >> 1 & all >> 2 & all >> 3;
        let touching = !(u64::MAX.checked_shr(all.leading_ones()).unwrap_or(0));
        let unread = starts | starts << 1 | starts << 2 | starts << 3 | touching;
        Block { unread, all, lower, upper, joint }
    }

    /// Where the next run that may be a name begins.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (self.unread != 0).then(|| self.unread.trailing_zeros())
    }

    /// Whether one run is all of it.
    pub(super) fn is_full(&self) -> bool {
        self.all == u64::MAX
    }

    /// The run of bits from `first` on, which is read with that; nothing where there is none.
    #[inline]
    pub(super) fn take_run(&mut self, first: u32) -> u64 {
        // Adding a bit carries through a run that begins with it, and leaves the rest as it is.
        let run = self.all & !self.all.wrapping_add(1 << first) & u64::MAX << first;
        self.unread &= !run;
        run
    }
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
struct Looks {
    lower: u64,
    upper: u64,
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
