//! Masks a text that arrives in pieces, in bounded memory.

use crate::{Finding, Mode, mask_all, scan};

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

#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Large batches make the repeated look at margin and context cheap.
    batch: usize,
    /// Held back at the end of a batch, so that a key of several lines is seen whole.
    margin: usize,
    /// Kept after it was released, so that the next batch is read as the continuation that it is.
    context: usize,
    /// A secret that is longer than this is released in parts. Memory stays within twice of it.
    most: usize,
}

const SIZES: Sizes = Sizes { batch: 256 * 1024, margin: 20 * 1024, context: 8 * 1024, most: 4 * 1024 * 1024 };

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
        Self::with_sizes(mode, Sizes { batch: 4096, margin: 2048, context: 2048, most: 1 << 20 })
    }

    /// Takes the next piece and answers what can be released of the text so far.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        let waiting = self.held.len() - self.context;
        if waiting < self.wanted {
            return Vec::new();
        }
        let findings = scan::find(&self.held, self.mode);
        let cut = match self.cut(&findings) {
            Some(cut) => cut,
            None if waiting < self.sizes.most => {
                self.wanted = waiting * 2;
                return Vec::new();
            }
            None => self.held.len(),
        };
        self.wanted = self.sizes.batch;
        let out = self.release(cut, &findings);
        let kept = cut.min(self.sizes.context);
        self.held.drain(..cut - kept);
        self.context = kept;
        out
    }

    /// Releases the rest.
    pub fn finish(self) -> Vec<u8> {
        let findings = scan::find(&self.held, self.mode);
        self.release(self.held.len(), &findings)
    }

    /// The text from the context up to `cut`, masked.
    fn release(&self, cut: usize, findings: &[Finding]) -> Vec<u8> {
        let text = self.held.get(self.context..cut).unwrap_or_default();
        let within = findings.iter().filter(|finding| finding.end > self.context && finding.start < cut);
        let moved: Vec<Finding> = within
            .map(|finding| Finding {
                start: finding.start.saturating_sub(self.context),
                end: finding.end.min(cut) - self.context,
                ..*finding
            })
            .collect();
        if moved.is_empty() { text.to_vec() } else { mask_all(text, &moved, self.mode) }
    }

    /// Where to cut: the last end of a line before the margin with no secret across it, else the last blank, else
    /// anywhere between two characters. `None` asks for more text.
    fn cut(&self, findings: &[Finding]) -> Option<usize> {
        let limit = self.held.len().checked_sub(self.sizes.margin)?;
        let line_end = |byte: u8| byte == b'\n';
        let blank = |byte: u8| matches!(byte, b' ' | b',');
        let letter = |byte: u8| byte.is_ascii_alphanumeric();
        self.cut_after(limit, findings, line_end)
            .or_else(|| self.cut_after(limit, findings, blank))
            .or_else(|| self.cut_after(limit, findings, letter))
    }

    fn cut_after(&self, mut limit: usize, findings: &[Finding], separates: impl Fn(u8) -> bool) -> Option<usize> {
        loop {
            let waiting = self.held.get(self.context..limit)?;
            let cut = self.context + waiting.iter().rposition(|&byte| separates(byte))? + 1;
            let next = findings.partition_point(|finding| finding.end <= cut);
            match findings.get(next).filter(|finding| finding.start < cut) {
                Some(across) => limit = across.start,
                None => return Some(cut),
            }
        }
    }
}
