//! Which entries of a ledger a handoff shows: those that together tell most for its tokens.
//!
//! Facts (rules, state, what is left to do) come first, within shares of their own. Then passages are taken one by one: a
//! passage is worth its terms, those less that are told already, times what its source counts, per token. Each source
//! has a share from which on its passages count less, so that neither answers nor code crowd out the rest.

use super::frame::Fill;
use crate::inserted::Section;
use crate::ledger::{Author, Entry, GroupKind, Ledger, PIN_WORTH, Source};
use crate::tokens::Measure;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A model's words take up to this share of a handoff; the rest belongs to the recorded facts.
pub const MODEL_SHARE: f64 = 0.45;
/// Indent and line break.
const LINE_OVERHEAD: u32 = 2;
/// Rules may take this share of a handoff, decisions this one, other facts together the third.
const RULES_SHARE: f64 = 0.3;
/// In a chat a rule is told among the rules or not at all.
const RULES_SHARE_IN_CHAT: f64 = 0.7;
const DECISIONS_SHARE: f64 = 0.12;
const FACTS_SHARE: f64 = 0.3;
/// Facts of less worth are left out of handoffs of less than so many tokens.
const MINOR: f32 = 10.0;
const SMALL: u32 = 800;
/// A request that costs more does not come along with what was done for it.
const REQUEST_ROOM: u32 = 80;
/// A request of at most so many tokens is told in any case, while all of these take no more than this share.
const SHORT_REQUEST: u32 = 24;
const REQUESTS_SHARE: f64 = 0.06;
/// A source that has had so many of its shares tells no more, also where there is room: hundreds of lines of one kind of output are
/// paid for in every request until the next fold. On recorded sessions (`foldline replay DIR`) it takes one fact in 700, and from half
/// of this on one in 90.
const MOST_CROWD: f32 = 4.0;
/// When so many offers in a row found no room, the room is used up.
const MOST_MISFITS: usize = 200;

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
pub(super) fn select(ledger: &Ledger, budget: u32, measure: &Measure, fill: Fill) -> Vec<usize> {
    let mut selection = Selection { fill, ..Selection::new(ledger, budget, measure) };
    selection.take_words();
    selection.take_facts();
    selection.take_requests();
    selection.take_passages();
    let mut chosen = selection.chosen;
    chosen.sort_unstable();
    chosen
}

/// The order in which a model's lines are taken while there is room, given the section of each: one line of every section
/// before the second line of any. What came of the requests is taken newest first, because the newest work goes on.
pub(crate) fn in_turn(sections: &[Section]) -> Vec<usize> {
    let mut by_section: [Vec<usize>; Section::ALL.len()] = Default::default();
    for (at, section) in sections.iter().enumerate() {
        if let Some(lines) = by_section.get_mut(*section as usize) {
            lines.push(at);
        }
    }
    if let Some(outcomes) = by_section.get_mut(Section::CompletedActions as usize) {
        outcomes.reverse();
    }
    let mut ranked: Vec<(usize, usize)> =
        by_section.iter().flat_map(|lines| lines.iter().copied().enumerate()).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, at)| at).collect()
}

struct Selection<'l> {
    ledger: &'l Ledger,
    measure: &'l Measure,
    /// Tokens of each entry; a guess from below until it is about to be taken, because counting all of
    /// tens of thousands costs more than choosing among them.
    costs: Vec<Cost>,
    headings: Vec<Option<u32>>,
    open: Vec<bool>,
    told: Vec<u8>,
    taken: Vec<bool>,
    chosen: Vec<usize>,
    /// Tokens that each source has.
    used: [u32; Source::ALL.len()],
    /// For each episode, whether something of its answer is told.
    answered: Vec<bool>,
    /// For each episode, the entry that says what it is about, until one of its request is told.
    requests: Vec<Option<usize>>,
    budget: u32,
    left: u32,
    fill: Fill,
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
            headings: vec![None; ledger.groups.len()],
            open: vec![false; ledger.groups.len()],
            told: vec![0; ledger.values.len()],
            taken: vec![false; ledger.entries.len()],
            chosen: Vec::new(),
            used: [0; Source::ALL.len()],
            answered: vec![false; ledger.episodes.len()],
            requests: first_words(ledger),
            budget,
            left: budget,
            fill: Fill::Room,
        };
        // What stands in a message beside the handoff need not stand in it.
        selection.tell(&ledger.alive);
        selection
    }

    fn tell(&mut self, terms: &[u32]) {
        for &term in terms {
            if let Some(told) = self.told.get_mut(term as usize) {
                *told = told.saturating_add(1);
            }
        }
    }

    /// What a model wrote, up to its share. The words of a request that come along are not the model's and do not count
    /// towards it.
    fn take_words(&mut self) {
        let words: Vec<usize> = (0..self.ledger.entries.len())
            .filter(|&at| self.entry(at).is_some_and(|e| e.by == Author::Model))
            .collect();
        let sections: Vec<Section> = words.iter().filter_map(|&at| Some(self.entry(at)?.section)).collect();
        let mut share = (f64::from(self.budget) * MODEL_SHARE) as u32;
        for entry in in_turn(&sections).into_iter().filter_map(|nth| words.get(nth).copied()) {
            let cost = self.cost(entry);
            if cost <= share.min(self.left) {
                share -= cost;
                self.take(entry);
            }
        }
    }

    /// Rules, state and what is left to do: the most important first, the newest of equals first.
    fn take_facts(&mut self) {
        let mut facts: Vec<usize> = (0..self.ledger.entries.len())
            .filter(|&at| {
                self.entry(at)
                    .is_some_and(|entry| entry.source.is_none() && entry.by == Author::Ledger && entry.worth > 0.0)
            })
            .collect();
        facts.sort_by(|&one, &other| {
            let key = |at: usize| self.entry(at).map_or((0.0, 0), |entry| (entry.worth, entry.message));
            let ((worth, message), (other_worth, other_message)) = (key(one), key(other));
            other_worth.total_cmp(&worth).then(other_message.cmp(&message)).then(one.cmp(&other))
        });
        let share = |share: f64| (f64::from(self.budget) * share) as u32;
        let rules = if self.ledger.is_chat { RULES_SHARE_IN_CHAT } else { RULES_SHARE };
        let (mut rules, mut decisions, mut others) = (share(rules), share(DECISIONS_SHARE), share(FACTS_SHARE));
        for at in facts {
            let mut all = self.left;
            let room = match self.entry(at).map(|entry| (entry.section, entry.worth)) {
                Some((Section::Constraints, PIN_WORTH..)) => &mut all,
                Some((Section::Constraints, _)) => &mut rules,
                Some((Section::KeyDecisions, _)) => &mut decisions,
                _ => &mut others,
            };
            let cost = self.cost(at);
            let is_minor = self.budget < SMALL && self.entry(at).is_some_and(|entry| entry.worth < MINOR);
            if cost <= *room && cost <= self.left && !is_minor {
                *room -= cost;
                self.take(at);
            }
        }
    }

    /// The first words of every request of work, the newest first: a reader who misses a number wonders what else is missing.
    fn take_requests(&mut self) {
        let mut share = (f64::from(self.budget) * REQUESTS_SHARE) as u32;
        for place in (0..self.requests.len()).rev().filter(|_| !self.ledger.is_chat) {
            let Some(request) = self.requests.get(place).copied().flatten() else { continue };
            let cost = self.cost(request);
            if cost <= SHORT_REQUEST && cost <= share.min(self.left) {
                share -= cost;
                self.take(request);
            }
        }
    }

    fn take_passages(&mut self) {
        let mut heap: BinaryHeap<Offer> = BinaryHeap::new();
        for entry in 0..self.ledger.entries.len() {
            let ratio = self.ratio(entry);
            if ratio > 0.0 {
                heap.push(Offer { ratio, entry });
            }
        }
        let mut misfits = 0;
        while misfits < MOST_MISFITS
            && let Some(offer) = heap.pop()
        {
            if self.taken.get(offer.entry).copied().unwrap_or(true) {
                continue;
            }
            if self.cost(offer.entry) > self.left {
                misfits += 1;
                continue;
            }
            let ratio = self.ratio(offer.entry);
            // It was offered at a guess, and others may have told its terms since.
            if heap.peek().is_some_and(|next| ratio < next.ratio) {
                if ratio > 0.0 {
                    heap.push(Offer { ratio, ..offer });
                }
                continue;
            }
            if ratio > 0.0 {
                self.take(offer.entry);
                misfits = 0;
                // What stands beside it is worth more now.
                for entry in self.neighbours(offer.entry).into_iter().flatten() {
                    if !self.taken.get(entry).copied().unwrap_or(true) {
                        let ratio = self.ratio(entry);
                        heap.push(Offer { ratio, entry });
                    }
                }
            }
        }
    }

    /// What was done or answered says little without what was asked: the request of an episode comes with it.
    fn take_request_of(&mut self, at: usize) {
        let group = self.entry(at).and_then(|entry| self.ledger.groups.get(entry.group? as usize));
        let Some(group) = group.filter(|group| group.kind != GroupKind::File) else {
            return;
        };
        let request = self.requests.get_mut(group.episode as usize).and_then(Option::take);
        // What is said in a chat stands alone; of a request the opening says what all of it is about.
        let needs_opening = group.kind != GroupKind::Request || !self.ledger.is_chat;
        if let Some(request) = request.filter(|&request| request != at && needs_opening)
            && self.cost(request) <= REQUEST_ROOM.min(self.left)
        {
            self.take(request);
        }
    }

    fn entry(&self, at: usize) -> Option<&'l Entry> {
        self.ledger.entries.get(at)
    }

    /// Tokens that an entry adds, counted, its heading included if it is the first of its group.
    fn cost(&mut self, at: usize) -> u32 {
        let Some(entry) = self.entry(at) else {
            return u32::MAX;
        };
        let own = match self.costs.get(at) {
            Some(Cost::Exactly(tokens)) => *tokens,
            _ => {
                let tokens = self.measure.text(&self.ledger.shown(entry)) + LINE_OVERHEAD;
                if let Some(cost) = self.costs.get_mut(at) {
                    *cost = Cost::Exactly(tokens);
                }
                tokens
            }
        };
        let heading = match entry.group {
            Some(group) if !self.is_open(group) => self.heading(group),
            _ => 0,
        };
        own.saturating_add(heading)
    }

    fn is_open(&self, group: u32) -> bool {
        self.open.get(group as usize).copied().unwrap_or(true)
    }

    fn heading(&mut self, group: u32) -> u32 {
        let at = group as usize;
        if let Some(Some(tokens)) = self.headings.get(at) {
            return *tokens;
        }
        let tokens = self.ledger.groups.get(at).map_or(0, |group| self.measure.text(&group.title) + HEADING_OVERHEAD);
        if let Some(slot) = self.headings.get_mut(at) {
            *slot = Some(tokens);
        }
        tokens
    }

    fn ratio(&mut self, at: usize) -> f32 {
        let Some(entry) = self.entry(at) else {
            return 0.0;
        };
        let Some(source) = entry.source else {
            return 0.0;
        };
        let weights = &self.ledger.weights;
        // The first passage of a group brings its heading.
        let group = entry.group.filter(|&group| !self.is_open(group) && !self.ledger.text(entry).is_empty());
        let heading = group.and_then(|group| self.ledger.groups.get(group as usize));
        let heading = heading.map(|group| self.ledger.heading_terms(group)).unwrap_or_default();
        let terms: f32 = self
            .ledger
            .terms(entry)
            .iter()
            .chain(heading)
            .map(|&term| {
                let told = self.told.get(term as usize).copied().unwrap_or_default() as usize;
                let left = match told.checked_sub(1) {
                    None => 1.0,
                    Some(before) => weights.again.get(before).copied().unwrap_or_default(),
                };
                self.ledger.values.get(term as usize).copied().unwrap_or_default() * left
            })
            .sum();
        let weight = weights.of(source);
        let heading = match entry.group {
            Some(group) if !self.is_open(group) => self.heading(group) as f32 * weights.heading,
            _ => 0.0,
        };
        let cost = self.costs.get(at).map_or(0, |cost| cost.tokens()) as f32 + heading;
        let used = self.used.get(source as usize).copied().unwrap_or_default() as f32;
        let crowd = used / (weight.share * self.budget.max(1) as f32);
        if self.fill == Fill::Worthwhile && crowd > MOST_CROWD {
            return 0.0;
        }
        let newest = self.ledger.newest.max(1) as f32;
        let age = 1.0 + weights.recency * entry.message as f32 / newest;
        // Where the work stands is told by the latest announcements; older ones were followed by what they announce.
        let age = match source {
            Source::Narration => age * (1.0 - weights.narration_fades * (1.0 - entry.message as f32 / newest)),
            _ => age,
        };
        let is_outcome = source == Source::Answer && !self.ledger.is_chat && !self.is_answered(entry);
        let outcome = if is_outcome { weights.first_answer } else { 1.0 };
        let beside = if self.stands_beside_told(at) { weights.beside } else { 1.0 };
        let worth = (terms * entry.counts * weight.prior + entry.worth) * age * outcome * beside;
        worth / (1.0 + crowd * crowd) / cost.max(1.0)
    }

    fn is_answered(&self, entry: &Entry) -> bool {
        let group = entry.group.and_then(|group| self.ledger.groups.get(group as usize));
        group.and_then(|group| self.answered.get(group.episode as usize)).copied().unwrap_or(true)
    }

    /// Whether the passage before or behind one is told: together they make a whole.
    fn stands_beside_told(&self, at: usize) -> bool {
        self.neighbours(at).into_iter().flatten().any(|beside| self.taken.get(beside).copied().unwrap_or_default())
    }

    /// The passages before and behind one under the same heading.
    fn neighbours(&self, at: usize) -> [Option<usize>; 2] {
        let group = self.entry(at).and_then(|entry| entry.group);
        let is_same = |beside: &usize| group.is_some() && self.entry(*beside).and_then(|entry| entry.group) == group;
        [at.checked_sub(1).filter(is_same), Some(at + 1).filter(is_same)]
    }

    fn take(&mut self, at: usize) {
        self.take_request_of(at);
        let cost = self.cost(at);
        let is_taken = self.taken.get(at).copied().unwrap_or(true);
        let Some(entry) = self.entry(at).filter(|_| cost <= self.left && !is_taken) else {
            return;
        };
        self.left -= cost;
        if let Some(taken) = self.taken.get_mut(at) {
            *taken = true;
        }
        self.chosen.push(at);
        if entry.source == Some(Source::Answer)
            && let Some(group) = entry.group.and_then(|group| self.ledger.groups.get(group as usize))
            && let Some(answered) = self.answered.get_mut(group.episode as usize)
        {
            *answered = true;
        }
        if let Some(used) = entry.source.and_then(|source| self.used.get_mut(source as usize)) {
            *used += cost;
        }
        if let Some(group) = entry.group
            && let Some(open) = self.open.get_mut(group as usize)
            && !std::mem::replace(open, true)
            && let Some(group) = self.ledger.groups.get(group as usize)
        {
            let terms = self.ledger.heading_terms(group);
            self.tell(terms);
        }
        self.tell(self.ledger.terms(entry));
    }
}

/// For each episode the first words of its request.
fn first_words(ledger: &Ledger) -> Vec<Option<usize>> {
    let mut first = vec![None; ledger.episodes.len()];
    for (at, entry) in ledger.entries.iter().enumerate() {
        let group = entry.group.and_then(|group| ledger.groups.get(group as usize));
        // What was replaced later does not come along either.
        let is_dropped = ledger.terms(entry).is_empty() && entry.worth <= 0.0;
        let says_something = !ledger.text(entry).is_empty() && !is_dropped;
        if let Some(group) = group.filter(|group| group.kind == GroupKind::Request && says_something)
            && let Some(slot) = first.get_mut(group.episode as usize)
        {
            slot.get_or_insert(at);
        }
    }
    // Work that went on after an earlier fold was asked for by the same request.
    for place in 1..first.len() {
        let number = |place: usize| ledger.episodes.get(place).map(|episode| episode.number);
        if first.get(place).is_some_and(Option::is_none) && number(place) == number(place - 1) {
            let before = first.get(place - 1).copied().flatten();
            first.get_mut(place).into_iter().for_each(|slot| *slot = before);
        }
    }
    first
}

/// Mark, indent and line break of a heading.
const HEADING_OVERHEAD: u32 = 3;
