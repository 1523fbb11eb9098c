//! The inside of a JSON string literal, decoded piece by piece into a buffer of the caller.
//!
//! Literals that are not valid JSON are decoded as far as they make sense: what is counted here was accepted or will be
//! refused elsewhere.

use foldline_transcript::wire::json;

pub(super) struct Decoder<'a> {
    rest: &'a [u8],
}

/// The longest character.
const CHARACTER: usize = 4;
/// Bytes that are looked at together.
const WORD: usize = 8;

impl<'a> Decoder<'a> {
    pub(super) fn new(raw: &'a str) -> Self {
        Self { rest: raw.as_bytes() }
    }

    /// Decodes what fits and gives the part of the buffer that was filled, which is empty only at the end.
    pub(super) fn fill<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8] {
        let mut len = 0;
        while let Some(room) = buffer.get_mut(len..)
            && room.len() >= CHARACTER
        {
            let copied = self.copy_plain(room);
            len += copied;
            let Some(room) = buffer.get_mut(len..).filter(|room| room.len() >= CHARACTER) else { break };
            let Some(written) = self.decode_one(room) else { break };
            len += written;
        }
        buffer.get(..len).unwrap_or_default()
    }

    /// Copies whole words up to the first backslash, and the plain bytes before it.
    fn copy_plain(&mut self, room: &mut [u8]) -> usize {
        let mut copied = 0;
        for (word, room) in self.rest.as_chunks::<WORD>().0.iter().zip(room.as_chunks_mut::<WORD>().0) {
            *room = *word;
            let plain = bytes_before_backslash(*word);
            copied += plain;
            if plain < WORD {
                break;
            }
        }
        self.rest = self.rest.get(copied..).unwrap_or_default();
        copied
    }

    /// Decodes one byte or one escape.
    fn decode_one(&mut self, room: &mut [u8]) -> Option<usize> {
        match *self.rest {
            [b'\\', ..] => {
                let (character, length) = json::decode_escape(self.rest);
                self.rest = self.rest.get(length..).unwrap_or_default();
                Some(character.encode_utf8(room).len())
            }
            [byte, ref rest @ ..] => {
                self.rest = rest;
                *room.first_mut()? = byte;
                Some(1)
            }
            [] => None,
        }
    }
}

/// The place of the first backslash, or the length of the word.
fn bytes_before_backslash(word: [u8; WORD]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero_at_backslash = u64::from_le_bytes(word) ^ (ONES * b'\\' as u64);
    // The lowest bit that this leaves is the top bit of the first zero byte.
    let zeros = zero_at_backslash.wrapping_sub(ONES) & !zero_at_backslash & (ONES << 7);
    zeros.trailing_zeros() as usize / WORD
}
