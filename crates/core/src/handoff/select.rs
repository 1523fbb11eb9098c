//! Which entries of a ledger a handoff shows: the most value for its tokens.
//!
//! One selection over everything, not a quota per section: an entry is worth the names that no
//! chosen entry keeps yet, plus what it says beside them, per token it costs.

use crate::handoff::Section;
use crate::ledger::{Author, Ledger};
use crate::summary::MODEL_SHARE;
use crate::tokens::Measure;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What a name is still worth when it has been kept once, twice, …: a second context helps a little.
const AGAIN: [f32; 3] = [1.0, 0.2, 0.05];
/// Indent and line break.
const LINE_OVERHEAD: u32 = 2;
/// User messages come first, up to this share of the budget: few tokens, and everything hangs on them.
const ASKS_SHARE: f64 = 0.35;
/// The latest actions are always told: an agent that does not know what it did last does it again.
const LATEST_ACTIONS: usize = 6;
/// How fast the worth of a section's entries fades with those already chosen.
const CROWDING: f32 = 0.35;

/// An entry that waits to be chosen.
struct Offer {
    ratio: f32,
    entry: usize,
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Offer {}
impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        // Equal offers are taken oldest first, so that the result never depends on the heap.
        self.ratio.total_cmp(&other.ratio).then(other.entry.cmp(&self.entry))
    }
}

/// Chooses entries within `budget` tokens; the result is sorted by place in the ledger.
pub(super) fn select(ledger: &Ledger, budget: u32, measure: &Measure) -> Vec<usize> {
    let mut selection = Selection::new(ledger, budget, measure);
    selection.take_words();
    selection.take_asks();
    selection.take_latest_actions();
    selection.take_best();
    let mut chosen = selection.chosen;
    chosen.sort_unstable();
    chosen
}

struct Selection<'l> {
    ledger: &'l Ledger,
    costs: Vec<u32>,
    headings: Vec<u32>,
    open: Vec<bool>,
    kept: Vec<u8>,
    taken: Vec<bool>,
    chosen: Vec<usize>,
    /// How many entries of each section are chosen.
    crowd: [u32; Section::ALL.len()],
    budget: u32,
    left: u32,
}

impl<'l> Selection<'l> {
    fn new(ledger: &'l Ledger, budget: u32, measure: &Measure) -> Selection<'l> {
        let cost = |text: &str| if text.is_empty() { 0 } else { measure.text(text) + LINE_OVERHEAD };
        Selection {
            ledger,
            costs: ledger.entries.iter().map(|entry| cost(&entry.text)).collect(),
            headings: ledger.groups.iter().map(|group| cost(&group.title)).collect(),
            open: vec![false; ledger.groups.len()],
            kept: vec![0; ledger.weights.len()],
            taken: vec![false; ledger.entries.len()],
            chosen: Vec::new(),
            crowd: [0; Section::ALL.len()],
            budget,
            left: budget,
        }
    }

    /// What a model wrote, a line of each section before the second of any, up to its share.
    fn take_words(&mut self) {
        let share = (f64::from(self.budget) * MODEL_SHARE) as u32;
        let mut depths = [0_usize; Section::ALL.len()];
        let mut words: Vec<(usize, usize)> = Vec::new();
        for (index, entry) in self.ledger.entries.iter().enumerate() {
            if let (Author::Model, Some(depth)) = (entry.by, depths.get_mut(entry.section as usize)) {
                words.push((*depth, index));
                *depth += 1;
            }
        }
        words.sort_unstable();
        for (_, entry) in words {
            if self.budget - self.left + self.cost(entry) <= share {
                self.take(entry);
            }
        }
    }

    /// What the user said, newest first; the goal before all.
    fn take_asks(&mut self) {
        let share = (f64::from(self.budget) * ASKS_SHARE) as u32;
        let mut asks: Vec<usize> = (0..self.ledger.entries.len())
            .filter(|&entry| {
                self.ledger.entries.get(entry).is_some_and(|entry| {
                    entry.by == Author::Ledger
                        && matches!(entry.section, Section::Goal | Section::PendingAsks | Section::ResolvedQuestions)
                })
            })
            .collect();
        asks.sort_by_key(|&entry| {
            let entry = self.ledger.entries.get(entry);
            let is_goal = entry.is_some_and(|entry| entry.section == Section::Goal);
            let message = entry.map_or(0, |entry| entry.message);
            // The oldest goal is the goal; of the asks the newest count most.
            (!is_goal, if is_goal { i64::from(message) } else { -i64::from(message) })
        });
        let taken = self.left;
        for entry in asks {
            let cost = self.costs.get(entry).copied().unwrap_or_default();
            if taken - self.left + cost <= share {
                self.take(entry);
            }
        }
    }

    fn take_latest_actions(&mut self) {
        let is_action = |entry: &usize| {
            self.ledger
                .entries
                .get(*entry)
                .is_some_and(|entry| entry.section == Section::CompletedActions && entry.by == Author::Ledger)
        };
        let mut latest: Vec<usize> = (0..self.ledger.entries.len()).filter(is_action).collect();
        latest.sort_by_key(|&entry| self.ledger.entries.get(entry).map_or(0, |entry| entry.message));
        for entry in latest.into_iter().rev().take(LATEST_ACTIONS) {
            self.take(entry);
        }
    }

    fn take_best(&mut self) {
        let mut heap: BinaryHeap<Offer> = (0..self.ledger.entries.len())
            // A model's words beyond their share would crowd out what is known for certain.
            .filter(|&entry| {
                !self.is_taken(entry) && self.ledger.entries.get(entry).is_some_and(|entry| entry.by == Author::Ledger)
            })
            .map(|entry| Offer { ratio: self.ratio(entry), entry })
            .filter(|offer| offer.ratio > 0.0)
            .collect();
        while let Some(offer) = heap.pop() {
            if self.cost(offer.entry) > self.left {
                continue;
            }
            let ratio = self.ratio(offer.entry);
            // Its names may have been kept by others since it was offered.
            if heap.peek().is_some_and(|next| ratio < next.ratio) {
                if ratio > 0.0 {
                    heap.push(Offer { ratio, ..offer });
                }
                continue;
            }
            if ratio > 0.0 {
                self.take(offer.entry);
            }
        }
    }

    fn is_taken(&self, entry: usize) -> bool {
        self.taken.get(entry).copied().unwrap_or(true)
    }

    /// Tokens that an entry adds, its heading included if it is the first of its group.
    fn cost(&self, entry: usize) -> u32 {
        let own = self.costs.get(entry).copied().unwrap_or(u32::MAX);
        own.saturating_add(self.heading(entry))
    }

    fn heading(&self, entry: usize) -> u32 {
        match self.ledger.entries.get(entry).and_then(|entry| entry.group) {
            Some(group) if !self.open.get(group as usize).copied().unwrap_or(true) => {
                self.headings.get(group as usize).copied().unwrap_or_default()
            }
            _ => 0,
        }
    }

    fn ratio(&self, entry: usize) -> f32 {
        let Some(facts) = self.ledger.entries.get(entry) else {
            return 0.0;
        };
        let names: f32 = facts
            .names
            .iter()
            .map(|&name| {
                let kept = self.kept.get(name as usize).copied().unwrap_or_default();
                let again = AGAIN.get(kept as usize).copied().unwrap_or_default();
                self.ledger.weights.get(name as usize).copied().unwrap_or_default() * again
            })
            .sum();
        // A heading is shared by the lines under it; a third of it is charged to the first.
        let cost = self.costs.get(entry).copied().unwrap_or_default() + self.heading(entry) / 3;
        // The tenth decision tells less than the first: what an entry is worth beside its names fades with
        // the crowd it joins.
        let crowd = self.crowd.get(facts.section as usize).copied().unwrap_or_default() as f32;
        (names + facts.worth / (1.0 + CROWDING * crowd)) / cost.max(1) as f32
    }

    fn take(&mut self, entry: usize) {
        let cost = self.cost(entry);
        if cost > self.left || self.is_taken(entry) {
            return;
        }
        self.left -= cost;
        if let Some(taken) = self.taken.get_mut(entry) {
            *taken = true;
        }
        self.chosen.push(entry);
        let Some(facts) = self.ledger.entries.get(entry) else {
            return;
        };
        if let Some(crowd) = self.crowd.get_mut(facts.section as usize) {
            *crowd += 1;
        }
        if let Some(group) = facts.group
            && let Some(open) = self.open.get_mut(group as usize)
        {
            *open = true;
        }
        for &name in &facts.names {
            if let Some(kept) = self.kept.get_mut(name as usize) {
                *kept = kept.saturating_add(1);
            }
        }
    }
}
