//! Decides which lines stay when not all can: those that bring the most names not yet brought, per byte.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::focus::Focus;
use super::words::{is_coined, names, worth};

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
/// What a rare word of the task is worth on a line; words on every line are worth nothing. Small, because measured
/// on real sessions the task's words foretell little of which names come next.
const FOCUS_WORTH: u64 = 4;
/// Names of one line that count; a longer list is data.
const MOST_NAMES: usize = 24;
/// Bytes that are added to every line's cost, so that very short lines do not win by shortness alone.
const LINE_COST: usize = 20;
/// A name that comes up often is more likely to come up again: worth grows with each doubling, three times at most.
const DOUBLINGS: u32 = 3;

/// The candidates that fill `room` best, in their original order.
pub(super) fn pick<'a>(candidates: Vec<Candidate<'a>>, room: usize, focus: &Focus<'_>) -> Vec<Candidate<'a>> {
    let scale = Scale::of(&candidates, focus);
    let mut covered: FxHashSet<&str> = FxHashSet::default();
    let mut heap: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        let gain = scale.density(index, candidate, &covered);
        if gain > 0 {
            heap.push((gain, Reverse(index)));
        }
    }
    let mut left = room;
    let mut chosen: Vec<usize> = Vec::new();
    while let Some((_, Reverse(index))) = heap.pop() {
        let Some(candidate) = candidates.get(index) else {
            continue;
        };
        let cost = candidate.text.len() + candidate.extra;
        if cost > left {
            continue;
        }
        // What was picked since may have brought this line's names: weigh it again, and queue it if others gain more.
        let gain = scale.density(index, candidate, &covered);
        if heap.peek().is_some_and(|(next, _)| *next > gain) {
            if gain > 0 {
                heap.push((gain, Reverse(index)));
            }
            continue;
        }
        left -= cost;
        covered.extend(names(candidate.text));
        chosen.push(index);
        if left < SHORTEST {
            break;
        }
    }
    chosen.sort_unstable();
    chosen.iter().filter_map(|index| candidates.get(*index).cloned()).collect()
}

/// Less room than this holds no line that says something.
const SHORTEST: usize = 20;

/// What names and lines are worth in one output.
struct Scale<'a> {
    worths: FxHashMap<&'a str, u32>,
    bonus: Vec<u32>,
}

impl<'a> Scale<'a> {
    fn of(candidates: &[Candidate<'a>], focus: &Focus<'_>) -> Scale<'a> {
        let mut counts: FxHashMap<&'a str, u32> = FxHashMap::default();
        for name in candidates.iter().flat_map(|candidate| names(candidate.text)) {
            *counts.entry(name).or_default() += 1;
        }
        let worths = counts
            .into_iter()
            .map(|(name, count)| (name, worth(name) * (2 + count.ilog2().min(DOUBLINGS)) * likelihood(name, focus)))
            .filter(|(_, worth)| *worth > 0)
            .collect();
        Scale { worths, bonus: focus_bonus(candidates, focus) }
    }

    /// Worth per byte, scaled up. A line that brings no name is worth half of its weight.
    fn density(&self, index: usize, candidate: &Candidate<'_>, covered: &FxHashSet<&str>) -> u64 {
        let mut seen = [""; MOST_NAMES];
        let mut distinct = 0;
        let mut brought = 0;
        for name in names(candidate.text) {
            let Some(worth) = self.worths.get(name) else {
                continue;
            };
            if covered.contains(name) || seen.iter().take(distinct).any(|other| *other == name) {
                continue;
            }
            let Some(slot) = seen.get_mut(distinct) else {
                break;
            };
            *slot = name;
            distinct += 1;
            brought += worth;
        }
        let weight = candidate.weight + self.bonus.get(index).copied().unwrap_or(0);
        let total = if brought == 0 { weight / 2 } else { brought + weight };
        u64::from(total) * 10_000 / (candidate.text.len() + candidate.extra + LINE_COST) as u64
    }
}

/// How many times more a name is worth by what is said of it. Plain words come up for any reason.
fn likelihood(name: &str, focus: &Focus<'_>) -> u32 {
    match focus.talk {
        Some(talk) if is_coined(name) => talk.likelihood(name),
        _ => 1,
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
    use super::*;

    fn candidates<'a>(texts: &[&'a str]) -> Vec<Candidate<'a>> {
        texts.iter().enumerate().map(|(position, text)| Candidate { position, weight: 0, text, extra: 1 }).collect()
    }

    #[test]
    fn a_repeated_line_is_picked_once() {
        let picked =
            pick(candidates(&["save_state(a)", "save_state(a)", "load_state(b)"]), 1000, &Focus::new(&[], None));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn among_equal_lines_the_task_decides() {
        let lines = ["alphaBeta first", "retryPolicy x", "epsilonZeta y"];
        let picked = pick(candidates(&lines), 20, &Focus::new(&["retry"], None));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_name_that_comes_up_often_comes_first() {
        let lines = ["rareName a", "oftenName b", "oftenName = 1 + 2 + 3", "oftenName = 4 + 5 + 6"];
        let picked = pick(candidates(&lines), 14, &Focus::new(&[], None));
        assert_eq!(picked.iter().map(|c| c.position).collect::<Vec<_>>(), [1]);
    }
}
