//! What the provider reported: it corrects the counts, ends the wait after a fold, and is what accounts
//! are made of.

use super::ask::Timestamp;
use super::inner::{Inner, name};
use super::memory::{Base, Lane};
use super::money::{self, AsItCame};
use super::prepared::{Outcome, Turn};
use super::sessions::{Sums, TurnEvent};
use super::windows;
use foldline_core::planning::observe_usage;
use foldline_store::EventRow;
use foldline_transcript::wire::reply::ReportedUsage;

/// Takes note of what was reported for a turn.
pub(super) fn observe(inner: &Inner, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
    inner.note_time(now.0);
    let prompt = usage.prompt();
    windows::accept(inner, turn.credential, &turn.asked_model, prompt, now.0);
    let mut memory = inner.memory();
    let charged = money::charged(&turn.model, &usage);
    let mut uncompacted = charged;
    if let (Some(root), Some(session)) = (turn.root, memory.session(&turn.session)) {
        session.record.context = prompt;
        uncompacted = session.record.with_lane(&name(&root), |lane| {
            let uncompacted = as_it_came(lane, turn, &usage, charged);
            learn(lane, turn, prompt);
            lane.caches |= usage.cache_read > 0;
            lane.before = turn.tokens.0;
            uncompacted
        });
    }
    let sums = Sums {
        reported_prompt: prompt,
        reported_cached: usage.cache_read,
        reported_output: usage.output,
        charged,
        uncompacted,
        ..Sums::default()
    };
    memory.add(&turn.session, &sums);
    let event = TurnEvent {
        at: now.0,
        outcome: turn.outcome.name().to_owned(),
        before: turn.tokens.0,
        after: turn.tokens.1,
        prompt,
        cached: usage.cache_read,
        output: usage.output,
        charged,
        uncompacted,
    };
    memory.note(EventRow {
        session: turn.session.to_string(),
        at: now.0,
        record: serde_json::to_string(&event).unwrap_or_default(),
    });
}

/// Corrects counts and ends the wait after a fold.
fn learn(lane: &mut Lane, turn: &Turn, prompt: u64) {
    if prompt == 0 {
        return;
    }
    // A reply to a request that left before the fold says nothing about the fold.
    let is_current = turn.checkpoint == lane.latest || lane.latest.is_none() || turn.outcome == Outcome::Shadow;
    match is_current {
        true => observe_usage(&mut lane.state, &turn.budgets, prompt, turn.sent, turn.counted),
        false => lane.state.calibration.observe(saturated(turn.counted), saturated(prompt)),
    }
    lane.state.usage = None;
    lane.base = Some(Base {
        digest: turn.end.0.clone(),
        position: turn.end.1,
        sent: turn.sent,
        checkpoint: turn.checkpoint.clone(),
        prompt,
    });
}

/// What the request would have cost as it came; exactly what it cost when it went out that way.
fn as_it_came(lane: &Lane, turn: &Turn, usage: &ReportedUsage, charged: f64) -> f64 {
    if turn.checkpoint.is_none() {
        return charged;
    }
    let came = AsItCame {
        tokens: turn.tokens.0,
        repeated: lane.before.min(turn.tokens.0),
        caches: lane.caches || usage.cache_read > 0,
    };
    money::uncompacted(&turn.model, came, usage)
}

fn saturated(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
