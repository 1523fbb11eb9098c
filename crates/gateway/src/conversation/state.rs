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
    #[serde(skip)]
    pub(super) measured: CachedCounts,
    #[serde(skip)]
    pub(super) reports: Reports,
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
            ConversationEvent::Replaced { checkpoint } => {
                self.latest = Some(checkpoint);
                self.base = None;
            }
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
        conversation.apply_all([folded, ConversationEvent::Replaced { checkpoint: "c".to_owned() }]);
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
    fn conversations_of_earlier_releases_are_read() {
        let stored =
            r#"{"root":"r","state":{"folds":2,"strikes":1},"latest":"c","caches":true,"before":7,"last_at":9}"#;
        let conversation: Conversation = serde_json::from_str(stored).unwrap();
        assert_eq!((conversation.root(), conversation.state.folds, conversation.last_at), ("r", 2, 9));
    }
}
