//! Packing: a text as zstd in pieces, and back. Memory beside the text itself is one piece and the
//! compressor's window, whatever the size.

use std::cell::RefCell;
use std::io::{self, Read, Write};

/// Three is where zstd's ratio stops rising faster than its time; tool output shrinks 4 to 10 times.
const LEVEL: i32 = 3;

/// Bytes of a piece. Nearly every original fits into one.
const PIECE: usize = 256 << 10;

/// Packs a text and hands the pieces to `keep`, in order.
pub(crate) fn pack<E: From<io::Error>>(text: &str, mut keep: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut packed = zstd::stream::read::Encoder::with_buffer(text.as_bytes(), LEVEL)?;
    // A known size lets the compressor choose tables to match: small texts need no large window.
    packed.set_pledged_src_size(u64::try_from(text.len()).ok())?;
    let mut piece = Vec::with_capacity(PIECE.min(text.len() / 2 + 64));
    loop {
        piece.clear();
        packed.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        if piece.is_empty() {
            return Ok(());
        }
        keep(&piece)?;
    }
}

/// Unpacks pieces, given in order.
pub(crate) struct Unpacking {
    size: usize,
    state: State,
}

/// What is known of the pieces. Nearly every text has one, which is unpacked in one go, without a stream and its buffers.
enum State {
    Empty,
    One(Vec<u8>),
    Stream(zstd::stream::write::Decoder<'static, Bounded>),
}

thread_local! {
    /// Made once per thread: that takes longer than unpacking a small text.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A buffer that takes no more than it was promised, so that a damaged file cannot fill the memory.
struct Bounded {
    bytes: Vec<u8>,
    size: usize,
}

impl Unpacking {
    /// Prepares for a text of `size` bytes.
    pub(crate) fn of_size(size: usize) -> Unpacking {
        Unpacking { size, state: State::Empty }
    }

    /// Takes the next piece.
    pub(crate) fn piece(&mut self, piece: &[u8]) -> io::Result<()> {
        self.state = match std::mem::replace(&mut self.state, State::Empty) {
            State::Empty => State::One(piece.to_vec()),
            State::One(first) => {
                let mut stream = self.stream()?;
                stream.write_all(&first)?;
                stream.write_all(piece)?;
                State::Stream(stream)
            }
            State::Stream(mut stream) => {
                stream.write_all(piece)?;
                State::Stream(stream)
            }
        };
        Ok(())
    }

    fn stream(&self) -> io::Result<zstd::stream::write::Decoder<'static, Bounded>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.size)?;
        zstd::stream::write::Decoder::new(Bounded { bytes, size: self.size })
    }

    /// The text, if all of it arrived.
    pub(crate) fn finish(self) -> io::Result<String> {
        let bytes = match self.state {
            State::Empty => Vec::new(),
            State::One(piece) => unpack_one(&piece, self.size)?,
            State::Stream(mut stream) => {
                stream.flush()?;
                stream.into_inner().bytes
            }
        };
        if bytes.len() != self.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// Unpacks a text that is one piece; fails when it is longer than promised.
fn unpack_one(piece: &[u8], size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size)?;
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            None => decompressor.insert(zstd::bulk::Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(piece, &mut bytes)?;
        Ok(bytes)
    })
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.size - self.bytes.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::noise;

    fn pieces(text: &str) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        pack(text, |piece| {
            pieces.push(piece.to_vec());
            Ok::<_, io::Error>(())
        })
        .unwrap();
        pieces
    }

    fn unpack(pieces: &[Vec<u8>], size: usize) -> io::Result<String> {
        let mut unpacking = Unpacking::of_size(size);
        pieces.iter().try_for_each(|piece| unpacking.piece(piece))?;
        unpacking.finish()
    }

    #[test]
    fn a_large_text_travels_in_bounded_pieces() {
        let text = noise(1, 3 * PIECE);
        let pieces = pieces(&text);
        assert!(pieces.len() > 1);
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE));
        assert!(unpack(&pieces, text.len()).unwrap() == text);
    }

    #[test]
    fn an_empty_text_is_a_text() {
        assert_eq!(unpack(&pieces(""), 0).unwrap(), "");
    }

    #[test]
    fn more_or_less_than_promised_is_an_error() {
        let packed = pieces(&"a".repeat(1 << 20));
        assert!(unpack(&packed, (1 << 20) - 1).is_err());
        assert!(unpack(&packed, (1 << 20) + 1).is_err());
        assert!(unpack(&packed, usize::MAX).is_err());
        assert!(unpack(&[b"no zstd at all".to_vec()], 14).is_err());
    }
}
