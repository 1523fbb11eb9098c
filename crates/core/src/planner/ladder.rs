//! The ladder for results that must fit a target: each step gives up more, the last one is an error with numbers.

use super::fold::{Context, HANDOFF_ENVELOPE};
use super::{CannotFit, Planner};
use crate::plan::{Draft, Outcome, Plan, Step, StepKind};
use crate::prune::Pruner;
use crate::zone::{TailBudget, Zones, last_request};
use foldline_transcript::recall::{self, Original};
use foldline_transcript::{Content, Part, PartKind};
use std::sync::Arc;

/// One rung.
struct Rung {
    /// Share of the free room that the tail gets; `None`: the conversation starts again from handoff and request.
    tail: Option<f64>,
    /// Whether the opening of the conversation stays.
    head: Head,
    /// Parts of the tail above this many tokens are made shorter.
    part_limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    AsThePolicySays,
    InstructionsOnly,
}

/// From comfortable to bare. The handoff gets what tail and head leave. Measured on recorded sessions at a tenth of
/// their tokens (`foldline eval DIR --budgets 10`): a tail of 40 % keeps 76 % of what is needed later, one of 20 % keeps 78 %, one of 10 % 79.5 %.
const RUNGS: [Rung; 9] = [
    Rung { tail: Some(0.20), head: Head::AsThePolicySays, part_limit: None },
    Rung { tail: Some(0.10), head: Head::AsThePolicySays, part_limit: None },
    Rung { tail: Some(0.20), head: Head::InstructionsOnly, part_limit: None },
    Rung { tail: Some(0.10), head: Head::InstructionsOnly, part_limit: None },
    Rung { tail: Some(0.10), head: Head::InstructionsOnly, part_limit: Some(1_000) },
    Rung { tail: Some(0.05), head: Head::InstructionsOnly, part_limit: Some(250) },
    Rung { tail: Some(0.0), head: Head::InstructionsOnly, part_limit: Some(60) },
    Rung { tail: Some(0.0), head: Head::InstructionsOnly, part_limit: Some(20) },
    Rung { tail: None, head: Head::InstructionsOnly, part_limit: None },
];

/// A handoff below this says nothing but its framing; a rung that leaves less is not taken while
/// there are others.
const USEFUL_HANDOFF: u64 = 600;
/// On the upper rungs the handoff gets at least this share of the room beside the request.
const FAIR_HANDOFF: f64 = 0.65;
/// The opening stays where it takes at most this share of a target.
const OPENING_SHARE: f64 = 0.02;
/// The first rung on which it has to make do with less.
const LAST_FAIR: usize = 6;

/// Whether the host's standing context comes along.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostContext {
    Whole,
    LeftOut,
}

/// How much room a rung must leave for the handoff.
#[derive(Clone, Copy)]
enum Enough {
    Tokens(u64),
    Share(f64),
    /// What its framing costs, with the task quoted and every section empty.
    Framing,
}

/// The tail of a chat, as a share of what work gets.
const CHAT_TAIL: f64 = 0.5;

/// Counts before and after a rewrite differ a little; the ladder aims this much lower.
const MARGIN: f64 = 0.0025;

impl Planner<'_, '_> {
    /// Brings the result to at most `target` tokens.
    pub(super) fn descend(&self, target: u64) -> Result<Plan, CannotFit> {
        let aim = target - (target as f64 * MARGIN) as u64 - 4.min(target);
        let mut smallest = self.counts.total();
        if let Some(plan) = self.climb_down(target, aim, HostContext::Whole, &mut smallest) {
            return Ok(self.unless_it_grows(plan));
        }
        // What the host lays down stays whole as long as anything else can go.
        if let Some(mut plan) = self.climb_down(target, aim, HostContext::LeftOut, &mut smallest) {
            let left_out = plan.fold.as_ref().map_or(0, |fold| self.context(&plan.zones, &fold.messages).tokens);
            if left_out > 0 {
                plan.warnings.push(format!(
                    "{left_out} tokens of the host's standing context (memory files, environment) do not fit the \
                     target of {target} tokens and are left out"
                ));
            }
            return Ok(self.unless_it_grows(plan));
        }
        Err(self.cannot_fit(target, smallest))
    }

    fn climb_down(&self, target: u64, aim: u64, context: HostContext, smallest: &mut u64) -> Option<Plan> {
        for (index, rung) in RUNGS.iter().enumerate() {
            let enough = match index {
                // While tail and head still have something to give, the handoff gets a fair share.
                0..LAST_FAIR => Enough::Share(FAIR_HANDOFF),
                _ if index + 1 < RUNGS.len() => Enough::Tokens(USEFUL_HANDOFF),
                _ => Enough::Framing,
            };
            if let Some(plan) = self.stand_on(rung, aim, enough, context, smallest) {
                return Some(plan);
            }
        }
        // At the very edge the margin is what is missing; the result is counted before it is believed.
        RUNGS.last().and_then(|rung| self.stand_on(rung, target, Enough::Framing, context, smallest))
    }

    /// Says with numbers why a target cannot be met.
    pub(super) fn cannot_fit(&self, target: u64, smallest: u64) -> CannotFit {
        CannotFit {
            target,
            fixed: self.counts.outside() + self.counts.between(0, self.bare_head()),
            request: last_request(self.transcript).map_or(0, |index| self.spoken_tokens(index)),
            smallest,
        }
    }

    /// The plan of one rung, if it fits.
    fn stand_on(
        &self,
        rung: &Rung,
        aim: u64,
        enough: Enough,
        context: HostContext,
        smallest: &mut u64,
    ) -> Option<Plan> {
        let head = match rung.head {
            Head::AsThePolicySays => self.cheap_head(aim),
            Head::InstructionsOnly => self.bare_head(),
        };
        let fixed = self.counts.outside() + self.counts.between(0, head);
        let free = aim.saturating_sub(fixed);
        let zones = match rung.tail {
            Some(share) => {
                // In a chat the latest words are short, and what was laid down long ago counts as much.
                let share = if self.is_chat() { share * CHAT_TAIL } else { share };
                let tail = (free as f64 * share) as u64;
                self.zones_with(head, TailBudget { tokens: tail, ceiling: tail + tail / 2, floor: 1, room: tail })
            }
            None => self.restart(head)?,
        };
        let folded = self.folded(&zones);
        let context = match context {
            HostContext::Whole => self.context(&zones, &folded),
            HostContext::LeftOut => Context::default(),
        };
        let free = free.saturating_sub(context.tokens);
        let steps = rung.part_limit.map(|limit| self.shorten_tail(&zones, limit)).unwrap_or_default();
        let saved: u64 = steps.iter().map(|(step, _)| step.saves()).sum();
        let gone: u64 = folded.iter().map(|&message| self.counts.message(message)).sum();
        let carried = zones.carried.map_or(0, |message| self.spoken_tokens(message));
        let rest = self.counts.total() - gone + carried - saved.min(self.counts.total() - gone);
        let beside = HANDOFF_ENVELOPE + self.system_note().map_or(0, |note| note.after);
        let beside = beside + context.tokens;
        let left = aim.saturating_sub(rest + beside);
        if folded.is_empty() {
            *smallest = (*smallest).min(rest);
            return (rest <= aim && !steps.is_empty()).then(|| self.shortened_only(zones, steps));
        }
        let enough = match enough {
            Enough::Tokens(tokens) => tokens,
            Enough::Share(share) => {
                let request = last_request(self.transcript).map_or(0, |index| self.spoken_tokens(index));
                ((free.saturating_sub(request) as f64 * share) as u64).max(USEFUL_HANDOFF)
            }
            Enough::Framing => {
                let framing = self.framing(&zones, &folded);
                *smallest = (*smallest).min(rest + beside + framing);
                framing
            }
        };
        if left < enough {
            return None;
        }
        let most = u64::from(self.budgets.handoff_max).max(left);
        // Of messages that are cut nobody knows which names stay.
        let live = match rung.part_limit {
            None => self.live(&zones),
            Some(_) => last_request(self.transcript).into_iter().collect(),
        };
        let ledger = Arc::new(self.ledger(&folded, &live));
        let budget = u32::try_from(left.min(most)).unwrap_or(u32::MAX);
        let mut plan = self.fold(zones, folded, context, Draft { ledger, budget });
        plan.tokens.after -= saved.min(plan.tokens.after);
        if !steps.is_empty() || rung.tail.is_none() {
            plan.outcome = Outcome::Clamped;
        }
        self.add(&mut plan, steps);
        *smallest = (*smallest).min(plan.tokens.after);
        (plan.tokens.after <= aim).then_some(plan)
    }

    /// Whether nothing is done but talking.
    fn is_chat(&self) -> bool {
        !self.transcript.parts.iter().any(|part| part.kind == PartKind::ToolCall)
    }

    /// The opening that the policy protects, where it takes little of the room; else a handoff tells it for less.
    fn cheap_head(&self, aim: u64) -> usize {
        let (head, bare) = (self.head(), self.bare_head());
        let opening = self.counts.between(bare, head);
        if opening as f64 <= aim as f64 * OPENING_SHARE { head } else { bare }
    }

    /// Everything is folded but the request. A call that waits for its result cannot be left behind.
    fn restart(&self, head: usize) -> Option<Zones> {
        let request = last_request(self.transcript).filter(|&request| request >= head)?;
        let is_open = |(index, part): (usize, &Part)| {
            part.kind == PartKind::ToolCall && self.transcript.exchanges.result_of(index).is_none()
        };
        let messages = self.transcript.messages.len();
        let in_flight = self.transcript.parts.iter().enumerate().any(is_open);
        (!in_flight).then_some(Zones { head, tail: messages, messages, carried: Some(request) })
    }

    fn shortened_only(&self, zones: Zones, steps: Vec<(Step, Original)>) -> Plan {
        let saved: u64 = steps.iter().map(|(step, _)| step.saves()).sum();
        let mut plan = self.unchanged(format!("recent outputs were shortened, which frees {saved} tokens"));
        plan.outcome = Outcome::Clamped;
        plan.zones = zones;
        plan.tokens.after -= saved;
        self.add(&mut plan, steps);
        self.seal(&mut plan);
        plan
    }

    fn add(&self, plan: &mut Plan, steps: Vec<(Step, Original)>) {
        for (step, original) in steps {
            plan.steps.push(step);
            plan.originals.push(original);
        }
        plan.steps.sort_by_key(|step| (step.message, step.part));
    }

    /// Makes the parts of the tail shorter than `limit` tokens where that is allowed: never the last
    /// request, never signed reasoning, never a call that is still in flight.
    fn shorten_tail(&self, zones: &Zones, limit: u64) -> Vec<(Step, Original)> {
        let transcript = self.transcript;
        let request = last_request(transcript);
        let pruner = self.pruner();
        let first =
            transcript.messages.get(zones.tail).map_or(transcript.parts.len(), |message| message.parts.start as usize);
        let mut steps = Vec::new();
        for index in first..transcript.parts.len() {
            let tokens = u64::from(self.counts.parts.get(index).copied().unwrap_or_default());
            let message = transcript.message_of(index);
            let Some(part) = transcript.parts.get(index) else {
                continue;
            };
            let is_instruction = transcript.messages.get(message).is_some_and(|message| message.role.is_instruction());
            if tokens <= limit || is_instruction {
                continue;
            }
            let shortened = match part.kind {
                PartKind::ToolCall if transcript.exchanges.result_of(index).is_none() => None,
                PartKind::ToolCall => pruner.propose(index).map(|proposal| (proposal.step, proposal.original)),
                PartKind::ToolResult => {
                    let reduced = pruner.propose(index).filter(|proposal| proposal.step.after <= limit);
                    reduced
                        .map(|proposal| (proposal.step, proposal.original))
                        .or_else(|| self.cut(&pruner, index, limit))
                }
                PartKind::Text if Some(message) != request => self.cut(&pruner, index, limit),
                _ => None,
            };
            steps.extend(shortened);
        }
        steps
    }

    /// Cuts a text in the middle to about `limit` tokens.
    fn cut(&self, pruner: &Pruner<'_, '_>, index: usize, limit: u64) -> Option<(Step, Original)> {
        let part = self.transcript.parts.get(index)?;
        if matches!(part.content, Content::Json(_) | Content::Absent) {
            return None;
        }
        let words = recall::content(self.transcript, part);
        let original = Original::of_part(self.transcript, index, &words);
        let before = u64::from(self.counts.parts.get(index).copied().unwrap_or_default());
        let share = limit as f64 / before.max(1) as f64;
        let keep = (words.len() as f64 * share * 0.8) as usize;
        let head = words.floor_char_boundary(keep * 2 / 3);
        let tail = words.ceil_char_boundary(words.len() - keep / 3);
        let text = format!(
            "{}\n[… {} characters cut{} …]\n{}",
            words.get(..head)?.trim_end(),
            tail - head,
            self.keeping().shown(original.handle),
            words.get(tail..)?.trim_start()
        );
        let after = u64::from(pruner.envelope(index) + self.measure.text(&text));
        (after < before).then(|| {
            let step = Step {
                message: self.transcript.message_of(index),
                part: Some(index),
                kind: StepKind::Clamp,
                tool: original.tool.clone(),
                before,
                after,
                fidelity: self.keeping().fidelity(),
                handle: Some(original.handle),
                text: Some(text),
            };
            (step, original)
        })
    }
}
