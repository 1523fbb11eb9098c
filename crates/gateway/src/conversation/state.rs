//! The state of one conversation. It changes only through events, all handled in [`Conversation::apply`].
//!
//! A turn, a fold beside it and a report may end at the same time. Each applies its events to the conversation as it
//! stands by then, so none undoes what another has learnt.

use super::token_counts::CachedCounts;
use foldline_core::SessionState;
use foldline_core::planning::SessionEvent;
use serde::{Deserialize, Serialize};

/// One conversation of a session: everything that grew out of one first message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    root: String,
    /// What the engine remembers.
    pub(super) state: SessionState,
    /// The last request whose usage is known.
    pub(super) base: Option<Base>,
    /// The checkpoint that was made last.
    pub(super) latest: Option<String>,
    /// Whether the provider was seen to read from a cache.
    pub(super) caches: bool,
    /// Tokens of the last request as it came.
    pub(super) before: u64,
    /// When the last request came; 0 before the first.
    pub(super) last_at: i64,
    /// Prunes and folds, the latest last.
    pub(super) folds: Vec<FoldMark>,
    /// Checkpoints that are not used because they were undone.
    pub(super) undone: Vec<String>,
    /// Set after an undo, until the conversation may be folded again.
    pub(super) after_undo: Option<AfterUndo>,
    #[serde(skip)]
    pub(super) measured: CachedCounts,
    #[serde(skip)]
    pub(super) reports: Reports,
}

/// Prunes and folds of a conversation that are remembered, for people and for undo.
const MOST_MARKS: usize = 24;

/// Checkpoints that are remembered as undone.
const MOST_UNDONE: usize = 32;

/// Checkpoints of one fold that are remembered: its own, and those that adopted it.
const MOST_OF_ONE: usize = 4;

/// A prune or a fold as a conversation remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FoldMark {
    /// When, in milliseconds since 1970.
    pub(super) at: i64,
    /// `prune` or `fold`.
    pub(super) kind: String,
    pub(super) reason: String,
    /// Tokens before and after.
    pub(super) tokens: (u64, u64),
    /// Its checkpoint, and those that adopted it.
    pub(super) checkpoints: Vec<String>,
    /// Whether it was undone.
    pub(super) is_undone: bool,
}

/// A fold was undone: the conversation is not folded for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AfterUndo {
    /// Tokens of the first request after the undo; none before that request.
    pub(super) tokens: Option<u64>,
}

/// Whether what providers reported is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reports {
    /// As far as there were any.
    #[default]
    Known,
    /// The conversation was under way when a process ended, and what was reported in its last moment may be lost.
    Lost,
}

/// Something that changes what is remembered of a conversation.
#[derive(Clone, Debug)]
pub(super) enum ConversationEvent {
    /// The engine was asked, or something happened that it remembers.
    Engine(SessionEvent),
    /// A checkpoint was made.
    Replaced {
        /// Its name.
        checkpoint: String,
        /// The prune or fold that it came of; none where it adopts the one before.
        mark: Option<FoldMark>,
    },
    /// The latest fold was undone.
    TakenBack,
    /// The first request after an undo was seen.
    AfterUndo {
        /// Its tokens.
        tokens: u64,
    },
    /// A turn was forwarded.
    Forwarded {
        /// When it came.
        at: i64,
        /// Counts for the next turn.
        measured: CachedCounts,
    },
    /// The provider reported usage.
    Reported {
        /// What the engine learns from it.
        event: Option<(SessionEvent, Base)>,
        /// Whether the provider read from its cache.
        is_cached: bool,
        /// Tokens of the request as it came.
        before: u64,
    },
    /// The provider rejected what a checkpoint made of a request.
    Rejected {
        /// Its name.
        checkpoint: String,
    },
}

/// A request whose usage the provider reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// The digest of its messages.
    pub(super) digest: String,
    /// How many they were, after the lead.
    pub(super) position: usize,
    /// Messages that were sent, lead included.
    pub(super) sent: usize,
    /// The checkpoint that stood for the first of them.
    pub(super) checkpoint: Option<String>,
    /// Prompt tokens.
    pub(super) prompt: u64,
}

impl Conversation {
    /// One that begins with this root.
    pub(super) fn new(root: &str) -> Conversation {
        Conversation { root: root.to_owned(), ..Conversation::default() }
    }

    /// What all its turns begin with.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// The conversation for one turn. Counts move out and come back at the end: a turn of the same conversation
    /// meanwhile counts anew.
    pub(super) fn for_a_turn(&mut self) -> Conversation {
        let measured = std::mem::take(&mut self.measured);
        Conversation { measured, ..self.clone() }
    }

    /// Takes note of an event.
    pub(super) fn apply(&mut self, event: ConversationEvent) {
        match event {
            ConversationEvent::Engine(event) => self.state.apply(&event),
            ConversationEvent::Replaced { checkpoint, mark } => {
                self.undone.retain(|undone| *undone != checkpoint);
                if let Some(mark) = mark {
                    self.after_undo = None;
                    self.folds.push(FoldMark { checkpoints: vec![checkpoint.clone()], ..mark });
                    let surplus = self.folds.len().saturating_sub(MOST_MARKS);
                    self.folds.drain(..surplus);
                } else if let Some(last) = self.folds.last_mut().filter(|last| last.checkpoints.len() < MOST_OF_ONE) {
                    last.checkpoints.push(checkpoint.clone());
                }
                self.latest = Some(checkpoint);
                self.base = None;
            }
            ConversationEvent::TakenBack => {
                let taken = match self.folds.iter_mut().rev().find(|mark| !mark.is_undone) {
                    Some(mark) => {
                        mark.is_undone = true;
                        mark.checkpoints.clone()
                    }
                    None => self.latest.take().into_iter().collect(),
                };
                self.undone.extend(taken);
                let surplus = self.undone.len().saturating_sub(MOST_UNDONE);
                self.undone.drain(..surplus);
                self.latest = self.latest_fold().and_then(|mark| mark.checkpoints.last().cloned());
                self.base = None;
                self.after_undo = Some(AfterUndo::default());
                self.state.apply(&SessionEvent::TakenBack);
            }
            ConversationEvent::AfterUndo { tokens } => self.after_undo = Some(AfterUndo { tokens: Some(tokens) }),
            ConversationEvent::Forwarded { at, measured } => {
                self.measured = measured;
                self.last_at = self.last_at.max(at);
                self.reports = Reports::Known;
            }
            ConversationEvent::Reported { event, is_cached, before } => {
                if let Some((event, base)) = event {
                    self.state.apply(&event);
                    self.base = Some(base);
                }
                self.caches |= is_cached;
                self.before = before;
            }
            ConversationEvent::Rejected { checkpoint } => {
                if self.latest.as_ref() == Some(&checkpoint) {
                    self.latest = None;
                }
                self.base = None;
                self.state.apply(&SessionEvent::Rejected);
            }
        }
    }

    /// Whether it was told of a checkpoint.
    pub(super) fn has_checkpoint(&self, name: &str) -> bool {
        let mut marks = self.folds.iter().flat_map(|mark| &mark.checkpoints);
        self.latest.as_deref() == Some(name) || marks.any(|checkpoint| checkpoint == name)
    }

    /// The latest prune or fold that applies.
    pub(super) fn latest_fold(&self) -> Option<&FoldMark> {
        self.folds.iter().rev().find(|mark| !mark.is_undone)
    }

    /// Takes note of events in their order.
    pub(super) fn apply_all(&mut self, events: impl IntoIterator<Item = ConversationEvent>) {
        events.into_iter().for_each(|event| self.apply(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::planning::Left;

    fn reported(prompt: u64) -> ConversationEvent {
        let event = SessionEvent::Reported { prompt, messages: None, counted: 1_000, pressure: 40_000 };
        let base = Base { digest: "d".to_owned(), position: 4, sent: 5, checkpoint: None, prompt };
        ConversationEvent::Reported { event: Some((event, base)), is_cached: true, before: 1_200 }
    }

    #[test]
    fn a_report_that_comes_while_a_fold_is_made_is_not_lost() {
        let mut conversation = Conversation::new("root");
        let left = Left { tokens: 500, bytes: 2_000, handle: "fl-0".to_owned() };
        let folded = ConversationEvent::Engine(SessionEvent::Folded { too_little: None, left });
        conversation.apply(reported(1_500));
        conversation.apply_all([folded, ConversationEvent::Replaced { checkpoint: "c".to_owned(), mark: None }]);
        assert_eq!((conversation.state.pace.requests, conversation.state.folds), (1, 1));
        assert!((conversation.state.calibration.ratio() - 1.5).abs() < 1e-9);
        assert_eq!((conversation.latest.as_deref(), conversation.base.as_ref()), (Some("c"), None));
        assert!(conversation.caches && conversation.state.awaiting_usage);
    }

    #[test]
    fn a_rejection_concerns_the_checkpoint_that_was_rejected() {
        let mut conversation = Conversation { latest: Some("newer".to_owned()), ..Conversation::new("root") };
        conversation.apply(ConversationEvent::Rejected { checkpoint: "older".to_owned() });
        assert_eq!((conversation.latest.as_deref(), conversation.state.strikes), (Some("newer"), 1));
        conversation.apply(ConversationEvent::Rejected { checkpoint: "newer".to_owned() });
        assert_eq!(conversation.latest, None);
    }

    #[test]
    fn undo_restores_the_fold_before() {
        let mut conversation = Conversation::new("root");
        let folded = |name: &str| ConversationEvent::Replaced {
            checkpoint: name.to_owned(),
            mark: Some(FoldMark { kind: "fold".to_owned(), ..FoldMark::default() }),
        };
        let adopted = ConversationEvent::Replaced { checkpoint: "two'".to_owned(), mark: None };
        conversation.apply_all([folded("one"), folded("two"), adopted, ConversationEvent::TakenBack]);
        assert_eq!(
            (conversation.latest.as_deref(), conversation.undone.as_slice()),
            (Some("one"), ["two".to_owned(), "two'".to_owned()].as_slice())
        );
        assert_eq!(conversation.after_undo, Some(AfterUndo::default()));
        conversation.apply_all([ConversationEvent::AfterUndo { tokens: 7 }, folded("two")]);
        assert_eq!((conversation.after_undo, conversation.undone.as_slice()), (None, ["two'".to_owned()].as_slice()));
        conversation.apply_all([
            ConversationEvent::TakenBack,
            ConversationEvent::TakenBack,
            ConversationEvent::TakenBack,
        ]);
        assert_eq!(conversation.latest, None);
    }

    #[test]
    fn conversations_of_earlier_releases_are_read() {
        let stored =
            r#"{"root":"r","state":{"folds":2,"strikes":1},"latest":"c","caches":true,"before":7,"last_at":9}"#;
        let conversation: Conversation = serde_json::from_str(stored).unwrap();
        assert_eq!((conversation.root(), conversation.state.folds, conversation.last_at), ("r", 2, 9));
    }
}
