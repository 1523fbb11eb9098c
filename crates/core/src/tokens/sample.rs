//! Counts of texts that are far too much anyway: a document above eight megabytes has two million tokens, twice the
//! largest window. What lies far from its end folds whatever it costs exactly, so one byte in 32 of its long texts,
//! and the middle of those of some size, is counted and stands for the rest.

use super::EXACT_UP_TO;
use foldline_transcript::edit::Span;

/// What may stay as a tail is counted in full.
const NEAR_THE_END: usize = 2 << 20;
/// One stretch in each stride is counted. Short enough that many texts have one, long enough that what its ends cut in two
/// does not count.
const STRETCH: usize = 512;
const STRIDE: usize = 32 * STRETCH;
/// Texts below a stride are told by the middle of them, where they are what they are; shorter ones are counted in full.
const SHORTEST: usize = 2 * STRETCH;

/// How closely the texts of a document are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    /// Texts that begin before this are sampled.
    until: usize,
}

impl Sampling {
    /// The sampling for a document of `bytes`.
    pub(super) fn of(bytes: usize) -> Sampling {
        let until = if bytes > EXACT_UP_TO { bytes - NEAR_THE_END } else { 0 };
        Sampling { until }
    }

    /// Whether the text at `span` is sampled.
    pub(super) fn covers(self, span: Span) -> bool {
        (span.start as usize) < self.until && span.len() >= SHORTEST
    }
}

/// The stretches of a text that are counted.
pub(super) fn stretches(raw: &str) -> impl Iterator<Item = &str> {
    let first = if raw.len() < STRIDE { (raw.len() - STRETCH.min(raw.len())) / 2 } else { 0 };
    (first..raw.len()).step_by(STRIDE).filter_map(|start| {
        let (start, end) = (raw.ceil_char_boundary(start), raw.floor_char_boundary(start + STRETCH));
        raw.get(start..end)
    })
}

/// Tokens of a text whose stretches have so many.
pub(super) fn of_whole(raw: &str, tokens: u64) -> u32 {
    let bytes: usize = stretches(raw).map(str::len).sum();
    (tokens * raw.len() as u64 / bytes.max(1) as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::super::estimate_escaped;
    use super::*;

    #[test]
    fn a_sample_is_near_the_whole() {
        let text: String = (0..20_000)
            .map(|n| match n % 7 {
                0 => format!("2026-11-02 10:{:02}:{:02} ERROR worker-{n} failed\\n", n / 60 % 60, n % 60),
                1 | 2 => format!("    let value_{n} = compute(index, {n});\\n"),
                _ => format!("and then the request {n} was answered in time\\n"),
            })
            .collect();
        let tokens = stretches(&text).map(|stretch| u64::from(estimate_escaped(stretch))).sum();
        let (whole, sample) = (f64::from(estimate_escaped(&text)), f64::from(of_whole(&text, tokens)));
        assert!((sample / whole - 1.0).abs() < 0.02, "{whole} tokens, {sample} by sample");
    }

    #[test]
    fn small_documents_and_the_end_of_large_ones_are_counted_in_full() {
        let text = Span { start: 0, end: 100_000 };
        assert!(!Sampling::of(EXACT_UP_TO).covers(text));
        assert!(Sampling::of(EXACT_UP_TO + 1).covers(text));
        let near = Span { start: 7 << 20, end: 8 << 20 };
        assert!(!Sampling::of(EXACT_UP_TO + 1).covers(near));
    }
}
