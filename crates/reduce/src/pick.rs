//! Decides which lines stay when not all can: those that bring the most names not yet brought, per byte.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::focus::Focus;
use super::index::Index;

/// A line that could stay.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    /// Where it stood: results come back in this order.
    pub position: usize,
    /// What it is worth beside its names.
    pub weight: u32,
    /// The line as it would be written.
    pub text: &'a str,
    /// Bytes that writing it costs beyond its own: number, indent, break.
    pub extra: usize,
}

/// More candidates than this are not weighed; the rest of a huge output repeats its start.
pub(super) const MOST_CANDIDATES: usize = 20_000;
/// What a rare word of the task is worth on a line; words on every line are worth nothing. Small, because on
/// real sessions (`foldline eval DIR`) the task's words foretell little of which names come next.
const FOCUS_WORTH: u64 = 4;
/// Names of one line that count; a longer list is data.
const MOST_NAMES: usize = 24;
/// Bytes that are added to every line's cost, so that very short lines do not win by shortness alone.
const LINE_COST: usize = 20;
/// A name that comes up often is more likely to come up again: worth grows with each doubling, three times at most.
const DOUBLINGS: u32 = 3;

/// The candidates that fill `room` best, in their original order.
///
/// `names` are those of the text that the candidates are parts of; they are told by their places in it.
pub(super) fn pick<'a>(
    candidates: Vec<Candidate<'a>>,
    room: usize,
    focus: &Focus<'_>,
    names: &Index<'_>,
) -> Vec<Candidate<'a>> {
    let mut scale = Scale::of(&candidates, focus, names);
    let mut gaining: Vec<(u32, Reverse<u32>)> = Vec::with_capacity(candidates.len());
    let gains = candidates.iter().zip(0..).map(|(candidate, index)| (scale.density(index, candidate), Reverse(index)));
    gaining.extend(gains.filter(|(gain, _)| *gain > 0));
    let mut heap = BinaryHeap::from(gaining);
    let mut left = room;
    let mut chosen: Vec<u32> = Vec::new();
    while let Some((_, Reverse(index))) = heap.pop() {
        let Some(candidate) = candidates.get(index as usize) else {
            continue;
        };
        let cost = candidate.text.len() + candidate.extra;
        if cost > left {
            continue;
        }
        // What was picked since may have brought this line's names: weigh it again, and queue it if others gain more.
        let gain = scale.density(index, candidate);
        if heap.peek().is_some_and(|(next, _)| *next > gain) {
            if gain > 0 {
                heap.push((gain, Reverse(index)));
            }
            continue;
        }
        left -= cost;
        scale.cover(index);
        chosen.push(index);
        if left < SHORTEST {
            break;
        }
    }
    chosen.sort_unstable();
    chosen.iter().filter_map(|index| candidates.get(*index as usize).cloned()).collect()
}

/// Less room than this holds no line that says something.
const SHORTEST: usize = 20;

/// What names and lines are worth in one output. Names are read once and have numbers from then on.
struct Scale {
    /// Worth by number; nothing for a name that a picked line has.
    worths: Vec<u32>,
    /// The numbers on each line, one after the other.
    numbers: Vec<u32>,
    /// Where each line's numbers end.
    ends: Vec<usize>,
    bonus: Vec<u32>,
}

/// A name of the candidates: what it is worth by what is said of it, and how often it comes up.
struct Found {
    worth: u32,
    count: u32,
}

/// The number of what is no name.
const NO_NAME: u32 = u32::MAX;

impl Scale {
    fn of(candidates: &[Candidate<'_>], focus: &Focus<'_>, names: &Index<'_>) -> Scale {
        // A line brings about two names that no line before it has.
        let mut known: FxHashMap<u64, u32> =
            FxHashMap::with_capacity_and_hasher(candidates.len().saturating_mul(2), FxBuildHasher);
        let mut found: Vec<Found> = Vec::with_capacity(candidates.len().saturating_mul(2));
        let mut numbers: Vec<u32> = Vec::with_capacity(candidates.len().saturating_mul(4));
        let mut ends = Vec::with_capacity(candidates.len());
        let mut reader = names.reader();
        for candidate in candidates {
            let start = numbers.len();
            reader.each(candidate.text, |name, key| {
                let number = *known.entry(key).or_insert_with(|| match name.worth() {
                    0 => NO_NAME,
                    worth => {
                        // Plain words come up for any reason.
                        let conversation = focus.conversation.filter(|_| name.coined);
                        found.push(Found {
                            worth: worth * conversation.map_or(1, |conversation| conversation.likelihood(key)),
                            count: 0,
                        });
                        found.len() as u32 - 1
                    }
                });
                let Some(name) = found.get_mut(number as usize) else { return };
                name.count += 1;
                let on_line = numbers.get(start..).unwrap_or_default();
                if on_line.len() < MOST_NAMES && !on_line.contains(&number) {
                    numbers.push(number);
                }
            });
            ends.push(numbers.len());
        }
        let worths = found.iter().map(|found| found.worth * (2 + found.count.ilog2().min(DOUBLINGS))).collect();
        Scale { worths, numbers, ends, bonus: focus_bonus(candidates, focus) }
    }

    fn range_of(&self, index: u32) -> std::ops::Range<usize> {
        let index = index as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        start..self.ends.get(index).copied().unwrap_or(start)
    }

    /// Worth per byte, as the bits of a fraction: they order as it does. A line whose names are brought is worth half of
    /// its weight; one without names that count keeps it, as `fn apply()` defines something all the same.
    fn density(&self, index: u32, candidate: &Candidate<'_>) -> u32 {
        let numbers = self.numbers.get(self.range_of(index)).unwrap_or_default();
        let brought: u32 = numbers.iter().filter_map(|number| self.worths.get(*number as usize)).sum();
        let weight = candidate.weight + self.bonus.get(index as usize).copied().unwrap_or(0);
        let total = match brought {
            0 if numbers.is_empty() => weight,
            0 => weight / 2,
            brought => brought + weight,
        };
        (total as f32 / (candidate.text.len() + candidate.extra + LINE_COST) as f32).to_bits()
    }

    /// Takes note that a line stays: its names are brought.
    fn cover(&mut self, index: u32) {
        for number in self.numbers.get(self.range_of(index)).unwrap_or_default() {
            if let Some(worth) = self.worths.get_mut(*number as usize) {
                *worth = 0;
            }
        }
    }
}

/// What each candidate gains from the words of the task, rarer words counting more.
fn focus_bonus(candidates: &[Candidate<'_>], focus: &Focus<'_>) -> Vec<u32> {
    if focus.words() == 0 {
        return Vec::new();
    }
    let found: Vec<u64> = candidates.iter().map(|candidate| focus.found_in(candidate.text)).collect();
    let total = candidates.len() as u64;
    let worths: Vec<u64> = (0..64)
        .map(|bit| {
            let with = found.iter().filter(|bits| *bits & (1 << bit) != 0).count() as u64;
            FOCUS_WORTH * (total - with) / total.max(1)
        })
        .collect();
    found
        .iter()
        .map(|bits| {
            let sum: u64 =
                worths.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, worth)| *worth).sum();
            u32::try_from(sum.min(3 * FOCUS_WORTH)).unwrap_or(0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::names::Which;
    use super::*;

    fn candidates<'a>(texts: &[&'a str]) -> Vec<Candidate<'a>> {
        texts.iter().enumerate().map(|(position, text)| Candidate { position, weight: 0, text, extra: 1 }).collect()
    }

    #[test]
    fn a_repeated_line_is_picked_once() {
        let picked = pick(
            candidates(&["save_state(a)", "save_state(a)", "load_state(b)"]),
            1000,
            &Focus::new(&[], None),
            &Index::of("", Which::All),
        );
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn among_equal_lines_the_task_decides() {
        let lines = ["alphaBeta first", "retryPolicy x", "epsilonZeta y"];
        let picked = pick(candidates(&lines), 20, &Focus::new(&["retry"], None), &Index::of("", Which::All));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_definition_of_a_plain_name_stays_where_only_coined_names_count() {
        let text = "fn apply(plan)\nlet some_name = 1\nplain words\n";
        let weights = [8, 0, 0];
        let lines = text.lines().zip(weights).enumerate();
        let candidates =
            lines.map(|(position, (text, weight))| Candidate { position, weight, text, extra: 1 }).collect();
        let picked = pick(candidates, 40, &Focus::new(&[], None), &Index::of(text, Which::Coined));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_name_that_comes_up_often_comes_first() {
        let lines = ["rareName a", "oftenName b", "oftenName = 1 + 2 + 3", "oftenName = 4 + 5 + 6"];
        let picked = pick(candidates(&lines), 14, &Focus::new(&[], None), &Index::of("", Which::All));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [1]);
    }
}
