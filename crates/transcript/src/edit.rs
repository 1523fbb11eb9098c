//! Byte edits on source text: where, and what comes instead.
//!
//! A request body is treated as source text. Nothing here re-serialises it:
//! bytes that no edit names are copied as they are.

use std::ops::Range;

/// A half-open byte range of a document. Documents are at most 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, both below 4 GiB (checked when a document is opened).
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// As a range for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text it covers; empty when it does not lie in `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// Without the first and last byte: the inside of a string literal.
    pub fn inner(self) -> Span {
        if self.len() < 2 { self } else { Span { start: self.start + 1, end: self.end - 1 } }
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span inserts.
    pub span: Span,
    /// What comes instead; an empty text deletes.
    pub text: String,
}

/// A set of edits on one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Invariant after [`Edits::sort`]: sorted by start, pairwise disjoint.
    edits: Vec<Edit>,
}

impl Edits {
    /// No edits.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Replaces what `span` covers by `text`.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits.push(Edit { span, text: text.into() });
    }

    /// Removes what `span` covers.
    pub fn delete(&mut self, span: Span) {
        self.replace(span, "");
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The edits in the order given, or in document order after [`Edits::sort`].
    pub fn as_slice(&self) -> &[Edit] {
        &self.edits
    }

    /// Brings the edits into document order. An edit that overlaps an earlier one is dropped:
    /// the first to name a byte decides about it.
    pub fn sort(&mut self) {
        self.edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let mut reached = 0;
        self.edits.retain(|edit| {
            let free = edit.span.start >= reached;
            if free {
                reached = edit.span.end;
            }
            free
        });
    }

    /// Appends what `within` covers of `source` to `out`, with the (sorted) edits inside `within` applied.
    pub fn splice_into(&self, source: &str, within: Span, out: &mut String) {
        let first = self.edits.partition_point(|edit| edit.span.start < within.start);
        let mut at = within.start;
        for edit in self.edits.iter().skip(first) {
            if edit.span.end > within.end {
                break;
            }
            out.push_str(Span { start: at, end: edit.span.start }.of(source));
            out.push_str(&edit.text);
            at = edit.span.end;
        }
        out.push_str(Span { start: at, end: within.end }.of(source));
    }

    /// `source` with all edits applied.
    pub fn splice(mut self, source: &str) -> String {
        self.sort();
        let mut out = String::with_capacity(source.len());
        self.splice_into(source, Span::new(0, source.len()), &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_no_edit_names_are_copied() {
        let mut edits = Edits::new();
        edits.replace(Span::new(6, 9), "X");
        edits.delete(Span::new(0, 2));
        assert_eq!(edits.splice("ab cd efg hi"), " cd X hi");
    }

    #[test]
    fn of_two_overlapping_edits_the_first_decides() {
        let mut edits = Edits::new();
        edits.replace(Span::new(0, 4), "A");
        edits.replace(Span::new(2, 6), "B");
        assert_eq!(edits.splice("012345"), "A45");
    }

    #[test]
    fn no_edits_give_the_same_text() {
        assert_eq!(Edits::new().splice("löss"), "löss");
    }
}
