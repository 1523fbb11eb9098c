//! Masks a text that arrives in pieces, in bounded memory.

use crate::parts::{self, SIZES, Sizes};
use crate::{Across, Finding, Mode, mask_all, scan};

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
        let findings = scan::find(&self.held, self.mode);
        let (cut, out) = match self.released(&findings) {
            Some(released) => released,
            None if waiting < LONGEST => {
                self.wanted = waiting * 2;
                return Vec::new();
            }
            None => (self.held.len(), self.masked(self.held.len(), &findings, Across::Clip).unwrap_or_default()),
        };
        self.wanted = self.sizes.batch;
        let kept = cut.min(self.sizes.context);
        self.held.drain(..cut - kept);
        self.context = kept;
        out
    }

    /// Releases the rest.
    pub fn finish(self) -> Vec<u8> {
        let findings = scan::find(&self.held, self.mode);
        self.masked(self.held.len(), &findings, Across::Clip).unwrap_or_default()
    }

    /// As much as can be released, and where it ends; `None` when a secret reaches from one end to the other.
    fn released(&self, findings: &[Finding]) -> Option<(usize, Vec<u8>)> {
        /// More secrets that show only when others are masked do not reach across each other in any honest text.
        const MOST_TRIES: usize = 8;
        let mut limit = self.held.len().saturating_sub(self.sizes.margin);
        for _ in 0..MOST_TRIES {
            let cut = parts::cut(&self.held, self.context, limit, findings)?;
            match self.masked(cut, findings, Across::Tell) {
                Ok(out) => return Some((cut, out)),
                Err(before) => limit = before,
            }
        }
        None
    }

    /// The text from the context up to `cut`, masked; where a secret begins that reaches across it.
    fn masked(&self, cut: usize, findings: &[Finding], across: Across) -> Result<Vec<u8>, usize> {
        mask_all(&self.held, self.context..cut, findings, self.mode, across)
    }
}
