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
/// User messages come first, up to this share of the budget: few tokens, and everything hangs on them. The goal, which
/// carries the rules for all that follows, may take more.
const ASKS_SHARE: f64 = 0.12;
const GOAL_SHARE: f64 = 0.2;
/// What is told before names are weighed against each other.
const LATEST: [Latest; 2] = [
    // An agent that does not know what it did last does it again.
    Latest { section: Section::CompletedActions, fewest: 2, most: 6, tokens_each: 700 },
    // One that does not know what stands in its way runs into it again.
    Latest { section: Section::Blocked, fewest: 1, most: 3, tokens_each: 1_000 },
];

/// How many entries of a section are always told: one for so many tokens, within bounds.
struct Latest {
    section: Section,
    fewest: usize,
    most: usize,
    tokens_each: u32,
}

/// In a small handoff names come before structure: what entries are worth beside their names counts in full from
/// this budget on, and in proportion below it. Measured: at 2 % of a session it keeps a third more of what is
/// needed later than full worth does, at 10 % a twentieth more.
const FULL_STRUCTURE: f32 = 24_000.0;
const LEAST_STRUCTURE: f32 = 0.03;
/// When so many offers in a row found no room, the room is used up.
const MOST_MISFITS: usize = 200;
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
    LATEST.iter().for_each(|latest| selection.take_latest(latest));
    selection.take_best();
    let mut chosen = selection.chosen;
    chosen.sort_unstable();
    chosen
}

struct Selection<'l> {
    ledger: &'l Ledger,
    measure: &'l Measure,
    /// Tokens of each entry; a guess from below until it is about to be taken, because counting all of
    /// tens of thousands costs more than choosing among them.
    costs: Vec<Cost>,
    headings: Vec<u32>,
    open: Vec<bool>,
    kept: Vec<u8>,
    taken: Vec<bool>,
    chosen: Vec<usize>,
    /// How many entries of each section are chosen.
    crowd: [u32; Section::ALL.len()],
    /// How much entries are worth beside their names.
    structure: f32,
    budget: u32,
    left: u32,
}

#[derive(Clone, Copy)]
enum Cost {
    AtLeast(u32),
    Exactly(u32),
}

impl Cost {
    fn tokens(self) -> u32 {
        match self {
            Cost::AtLeast(tokens) | Cost::Exactly(tokens) => tokens,
        }
    }
}

/// No text that people or programs write has more characters per token over a whole line.
const MOST_BYTES_PER_TOKEN: u32 = 6;

impl<'l> Selection<'l> {
    fn new(ledger: &'l Ledger, budget: u32, measure: &'l Measure) -> Selection<'l> {
        let guess = |text: &str| match text.len() as u32 {
            0 => Cost::Exactly(0),
            bytes => Cost::AtLeast(bytes / MOST_BYTES_PER_TOKEN + LINE_OVERHEAD),
        };
        let mut selection = Selection {
            ledger,
            measure,
            costs: ledger.entries.iter().map(|entry| guess(ledger.text(entry))).collect(),
            headings: ledger.groups.iter().map(|group| measure.text(&group.title) + LINE_OVERHEAD).collect(),
            open: vec![false; ledger.groups.len()],
            kept: vec![0; ledger.weights.len()],
            taken: vec![false; ledger.entries.len()],
            chosen: Vec::new(),
            crowd: [0; Section::ALL.len()],
            structure: (budget as f32 / FULL_STRUCTURE).clamp(LEAST_STRUCTURE, 1.0),
            budget,
            left: budget,
        };
        // What stands in a message beside the handoff need not stand in it.
        selection.keep(&ledger.alive);
        selection
    }

    fn keep(&mut self, names: &[u32]) {
        for &name in names {
            if let Some(kept) = self.kept.get_mut(name as usize) {
                *kept = kept.saturating_add(1);
            }
        }
    }

    /// Tokens of an entry, counted once.
    fn count(&mut self, entry: usize) -> u32 {
        match (self.costs.get(entry), self.ledger.entries.get(entry)) {
            (Some(Cost::Exactly(tokens)), _) => *tokens,
            (Some(Cost::AtLeast(_)), Some(facts)) => {
                let tokens = self.measure.text(self.ledger.text(facts)) + LINE_OVERHEAD;
                if let Some(cost) = self.costs.get_mut(entry) {
                    *cost = Cost::Exactly(tokens);
                }
                tokens
            }
            _ => u32::MAX,
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
            self.count(entry);
            if self.budget - self.left + self.cost(entry) <= share {
                self.take(entry);
            }
        }
    }

    /// What the user said, newest first; the goal before all.
    fn take_asks(&mut self) {
        let share = |share: f64| (f64::from(self.budget) * share) as u32;
        let (asks_share, goal_share) = (share(ASKS_SHARE), share(GOAL_SHARE));
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
            let is_goal = self.ledger.entries.get(entry).is_some_and(|entry| entry.section == Section::Goal);
            let share = if is_goal { goal_share } else { asks_share };
            let cost = self.count(entry);
            if taken - self.left + cost <= share {
                self.take(entry);
            }
        }
    }

    /// The latest entries of a section, as many as the budget is worth.
    fn take_latest(&mut self, latest: &Latest) {
        let is_meant = |entry: &usize| {
            self.ledger
                .entries
                .get(*entry)
                .is_some_and(|entry| entry.section == latest.section && entry.by == Author::Ledger)
        };
        let mut entries: Vec<usize> = (0..self.ledger.entries.len()).filter(is_meant).collect();
        entries.sort_by_key(|&entry| self.ledger.entries.get(entry).map_or(0, |entry| entry.message));
        let most = (self.budget / latest.tokens_each) as usize;
        for entry in entries.into_iter().rev().take(most.clamp(latest.fewest, latest.most)) {
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
        let mut misfits = 0;
        while misfits < MOST_MISFITS
            && let Some(offer) = heap.pop()
        {
            self.count(offer.entry);
            if self.cost(offer.entry) > self.left {
                misfits += 1;
                continue;
            }
            let ratio = self.ratio(offer.entry);
            // It was offered at a guess, and others may have kept its names since.
            if heap.peek().is_some_and(|next| ratio < next.ratio) {
                if ratio > 0.0 {
                    heap.push(Offer { ratio, ..offer });
                }
                continue;
            }
            if ratio > 0.0 {
                self.take(offer.entry);
                misfits = 0;
            }
        }
    }

    fn is_taken(&self, entry: usize) -> bool {
        self.taken.get(entry).copied().unwrap_or(true)
    }

    /// Tokens that an entry adds, its heading included if it is the first of its group.
    fn cost(&self, entry: usize) -> u32 {
        let own = self.costs.get(entry).map_or(u32::MAX, |cost| cost.tokens());
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
        let names: f32 = self
            .ledger
            .names(facts)
            .iter()
            .map(|&name| {
                let kept = self.kept.get(name as usize).copied().unwrap_or_default();
                let again = AGAIN.get(kept as usize).copied().unwrap_or_default();
                self.ledger.weights.get(name as usize).copied().unwrap_or_default() * again
            })
            .sum();
        // A heading is shared by the lines under it; a third of it is charged to the first.
        let cost = self.costs.get(entry).map_or(0, |cost| cost.tokens()) + self.heading(entry) / 3;
        // The tenth decision tells less than the first: what an entry is worth beside its names fades with
        // the crowd it joins.
        let crowd = self.crowd.get(facts.section as usize).copied().unwrap_or_default() as f32;
        (names + self.structure * facts.worth / (1.0 + CROWDING * crowd)) / cost.max(1) as f32
    }

    fn take(&mut self, entry: usize) {
        self.count(entry);
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
        if let Some((open, group)) =
            facts.group.and_then(|group| self.open.get_mut(group as usize).zip(self.ledger.groups.get(group as usize)))
            && !std::mem::replace(open, true)
        {
            self.keep(self.ledger.names_of_heading(group));
        }
        self.keep(self.ledger.names(facts));
    }
}
