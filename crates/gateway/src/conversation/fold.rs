//! Folds: the engine on a conversation as it is forwarded, and the checkpoint that comes of it. On the
//! request path without a model; beside it with one, in two steps.

use super::ask::{Ask, SessionId, Timestamp};
use super::checkpoint::{Checkpoint, Marks, Seals};
use super::fault::Fault;
use super::inner::{Inner, Keeping, Rules, name};
use super::memory::{Lane, Session};
use super::prepare::usage_for;
use super::prepared::Durability;
use super::sessions::Sums;
use super::sight::Sight;
use super::tally;
use super::windows::Window;
use foldline_core::Outcome as PlanOutcome;
use foldline_core::policy::SignedReasoning;
use foldline_core::summary::{Summary, SummaryJob};
use foldline_core::{Compaction, EngineError, Policy, Request, SessionState, compact};
use foldline_store::{Key, NewOriginal, Precedence, StoreError};
use foldline_transcript::PartKind;
use foldline_transcript::reasoning::{self, Needs};
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire;
use std::borrow::Cow;
use std::sync::{Arc, Weak};

/// A fold that was made and kept.
pub(super) struct Done {
    pub(super) checkpoint: Arc<Checkpoint>,
    /// The middle became a handoff; otherwise outputs were only reduced.
    pub(super) is_fold: bool,
    pub(super) warnings: Vec<String>,
    /// Where it is kept.
    pub(super) durability: Durability,
}

/// What came of trying to fold.
pub(super) enum Attempt {
    Done(Done),
    /// There was nothing to do, or it cannot be done.
    Nothing(Vec<String>),
    /// It could not be made durable, so it is not used.
    Unkept(StoreError),
}

/// What a fold is made of.
pub(super) struct Fold<'f, 'a> {
    pub(super) inner: &'f Inner,
    pub(super) rules: &'f Rules,
    pub(super) policy: &'f Policy,
    pub(super) ask: &'f Ask<'a>,
    pub(super) sight: &'f Sight<'a>,
    pub(super) root: Key,
    pub(super) checkpoint: Option<&'f Checkpoint>,
    pub(super) request: Request,
    pub(super) precedence: Precedence,
    pub(super) seals: Seals,
    pub(super) durability: Durability,
}

impl Fold<'_, '_> {
    /// As [`make`](Self::make), for a request that cannot be sent as it is: a store that cannot keep the fold does not
    /// keep the conversation from going on. It is held in memory, and shows no handles that nobody could follow.
    pub(super) fn make_at_any_rate(self, lane: &mut Lane) -> Result<Attempt, Fault> {
        let again = Fold { request: self.request.clone(), durability: Durability::Memory, ..self };
        if self.inner.store_rests(self.ask.now.0) {
            return again.make(lane);
        }
        Ok(match self.make(lane)? {
            Attempt::Unkept(error) => match again.make(lane)? {
                Attempt::Done(mut done) => {
                    done.warnings.push(format!("a fold could not be kept and is held in memory: {error}"));
                    Attempt::Done(done)
                }
                other => other,
            },
            made => made,
        })
    }

    /// Compacts the conversation as it is forwarded, makes what comes of it durable, and remembers it in
    /// `lane` and in memory.
    pub(super) fn make(mut self, lane: &mut Lane) -> Result<Attempt, Fault> {
        self.request.keeps_originals =
            self.durability == Durability::Disk && self.inner.store_for(self.rules).is_some();
        let view = self.view();
        let state = SessionState { usage: usage_for(lane, self.sight, self.checkpoint), ..lane.state.clone() };
        let compaction = match self.compact(&view, &state) {
            Ok(compaction) => compaction,
            Err(EngineError::CannotFit(why)) => return Ok(Attempt::Nothing(vec![why.to_string()])),
            Err(error) => return Err(error.into()),
        };
        let warnings = compaction.plan.warnings.clone();
        let after = SessionState { usage: None, ..compaction.state.clone() };
        let changed = !matches!(compaction.plan.outcome, PlanOutcome::Unchanged | PlanOutcome::Aborted);
        let cut = match changed {
            true => self.cut(&compaction)?,
            false => None,
        };
        let Some(cut) = cut else {
            lane.state = after;
            return Ok(Attempt::Nothing(warnings));
        };
        let texts: Vec<_> =
            compaction.plan.originals.iter().map(|original| (original, original.text(&compaction.source))).collect();
        let originals: Vec<NewOriginal<'_>> = match self.request.keeps_originals {
            true => texts
                .iter()
                .map(|(original, text)| NewOriginal { handle: original.handle, text, tool: &original.tool })
                .collect(),
            false => Vec::new(),
        };
        let is_fold = compaction.plan.fold.is_some();
        let kept = self.keep(lane, cut, &originals, after);
        Ok(match kept {
            Ok(checkpoint) => Attempt::Done(Done { checkpoint, is_fold, warnings, durability: self.durability }),
            Err(error) => {
                self.inner.let_rest(self.ask.now.0);
                Attempt::Unkept(error)
            }
        })
    }

    /// The conversation as it is forwarded.
    fn view(&self) -> Cow<'_, str> {
        let swapped = self.checkpoint.and_then(|checkpoint| checkpoint.swap(self.sight, Marks::Plain));
        swapped.map_or(Cow::Borrowed(self.sight.transcript.text), Cow::Owned)
    }

    fn compact<'v>(&self, view: &'v str, state: &SessionState) -> Result<Compaction<'v>, EngineError> {
        let mut job = self.rules.job.clone();
        job.format = Some(self.sight.dialect.format());
        job.request = self.request.clone();
        compact(view, self.policy, state, &job)
    }

    fn cut(&self, compaction: &Compaction<'_>) -> Result<Option<Checkpoint>, Fault> {
        let compacted = wire::read(&compaction.body, Some(self.sight.dialect.format()))?;
        // Bound to their prefix, signatures of messages that come while the fold is made are bound to the old one.
        let seals = match compaction.budgets.signed_reasoning {
            SignedReasoning::PrefixBound => self.seals,
            _ => Seals::Sound,
        };
        Ok(Checkpoint::cut(self.sight, &compacted, &tally::measure(compaction.budgets.image_tokens), seals))
    }

    /// Keeps a checkpoint together with the state that follows from it. On failure nothing has happened.
    fn keep(
        &self,
        lane: &mut Lane,
        checkpoint: Checkpoint,
        originals: &[NewOriginal<'_>],
        state: SessionState,
    ) -> Result<Arc<Checkpoint>, StoreError> {
        let latest = Some(name(&checkpoint.key));
        let root = name(&self.root);
        let mut session = self
            .inner
            .memory()
            .session(&self.sight.session)
            .cloned()
            .unwrap_or_else(|| Session::of(self.ask.credential));
        session.record.last_at = session.record.last_at.max(self.ask.now.0);
        session.record.with_lane(&root, |stored| {
            stored.state = state.clone();
            stored.latest = latest.clone();
            stored.base = None;
        });
        let keeping = Keeping {
            credential: self.ask.credential,
            dialect: self.sight.dialect,
            root: self.root,
            checkpoint,
            originals,
            precedence: self.precedence,
            session: &session.row(&self.sight.session),
            durability: self.durability,
            now: self.ask.now.0,
        };
        let checkpoint = self.inner.keep(self.rules, keeping)?;
        lane.state = state;
        lane.latest = latest;
        lane.base = None;
        Ok(checkpoint)
    }

    /// Adopts a fold that was made beside the conversation: signed reasoning that came meanwhile is bound
    /// to the old prefix and goes, and that decision sticks.
    pub(super) fn adopt(self, lane: &mut Lane, image_tokens: u32) -> Result<Attempt, Fault> {
        let Some(stale) = self.checkpoint else {
            return Ok(Attempt::Nothing(Vec::new()));
        };
        let view = self.view();
        let format = self.sight.dialect.format();
        let transcript = wire::read(&view, Some(format))?;
        let mut rewrite = Rewrite::default();
        for index in self.sight.lead + stale.facts.messages..transcript.messages.len() {
            let Some(message) = transcript.messages.get(index) else {
                continue;
            };
            let is_sealed = |part: usize| transcript.parts.get(part).is_some_and(|part| part.kind == PartKind::Sealed);
            let mut parts = message.parts.start as usize..message.parts.end as usize;
            if parts.clone().all(is_sealed) && !parts.is_empty() {
                rewrite.remove(index);
            } else {
                parts.by_ref().filter(|&part| is_sealed(part)).for_each(|part| rewrite.remove_part(&transcript, part));
            }
        }
        let unmet = Needs::of(&transcript).unmet(&transcript, |index| !rewrite.removes(index));
        unmet.into_iter().for_each(|index| reasoning::release(&transcript, &mut rewrite, index));
        let unsealed = rewrite.apply(&transcript);
        let compacted = wire::read(&unsealed, Some(format))?;
        let measure = tally::measure(image_tokens);
        let Some(cut) = Checkpoint::cut(self.sight, &compacted, &measure, Seals::Sound) else {
            return Ok(Attempt::Nothing(Vec::new()));
        };
        let state = lane.state.clone();
        Ok(match self.keep(lane, cut, &[], state) {
            Ok(checkpoint) => {
                Attempt::Done(Done { checkpoint, is_fold: true, warnings: Vec::new(), durability: self.durability })
            }
            Err(error) => Attempt::Unkept(error),
        })
    }
}

/// A fold to be made in the background. Dropping it gives the conversation free for another attempt.
#[derive(Debug)]
pub struct FoldTask {
    session: SessionId,
    root: Key,
    rules: Arc<Rules>,
    window: Option<Window>,
    body: String,
    /// Everything of the request but its body and its words.
    ask: Ask<'static>,
    model: Option<String>,
    session_hint: Option<String>,
    agent_hint: Option<String>,
    focus: Option<String>,
    request: Request,
    checkpoint: Option<Arc<Checkpoint>>,
    lane: Lane,
    _flight: Flight,
}

/// What a task is started from.
pub(super) struct Start<'s, 'a> {
    pub(super) request: Request,
    pub(super) rules: &'s Arc<Rules>,
    pub(super) ask: &'s Ask<'a>,
    pub(super) sight: &'s Sight<'a>,
    pub(super) root: Key,
    pub(super) checkpoint: Option<&'s Arc<Checkpoint>>,
    pub(super) lane: &'s Lane,
    pub(super) window: Option<Window>,
}

/// What a planned fold needs before it can be finished.
#[derive(Debug)]
pub enum Planned {
    /// Nothing: finish it with [`run`](super::Conversations::run) and no summary.
    Ready,
    /// A model's words.
    Ask(Box<SummaryJob>),
    /// There is nothing to fold after all; the task is over.
    Nothing,
}

/// One fold per conversation at a time: the entry goes when the task does, however it ends.
#[derive(Debug)]
struct Flight {
    inner: Weak<Inner>,
    key: (SessionId, Key),
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.memory().flights.remove(&self.key);
        }
    }
}

impl FoldTask {
    /// The task for a request; `None` when a fold of its conversation is under way.
    pub(super) fn start(inner: &Arc<Inner>, start: Start<'_, '_>) -> Option<FoldTask> {
        let Start { request, rules, ask, sight, root, checkpoint, lane, window } = start;
        let key = (sight.session.clone(), root);
        if !inner.memory().flights.insert(key.clone()) {
            return None;
        }
        Some(FoldTask {
            session: sight.session.clone(),
            root,
            rules: Arc::clone(rules),
            window,
            body: ask.body.to_owned(),
            ask: Ask { body: "", model: None, session_hint: None, agent_hint: None, focus: None, site: None, ..*ask },
            model: ask.model.map(str::to_owned),
            session_hint: ask.session_hint.map(str::to_owned),
            agent_hint: ask.agent_hint.map(str::to_owned),
            focus: ask.focus.map(str::to_owned),
            request,
            checkpoint: checkpoint.map(Arc::clone),
            lane: lane.clone(),
            _flight: Flight { inner: Arc::downgrade(inner), key },
        })
    }

    /// The session it is for.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    fn ask(&self, now: Timestamp) -> Ask<'_> {
        Ask {
            body: &self.body,
            model: self.model.as_deref(),
            session_hint: self.session_hint.as_deref(),
            agent_hint: self.agent_hint.as_deref(),
            focus: self.focus.as_deref(),
            now,
            ..self.ask
        }
    }

    /// The fold that the task is about.
    fn fold<'f, 'a>(
        &'f self,
        inner: &'f Inner,
        policy: &'f Policy,
        ask: &'f Ask<'a>,
        sight: &'f Sight<'a>,
        request: Request,
    ) -> Fold<'f, 'a> {
        Fold {
            inner,
            rules: &self.rules,
            policy,
            ask,
            sight,
            root: self.root,
            checkpoint: self.checkpoint.as_deref(),
            request,
            precedence: Precedence::First,
            seals: Seals::Stale,
            durability: Durability::Disk,
        }
    }

    /// What a model is to be asked, if one is.
    pub(super) fn plan(&self, inner: &Inner) -> Result<Planned, Fault> {
        let ask = self.ask(self.ask.now);
        let sight = Sight::of(&ask)?;
        let policy = self.rules.policy(self.window, sight.transcript.max_output, ask.model);
        let keeps_originals = inner.store_for(&self.rules).is_some();
        let request = Request { keeps_originals, ..self.request.clone() };
        let fold = self.fold(inner, &policy, &ask, &sight, request);
        let view = fold.view();
        let usage = usage_for(&self.lane, &sight, fold.checkpoint);
        let state = SessionState { usage, ..self.lane.state.clone() };
        match fold.compact(&view, &state) {
            Ok(Compaction { summary_job: Some(job), .. }) => Ok(Planned::Ask(Box::new(job))),
            // Also when nothing is to be done: finishing takes note of that.
            Ok(_) => Ok(Planned::Ready),
            Err(EngineError::CannotFit(_)) => Ok(Planned::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the fold. The next request of the conversation finds it.
    pub(super) fn run(self, inner: &Inner, summary: Option<Summary>, now: Timestamp) -> Result<(), Fault> {
        let ask = self.ask(now);
        let sight = Sight::of(&ask)?;
        let root = name(&self.root);
        if self.is_overtaken(inner, &root, summary.as_ref(), now) {
            return Ok(());
        }
        let policy = self.rules.policy(self.window, sight.transcript.max_output, ask.model);
        let mut lane = self.lane.clone();
        let request = Request { summary, now_ms: Some(now.0), ..self.request.clone() };
        let attempt = self.fold(inner, &policy, &ask, &sight, request).make(&mut lane)?;
        let mut memory = inner.memory();
        if let Some(session) = memory.session(&self.session) {
            session.record.with_lane(&root, |stored| {
                // What was learnt about counting meanwhile stays.
                let calibration = stored.state.calibration;
                stored.state = SessionState { calibration, ..lane.state.clone() };
                stored.latest = lane.latest.clone();
            });
            session.is_dirty = true;
        }
        let (mut sums, result) = (
            Sums::default(),
            match attempt {
                Attempt::Unkept(error) => Err(error.into()),
                Attempt::Nothing(_) => return Ok(()),
                Attempt::Done(done) => Ok(done.is_fold),
            },
        );
        match result {
            Ok(true) => sums.folds = 1,
            Ok(false) => sums.prunes = 1,
            Err(_) => sums.failed_open = 1,
        }
        memory.add(&self.session, &sums);
        result.map(drop)
    }

    /// Whether somebody folded meanwhile, because it could not wait: then this fold is about a conversation that is
    /// gone. What the model did is remembered all the same; a slow one would be asked at every fold.
    fn is_overtaken(&self, inner: &Inner, root: &str, summary: Option<&Summary>, now: Timestamp) -> bool {
        let mut memory = inner.memory();
        let Some(session) = memory.session(&self.session) else {
            return false;
        };
        if session.record.lane(root).is_none_or(|lane| lane.latest == self.lane.latest) {
            return false;
        }
        if let Some(summary) = summary {
            session.record.with_lane(root, |lane| lane.state.summariser.learn(summary, now.0));
            session.is_dirty = true;
        }
        true
    }
}
