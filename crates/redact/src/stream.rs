//! Masks a text that arrives in pieces, in bounded memory.

use crate::Mode;
use crate::masking::{self, Part};
use crate::parts::{SIZES, Sizes};

/// Masks bytes as they come. Text is held back until enough of what follows is known, and released at line ends.
///
/// What is released is what [`crate::redact`] would make of the whole text, as long as no secret is longer than the
/// margin and none depends on more than the context before it.
///
/// ```
/// use foldline_redact::{Mode, Stream};
/// let mut stream = Stream::new(Mode::Text);
/// let mut out = stream.feed(b"DB_PASS");
/// out.extend(stream.feed(b"WORD=tangerine-42\n"));
/// out.extend(stream.finish());
/// assert_eq!(out, b"DB_PASSWORD=***\n");
/// ```
#[derive(Debug)]
pub struct Stream {
    mode: Mode,
    /// Text that was released and is kept as context, then text that is to be released.
    held: Vec<u8>,
    /// How much of it was released.
    context: usize,
    sizes: Sizes,
    /// Work starts when this much waits.
    wanted: usize,
}

/// A secret that is longer than this is released in parts. Memory stays within twice of it.
const LONGEST: usize = 4 * 1024 * 1024;

impl Stream {
    /// A stream that has seen nothing.
    pub fn new(mode: Mode) -> Self {
        Self::with_sizes(mode, SIZES)
    }

    fn with_sizes(mode: Mode, sizes: Sizes) -> Self {
        Self { mode, held: Vec::new(), context: 0, sizes, wanted: sizes.batch }
    }

    /// Small enough that a short text passes through all states.
    #[cfg(test)]
    pub(crate) fn with_small_sizes(mode: Mode) -> Self {
        Self::with_sizes(mode, Sizes { batch: 4096, margin: 2048, context: 2048 })
    }

    /// Takes the next piece and answers what can be released of the text so far.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        let waiting = self.held.len() - self.context;
        if waiting < self.wanted {
            return Vec::new();
        }
        let part = match masking::first_part(&self.held, self.context, self.sizes.margin, self.mode) {
            Some(part) => part,
            None if waiting < LONGEST => {
                self.wanted = waiting * 2;
                return Vec::new();
            }
            None => masking::last_part(&self.held, self.context, self.mode),
        };
        self.wanted = self.sizes.batch;
        let end = part.end;
        let out = self.bytes_of(part);
        let kept = end.min(self.sizes.context);
        self.held.drain(..end - kept);
        self.context = kept;
        out
    }

    /// Releases the rest.
    pub fn finish(self) -> Vec<u8> {
        self.bytes_of(masking::last_part(&self.held, self.context, self.mode))
    }

    fn bytes_of(&self, part: Part) -> Vec<u8> {
        part.masked.unwrap_or_else(|| self.held.get(self.context..part.end).unwrap_or_default().to_vec())
    }
}
