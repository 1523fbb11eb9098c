//! Background folds in two steps: plan, then finish with or without a model's summary.

use super::checkpoint::{Checkpoint, SignedReasoningState};
use super::compacted::Compacted;
use super::error::PrepareError;
use super::fold::{Attempt, Fold};
use super::incoming::{CredentialId, SessionId, Timestamp};
use super::parsed_request::{Identity, ParsedRequest};
use super::prepared::Durability;
use super::sessions::Sums;
use super::shared::{Claim, Rules, Shared, name};
use super::state::{Conversation, ConversationEvent};
use super::windows::Window;
use foldline_core::planning::{Inputs, SessionEvent, Sound, Verdict, finish, resume};
use foldline_core::summary::{Summary, SummaryJob};
use foldline_core::{EngineError, Plan, Policy, Request};
use foldline_store::{Key, Precedence};
use foldline_transcript::{Structure, Transcript};
use std::borrow::Cow;
use std::sync::{Arc, Weak};

/// A fold to be made in the background. Dropping it gives the conversation free for another attempt.
#[derive(Debug)]
pub struct FoldTask {
    credential: CredentialId,
    root: Key,
    rules: Arc<Rules>,
    window: Option<Window>,
    /// The request: its body, where everything stands in it, and whose it is.
    body: String,
    structure: Arc<Structure>,
    identity: Arc<Identity>,
    request: Request,
    verdict: Verdict,
    checkpoint: Option<Arc<Checkpoint>>,
    conversation: Conversation,
    now: Timestamp,
    /// The plan, once it is made.
    planned: Option<(Sound<'static>, Plan)>,
    _flight: FoldInProgress,
}

/// What a task is started from.
pub(super) struct Start<'s, 'a> {
    pub(super) request: Request,
    pub(super) verdict: Verdict,
    pub(super) rules: &'s Arc<Rules>,
    pub(super) credential: CredentialId,
    pub(super) now: Timestamp,
    pub(super) parsed: &'s ParsedRequest<'a>,
    pub(super) root: Key,
    pub(super) checkpoint: Option<&'s Arc<Checkpoint>>,
    pub(super) conversation: &'s Conversation,
    pub(super) window: Option<Window>,
}

/// What a planned fold needs before it can be finished.
#[derive(Debug)]
pub enum Planned {
    /// Nothing: finish it with [`run`](super::Conversations::run) and no summary.
    Ready,
    /// A model's words.
    NeedsSummary(Box<SummaryJob>),
    /// There is nothing to fold after all; the task is over.
    Nothing,
}

/// One fold per conversation at a time: the entry goes when the task does, however it ends.
#[derive(Debug)]
struct FoldInProgress {
    shared: Weak<Shared>,
    key: (SessionId, Key),
    /// The same among all nodes.
    claim: Claim,
}

impl Drop for FoldInProgress {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.release_fold(&self.claim);
            shared.memory().flights.remove(&self.key);
        }
    }
}

impl FoldTask {
    /// The task for a request; `None` when a fold of its conversation is under way, here or on another node.
    pub(super) fn start(shared: &Arc<Shared>, start: Start<'_, '_>) -> Option<FoldTask> {
        let Start { request, verdict, rules, credential, now, parsed, root, checkpoint, conversation, window } = start;
        let key = (parsed.session.clone(), root);
        if !shared.memory().flights.insert(key.clone()) {
            return None;
        }
        let Some(claim) = shared.claim_fold(credential, root, now.0) else {
            shared.memory().flights.remove(&key);
            return None;
        };
        let in_progress = FoldInProgress { shared: Arc::downgrade(shared), key, claim };
        // Another node may have made it and given its claim back after we looked.
        let position = checkpoint.map(|checkpoint| checkpoint.facts.position);
        if in_progress.claim != Claim::Alone
            && (shared.learn_root(rules, credential, &root).is_err() || shared.position(&root, parsed) != position)
        {
            return None;
        }
        Some(FoldTask {
            credential,
            root,
            rules: Arc::clone(rules),
            window,
            body: parsed.transcript.text.to_owned(),
            structure: Arc::clone(parsed.transcript.structure()),
            identity: Arc::clone(&parsed.identity),
            request,
            verdict,
            checkpoint: checkpoint.map(Arc::clone),
            conversation: conversation.clone(),
            now,
            planned: None,
            _flight: in_progress,
        })
    }

    /// Whose it is.
    pub fn credential(&self) -> CredentialId {
        self.credential
    }

    /// The session it is for.
    pub fn session(&self) -> &SessionId {
        &self.identity.session
    }

    fn parsed(&self) -> ParsedRequest<'_> {
        let transcript = Transcript::new(&self.body, Arc::clone(&self.structure));
        ParsedRequest { transcript, identity: Arc::clone(&self.identity) }
    }

    fn policy(&self) -> Cow<'_, Policy> {
        self.rules.policy(self.window, self.structure.max_output, self.identity.model.as_deref())
    }

    /// The fold that the task is about.
    fn fold<'f, 'a>(
        &'f self,
        shared: &'f Shared,
        policy: &'f Policy,
        parsed: &'f ParsedRequest<'a>,
        now: Timestamp,
    ) -> Fold<'f, 'a> {
        let keeps_originals = shared.store_for(&self.rules).is_some();
        Fold {
            shared,
            rules: &self.rules,
            policy,
            credential: self.credential,
            now,
            parsed,
            root: self.root,
            checkpoint: self.checkpoint.as_deref(),
            conversation: &self.conversation,
            request: Request { keeps_originals, now_ms: Some(now.0), ..self.request.clone() },
            verdict: Some(self.verdict.clone()),
            precedence: Precedence::First,
            seals: SignedReasoningState::Stale,
            durability: Durability::Disk,
        }
    }

    /// Plans the fold, and says what a model is to be asked, if one is.
    pub(super) fn plan(&mut self, shared: &Shared) -> Result<Planned, PrepareError> {
        let (parsed, policy) = (self.parsed(), self.policy());
        let fold = self.fold(shared, &policy, &parsed, self.now);
        let (job, state) = (fold.job(), fold.state());
        let inputs = Inputs { policy: &policy, state: &state, job: &job };
        let sound = Sound::of(fold.view()?, &inputs);
        let mut plan = match fold.plan(&sound, &inputs) {
            Ok(plan) => plan,
            Err(EngineError::CannotFit(_)) => return Ok(Planned::Nothing),
            Err(error) => return Err(error.into()),
        };
        let asked = plan.writing.job.take();
        self.planned = Some((sound.into_owned(), plan));
        // Also when nothing is to be done: finishing takes note of that.
        Ok(asked.map_or(Planned::Ready, |job| Planned::NeedsSummary(Box::new(job))))
    }

    /// Makes the fold. The next request of the conversation finds it.
    pub(super) fn run(
        mut self,
        shared: &Shared,
        summary: Option<Summary>,
        now: Timestamp,
    ) -> Result<Option<Compacted>, PrepareError> {
        let root = name(&self.root);
        shared.renew(self.session(), now.0);
        if self.is_overtaken(shared, &root, summary.as_ref(), now) {
            return Ok(None);
        }
        if self.planned.is_none() && matches!(self.plan(shared)?, Planned::Nothing) {
            return Ok(None);
        }
        let Some((sound, plan)) = self.planned.take() else { return Ok(None) };
        let (parsed, policy) = (self.parsed(), self.policy());
        let fold = self.fold(shared, &policy, &parsed, now);
        let (job, state) = (fold.job(), fold.state());
        let inputs = Inputs { policy: &policy, state: &state, job: &job };
        let resumed = match &summary {
            Some(summary) => resume(&sound, plan, summary, &inputs),
            None => Ok(plan),
        };
        let made = resumed.map_err(EngineError::from).and_then(|plan| finish(sound, plan, &inputs));
        let (sums, events, result) = match fold.keep_compaction(made)? {
            Attempt::Made(done) if done.is_fold => {
                (Sums { folds: 1, ..Sums::default() }, done.events.into_unapplied(), Ok(done.compacted))
            }
            Attempt::Made(done) => {
                (Sums { prunes: 1, ..Sums::default() }, done.events.into_unapplied(), Ok(done.compacted))
            }
            Attempt::Nothing { events, .. } => (Sums::default(), events, Ok(None)),
            Attempt::Unkept(error) => (Sums { failed_open: 1, ..Sums::default() }, Vec::new(), Err(error.into())),
        };
        let mut memory = shared.memory();
        if let Some(session) = memory.session(self.session()) {
            session.apply(&root, events);
        }
        memory.add(self.session(), &sums);
        drop(memory);
        shared.share(self.session(), now.0);
        result
    }

    /// Whether somebody folded meanwhile, because it could not wait: then this fold is about a conversation that is
    /// gone. What the model did is remembered all the same; a slow one would be asked at every fold.
    fn is_overtaken(&self, shared: &Shared, root: &str, summary: Option<&Summary>, now: Timestamp) -> bool {
        let mut memory = shared.memory();
        let Some(session) = memory.session(self.session()) else {
            return false;
        };
        let latest = &self.conversation.latest;
        if session.record.conversation(root).is_none_or(|conversation| conversation.latest == *latest) {
            return false;
        }
        if let Some(summary) = summary {
            let event = ConversationEvent::Engine(SessionEvent::of_summary(summary, now.0));
            session.apply(root, vec![event]);
        }
        true
    }
}
