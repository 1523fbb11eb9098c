//! Zones: what is protected at the start, what is protected at the end, and what lies between.
//!
//! The head is the standing instructions and, on the first fold, the opening of the conversation.
//! The tail is recent work, by tokens. The middle is what may be reduced or folded. A boundary
//! never separates a call from its result, nor signed reasoning from what it belongs to.

use crate::inserted;
use crate::ledger;
use crate::policy::{Budgets, CompressionPolicy};
use crate::tokens::Counts;
use foldline_transcript::reasoning;
use foldline_transcript::{Format, PartKind, Role, Transcript};
use serde::Serialize;

/// At least this many messages are recent, whatever they cost: the latest call, its result, and what was said.
pub(crate) const FEWEST_RECENT: usize = 3;
/// `protect_last_n` beyond this many is honoured by tokens, not by count: twenty large outputs would
/// otherwise fill a window that the fold has to free.
const MOST_RECENT_BY_COUNT: usize = 8;
/// The tail may grow to this multiple of its budget to keep a call and its results on one side, or to
/// reach the latest words of either speaker.
const REACH: f64 = 2.0;

/// What an image is charged beyond its count when it is to stay: prices of images are averages, and a tail that holds
/// many must not outgrow its budget.
const IMAGE_RESERVE: u64 = 100;

/// The boundaries: `0..head`, `head..tail`, `tail..`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Zones {
    /// One past the last message of the head.
    pub head: usize,
    /// The first message of the tail.
    pub tail: usize,
    /// All messages.
    pub messages: usize,
    /// A user message of the middle that stays alive: the request that is being worked on. It is
    /// put in front of the tail.
    pub carried: Option<usize>,
}

impl Zones {
    /// Whether there is anything between head and tail.
    pub fn has_middle(&self) -> bool {
        self.head < self.tail
    }

    /// Which zone a message is in.
    pub fn zone_of(&self, index: usize) -> Zone {
        match index {
            _ if index < self.head => Zone::Head,
            _ if index < self.tail => Zone::Middle,
            _ => Zone::Tail,
        }
    }
}

/// The three zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Protected at the start.
    Head,
    /// May be reduced or folded.
    Middle,
    /// Protected at the end.
    Tail,
}

/// How much of the end is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailBudget {
    /// Tokens aimed at.
    pub tokens: u64,
    /// Tokens that one more message may take it to.
    pub ceiling: u64,
    /// Messages that are protected where they fit.
    pub floor: usize,
    /// Tokens within which those messages fit.
    pub room: u64,
}

impl TailBudget {
    /// The tail that a policy asks for.
    pub fn of(knobs: &CompressionPolicy, budgets: &Budgets) -> TailBudget {
        TailBudget {
            tokens: budgets.tail.into(),
            ceiling: budgets.tail_ceiling.into(),
            floor: (knobs.protect_last_n as usize).clamp(FEWEST_RECENT, MOST_RECENT_BY_COUNT),
            // More would leave a fold above the trigger that it is to get away from.
            room: u64::from(budgets.trigger) / 2,
        }
    }

    /// The same shape at another size.
    pub fn with_tokens(self, tokens: u64) -> TailBudget {
        TailBudget { tokens, ceiling: tokens + tokens / 2, room: self.room.min(2 * tokens), ..self }
    }
}

/// How many messages at the start are protected. Instructions always are; the opening only
/// until it has been folded into a handoff once.
pub fn head_end(transcript: &Transcript<'_>, cuts: &Cuts, protect_first: usize) -> usize {
    let folded_before = (0..transcript.messages.len()).any(|index| inserted::is_handoff(transcript, index));
    let mut left = if folded_before { 0 } else { protect_first };
    let mut end = 0;
    for (index, message) in transcript.messages.iter().enumerate() {
        match message.role {
            Role::System | Role::Developer | Role::Meta => {}
            _ if left == 0 => break,
            _ => left -= 1,
        }
        end = index + 1;
    }
    cuts.at_or_after(end)
}

/// Finds the boundaries for a head of `head` messages.
pub fn zones(transcript: &Transcript<'_>, counts: &Counts, cuts: &Cuts, head: usize, budget: TailBudget) -> Zones {
    let messages = transcript.messages.len();
    let reach = (budget.tokens as f64 * REACH) as u64;
    let walked = walk_back(transcript, counts, head, budget);
    let mut tail = align(counts, cuts, head, walked, reach);
    // The latest words of the assistant stay readable where that is affordable.
    if let Some(reply) = last_reply(transcript).filter(|&reply| reply >= head && reply < tail) {
        tail = pulled_back(counts, cuts, reply, tail, reach);
    }
    let request = last_request(transcript);
    if let Some(request) = request.filter(|&request| request >= head && request < tail) {
        tail = pulled_back(counts, cuts, request, tail, reach);
    }
    // An earlier handoff is state, not recent work: it is never where the tail begins.
    while tail < messages && inserted::is_handoff(transcript, tail) && request.is_none_or(|request| request != tail) {
        tail = cuts.at_or_after(tail + 1);
    }
    let carried = request.filter(|&request| request >= head && request < tail);
    Zones { head: head.min(tail), tail, messages, carried }
}

/// Walks back from the end by tokens.
fn walk_back(transcript: &Transcript<'_>, counts: &Counts, head: usize, budget: TailBudget) -> usize {
    let messages = transcript.messages.len();
    let mut spent = 0;
    let mut start = messages;
    let mut taken = 0;
    while start > head {
        let cost = counts.message(start - 1) + images(transcript, start - 1) * IMAGE_RESERVE;
        let fits = spent < budget.tokens && spent + cost <= budget.ceiling;
        let few = taken < FEWEST_RECENT || (taken < budget.floor && spent + cost <= budget.room.max(budget.ceiling));
        if !fits && !few {
            break;
        }
        spent += cost;
        start -= 1;
        taken += usize::from(transcript.messages.get(start).is_some_and(|message| message.role != Role::Meta));
    }
    start
}

fn images(transcript: &Transcript<'_>, index: usize) -> u64 {
    transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Media).count() as u64
}

/// Moves a boundary to where one may be: earlier if that is affordable, else later.
fn align(counts: &Counts, cuts: &Cuts, head: usize, start: usize, reach: u64) -> usize {
    let earlier = cuts.at_or_before(start).max(head);
    let messages = cuts.len();
    if earlier == start || counts.between(earlier, messages) <= reach {
        return earlier;
    }
    match cuts.at_or_after(start) {
        // Everything after the boundary belongs to one group: it stays whole.
        later if later >= messages => earlier,
        later => later,
    }
}

fn pulled_back(counts: &Counts, cuts: &Cuts, anchor: usize, tail: usize, reach: u64) -> usize {
    let start = cuts.at_or_before(anchor);
    if counts.between(start, cuts.len()) <= reach { start } else { tail }
}

/// Tokens that the recent pace asks for: what the last dozen turns of the assistant and their results cost.
pub fn recent_need(transcript: &Transcript<'_>, counts: &Counts) -> u32 {
    const TURNS: usize = 12;
    let start = (0..transcript.messages.len())
        .rev()
        .filter(|&index| transcript.messages.get(index).is_some_and(|message| message.role == Role::Assistant))
        .nth(TURNS - 1)
        .unwrap_or_default();
    u32::try_from(counts.between(start, transcript.messages.len())).unwrap_or(u32::MAX)
}

/// The last message in which a person really says something. What clients say in the user's turn counts only where
/// there is nothing else.
pub fn last_request(transcript: &Transcript<'_>) -> Option<usize> {
    let speaks = |&index: &usize| {
        transcript.speaks(index)
            && !inserted::is_only_handoff(transcript, index)
            && !inserted::asks_for_handoff(transcript, index)
    };
    let is_person = |&index: &usize| {
        transcript.parts_at(index).iter().any(|part| match part.kind {
            PartKind::Media => true,
            PartKind::Text => !ledger::spoken(&inserted::own_words(transcript, part)).trim().is_empty(),
            _ => false,
        })
    };
    let all = || (0..transcript.messages.len()).rev().filter(speaks);
    all().find(is_person).or_else(|| all().next())
}

/// The last message in which the assistant says something that a person can read.
fn last_reply(transcript: &Transcript<'_>) -> Option<usize> {
    (0..transcript.messages.len()).rev().find(|&index| {
        transcript.messages.get(index).is_some_and(|message| message.role == Role::Assistant)
            && transcript.parts_at(index).iter().any(|part| part.kind == PartKind::Text && !transcript.is_blank(part))
            && !inserted::is_handoff(transcript, index)
    })
}

/// Where a boundary may be. `legal[i]` says whether one may stand before message `i`.
#[derive(Clone, Debug)]
pub struct Cuts {
    legal: Vec<bool>,
}

impl Cuts {
    /// Finds all places where no pair and no group would be separated.
    pub fn find(transcript: &Transcript<'_>) -> Cuts {
        let messages = transcript.messages.len();
        // How many pairs would be separated by a boundary before each message, as differences.
        let mut crossing = vec![0i32; messages + 2];
        let mut forbid = |from: usize, to: usize| {
            if let (true, Some(start)) = (from <= to, crossing.get_mut(from)) {
                *start += 1;
                if let Some(end) = crossing.get_mut(to + 1) {
                    *end -= 1;
                }
            }
        };
        for (index, message) in transcript.messages.iter().enumerate() {
            for part in message.parts.clone() {
                let part = part as usize;
                if transcript.parts.get(part).is_some_and(|part| part.kind == PartKind::ToolCall) {
                    match transcript.exchanges.result_of(part) {
                        Some(result) => forbid(index + 1, transcript.message_of(result)),
                        // Still in flight: it stays with the end.
                        None => forbid(index + 1, messages),
                    }
                }
            }
            if is_glued(transcript, index) {
                forbid(index, index);
            }
        }
        // A reasoning item needs what follows it, and what follows needs the reasoning.
        reasoning::continuations(transcript).into_iter().for_each(|index| forbid(index, index));
        let mut open = 0;
        let mut legal: Vec<bool> = crossing
            .iter()
            .take(messages + 1)
            .map(|difference| {
                open += difference;
                open == 0
            })
            .collect();
        if let Some(end) = legal.last_mut() {
            *end = true;
        }
        if let Some(start) = legal.first_mut() {
            *start = true;
        }
        Cuts { legal }
    }

    /// Number of messages.
    fn len(&self) -> usize {
        self.legal.len().saturating_sub(1)
    }

    /// Whether a boundary may stand before message `index`.
    pub fn allows(&self, index: usize) -> bool {
        self.legal.get(index).copied().unwrap_or(false)
    }

    /// The nearest boundary at or before `index`.
    pub fn at_or_before(&self, index: usize) -> usize {
        (0..=index.min(self.len())).rev().find(|&at| self.allows(at)).unwrap_or_default()
    }

    /// The nearest boundary at or after `index`.
    pub fn at_or_after(&self, index: usize) -> usize {
        (index..=self.len()).find(|&at| self.allows(at)).unwrap_or(self.len())
    }
}

/// Whether a message must stay with the one before it.
fn is_glued(transcript: &Transcript<'_>, index: usize) -> bool {
    let Some(message) = transcript.messages.get(index) else {
        return false;
    };
    if message.role == Role::Tool {
        return true;
    }
    let Some(previous) = index.checked_sub(1).and_then(|before| transcript.messages.get(before)) else {
        return false;
    };
    match transcript.format {
        // One reply, several lines.
        Format::ClaudeCode => {
            !message.reply.is_empty() && transcript.raw(message.reply) == transcript.raw(previous.reply)
        }
        _ => false,
    }
}
