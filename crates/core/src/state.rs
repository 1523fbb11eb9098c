//! What a session remembers between compactions: small, serialisable, owned by the caller.
//!
//! It changes by [`SessionEvent`]s alone, all of them in [`SessionState::apply`]. Whoever keeps the memory while a
//! compaction is made applies its events to the memory as it stands by then: nothing that was learnt meanwhile is lost.

use crate::cache::Pace;
use crate::summary::{Cooldown, Failure, Summary};
use crate::tokens::Calibration;
use serde::{Deserialize, Serialize};

/// The memory of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Folds so far.
    pub folds: u32,
    /// Prunes so far that needed no fold.
    pub prunes: u32,
    /// Folds in a row that saved too little.
    pub strikes: u32,
    /// Why the last of them saved too little.
    pub cause: Option<Cause>,
    /// Whether a fold still waits for the provider to report what it really saved.
    pub awaiting_usage: bool,
    /// Prompt tokens that the last rewrite left, as reported; less where the conversation has become shorter since.
    pub landed: Option<u64>,
    /// What the provider reported last.
    pub usage: Option<Usage>,
    /// Learnt ratio of reported to counted tokens.
    pub calibration: Calibration,
    /// Whether the pressure warning has been given.
    pub warned: bool,
    /// How the summariser fared, and until when it is left alone.
    pub summariser: Cooldown,
    /// How the conversation has gone so far, for decisions by money.
    pub pace: Pace,
    /// Length and handle of the last result: the same document again has nothing new in it.
    pub settled: Option<(usize, String)>,
}

/// Why folds save too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Head and tail alone fill the room: there is hardly anything to fold.
    Dense,
    /// The summary is nearly as long as what it replaces.
    LongSummary,
}

/// Usage of one request, as the provider reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Messages of the request that they stand for.
    pub messages: usize,
}

/// Something that a session remembers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// A request came when the cached prefix had expired.
    CacheExpired,
    /// The middle became a handoff.
    Folded {
        /// Why that saved too little, if it did.
        too_little: Option<Cause>,
        /// What is left.
        left: Left,
    },
    /// Outputs were reduced in place, and that was enough.
    Pruned {
        /// What is left.
        left: Left,
    },
    /// It was time to act, and there was nothing to do.
    FoundNothing,
    /// The provider reported the usage of a request.
    Reported {
        /// Prompt tokens, cached ones included.
        prompt: u64,
        /// Messages of the request; `None` where the caller keeps the base of later counts itself.
        messages: Option<usize>,
        /// Tokens that we had counted.
        counted: u64,
        /// The pressure mark: below it there is real room.
        pressure: u64,
    },
    /// The provider reported the usage of a request that left before the latest rewrite: only counting learns from it.
    ReportedLate {
        /// Prompt tokens, cached ones included.
        prompt: u64,
        /// Tokens that we had counted.
        counted: u64,
    },
    /// A model wrote a summary.
    SummariserAnswered,
    /// A model was asked for a summary in vain.
    SummariserFailed {
        /// Why.
        failure: Failure,
        /// When, in milliseconds since 1970.
        at_ms: i64,
    },
    /// A handoff was made without the model that should have written it.
    WrittenWithoutModel,
    /// The conversation reached the pressure mark, and somebody was told.
    PressureReached,
    /// It fell below the mark again.
    PressureFell,
    /// The provider rejected what a compaction made of a request.
    Rejected,
    /// Somebody took back the latest rewrite.
    TakenBack,
    /// Another model reads the conversation from here on.
    ModelSwitched,
}

/// What a compaction leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Tokens.
    pub tokens: u64,
    /// Bytes of the document.
    pub bytes: usize,
    /// Its handle.
    pub handle: String,
}

impl SessionEvent {
    /// How it went when a model was asked.
    pub fn of_summary(summary: &Summary, at_ms: i64) -> SessionEvent {
        match summary {
            Summary::Written(_) => SessionEvent::SummariserAnswered,
            Summary::Failed(failure) => SessionEvent::SummariserFailed { failure: failure.clone(), at_ms },
        }
    }
}

impl SessionState {
    /// Takes note of an event. Nothing else changes a memory.
    pub fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::CacheExpired => self.pace.cold += 1,
            SessionEvent::Folded { too_little, left } => {
                self.folds += 1;
                self.strikes = if too_little.is_some() { self.strikes + 1 } else { 0 };
                self.cause = *too_little;
                self.shrink(left);
            }
            SessionEvent::Pruned { left } => {
                self.prunes += 1;
                self.shrink(left);
            }
            SessionEvent::FoundNothing => {
                // That is a strike, or the question comes back every turn.
                self.strikes += 1;
                self.cause = Some(Cause::Dense);
            }
            SessionEvent::Reported { prompt, messages, counted, pressure } => {
                self.calibration.observe(saturated(*counted), saturated(*prompt));
                self.usage = messages.map(|messages| Usage { prompt: *prompt, messages });
                self.pace.observe(*prompt);
                self.landed = match self.awaiting_usage {
                    true => Some(*prompt),
                    false => self.landed.map(|landed| landed.min(*prompt)),
                };
                self.awaiting_usage = false;
                // Just below the trigger is where a fold that saved too little lands: only real room is a new beginning.
                if prompt < pressure {
                    self.strikes = 0;
                    self.cause = None;
                }
            }
            SessionEvent::ReportedLate { prompt, counted } => {
                self.calibration.observe(saturated(*counted), saturated(*prompt));
                self.usage = None;
            }
            SessionEvent::SummariserAnswered => self.summariser.clear(),
            SessionEvent::SummariserFailed { failure, at_ms } => self.summariser.note(failure, *at_ms),
            SessionEvent::WrittenWithoutModel => {
                self.summariser.fallbacks = self.summariser.fallbacks.saturating_add(1);
            }
            SessionEvent::PressureReached => self.warned = true,
            SessionEvent::PressureFell => self.warned = false,
            SessionEvent::Rejected => {
                // What was reported for it, and what it waits for, will not come.
                self.landed = None;
                self.awaiting_usage = false;
                self.settled = None;
                // A provider that minds every fold is not offered one every turn.
                self.strikes = self.strikes.saturating_add(1);
            }
            SessionEvent::TakenBack => {
                // What was reported for the shorter conversation, and what it waits for, says nothing about the longer one.
                self.usage = None;
                self.landed = None;
                self.awaiting_usage = false;
                self.settled = None;
            }
            SessionEvent::ModelSwitched => {
                // What was learnt about counting and about strikes belongs to the model that is gone.
                self.calibration = Calibration::default();
                self.usage = None;
                self.strikes = 0;
                self.cause = None;
            }
        }
    }

    /// Takes note of events in their order.
    pub fn apply_all<'e>(&mut self, events: impl IntoIterator<Item = &'e SessionEvent>) {
        events.into_iter().for_each(|event| self.apply(event));
    }

    /// The conversation was made shorter: what was reported for the longer one says nothing about it.
    fn shrink(&mut self, left: &Left) {
        self.usage = None;
        self.awaiting_usage = true;
        self.settled = Some((left.bytes, left.handle.clone()));
        self.pace.shrink(left.tokens);
    }
}

fn saturated(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
