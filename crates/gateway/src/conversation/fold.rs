//! Runs the engine on a conversation and stores the resulting checkpoint.

use super::checkpoint::{Checkpoint, Marks, SignedReasoningState};
use super::compacted::{Caching, Compacted};
use super::error::PrepareError;
use super::fold_details::FoldDetails;
use super::incoming::{CredentialId, Timestamp};
use super::memory::{Session, SharedSession};
use super::parsed_request::ParsedRequest;
use super::prepare::usage_for;
use super::prepared::Durability;
use super::shared::{FoldToStore, Rules, SessionHome, Shared, name};
use super::state::{Conversation, ConversationEvent, FoldMark};
use super::token_counts;
use foldline_core::Outcome as PlanOutcome;
use foldline_core::planning::{Inputs, SessionEvent, Sound, Verdict, assess, finish, plan};
use foldline_core::policy::SignedReasoning;
use foldline_core::{Compaction, EngineError, Job, Plan, Policy, Request, SessionState};
use foldline_store::{Key, NewOriginal, Precedence, StoreError};
use foldline_transcript::reasoning::{self, Needs};
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::{Parsed, PartKind, wire};
use std::sync::Arc;

/// A fold that was made and kept.
pub(super) struct MadeFold {
    pub(super) checkpoint: Arc<Checkpoint>,
    /// What has happened to the conversation.
    pub(super) events: FoldEvents,
    /// The middle became a handoff; otherwise outputs were only reduced.
    pub(super) is_fold: bool,
    /// What was done, in numbers; none where a fold was only adopted.
    pub(super) compacted: Option<Compacted>,
    pub(super) warnings: Vec<String>,
    /// Where it is kept.
    pub(super) durability: Durability,
}

/// What a fold did to a conversation.
pub(super) enum FoldEvents {
    /// Whoever asked for it applies this.
    ToApply(Vec<ConversationEvent>),
    /// Applied already, in memory and in the store, as other nodes have to know as soon as they find the fold.
    Applied(Vec<ConversationEvent>),
}

impl FoldEvents {
    /// What is left to be applied.
    pub(super) fn into_unapplied(self) -> Vec<ConversationEvent> {
        match self {
            FoldEvents::ToApply(events) => events,
            FoldEvents::Applied(_) => Vec::new(),
        }
    }
}

/// What came of trying to fold.
pub(super) enum Attempt {
    Made(MadeFold),
    /// There was nothing to do, or it cannot be done.
    Nothing {
        events: Vec<ConversationEvent>,
        warnings: Vec<String>,
    },
    /// It could not be made durable, so it is not used.
    Unkept(StoreError),
}

/// What a fold is made of.
pub(super) struct Fold<'f, 'a> {
    pub(super) shared: &'f Shared,
    pub(super) rules: &'f Rules,
    pub(super) policy: &'f Policy,
    pub(super) credential: CredentialId,
    pub(super) now: Timestamp,
    pub(super) parsed: &'f ParsedRequest<'a>,
    pub(super) root: Key,
    pub(super) checkpoint: Option<&'f Checkpoint>,
    /// The conversation before the fold.
    pub(super) conversation: &'f Conversation,
    pub(super) request: Request,
    /// Why it is made; without one the engine decides by its own count.
    pub(super) verdict: Option<Verdict>,
    pub(super) precedence: Precedence,
    pub(super) seals: SignedReasoningState,
    pub(super) durability: Durability,
}

impl Fold<'_, '_> {
    /// As [`make`](Self::make), for a request that cannot be sent as it is: a store that cannot keep the fold does not
    /// keep the conversation from going on. It is held in memory, and shows no handles that nobody could follow.
    pub(super) fn make_at_any_rate(self) -> Result<Attempt, PrepareError> {
        let again = Fold {
            request: self.request.clone(),
            verdict: self.verdict.clone(),
            durability: Durability::Memory,
            ..self
        };
        if self.shared.store_rests(self.now.0) {
            return again.make();
        }
        Ok(match self.make()? {
            Attempt::Unkept(error) => match again.make()? {
                Attempt::Made(mut done) => {
                    done.warnings.push(format!("failed to store a fold; it is kept in memory only: {error}"));
                    Attempt::Made(done)
                }
                other => other,
            },
            made => made,
        })
    }

    /// Compacts the conversation as it is forwarded, and makes what comes of it durable.
    pub(super) fn make(mut self) -> Result<Attempt, PrepareError> {
        self.request.keeps_originals =
            self.durability == Durability::Disk && self.shared.store_for(self.rules).is_some();
        let (job, state) = (self.job(), self.state());
        let inputs = Inputs { policy: self.policy, state: &state, job: &job };
        let sound = Sound::of(self.view()?, &inputs);
        let made = self.plan(&sound, &inputs).and_then(|plan| finish(sound, plan, &inputs));
        self.keep_compaction(made)
    }

    /// Makes a compaction durable, together with what the conversation remembers of it.
    pub(super) fn keep_compaction(&self, made: Result<Compaction<'_>, EngineError>) -> Result<Attempt, PrepareError> {
        let compaction = match made {
            Ok(compaction) => compaction,
            Err(EngineError::CannotFit(why)) => {
                return Ok(Attempt::Nothing { events: Vec::new(), warnings: vec![why.to_string()] });
            }
            Err(error) => return Err(error.into()),
        };
        let warnings = compaction.plan.warnings.clone();
        // That the cache had expired was noted with the request, when the fold is made beside it.
        let is_beside = self.seals == SignedReasoningState::Stale;
        let is_news = |event: &&SessionEvent| !(is_beside && matches!(event, SessionEvent::CacheExpired));
        let mut events: Vec<_> =
            compaction.events.iter().filter(is_news).cloned().map(ConversationEvent::Engine).collect();
        let changed = !matches!(compaction.plan.outcome, PlanOutcome::Unchanged | PlanOutcome::Aborted);
        let details = FoldDetails::of(&compaction);
        let Some(cut) = changed.then(|| self.cut(&compaction)).flatten() else {
            return Ok(Attempt::Nothing { events, warnings });
        };
        let mark = FoldMark {
            at: self.now.0,
            kind: details.kind.clone(),
            reason: details.reason.clone(),
            tokens: details.tokens,
            ..FoldMark::default()
        };
        events.push(ConversationEvent::Replaced { checkpoint: name(&cut.key), mark: Some(mark) });
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
        let caching = if self.conversation.caches { Caching::Seen } else { Caching::NotSeen };
        let compacted = Some(Compacted::of(&compaction, self.parsed.model(), caching));
        Ok(match self.keep(cut, Some(&details), &originals, events) {
            Ok((checkpoint, events)) => Attempt::Made(MadeFold {
                checkpoint,
                events,
                is_fold,
                compacted,
                warnings,
                durability: self.durability,
            }),
            Err(error) => {
                self.shared.let_rest(self.now.0);
                Attempt::Unkept(error)
            }
        })
    }

    /// The conversation as it is forwarded.
    pub(super) fn view(&self) -> Result<Parsed<'_>, PrepareError> {
        let swapped = self.checkpoint.and_then(|checkpoint| checkpoint.swap(self.parsed, Marks::Plain));
        Ok(match swapped {
            Some(text) => Parsed::read(text, Some(self.parsed.dialect.format()))?,
            None => Parsed::of(&self.parsed.transcript),
        })
    }

    /// What the engine remembers, with usage that was reported for what this request extends.
    pub(super) fn state(&self) -> SessionState {
        let usage = usage_for(self.conversation, self.parsed, self.checkpoint);
        SessionState { usage, ..self.conversation.state.clone() }
    }

    pub(super) fn job(&self) -> Job {
        Job { format: Some(self.parsed.dialect.format()), request: self.request.clone(), ..self.rules.job.clone() }
    }

    /// The plan.
    pub(super) fn plan(&self, sound: &Sound<'_>, inputs: &Inputs<'_>) -> Result<Plan, EngineError> {
        let decided = self.verdict.clone().filter(|_| !sound.is_settled(inputs.state));
        Ok(plan(sound, decided.unwrap_or_else(|| assess(sound, inputs)), inputs)?)
    }

    fn cut(&self, compaction: &Compaction<'_>) -> Option<Checkpoint> {
        // Bound to their prefix, signatures of messages that come while the fold is made are bound to the old one.
        let seals = match compaction.budgets.signed_reasoning {
            SignedReasoning::PrefixBound => self.seals,
            _ => SignedReasoningState::Sound,
        };
        let measure = token_counts::measure(compaction.budgets.image_tokens);
        Checkpoint::cut(self.parsed, &compaction.transcript(), &measure, seals)
    }

    /// Keeps a checkpoint together with the events that belong to it. On failure nothing has happened.
    fn keep(
        &self,
        checkpoint: Checkpoint,
        details: Option<&FoldDetails>,
        originals: &[NewOriginal<'_>],
        events: Vec<ConversationEvent>,
    ) -> Result<(Arc<Checkpoint>, FoldEvents), StoreError> {
        let root = name(&self.root);
        let _alone = self.shared.sharing(&self.parsed.session);
        let held = self.shared.memory().session_to_share(&self.parsed.session);
        let held = held.unwrap_or_else(|| SharedSession::new(&self.parsed.session, Session::of(self.credential)));
        let session = held.at(self.now.0).with(&root, &events);
        let keeping = FoldToStore {
            credential: self.credential,
            dialect: self.parsed.dialect,
            root: self.root,
            checkpoint,
            details,
            originals,
            precedence: self.precedence,
            session: &session,
            durability: self.durability,
            now: self.now.0,
        };
        let (checkpoint, home) = self.shared.keep(self.rules, keeping)?;
        match home {
            SessionHome::Here => return Ok((checkpoint, FoldEvents::ToApply(events))),
            SessionHome::Store => self.shared.memory().note_kept(&session, &root, &events),
            SessionHome::Known => {}
        }
        Ok((checkpoint, FoldEvents::Applied(events)))
    }

    /// Adopts a fold that was made beside the conversation: signed reasoning that came meanwhile is bound
    /// to the old prefix and goes, and that decision sticks.
    pub(super) fn adopt(self, image_tokens: u32) -> Result<Attempt, PrepareError> {
        let nothing = || Attempt::Nothing { events: Vec::new(), warnings: Vec::new() };
        let Some(stale) = self.checkpoint else {
            return Ok(nothing());
        };
        let view = self.view()?;
        let transcript = view.transcript();
        let mut rewrite = Rewrite::default();
        for index in self.parsed.lead + stale.facts.messages..transcript.messages.len() {
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
        let compacted = wire::read(&unsealed, Some(transcript.format))?;
        let measure = token_counts::measure(image_tokens);
        let Some(cut) = Checkpoint::cut(self.parsed, &compacted, &measure, SignedReasoningState::Sound) else {
            return Ok(nothing());
        };
        let events = vec![ConversationEvent::Replaced { checkpoint: name(&cut.key), mark: None }];
        Ok(match self.keep(cut, None, &[], events) {
            Ok((checkpoint, events)) => Attempt::Made(MadeFold {
                checkpoint,
                events,
                is_fold: true,
                compacted: None,
                warnings: Vec::new(),
                durability: self.durability,
            }),
            Err(error) => Attempt::Unkept(error),
        })
    }
}
