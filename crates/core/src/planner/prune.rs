//! Pruning alone: accepted if it frees enough room below the trigger.

use super::Planner;
use crate::plan::{Outcome, Plan, Skip, TokenChange};
use crate::policy::PruneOrder;
use crate::prune::Proposal;
use crate::request::Trigger;
use crate::zone::Zones;
use foldline_reduce::wording::{counted, grouped};
use foldline_transcript::PartKind;

/// What reducers leave of old outputs on the whole; what cannot be reached with it is not tried.
const USUALLY_LEFT: f64 = 0.06;

/// More than this is folded, not reduced piece by piece: thousands of stubs help no reader.
const MOST_PRUNED_BYTES: usize = 8 << 20;

impl Planner<'_, '_> {
    /// A plan that only prunes, or why that is not enough.
    pub(super) fn prune_alone(&self) -> Result<Plan, Vec<Skip>> {
        let zones = self.zones();
        let before = self.counts.total();
        let target = self.request.target.unwrap_or_else(|| self.low_water());
        let over_bytes = (self.transcript.text.len() as u64).saturating_sub(self.budgets.max_body_bytes);
        let (candidates, mut skips) = self.candidates(&zones);
        let possible: u64 = candidates.iter().map(|&(_, tokens)| tokens).sum();
        let best = before - ((possible as f64) * (1.0 - USUALLY_LEFT)) as u64;
        let bytes: usize = candidates
            .iter()
            .filter_map(|&(part, _)| self.transcript.parts.get(part))
            .map(|part| part.content.span().len())
            .sum();
        let is_hopeless = best > target || bytes > MOST_PRUNED_BYTES;
        if is_hopeless {
            skips.push(Skip::NoRunway { tokens: best, target });
            return Err(skips);
        }
        let pruner = self.pruner();
        let mut taken: Vec<Proposal> = Vec::new();
        let mut tokens = before;
        let mut bytes_left = over_bytes;
        for (part, _) in candidates {
            if tokens <= target && bytes_left == 0 {
                break;
            }
            let Some(proposal) = pruner.propose(part) else {
                continue;
            };
            tokens -= proposal.step.saves();
            let bytes = self.transcript.parts.get(part).map_or(0, |part| part.span.len() as u64);
            bytes_left = bytes_left.saturating_sub(bytes);
            taken.push(proposal);
        }
        let reclaimed = before - tokens;
        let enough =
            tokens <= target && reclaimed >= u64::from(self.budgets.prune_minimum).min(before.saturating_sub(target));
        if !enough || taken.is_empty() || bytes_left > 0 {
            skips.push(Skip::NoRunway { tokens, target });
            return Err(skips);
        }
        taken.sort_by_key(|proposal| proposal.step.part);
        let (steps, originals): (Vec<_>, Vec<_>) =
            taken.into_iter().map(|proposal| (proposal.step, proposal.original)).unzip();
        let reason = format!(
            "{} reduced, {} tokens freed: reduced to {} tokens; goal {}",
            counted(steps.len(), "old output"),
            grouped(reclaimed),
            grouped(tokens),
            grouped(target)
        );
        let mut plan = Plan {
            outcome: Outcome::Pruned,
            steps,
            skips,
            originals,
            tokens: TokenChange { before, after: tokens, source: self.counts.source },
            zones,
            ..self.unchanged(reason)
        };
        self.seal(&mut plan);
        Ok(plan)
    }

    /// Where a prune must land. One that starts below the trigger must land lower in proportion, or it would
    /// have no runway at all.
    fn low_water(&self) -> u64 {
        let low_water = u64::from(self.budgets.low_water);
        match self.request.trigger {
            Trigger::Background => {
                low_water * u64::from(self.budgets.pressure) / u64::from(self.budgets.trigger.max(1))
            }
            _ => low_water,
        }
    }

    /// Media in protected messages that must go because the body has too many bytes: oldest first, the
    /// newest that a person sent stay.
    pub(super) fn shed_media(&self) -> Option<Plan> {
        let mut over = (self.transcript.text.len() as u64).saturating_sub(self.budgets.max_body_bytes);
        let pruner = self.pruner();
        let mut plan = self.unchanged("");
        for (index, part) in self.transcript.parts.iter().enumerate() {
            if over == 0 {
                break;
            }
            if part.kind != PartKind::Media {
                continue;
            }
            let Some(proposal) = pruner.propose(index) else {
                continue;
            };
            over = over.saturating_sub(part.span.len() as u64);
            plan.tokens.after -= proposal.step.saves().min(plan.tokens.after);
            plan.steps.push(proposal.step);
            plan.originals.push(proposal.original);
        }
        if plan.steps.is_empty() {
            return None;
        }
        plan.outcome = Outcome::Pruned;
        plan.reason =
            format!("{} images and documents were removed to meet compression.max_body_bytes", plan.steps.len());
        if over > 0 {
            plan.warnings.push(format!("the body is still {over} bytes over compression.max_body_bytes"));
        }
        self.seal(&mut plan);
        Some(plan)
    }

    /// Parts of the middle that may be pruned with their tokens, in the order of the policy.
    fn candidates(&self, zones: &Zones) -> (Vec<(usize, u64)>, Vec<Skip>) {
        let knobs = &self.policy.compression;
        let mut candidates = Vec::new();
        let mut skips = Vec::new();
        let (mut small, mut small_tokens) = (0, 0);
        let (mut spared, mut spared_tokens) = (0, 0);
        let first = self.transcript.messages.get(zones.head).map_or(0, |message| message.parts.start as usize);
        let last = match zones.tail.checked_sub(1).and_then(|last| self.transcript.messages.get(last)) {
            Some(message) if zones.has_middle() => message.parts.end as usize,
            _ => first,
        };
        for index in (first..last).rev() {
            let Some(part) = self.transcript.parts.get(index) else {
                continue;
            };
            let tokens = u64::from(self.counts.parts.get(index).copied().unwrap_or_default());
            if !matches!(part.kind, PartKind::ToolResult | PartKind::ToolCall | PartKind::Media) {
                continue;
            }
            if tokens <= u64::from(knobs.prune_above) {
                small += 1;
                small_tokens += tokens;
                continue;
            }
            let tool = self.transcript.tool_of(index);
            if part.kind == PartKind::ToolResult && knobs.never_prune.iter().any(|name| name == tool) {
                let message = self.transcript.message_of(index);
                skips.push(Skip::NeverPruned { message, tool: tool.to_owned() });
                continue;
            }
            if part.kind == PartKind::ToolResult && spared_tokens < u64::from(self.budgets.protect_tool_tokens) {
                spared += 1;
                spared_tokens += tokens;
                continue;
            }
            candidates.push((index, tokens));
        }
        match knobs.prune_order {
            PruneOrder::Largest => candidates.sort_by_key(|&(index, tokens)| (std::cmp::Reverse(tokens), index)),
            PruneOrder::Oldest => candidates.reverse(),
        }
        if small > 0 {
            skips.push(Skip::Small { outputs: small, tokens: small_tokens });
        }
        if spared > 0 {
            skips.push(Skip::Spared { outputs: spared, tokens: spared_tokens });
        }
        (candidates, skips)
    }
}
