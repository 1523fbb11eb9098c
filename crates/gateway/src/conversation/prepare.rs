//! Prepares a request: find its conversation, insert the checkpoint, fold if due.

use super::checkpoint::{Checkpoint, Marks, SignedReasoningState};
use super::compacted::Compacted;
use super::error::PrepareError;
use super::fold::{Attempt, Fold, FoldEvents};
use super::incoming::IncomingTurn;
use super::left_alone::left_alone;
use super::parsed_request::ParsedRequest;
use super::prepared::{Durability, OriginalSize, Outcome, Prepared, Recovery, Turn};
use super::purpose::{Purpose, purpose};
use super::request_context;
use super::schedule::{self, BackgroundWork, Due, Schedule, schedule};
use super::sessions::Sums;
use super::settings::Mode;
use super::shared::{Rules, Shared, name};
use super::state::{Conversation, ConversationEvent};
use super::task::{FoldTask, Start};
use super::token_counts::{self, TokenCounts};
use super::windows::{self, Window};
use foldline_core::planning::{SessionEvent, Situation, Size, Usage, Verdict, pressure};
use foldline_core::policy::{BudgetInputs, Budgets};
use foldline_core::{Policy, Request, Setting, Trigger};
use foldline_store::{Key, Precedence};
use std::borrow::Cow;
use std::sync::Arc;

/// Makes a request ready to be forwarded, if that is possible within `reach`; within [`Reach::Store`] it always is.
pub(super) fn prepare<'a>(
    shared: &Arc<Shared>,
    ask: &IncomingTurn<'a>,
    reach: Reach,
) -> Result<Option<Prepared<'a>>, PrepareError> {
    let rules = shared.rules();
    let parsed = ParsedRequest::of(ask)?;
    if reach == Reach::Memory && !shared.holds(ask, &parsed) {
        return Ok(None);
    }
    let purpose = purpose(ask.purpose, &parsed.transcript);
    let alone = left_alone(&rules, ask, &parsed, purpose);
    let root = parsed.root().filter(|_| alone != Some(Outcome::Bypassed) && purpose != Purpose::Side);
    let mut conversation = match &root {
        Some(root) => shared.enter(&rules, ask, &parsed, root)?,
        None => Conversation::default(),
    };
    let window = windows::learnt(shared, ask.credential, parsed.model(), ask.now.0);
    let policy = rules.policy(window, parsed.transcript.max_output, ask.model);
    let setting = rules.job.setting(&parsed.transcript, &policy, &conversation.state);
    let tally =
        TokenCounts::of(&parsed, &token_counts::measure(setting.budgets.image_tokens), &mut conversation.measured);
    let outside = tally.outside as f64 * conversation.state.calibration.ratio();
    let setting = setting.beside(outside as u64, &policy);
    let mut path = Path {
        shared,
        rules: &rules,
        ask,
        parsed: &parsed,
        policy: &policy,
        setting,
        tally,
        conversation,
        window,
        warnings: Vec::new(),
        durability: Durability::Disk,
        compacted: None,
        events: Vec::new(),
        was_asked: false,
        reach,
    };
    let passed = match (root, alone) {
        (Some(root), None) => path.go(root, purpose)?,
        _ => Some(Passed { outcome: alone.unwrap_or(Outcome::Unchanged), checkpoint: None, task: None }),
    };
    Ok(passed.map(|passed| path.leave(root, purpose, alone, passed)))
}

/// What may be used to make a request ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// What is in memory: the thread must not block, nor work for long.
    Memory,
    /// Everything.
    Store,
}

/// What the engine may take as reported: usage of a request that this one extends.
pub(super) fn usage_for(
    conversation: &Conversation,
    parsed: &ParsedRequest<'_>,
    checkpoint: Option<&Checkpoint>,
) -> Option<Usage> {
    let base = conversation.base.as_ref()?;
    let same_beginning = parsed.key(base.position).is_some_and(|key| name(&key) == base.digest);
    let same_checkpoint = checkpoint.map(|checkpoint| name(&checkpoint.key)) == base.checkpoint;
    (same_beginning && same_checkpoint).then_some(Usage { prompt: base.prompt, messages: base.sent })
}

/// A request on its way through.
struct Path<'p, 'a> {
    shared: &'p Arc<Shared>,
    rules: &'p Arc<Rules>,
    ask: &'p IncomingTurn<'a>,
    parsed: &'p ParsedRequest<'a>,
    policy: &'p Policy,
    setting: Setting,
    tally: TokenCounts,
    conversation: Conversation,
    window: Option<Window>,
    warnings: Vec<String>,
    durability: Durability,
    compacted: Option<Compacted>,
    /// What has happened to the conversation in this turn and is not remembered yet.
    events: Vec<ConversationEvent>,
    /// Whether the engine has made a fold that is remembered already.
    was_asked: bool,
    reach: Reach,
}

/// What was decided.
struct Passed {
    outcome: Outcome,
    checkpoint: Option<Arc<Checkpoint>>,
    task: Option<FoldTask>,
}

impl<'a> Path<'_, 'a> {
    /// Swaps what is known, and folds if it is time. `None` where that takes more than is in reach.
    fn go(&mut self, root: Key, purpose: Purpose) -> Result<Option<Passed>, PrepareError> {
        let undone = &self.conversation.undone;
        let checkpoint = self.shared.best(self.rules, self.ask, self.parsed, undone)?;
        let is_hit = checkpoint.is_some();
        let passed = self.decide(root, purpose, checkpoint);
        if !matches!(passed, Ok(None)) {
            let mut memory = self.shared.memory();
            match is_hit {
                true => memory.totals.checkpoint_hits += 1,
                false => memory.totals.checkpoint_misses += 1,
            }
        }
        passed
    }

    fn decide(
        &mut self,
        root: Key,
        purpose: Purpose,
        mut checkpoint: Option<Arc<Checkpoint>>,
    ) -> Result<Option<Passed>, PrepareError> {
        // A client that compacts should see everything, as long as it fits.
        if purpose == Purpose::Compaction && self.tokens(None) < u64::from(self.setting.budgets.effective_window) {
            return Ok(Some(Passed { outcome: Outcome::Bypassed, checkpoint: None, task: None }));
        }
        if let Some(stale) =
            checkpoint.clone().filter(|checkpoint| checkpoint.facts.seals == SignedReasoningState::Stale)
        {
            if self.reach == Reach::Memory {
                return Ok(None);
            }
            let fold = self.fold(root, Some(&stale), Request::default(), None);
            match fold.adopt(self.setting.budgets.image_tokens)? {
                Attempt::Made(done) => {
                    self.note_fold(done.events);
                    checkpoint = Some(done.checkpoint);
                }
                Attempt::Nothing { .. } => {}
                // Without the adoption its signatures would be refused, without the checkpoint perhaps its size.
                Attempt::Unkept(error) => return Err(error.into()),
            }
        }
        self.act(root, purpose, checkpoint)
    }

    /// Chooses what to do now that the checkpoint is known, and does it.
    fn act(
        &mut self,
        root: Key,
        purpose: Purpose,
        mut checkpoint: Option<Arc<Checkpoint>>,
    ) -> Result<Option<Passed>, PrepareError> {
        let manual =
            self.shared.memory().session(&self.parsed.session).and_then(|session| session.record.manual.clone());
        let choose = |checkpoint: Option<&Checkpoint>| {
            let budgets = self.budgets(checkpoint);
            let situation = self.situation(checkpoint, &budgets);
            match (&manual, purpose) {
                (Some(_), Purpose::Turn) => schedule::on_request(&situation),
                (_, Purpose::Turn) if self.conversation.after_undo.is_some() => {
                    let since = self.conversation.after_undo.and_then(|after_undo| after_undo.tokens);
                    schedule::after_undo(&situation, since)
                        .unwrap_or_else(|| schedule(&situation, self.beside(root), self.conversation.reports))
                }
                (_, Purpose::Turn) => schedule(&situation, self.beside(root), self.conversation.reports),
                // Its own compaction is at work.
                _ => schedule::only_if_needed(&situation),
            }
        };
        let mut next = choose(checkpoint.as_deref());
        if next != Schedule::Never && self.reach == Reach::Memory {
            return Ok(None);
        }
        let mut doubt = None;
        let can_ask = self.shared.store_for(self.rules).is_some() && !self.shared.store_rests(self.ask.now.0);
        if next != Schedule::Never && can_ask {
            // Another process may have folded this conversation already.
            let learnt = self.shared.learn_root(self.rules, self.ask.credential, &root);
            let known = match learnt
                .and_then(|()| self.shared.best(self.rules, self.ask, self.parsed, &self.conversation.undone))
            {
                Ok(known) => known,
                // What is known here still counts; whether the fold can be kept will show.
                Err(fault) => {
                    doubt = Some(format!("failed to look up folds in the store: {fault}"));
                    checkpoint.clone()
                }
            };
            let position = |of: &Option<Arc<Checkpoint>>| of.as_ref().map(|checkpoint| checkpoint.facts.position);
            if position(&known) > position(&checkpoint)
                && known.as_ref().is_some_and(|known| known.facts.seals == SignedReasoningState::Sound)
            {
                next = choose(known.as_deref());
                checkpoint = known;
            }
        }
        self.warnings.extend(doubt);
        let can_wait = next != Schedule::Never && !matches!(next.now(), Some(Trigger::TooLarge | Trigger::Manual));
        if can_wait && self.shared.store_rests(self.ask.now.0) {
            return Ok(Some(Passed { outcome: Outcome::FailedOpen, checkpoint, task: None }));
        }
        if next == Schedule::Never
            && purpose == Purpose::Turn
            && self.conversation.after_undo.is_some_and(|after_undo| after_undo.tokens.is_none())
        {
            let tokens = self.tokens(checkpoint.as_deref());
            self.note(vec![ConversationEvent::AfterUndo { tokens }]);
        }
        let swapped = if checkpoint.is_some() { Outcome::Checkpoint } else { Outcome::Unchanged };
        Ok(Some(match next {
            Schedule::Never => Passed { outcome: swapped, checkpoint, task: None },
            Schedule::InBackground(due) => {
                let start = Start {
                    request: self.request(due.trigger),
                    verdict: due.verdict,
                    rules: self.rules,
                    credential: self.ask.credential,
                    now: self.ask.now,
                    parsed: self.parsed,
                    root,
                    checkpoint: checkpoint.as_ref(),
                    conversation: &self.conversation,
                    window: self.window,
                };
                let task = FoldTask::start(self.shared, start);
                Passed { outcome: swapped, checkpoint, task }
            }
            Schedule::Now(due) => {
                let focus = manual.flatten().or_else(|| self.ask.focus.map(str::to_owned));
                self.fold_now(root, checkpoint, due, focus, swapped)?
            }
        }))
    }

    /// Whether a fold of the conversation is under way.
    fn beside(&self, root: Key) -> BackgroundWork {
        let in_flight = self.shared.memory().flights.contains(&(self.parsed.session.clone(), root));
        if in_flight { BackgroundWork::Fold } else { BackgroundWork::Nothing }
    }

    fn request(&self, trigger: Trigger) -> Request {
        request_context::request(trigger, self.ask, self.parsed, &self.conversation, self.policy)
    }

    /// What a verdict on the request follows from, with the counts that are known already.
    fn situation<'s>(&'s self, checkpoint: Option<&Checkpoint>, budgets: &'s Budgets) -> Situation<'s> {
        let replaced =
            checkpoint.map_or(0, |checkpoint| checkpoint.facts.messages as i64 - checkpoint.facts.position as i64);
        let opening = match checkpoint {
            Some(_) => 0,
            None => {
                let protected = self.policy.compression.protect_first_n as usize;
                self.tally.since(0) - self.tally.since(protected.min(self.parsed.len()))
            }
        };
        Situation {
            size: Size {
                tokens: self.tokens(checkpoint),
                messages: self.parsed.transcript.messages.len().saturating_add_signed(replaced as isize),
                bytes: self.bytes(checkpoint),
            },
            admitted: 0,
            fixed: self.tally.outside + opening,
            is_settled: false,
            policy: self.policy,
            model: &self.setting.model,
            budgets,
            state: &self.conversation.state,
            trigger: Trigger::Engine,
            target: None,
            idle: request_context::idle(&self.conversation, self.ask),
        }
    }

    /// The budgets as the engine will see them: what was reported beyond what is counted stands beside the messages.
    fn budgets(&self, checkpoint: Option<&Checkpoint>) -> Budgets {
        let Setting { model, inputs, .. } = &self.setting;
        let scale = self.conversation.state.calibration.ratio();
        let unseen = self.tokens(checkpoint).saturating_sub((self.counted(checkpoint) as f64 * scale) as u64);
        let outside = inputs.outside.saturating_add(u32::try_from(unseen).unwrap_or(u32::MAX));
        Budgets::of(self.policy, model, BudgetInputs { outside, ..*inputs })
    }

    fn fold_now(
        &mut self,
        root: Key,
        checkpoint: Option<Arc<Checkpoint>>,
        due: Due,
        focus: Option<String>,
        otherwise: Outcome,
    ) -> Result<Passed, PrepareError> {
        let Due { trigger, verdict } = due;
        let (is_manual, is_needed) = (trigger == Trigger::Manual, trigger == Trigger::TooLarge);
        let request = Request { focus, ..self.request(trigger) };
        let mut fold = self.fold(root, checkpoint.as_deref(), request, Some(verdict));
        if is_manual {
            fold.precedence = Precedence::Latest;
        }
        let attempt = if is_needed { fold.make_at_any_rate()? } else { fold.make()? };
        if is_manual && let Some(session) = self.shared.memory().session(&self.parsed.session) {
            session.ask_for_fold(None);
        }
        Ok(match attempt {
            Attempt::Made(done) => {
                self.note_fold(done.events);
                self.warnings.extend(done.warnings);
                self.durability = done.durability;
                self.compacted = done.compacted;
                let outcome = if done.is_fold { Outcome::Folded } else { Outcome::Pruned };
                Passed { outcome, checkpoint: Some(done.checkpoint), task: None }
            }
            Attempt::Nothing { events, warnings } => {
                self.note(events);
                self.warnings.extend(warnings);
                Passed { outcome: otherwise, checkpoint, task: None }
            }
            Attempt::Unkept(error) => {
                self.warnings.push(format!("failed to store a fold; the request is forwarded without it: {error}"));
                Passed { outcome: Outcome::FailedOpen, checkpoint, task: None }
            }
        })
    }

    /// Takes note of events, for the rest of this turn and for the next.
    fn note(&mut self, events: Vec<ConversationEvent>) {
        self.conversation.apply_all(events.iter().cloned());
        self.events.extend(events);
    }

    /// Takes note of what a fold did.
    fn note_fold(&mut self, events: FoldEvents) {
        match events {
            FoldEvents::ToApply(events) => self.note(events),
            FoldEvents::Applied(events) => {
                self.was_asked |= events.iter().any(|event| matches!(event, ConversationEvent::Engine(_)));
                self.conversation.apply_all(events);
            }
        }
    }

    fn fold<'f>(
        &'f self,
        root: Key,
        checkpoint: Option<&'f Checkpoint>,
        request: Request,
        verdict: Option<Verdict>,
    ) -> Fold<'f, 'a> {
        Fold {
            shared: self.shared,
            rules: self.rules,
            policy: self.policy,
            credential: self.ask.credential,
            now: self.ask.now,
            parsed: self.parsed,
            root,
            checkpoint,
            conversation: &self.conversation,
            request,
            verdict,
            precedence: Precedence::First,
            seals: SignedReasoningState::Sound,
            durability: Durability::Disk,
        }
    }

    /// Tokens as they go out, estimated.
    fn counted(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        match checkpoint {
            Some(checkpoint) => {
                self.tally.outside + checkpoint.facts.tokens + self.tally.since(checkpoint.facts.position)
            }
            None => self.tally.total(),
        }
    }

    /// Tokens as they go out, best known: reported for the beginning, estimated for the rest.
    fn tokens(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let scale = self.conversation.state.calibration.ratio();
        let scaled = |tokens: u64| (tokens as f64 * scale) as u64;
        match (usage_for(&self.conversation, self.parsed, checkpoint), &self.conversation.base) {
            (Some(usage), Some(base)) => usage.prompt + scaled(self.tally.since(base.position)),
            _ => scaled(self.counted(checkpoint)),
        }
    }

    fn bytes(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let all = self.parsed.transcript.text.len();
        let Some(checkpoint) = checkpoint else {
            return all as u64;
        };
        let end = |position: usize| self.parsed.message(position).map_or(0, |message| message.span.end as usize);
        let start = self.parsed.message(0).map_or(0, |message| message.span.start as usize);
        let replaced = end(checkpoint.facts.position.saturating_sub(1)).saturating_sub(start);
        (all - replaced.min(all) + checkpoint.text.len()) as u64
    }

    /// Writes the body, and remembers what the next turn needs.
    fn leave(mut self, root: Option<Key>, purpose: Purpose, alone: Option<Outcome>, passed: Passed) -> Prepared<'a> {
        let Passed { outcome, checkpoint, task } = passed;
        let swapped = checkpoint.as_deref().and_then(|checkpoint| checkpoint.swap(self.parsed, Marks::AtTheSeam));
        let is_swapped = swapped.is_some();
        let decided = self.tokens(checkpoint.as_deref().filter(|_| is_swapped));
        let as_it_came = match is_swapped {
            // Both in the same measure, so that their difference means something.
            true => decided + self.scaled_difference(checkpoint.as_deref()),
            false => decided,
        };
        let is_shadow = self.rules.settings.mode == Mode::Shadow && alone.is_none();
        let outcome = if is_shadow && outcome != Outcome::Bypassed { Outcome::Shadow } else { outcome };
        self.close(root, decided);
        let body = match swapped {
            Some(text) if !is_shadow => Cow::Owned(text),
            _ => Cow::Borrowed(self.ask.body),
        };
        let goes_out = if is_shadow { as_it_came } else { decided };
        let sent = checkpoint.as_deref().filter(|_| !is_shadow);
        let messages = self.parsed.transcript.messages.len();
        let turn = Turn {
            credential: self.ask.credential,
            session: self.parsed.session.clone(),
            // What a client adds for its own compaction is no part of the conversation.
            root: root.filter(|_| purpose == Purpose::Turn),
            outcome,
            recovery: match (is_shadow, alone) {
                (false, None) => Recovery::Allowed,
                _ => Recovery::Forbidden,
            },
            tokens: (as_it_came, goes_out),
            decided,
            counted: self.counted(sent),
            end: (self.parsed.key(self.parsed.len()).map(|key| name(&key)).unwrap_or_default(), self.parsed.len()),
            sent: sent.map_or(messages, |sent| messages - sent.facts.position + sent.facts.messages),
            whole: OriginalSize { counted: self.counted(None), sent: messages },
            checkpoint: sent.map(|sent| name(&sent.key)),
            budgets: self.setting.budgets,
            model: self.setting.model.clone(),
            asked_model: self.parsed.model().to_owned(),
        };
        self.remember(root, &turn, is_swapped);
        let is_as_it_came = matches!(body, Cow::Borrowed(_));
        Prepared {
            body,
            structure: is_as_it_came.then(|| Arc::clone(self.parsed.transcript.structure())),
            session: turn.session.clone(),
            outcome,
            tokens: (as_it_came, decided),
            turn,
            durability: self.durability,
            compacted: self.compacted,
            background: task,
            warnings: self.warnings,
        }
    }

    /// What a checkpoint takes away, in corrected tokens.
    fn scaled_difference(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let removed = self.tally.total().saturating_sub(self.counted(checkpoint));
        (removed as f64 * self.conversation.state.calibration.ratio()) as u64
    }

    /// Takes note of what every turn brings: an expired cache, pressure, new counts.
    fn close(&mut self, root: Option<Key>, tokens: u64) {
        if root.is_none() {
            return;
        }
        // The engine, where it was asked, has taken note of that.
        let was_asked = self.was_asked || self.events.iter().any(|event| matches!(event, ConversationEvent::Engine(_)));
        let is_cold = self.situation(None, &self.setting.budgets).is_cold();
        let expired = (is_cold && !was_asked).then_some(SessionEvent::CacheExpired);
        let (reached, warning) = pressure(tokens, &self.setting.budgets, &self.conversation.state).unzip();
        self.warnings.extend(warning.flatten());
        self.note(expired.into_iter().chain(reached).map(ConversationEvent::Engine).collect());
        let measured = std::mem::take(&mut self.conversation.measured);
        self.events.push(ConversationEvent::Forwarded { at: self.ask.now.0, measured });
    }

    fn remember(&mut self, root: Option<Key>, turn: &Turn, is_swapped: bool) {
        let mut sums = Sums {
            requests: 1,
            tokens_before: turn.tokens.0,
            tokens_after: turn.tokens.1,
            swaps: u64::from(is_swapped),
            shadow_tokens: turn.tokens.1.saturating_sub(turn.decided),
            ..Sums::default()
        };
        match turn.outcome {
            Outcome::Folded => sums.folds = 1,
            Outcome::Pruned => sums.prunes = 1,
            Outcome::FailedOpen => sums.failed_open = 1,
            _ => {}
        }
        sums.failed_open += u64::from(self.durability == Durability::Memory);
        let mut memory = self.shared.memory();
        if let (Some(root), Some(session)) = (root, memory.session(&self.parsed.session)) {
            let record = &mut session.record;
            record.label.clone_from(&self.parsed.label);
            self.parsed.dialect.name().clone_into(&mut record.dialect);
            self.parsed.model().clone_into(&mut record.model);
            if record.first_at == 0 {
                record.first_at = self.ask.now.0;
            }
            record.last_at = record.last_at.max(self.ask.now.0);
            record.context = turn.tokens.1;
            record.trigger = self.setting.budgets.trigger.into();
            record.window = self.setting.budgets.window.into();
            session.apply(&name(&root), std::mem::take(&mut self.events));
        }
        memory.add(&self.parsed.session, &sums);
    }
}
