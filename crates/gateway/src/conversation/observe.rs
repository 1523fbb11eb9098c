//! Handles usage that the provider reported: corrects token counts, ends the wait after a fold, updates statistics.

use super::cost::{self, AsItCame};
use super::incoming::Timestamp;
use super::prepared::{Outcome, Turn};
use super::sessions::{Sums, TurnEvent};
use super::shared::{Shared, name};
use super::state::{Base, Conversation, ConversationEvent};
use super::windows;
use foldline_core::planning::SessionEvent;
use foldline_store::EventRow;
use foldline_transcript::wire::reply::ReportedUsage;

/// Takes note of what was reported for a turn.
pub(super) fn observe(shared: &Shared, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
    shared.note_time(now.0);
    let prompt = usage.prompt();
    windows::accept(shared, turn.credential, &turn.asked_model, prompt, now.0);
    let mut memory = shared.memory();
    let charged = cost::charged(&turn.model, &usage);
    let mut uncompacted = charged;
    if let (Some(root), Some(session)) = (turn.root, memory.session(&turn.session)) {
        session.record.context = prompt;
        let root = name(&root);
        let before = session.record.conversation(&root).cloned().unwrap_or_else(|| Conversation::new(&root));
        uncompacted = as_it_came(&before, turn, &usage, charged);
        let event = learnt(&before, turn, prompt);
        let is_cached = usage.cache_read > 0;
        session.apply(&root, vec![ConversationEvent::Reported { event, is_cached, before: turn.tokens.0 }]);
    }
    let sums = Sums {
        reported_prompt: prompt,
        reported_cached: usage.cache_read,
        reported_output: usage.output,
        charged,
        uncompacted,
        shadow_dollars: charged - cost::with_prompt_of(&turn.model, &usage, turn.tokens.1, turn.decided),
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
    drop(memory);
    shared.share(&turn.session, now.0);
}

/// The same, where it only changes what is in memory.
pub(super) fn observe_at_once(shared: &Shared, turn: &Turn, usage: ReportedUsage, now: Timestamp) -> bool {
    let is_memory_only =
        !shared.shares_store() && !windows::is_contradicted(shared, turn.credential, &turn.asked_model, usage.prompt());
    if is_memory_only {
        observe(shared, turn, usage, now);
    }
    is_memory_only
}

/// What corrects counts and ends the wait after a fold.
fn learnt(conversation: &Conversation, turn: &Turn, prompt: u64) -> Option<(SessionEvent, Base)> {
    if prompt == 0 {
        return None;
    }
    // A reply to a request that left before the fold says nothing about the fold.
    let latest = &conversation.latest;
    let is_current = turn.checkpoint == *latest || latest.is_none() || turn.outcome == Outcome::Shadow;
    let counted = turn.counted;
    let event = match is_current {
        true => SessionEvent::Reported { prompt, messages: None, counted, pressure: turn.budgets.pressure.into() },
        false => SessionEvent::ReportedLate { prompt, counted },
    };
    let base = Base {
        digest: turn.end.0.clone(),
        position: turn.end.1,
        sent: turn.sent,
        checkpoint: turn.checkpoint.clone(),
        prompt,
    };
    Some((event, base))
}

/// What the request would have cost as it came; exactly what it cost when it went out that way.
fn as_it_came(conversation: &Conversation, turn: &Turn, usage: &ReportedUsage, charged: f64) -> f64 {
    if turn.checkpoint.is_none() {
        return charged;
    }
    let came = AsItCame {
        tokens: turn.tokens.0,
        repeated: conversation.before.min(turn.tokens.0),
        caches: conversation.caches || usage.cache_read > 0,
    };
    cost::uncompacted(&turn.model, came, usage)
}
