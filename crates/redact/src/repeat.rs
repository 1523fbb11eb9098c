//! Skips what repeats: a keyword in the surroundings of an earlier one leads to the same findings.
//!
//! Generated files, logs and texts that are made to be slow repeat themselves, often for megabytes. Each byte is compared
//! once with the one a period before it, which costs far less than asking the rules again.

use crate::keywords::Hit;
use crate::scan::ScanFinding;

/// No rule looks further than this around a keyword, but for the end of a value whose beginning decided already.
const REACH: usize = 1024;
/// Findings depend on those before them. Where there are some, they have to repeat for this long, and the text with them.
const MEMORY: usize = 4 * REACH;
/// Longer periods are not looked for.
const LONGEST_PERIOD: usize = 32 * 1024;

/// How the text repeats, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Repeat {
    /// From `from` to `to` each byte is the same as the one `period` bytes before it.
    period: usize,
    from: usize,
    to: usize,
    /// Whether findings repeat with the text.
    locked: bool,
    /// A keyword whose next appearances may be a period away.
    anchor: Option<Hit>,
    /// The anchor is replaced when this far away. The limit doubles each time, so that every period is found.
    limit: usize,
}

impl Repeat {
    /// How far before a keyword the same one stands in the same surroundings, if the same is found at both.
    pub(crate) fn period(&mut self, text: &[u8], hit: Hit, found: &[ScanFinding]) -> Option<usize> {
        if self.repeats(text, hit, self.period, found) {
            return Some(self.period);
        }
        self.locked = false;
        let anchor = *self.anchor.get_or_insert(hit);
        let period = hit.end - anchor.end;
        if anchor.keyword == hit.keyword && self.repeats(text, hit, period, found) {
            return Some(period);
        }
        if period > self.limit {
            self.anchor = Some(hit);
            self.limit = if self.limit < LONGEST_PERIOD { REACH.max(self.limit * 2) } else { REACH };
        }
        None
    }

    fn repeats(&mut self, text: &[u8], hit: Hit, period: usize, found: &[ScanFinding]) -> bool {
        let reached = found.last().map_or(0, |last| last.end);
        let clear = hit.end.checked_sub(period + REACH).is_some_and(|earlier| reached <= earlier);
        let Some(from) = hit.end.checked_sub(if clear { REACH } else { MEMORY }) else { return false };
        if period == 0 || from < period || !self.extends(text, period, from, hit.end + REACH) {
            return false;
        }
        self.locked = clear || self.locked || findings_repeat(found, from - period, hit.end, period);
        self.locked
    }

    /// Whether the text between `from` and `to` repeats what stands a period before. If so, remembers it.
    fn extends(&mut self, text: &[u8], period: usize, from: usize, to: usize) -> bool {
        let known = period == self.period && (self.from..=self.to).contains(&from);
        let unread = if known { self.to } else { from };
        if unread < to {
            let (Some(new), Some(old)) = (text.get(unread..to), text.get(unread - period..to - period)) else {
                return false;
            };
            if new != old {
                return false;
            }
            self.to = to;
        }
        if !known {
            (self.period, self.from, self.locked) = (period, from, false);
        }
        true
    }
}

/// Whether the findings before `end` are those that stand a period before them, as far back as `from`.
fn findings_repeat(found: &[ScanFinding], from: usize, end: usize, period: usize) -> bool {
    let before = |place: usize| found.partition_point(|found| found.by.end < place);
    let (Some(old), Some(new)) =
        (found.get(before(from)..before(end - period)), found.get(before(from + period)..before(end)))
    else {
        return false;
    };
    let same = |(old, new): (&ScanFinding, &ScanFinding)| {
        let long = new.start + REACH < new.end || new.by.end + REACH < new.end;
        !long && old.start + period == new.start && old.end + period == new.end && old.by.keyword == new.by.keyword
    };
    !new.is_empty() && old.len() == new.len() && old.iter().zip(new).all(same)
}
