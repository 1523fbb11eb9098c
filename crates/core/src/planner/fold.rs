//! Folding: the middle becomes a handoff.

use super::{CannotFit, Planner, standing};
use crate::handoff::{self, Fill, Frame, Handoff};
use crate::inserted::{self, host_context};
use crate::ledger::{self, Author, Held, Ledger, Stretches, Wishes};
use crate::plan::{Draft, Fold, Outcome, Plan, Skip, Step, StepKind, TokenChange};
use crate::policy::Fidelity;
use crate::request::Trigger;
use crate::summary::Checked;
use crate::zone::{Zones, last_request};
use foldline_redact::{Mode, redact};
use foldline_reduce::wording::{counted, grouped};
use foldline_transcript::edit::Span;
use foldline_transcript::recall::Original;
use foldline_transcript::wire::field;
use foldline_transcript::{PartKind, Place, Role};
use std::sync::Arc;

impl Planner<'_, '_> {
    /// Folds with the tail and the handoff budget of the policy; goes down the ladder only when the
    /// result would not fit the window.
    pub(super) fn fold_as_the_policy_says(&self) -> Result<Plan, CannotFit> {
        let zones = self.zones();
        let folded = self.folded(&zones);
        let room = self.room();
        if folded.is_empty() {
            if self.transcript.text.len() as u64 > self.budgets.max_body_bytes
                && let Some(plan) = self.shed_media()
            {
                return Ok(plan);
            }
            let unchanged = || self.unchanged("head and tail cover the whole conversation; there is nothing to fold");
            return if self.counts.total() > room { self.descend_below(room, unchanged) } else { Ok(unchanged()) };
        }
        let handoffs = folded.iter().rposition(|&index| inserted::is_handoff(self.transcript, index));
        if handoffs.is_some_and(|last| last + 1 == folded.len()) && self.counts.total() <= room {
            return Ok(self.unchanged("no new messages since the last handoff"));
        }
        let tokens: u64 = folded.iter().map(|&index| self.counts.message(index)).sum();
        let earlier: u64 = folded
            .iter()
            .filter(|&&index| inserted::is_only_handoff(self.transcript, index))
            .map(|&index| self.counts.message(index))
            .sum();
        // An update must not lose what the last handoff knew for want of room; only what is new is halved.
        let most_useful = earlier + (tokens - earlier) / 2;
        let budget = self.budgets.handoff(saturated(tokens)).min(saturated(most_useful));
        let ledger = self.ledger(&folded, &self.live(&zones));
        let context = self.context(&zones, &folded);
        let plan = self.fold(zones, folded, context, Draft { ledger: Arc::new(ledger), budget });
        if plan.tokens.after > room {
            return self.descend_below(room, || self.unless_it_grows(plan));
        }
        Ok(self.unless_it_grows(plan))
    }

    /// What the policy may leave as it is.
    pub(super) fn room(&self) -> u64 {
        match self.request.trigger {
            Trigger::Hygiene => self.below_the_net(),
            _ => u64::from(self.budgets.effective_window),
        }
    }

    /// Goes down the ladder where the policy's own plan leaves more than `room`. On behalf of the safety net nothing is
    /// lost where that is out of reach: what the policy says is better than nothing.
    fn descend_below(&self, room: u64, otherwise: impl FnOnce() -> Plan) -> Result<Plan, CannotFit> {
        match self.request.trigger {
            Trigger::Hygiene => Ok(self.descend(room).unwrap_or_else(|_| otherwise())),
            _ => self.descend(self.budgets.trigger.into()),
        }
    }

    /// Where a fold for the safety net must land. A tail that the policy likes may fill a small window beside a large
    /// prompt: then the next request would reach the net again, and the one after it the window.
    fn below_the_net(&self) -> u64 {
        let outside = self.counts.outside();
        let room = u64::from(self.budgets.hygiene).saturating_sub(outside);
        outside + (room as f64 * NET_SHARE) as u64
    }

    /// The facts of the folded messages.
    pub(super) fn ledger(&self, folded: &[usize], live: &[usize]) -> Ledger {
        let pins: Vec<String> = self.policy.compression.pins.iter().chain(&self.request.pins).cloned().collect();
        let stretches = Stretches { folded, live };
        let wishes = Wishes { focus: self.request.focus.as_deref(), pins: &pins, weights: &self.request.weights };
        ledger::gather(self.transcript, stretches, wishes)
    }

    /// The facts of the messages that follow a fold.
    pub(super) fn ledger_after(&self, fold: &Fold) -> Ledger {
        let next = fold.messages.last().map_or(0, |last| last + 1);
        let after: Vec<usize> = (next..self.transcript.messages.len()).collect();
        self.ledger(&after, &[])
    }

    /// The rules and pins of the whole conversation.
    pub(super) fn held(&self) -> Vec<Held> {
        let all = Zones { head: 0, tail: self.transcript.messages.len(), ..self.zones() };
        let ledger = self.ledger(&self.folded(&all), &[]);
        let hide = |text: &str| redact(&ledger.secrets.hide(text), Mode::Text).into_owned();
        ledger.held().into_iter().map(|held| Held { text: hide(&held.text), ..held }).collect()
    }

    /// The messages that stay beside a handoff.
    pub(super) fn live(&self, zones: &Zones) -> Vec<usize> {
        (0..zones.head).chain(zones.carried).chain(zones.tail..zones.messages).collect()
    }

    /// What a handoff says about how it was made.
    fn note(&self) -> Option<String> {
        let failure = self.failure.as_ref()?;
        Some(format!(
            "the model that should have written this record failed ({}); it was put together from the messages without one.",
            failure.class
        ))
    }

    /// The messages that a fold takes away: standing instructions, records that are no messages, and what only the
    /// provider can read of an earlier compaction stay.
    pub(super) fn folded(&self, zones: &Zones) -> Vec<usize> {
        (zones.head..zones.tail)
            .filter(|&index| {
                let message = self.transcript.messages.get(index);
                message.is_some_and(|message| !message.role.is_instruction() && message.role != Role::Meta)
                    && !self.is_sealed_summary(index)
            })
            .collect()
    }

    /// Whether an item is the provider's own compaction of what came before it.
    fn is_sealed_summary(&self, index: usize) -> bool {
        let kinds = self.transcript.parts_at(index).iter().filter(|part| part.place == Place::Item);
        kinds.map(|part| field::word(self.transcript.text, part.span, "type")).any(|kind| COMPACTIONS.contains(&kind))
    }

    /// The standing context of the host that `folded` messages take with them, and what it costs.
    pub(super) fn context(&self, zones: &Zones, folded: &[usize]) -> Context {
        let texts = host_context(self.transcript, folded, &self.live(zones), zones.carried);
        let tokens = texts.iter().map(|text| u64::from(self.measure.text(text)) + CONTEXT_ENVELOPE).sum();
        Context { texts, tokens }
    }

    /// A plan that folds `folded` into a handoff of at most `budget` tokens, behind the host's standing context.
    pub(super) fn fold(&self, zones: Zones, folded: Vec<usize>, context: Context, draft: Draft) -> Plan {
        let before = self.counts.total();
        let tokens: u64 = folded.iter().map(|&index| self.counts.message(index)).sum();
        let original = self.original_of(&folded);
        let handoff = self.write_handoff(&zones, &folded, &draft.ledger, draft.budget, original.as_ref());
        let mut steps = Vec::new();
        let mut carried_tokens = 0;
        if let Some(message) = zones.carried {
            carried_tokens = self.spoken_tokens(message);
            steps.push(Step {
                message,
                part: None,
                kind: StepKind::Carry,
                tool: String::new(),
                before: self.counts.message(message),
                after: carried_tokens,
                fidelity: Fidelity::Exact,
                handle: None,
                text: None,
            });
        }
        let mut after =
            before - tokens + u64::from(handoff.tokens) + HANDOFF_ENVELOPE + carried_tokens + context.tokens;
        let iterative = folded.iter().any(|&index| inserted::is_handoff(self.transcript, index));
        if let Some(note) = self.system_note().filter(|_| !iterative) {
            after += note.after;
            steps.push(note);
        }
        let reason = reason(folded.len(), tokens, &handoff);
        let mut plan = Plan {
            outcome: Outcome::Folded,
            steps,
            zones,
            fold: Some(Fold {
                messages: folded,
                tokens,
                handoff,
                context: context.texts,
                context_tokens: context.tokens,
                iterative,
                by: Author::Ledger,
                checked: Checked::default(),
                draft,
            }),
            originals: original.into_iter().collect(),
            tokens: TokenChange { before, after, source: self.counts.source },
            ..self.unchanged(reason)
        };
        self.seal(&mut plan);
        plan
    }

    /// The note that the policy wants in the system prompt.
    pub(super) fn system_note(&self) -> Option<Step> {
        let message = (0..self.transcript.messages.len())
            .find(|&index| self.transcript.messages.get(index).is_some_and(|message| message.role.is_instruction()));
        if !self.policy.compression.system_note || (self.transcript.system.is_none() && message.is_none()) {
            return None;
        }
        Some(Step {
            message: message.unwrap_or_default(),
            part: None,
            kind: StepKind::SystemNote,
            tool: String::new(),
            before: 0,
            after: self.measure.text(SYSTEM_NOTE).into(),
            fidelity: Fidelity::Exact,
            handle: None,
            text: Some(SYSTEM_NOTE.to_owned()),
        })
    }

    /// Writes the handoff of a fold.
    pub(super) fn write_handoff(
        &self,
        zones: &Zones,
        folded: &[usize],
        ledger: &Ledger,
        budget: u32,
        original: Option<&Original>,
    ) -> Handoff {
        let request = last_request(self.transcript);
        let task = request.map(|index| self.spoken(index));
        let answers = request.zip(task.as_deref()).and_then(|(index, task)| self.answered_by(index, task));
        let handle = original.filter(|_| self.request.keeps_originals).map(|original| original.handle.to_string());
        let note = self.note();
        let frame = Frame {
            task: task.as_deref(),
            answers: answers.as_deref(),
            task_is_above: request.is_some_and(|request| request < zones.head),
            standing: standing(self.transcript),
            messages: folded.len(),
            handle: handle.as_deref(),
            reach: &self.request.reach,
            note: note.as_deref(),
            is_brief: false,
            fill: match self.request.target {
                Some(_) => Fill::Room,
                None => Fill::Worthwhile,
            },
        };
        handoff::write(ledger, &frame, budget, self.measure)
    }

    /// What the handoff of a fold costs when it has no room for facts.
    pub(super) fn framing(&self, zones: &Zones, folded: &[usize]) -> u64 {
        let original = self.original_of(folded);
        let bare = self.write_handoff(zones, folded, &Ledger::default(), 0, original.as_ref());
        bare.tokens.into()
    }

    /// What the assistant had said that a short request answers.
    fn answered_by(&self, request: usize, task: &str) -> Option<String> {
        let said = (0..request).rev().find(|&index| {
            self.transcript.messages.get(index).is_some_and(|message| message.role == Role::Assistant)
                && self
                    .transcript
                    .parts_at(index)
                    .iter()
                    .any(|part| part.kind == PartKind::Text && !self.transcript.is_blank(part))
        })?;
        let words: Vec<_> = self
            .transcript
            .parts_at(said)
            .iter()
            .filter(|part| part.kind == PartKind::Text)
            .map(|part| inserted::own_words(self.transcript, part))
            .collect();
        let words = words.join("\n\n");
        Some(ledger::offered(&words, task)?.join("\n"))
    }

    /// What a person says in a message, without what clients slip in between, unless there is nothing else.
    fn spoken(&self, index: usize) -> String {
        let texts: Vec<_> = self
            .transcript
            .parts_at(index)
            .iter()
            .filter(|part| part.kind == PartKind::Text)
            .map(|part| inserted::own_words(self.transcript, part))
            .filter(|words| !words.trim().is_empty())
            .collect();
        let words = texts.join("\n");
        let own = ledger::spoken(&words);
        if own.trim().is_empty() { words } else { own }
    }

    /// What a person says costs: words and media, without the tool results and the handoff beside them.
    pub(super) fn spoken_tokens(&self, index: usize) -> u64 {
        let Some(message) = self.transcript.messages.get(index) else {
            return 0;
        };
        let handoff = inserted::handoff_part(self.transcript, index);
        let cost = |at: usize| match self.transcript.parts.get(at) {
            Some(part) if part.kind == PartKind::Text && handoff.is_some_and(|handoff| at < handoff) => 0,
            Some(part) if part.kind == PartKind::Text && handoff.is_some() => {
                self.measure.text(&inserted::own_words(self.transcript, part))
            }
            Some(part) if matches!(part.kind, PartKind::Text | PartKind::Media) => {
                self.counts.parts.get(at).copied().unwrap_or_default()
            }
            _ => 0,
        };
        let parts = message.parts.start as usize..message.parts.end as usize;
        parts.map(|at| u64::from(cost(at))).sum::<u64>() + HANDOFF_ENVELOPE
    }

    /// The folded stretch as it stands in the document.
    fn original_of(&self, folded: &[usize]) -> Option<Original> {
        let first = self.transcript.messages.get(*folded.first()?)?;
        let last = self.transcript.messages.get(*folded.last()?)?;
        let span = Span { start: first.span.start, end: last.span.end };
        // Its handle is a digest of megabytes, and rungs of the ladder ask for the same stretch again.
        let mut known = self.stretch.borrow_mut();
        let (_, original) = match known.take() {
            Some((at, original)) if at == span => known.insert((at, original)),
            _ => known.insert((span, Original::of_span(self.transcript, span))),
        };
        Some(original.clone())
    }

    /// A fold that nothing forces must be worth the cached prefix that it costs.
    pub(super) fn unless_it_frees_too_little(&self, plan: Plan) -> Plan {
        let TokenChange { before, after, .. } = plan.tokens;
        let freed = before.saturating_sub(after);
        let least = (self.counts.messages() as f64 * self.policy.compression.min_freed) as u64;
        let is_forced = before >= u64::from(self.budgets.hygiene)
            || self.transcript.text.len() as u64 > self.budgets.max_body_bytes;
        if plan.fold.is_none() || freed >= least || is_forced {
            return plan;
        }
        let mut unchanged = self.unchanged(format!(
            "a fold would free {} tokens, fewer than the required {} (compression.min_freed)",
            grouped(freed),
            grouped(least)
        ));
        unchanged.skips = plan.skips;
        unchanged.skips.push(Skip::NoGain { before, after });
        unchanged
    }

    /// A result that is not smaller is no result.
    pub(super) fn unless_it_grows(&self, plan: Plan) -> Plan {
        let TokenChange { before, after, .. } = plan.tokens;
        if after < before {
            return plan;
        }
        let mut unchanged =
            self.unchanged(format!("a fold would save nothing ({} → {} tokens)", grouped(before), grouped(after)));
        unchanged.skips.push(Skip::NoGain { before, after });
        unchanged
    }
}

/// What a fold does, in a sentence.
pub(super) fn reason(messages: usize, tokens: u64, handoff: &Handoff) -> String {
    format!(
        "{} with {} tokens become a handoff of {} tokens",
        counted(messages, "message"),
        grouped(tokens),
        grouped(handoff.tokens)
    )
}

/// Share of the room below the safety net that a fold on its behalf may leave filled.
const NET_SHARE: f64 = 0.6;

/// What `system_note` appends to the system prompt.
const SYSTEM_NOTE: &str = "[Earlier turns of this conversation may be folded into a handoff record. Build on the work it \
                           describes instead of doing it again; memory files stay in force.]";

fn saturated(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// The items in which a provider keeps its own compaction of a conversation.
const COMPACTIONS: [&str; 3] = ["compaction", "compaction_summary", "context_compaction"];

/// The host's standing context that a fold carries.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    texts: Vec<String>,
    /// What it costs.
    pub(super) tokens: u64,
}

/// What surrounds a text in a message.
const CONTEXT_ENVELOPE: u64 = 3;

/// Role and separators of one message.
pub(super) const HANDOFF_ENVELOPE: u64 = 4;
