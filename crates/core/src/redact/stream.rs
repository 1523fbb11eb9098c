//! Masks a text that arrives in pieces, in bounded memory.

use crate::redact::{Finding, Mode, find_in, mask_all};

/// Masks bytes as they come. Text is held back until enough of what follows is known, and released at line ends.
///
/// What is released is what [`crate::redact::redact`] would make of the whole text, as long as no secret is longer than the
/// margin.
pub struct Stream {
    mode: Mode,
    held: Vec<u8>,
    sizes: Sizes,
    /// Work starts when this much is held.
    wanted: usize,
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Large batches make the repeated look at the margin cheap.
    batch: usize,
    /// Held back at the end of a batch, so that a key of several lines is seen whole.
    margin: usize,
    /// In a line that is longer than a batch, this much around a cut is free of secrets, so that no name is cut off its
    /// value.
    clearance: usize,
    /// Without any place to cut, text is released at this size. Memory stays within twice of it.
    most: usize,
}

const SIZES: Sizes = Sizes { batch: 256 * 1024, margin: 20 * 1024, clearance: 4 * 1024, most: 4 * 1024 * 1024 };

impl Stream {
    /// A stream that has seen nothing.
    pub fn new(mode: Mode) -> Self {
        Self::with_sizes(mode, SIZES)
    }

    fn with_sizes(mode: Mode, sizes: Sizes) -> Self {
        Self { mode, held: Vec::new(), sizes, wanted: sizes.batch }
    }

    /// Small enough that a short text passes through all states.
    #[cfg(test)]
    pub(crate) fn with_small_sizes(mode: Mode) -> Self {
        Self::with_sizes(mode, Sizes { batch: 2048, margin: 1024, clearance: 512, most: 1 << 20 })
    }

    /// Takes the next piece and answers what can be released of the text so far.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        if self.held.len() < self.wanted {
            return Vec::new();
        }
        let findings = find_in(&self.held, self.mode);
        let Some(cut) = self.cut(&findings) else {
            self.wanted = self.held.len() * 2;
            return Vec::new();
        };
        self.wanted = self.sizes.batch;
        let complete = findings.iter().take_while(|finding| finding.end <= cut).count();
        let (text, findings) = (self.held.get(..cut).unwrap_or_default(), findings.get(..complete).unwrap_or_default());
        let out = if findings.is_empty() { text.to_vec() } else { mask_all(text, findings, self.mode) };
        self.held.drain(..cut);
        out
    }

    /// Releases the rest.
    pub fn finish(self) -> Vec<u8> {
        match find_in(&self.held, self.mode) {
            findings if findings.is_empty() => self.held,
            findings => mask_all(&self.held, &findings, self.mode),
        }
    }

    /// Where to cut: at a line end, else at a blank far from any secret. `None` asks for more text.
    fn cut(&self, findings: &[Finding]) -> Option<usize> {
        let line_end = |byte: u8| byte == b'\n';
        let blank = |byte: u8| matches!(byte, b' ' | b',');
        self.cut_after(findings, line_end, 0)
            .or_else(|| self.cut_after(findings, blank, self.sizes.clearance))
            .or_else(|| (self.held.len() >= self.sizes.most).then_some(self.held.len()))
    }

    /// Whether the line at `cut` may give the value of a name on the line before.
    fn continues(&self, cut: usize) -> bool {
        let rest = self.held.get(cut..).unwrap_or_default();
        let word =
            rest.iter().position(|&byte| !(byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',')));
        let line = word.and_then(|start| rest.get(start..start + "value".len())).unwrap_or_default();
        line.eq_ignore_ascii_case(b"value")
    }

    /// The last separator before the margin with no secret across or within `clearance` of it.
    fn cut_after(&self, findings: &[Finding], separates: impl Fn(u8) -> bool, clearance: usize) -> Option<usize> {
        let mut limit = self.held.len().checked_sub(self.sizes.margin)?;
        loop {
            let cut = self.held.get(..limit)?.iter().rposition(|&byte| separates(byte))? + 1;
            if self.continues(cut) {
                limit = cut - 1;
                continue;
            }
            match findings.iter().rev().find(|finding| finding.start < cut + clearance && cut < finding.end + clearance)
            {
                Some(finding) => limit = finding.start.saturating_sub(clearance).min(cut - 1),
                None => return Some(cut),
            }
        }
    }
}
