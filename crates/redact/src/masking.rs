//! Masks secrets until a second look finds nothing more, in parts that fit into the processor's cache.

use crate::mask::{self, Spliced};
use crate::parts::{self, SIZES};
use crate::{Finding, Mode, scan};
use std::ops::Range;

/// The bytes with every secret masked; `None` if there is none.
pub(crate) fn masked(bytes: &[u8], mode: Mode) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut from = 0;
    let mut batch = SIZES.batch;
    while from < bytes.len() {
        let begin = from - SIZES.context.min(from);
        let end = bytes.len().min(from + batch + SIZES.margin);
        let part = bytes.get(begin..end)?;
        let margin = if end == bytes.len() { 0 } else { SIZES.margin };
        let Some(Part { end: cut, masked }) = first_part(part, from - begin, margin, mode) else {
            batch *= 2;
            continue;
        };
        let cut = begin + cut;
        match (masked, &mut out) {
            (None, None) => {}
            (None, Some(out)) => out.extend_from_slice(bytes.get(from..cut)?),
            (Some(masked), Some(out)) => out.extend_from_slice(&masked),
            (Some(masked), None) => {
                let mut first = Vec::with_capacity(bytes.len());
                first.extend_from_slice(bytes.get(..from)?);
                first.extend_from_slice(&masked);
                out = Some(first);
            }
        }
        from = cut;
        batch = SIZES.batch;
    }
    out
}

/// A part of a text that what follows cannot change any more.
pub(crate) struct Part {
    /// Where it ends.
    pub(crate) end: usize,
    /// What it becomes; `None` if nothing is found in it.
    pub(crate) masked: Option<Vec<u8>>,
}

/// As much of a text as can be decided, from `from` on and without the `margin` at its end. What stands before `from` was
/// decided already. `None` if a secret reaches from one end to the other.
pub(crate) fn first_part(text: &[u8], from: usize, margin: usize, mode: Mode) -> Option<Part> {
    /// More secrets that show only when others are masked do not reach across each other in any honest text.
    const MOST_TRIES: usize = 8;
    let findings = scan::find(text, mode);
    if margin == 0 {
        return Some(rest(text, from, &findings, mode));
    }
    let mut limit = text.len().saturating_sub(margin);
    for _ in 0..MOST_TRIES {
        let end = parts::cut(text, from, limit, &findings)?;
        if findings.is_empty() {
            return Some(Part { end, masked: None });
        }
        match mask_all(text, from..end, &findings, mode, Across::Tell) {
            Ok(masked) => return Some(Part { end, masked: Some(masked) }),
            Err(before) => limit = before,
        }
    }
    None
}

/// All that is left of a text, which nothing follows or whose secret is too long to be waited for.
pub(crate) fn last_part(text: &[u8], from: usize, mode: Mode) -> Part {
    rest(text, from, &scan::find(text, mode), mode)
}

fn rest(text: &[u8], from: usize, findings: &[Finding], mode: Mode) -> Part {
    let masked = || mask_all(text, from..text.len(), findings, mode, Across::Clip).unwrap_or_default();
    Part { end: text.len(), masked: (!findings.is_empty()).then(masked) }
}

/// A mask that shows ends of a secret can, in contrived texts, make a new match together with what stands beside it.
/// Rounds end when nothing is found; each one leaves less to find, and ordinary texts need one.
const MOST_ROUNDS: usize = 8;
/// How far around a mask a new match could stand.
const NEIGHBOURHOOD: usize = 4 * 1024;

/// What to do about a secret that reaches beyond the range that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Across {
    /// Say where it begins.
    Tell,
    /// Mask what of it stands inside.
    Clip,
}

/// The bytes of a range with all findings masked, and nothing left that a second call would find. What stands around the
/// range is masked as well, and serves as context.
///
/// A secret that shows only when others are masked can reach beyond the range. With [`Across::Tell`] that is an error: a
/// range that ends there has none.
fn mask_all(
    bytes: &[u8],
    range: Range<usize>,
    findings: &[Finding],
    mode: Mode,
    across: Across,
) -> Result<Vec<u8>, usize> {
    let mut range = range;
    let mut rounds: Vec<Spliced> = Vec::new();
    let mut findings = findings.to_vec();
    while !findings.is_empty() && rounds.len() < MOST_ROUNDS {
        let beyond = findings.iter_mut().find(|finding| finding.start < range.end && range.end < finding.end);
        match (beyond, across) {
            (Some(beyond), Across::Tell) => {
                return Err(rounds.iter().rev().fold(beyond.start, |place, round| round.back(place)));
            }
            (Some(beyond), Across::Clip) => beyond.end = range.end,
            (None, _) => {}
        }
        // What came before was decided already.
        for finding in findings.iter_mut().filter(|finding| finding.start < range.start && range.start < finding.end) {
            finding.start = range.start;
        }
        let current = rounds.last().map_or(bytes, |round| &round.bytes);
        let round = mask::splice(current, &findings);
        range = round.forward(range.start)..round.forward(range.end);
        findings = find_near(&round.bytes, &round.places, mode);
        rounds.push(round);
    }
    let masked = rounds.last().map_or(bytes, |round| &round.bytes);
    Ok(masked.get(range).unwrap_or_default().to_vec())
}

/// What is found near the given places. Far from them nothing has changed.
fn find_near(bytes: &[u8], places: &[usize], mode: Mode) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut places = places.iter().peekable();
    while let Some(&place) = places.next() {
        let start = place.saturating_sub(NEIGHBOURHOOD);
        let mut last = place;
        while let Some(&next) = places.next_if(|&&next| next <= last + 2 * NEIGHBOURHOOD) {
            last = next;
        }
        let end = bytes.len().min(last + NEIGHBOURHOOD);
        let part = bytes.get(start..end).unwrap_or_default();
        // At a cut a secret may seem to begin or to end; those that masks have brought about stand further inside.
        let clear = |at: usize| {
            (at >= NEIGHBOURHOOD / 4 || start == 0) && (at + NEIGHBOURHOOD / 4 <= part.len() || end == bytes.len())
        };
        let moved = |finding: Finding| Finding { start: finding.start + start, end: finding.end + start, ..finding };
        found.extend(
            scan::find(part, mode).into_iter().filter(|finding| clear(finding.start) && clear(finding.end)).map(moved),
        );
    }
    found
}
