//! The provider refused a request as too long: fold again with a smaller budget and resend, at most twice.

use super::checkpoint::{Marks, SignedReasoningState};
use super::error::PrepareError;
use super::fold::{Attempt, Fold};
use super::incoming::IncomingTurn;
use super::parsed_request::ParsedRequest;
use super::prepared::{Durability, Outcome, Prepared, Recovery, Turn};
use super::request_context;
use super::sessions::Sums;
use super::shared::{Shared, name};
use super::state::ConversationEvent;
use super::token_counts::{self, TokenCounts};
use super::windows::{self, RefusedRequest};
use crate::refusal::{RefusalKind, SizeRefusal};
use foldline_core::Request;
use foldline_core::Trigger;
use foldline_core::policy::AutoOr;
use foldline_store::Precedence;
use std::borrow::Cow;
use std::sync::Arc;

/// Share of what the provider takes that each attempt aims at: counts are off by some percent, and a
/// second refusal costs a turn.
const AIM: [f64; 2] = [0.80, 0.50];

/// Share of the refused request that an attempt aims at when the provider names no numbers.
const AIM_BLIND: [f64; 2] = [0.60, 0.35];

/// Folds a refused request harder.
pub(super) fn overflow<'a>(
    shared: &Arc<Shared>,
    ask: &IncomingTurn<'a>,
    turn: &Turn,
    refusal: &SizeRefusal,
    attempt: u8,
) -> Result<Option<Prepared<'a>>, PrepareError> {
    let at = usize::from(attempt).saturating_sub(1);
    let (Some(&aim), Some(&aim_blind)) = (AIM.get(at), AIM_BLIND.get(at)) else {
        return Ok(None);
    };
    if turn.recovery == Recovery::Forbidden {
        return Ok(None);
    }
    let rules = shared.rules();
    let parsed = ParsedRequest::of(ask)?;
    let Some(root) = parsed.root() else {
        return Ok(None);
    };
    let mut conversation = shared.enter(&rules, ask, &parsed, &root)?;
    let reply = parsed.transcript.max_output;
    let refused = RefusedRequest { prompt: turn.tokens.1, reply };
    windows::refuse(shared, ask.credential, parsed.model(), &refused, refusal, ask.now.0);
    let window = windows::learnt(shared, ask.credential, parsed.model(), ask.now.0);
    let mut policy = rules.policy(window, reply, ask.model).into_owned();
    let checkpoint = shared.best(&rules, ask, &parsed, &conversation.undone)?;
    let setting = rules.job.setting(&parsed.transcript, &policy, &conversation.state);
    let tally =
        TokenCounts::of(&parsed, &token_counts::measure(setting.budgets.image_tokens), &mut conversation.measured);
    let setting = setting.beside(tally.outside, &policy);
    let counted = match checkpoint.as_deref() {
        Some(checkpoint) => tally.outside + checkpoint.facts.tokens + tally.since(checkpoint.facts.position),
        None => tally.total(),
    };
    // The engine counts in its own measure; what the provider counted tells how the two compare.
    let scale = refusal
        .asked
        .map_or(conversation.state.calibration.ratio(), |asked| asked as f64 / turn.counted.max(1) as f64)
        .clamp(0.5, 3.0);
    let room = match (refusal.kind, refusal.limit) {
        (RefusalKind::Window, Some(_)) => Some(f64::from(setting.budgets.effective_window)),
        (RefusalKind::Rate, Some(limit)) => Some(limit as f64),
        _ => None,
    };
    let engine_scale = conversation.state.calibration.ratio();
    let blind = counted as f64 * engine_scale * aim_blind;
    let target = match room {
        Some(room) => (room * aim / scale * engine_scale).min(counted as f64 * engine_scale * 0.95),
        None => blind,
    };
    if refusal.kind == RefusalKind::Bytes {
        policy.compression.max_body_bytes = AutoOr::Fixed((ask.body.len() as f64 * aim_blind) as u64);
    }
    // Reported usage belongs to requests that were accepted.
    conversation.base = None;
    let measured = std::mem::take(&mut conversation.measured);
    let request = Request {
        target: Some(target as u64),
        ..request_context::request(Trigger::Overflow, ask, &parsed, &conversation, &policy)
    };
    let fold = Fold {
        shared,
        rules: &rules,
        policy: &policy,
        credential: ask.credential,
        now: ask.now,
        parsed: &parsed,
        root,
        checkpoint: checkpoint.as_deref(),
        conversation: &conversation,
        request,
        verdict: None,
        // What was refused is replaced for good.
        precedence: Precedence::Latest,
        seals: SignedReasoningState::Sound,
        durability: Durability::Disk,
    };
    let done = match fold.make_at_any_rate()? {
        Attempt::Made(done) => done,
        Attempt::Nothing { .. } => return Ok(None),
        Attempt::Unkept(error) => return Err(error.into()),
    };
    let Some(text) = done.checkpoint.swap(&parsed, Marks::AtTheSeam) else {
        return Ok(None);
    };
    let facts = done.checkpoint.facts;
    let after = tally.outside + facts.tokens + tally.since(facts.position);
    let scaled = |tokens: u64| (tokens as f64 * scale) as u64;
    let tokens = (scaled(tally.total()), scaled(after));
    let turn = Turn {
        outcome: Outcome::Folded,
        tokens,
        decided: tokens.1,
        counted: after,
        sent: parsed.transcript.messages.len() - facts.position + facts.messages,
        checkpoint: Some(name(&done.checkpoint.key)),
        budgets: setting.budgets,
        ..turn.clone()
    };
    let mut memory = shared.memory();
    if let Some(session) = memory.session(&parsed.session) {
        let forwarded = ConversationEvent::Forwarded { at: ask.now.0, measured };
        let events = done.events.into_unapplied().into_iter().chain([forwarded]);
        session.apply(&name(&root), events.collect());
    }
    memory.add(&parsed.session, &Sums { recoveries: 1, folds: 1, ..Sums::default() });
    Ok(Some(Prepared {
        body: Cow::Owned(text),
        structure: None,
        session: parsed.session.clone(),
        outcome: Outcome::Folded,
        tokens,
        turn,
        durability: done.durability,
        compacted: done.compacted,
        background: None,
        warnings: done.warnings,
    }))
}
