//! Skips what repeats: a keyword whose surroundings are those of an earlier one that led to nothing leads to nothing.
//!
//! Generated files, logs and texts that are made to be slow repeat themselves, often for megabytes. Each byte is compared
//! once with the one a period before it, which costs far less than asking the rules again.

use crate::gate::Hit;

/// No rule looks further than this around a keyword, but for the end of a value whose beginning decided already.
const REACH: usize = 1024;
/// Longer periods are not looked for.
const LONGEST_PERIOD: usize = 32 * 1024;

/// How the text repeats, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Repeat {
    /// From `from` to `to` each byte is the same as the one `period` bytes before it.
    period: usize,
    from: usize,
    to: usize,
    /// A keyword whose next appearances may be a period away.
    anchor: Option<Hit>,
    /// The anchor is replaced when this far away. The limit doubles each time, so that every period is found.
    limit: usize,
}

impl Repeat {
    /// Whether the surroundings of a keyword are those of one that nothing was found at. Secrets end before `found`.
    pub(crate) fn covers(&mut self, text: &[u8], hit: Hit, found: usize) -> bool {
        let (Some(from), to) = (hit.end.checked_sub(REACH), hit.end + REACH) else { return false };
        if to > text.len() {
            return false;
        }
        let clear = |period: usize| from.checked_sub(period).is_some_and(|earlier| found <= earlier);
        if self.period > 0 && clear(self.period) && self.extends(text, self.period, from, to) {
            return true;
        }
        let Some(anchor) = self.anchor else {
            self.anchor = Some(hit);
            return false;
        };
        let period = hit.end - anchor.end;
        if anchor.keyword == hit.keyword && period > 0 && clear(period) && self.extends(text, period, from, to) {
            return true;
        }
        if period > self.limit || anchor.end < found + REACH {
            self.anchor = Some(hit);
            self.limit = if self.limit < LONGEST_PERIOD { REACH.max(self.limit * 2) } else { REACH };
        }
        false
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
            (self.period, self.from) = (period, from);
        }
        true
    }
}
