//! A prepared request: the body to forward, what was done to it, and what is needed when the reply arrives.

use super::compacted::Compacted;
use super::cost;
use super::incoming::{CredentialId, SessionId};
use super::task::FoldTask;
use foldline_core::models::ModelProfile;
use foldline_core::policy::Budgets;
use foldline_store::Key;
use foldline_transcript::Structure;
use foldline_transcript::wire::reply::ReportedUsage;
use std::borrow::Cow;
use std::sync::Arc;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Forwarded as it came: there was nothing to do.
    Unchanged,
    /// Old outputs were reduced in this turn.
    Pruned,
    /// The middle became a handoff in this turn.
    Folded,
    /// A known prefix was swapped for what replaces it.
    Checkpoint,
    /// Left alone on purpose: a header, a setting, or what the request is for.
    Bypassed,
    /// Decided and reported, but not done.
    Shadow,
    /// Left alone to compare with.
    Holdout,
    /// A fold could not be made durable, so the request went out without it.
    FailedOpen,
}

impl Outcome {
    /// Every outcome with its name in headers, events and metrics.
    pub const NAMES: [(Outcome, &'static str); 8] = [
        (Outcome::Unchanged, "unchanged"),
        (Outcome::Pruned, "pruned"),
        (Outcome::Folded, "folded"),
        (Outcome::Checkpoint, "checkpoint"),
        (Outcome::Bypassed, "bypassed"),
        (Outcome::Shadow, "shadow"),
        (Outcome::Holdout, "holdout"),
        (Outcome::FailedOpen, "failed-open"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Outcome::NAMES.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }
}

/// Where a fold is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// In the store, where there is one.
    #[default]
    Disk,
    /// In memory only, because the store failed and the request could not go out without the fold.
    Memory,
}

/// A request, ready to be forwarded.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The body to send.
    pub body: Cow<'a, str>,
    /// Where everything stands in it, if it goes out as it came.
    pub structure: Option<Arc<Structure>>,
    /// The session it belongs to.
    pub session: SessionId,
    /// What became of it.
    pub outcome: Outcome,
    /// Tokens as they came and as they go out, counted.
    pub tokens: (u64, u64),
    /// To be handed back with the usage that the provider reports.
    pub turn: Turn,
    /// Where the fold is kept, if one was made.
    pub durability: Durability,
    /// What was done in this turn, if anything was.
    pub compacted: Option<Compacted>,
    /// Work for a background thread, once the request is on its way.
    pub background: Option<FoldTask>,
    /// Things a person should know; no content.
    pub warnings: Vec<String>,
}

/// Remembers a forwarded request until its usage is known. Counts and digests only.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) credential: CredentialId,
    pub(super) session: SessionId,
    /// The conversation; none when the request is not part of one that is followed.
    pub(super) root: Option<Key>,
    pub(super) outcome: Outcome,
    /// Whether a refusal for size may fold it.
    pub(super) recovery: Recovery,
    /// Tokens as they came and as they go out, corrected by what was reported before.
    pub(super) tokens: (u64, u64),
    /// Tokens as they would go out if the gateway acted; in shadow mode it does not.
    pub(super) decided: u64,
    /// Tokens as they go out, as estimated.
    pub(super) counted: u64,
    /// The digest of its messages, and how many they are.
    pub(super) end: (String, usize),
    /// Messages that go out, standing instructions included.
    pub(super) sent: usize,
    /// Both, of the request as it came.
    pub(super) whole: OriginalSize,
    pub(super) checkpoint: Option<String>,
    pub(super) budgets: Budgets,
    pub(super) model: ModelProfile,
    /// The model as the request spells it.
    pub(super) asked_model: String,
}

/// The size of a request as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OriginalSize {
    /// Tokens, as estimated.
    pub(super) counted: u64,
    /// Messages, standing instructions included.
    pub(super) sent: usize,
}

impl Turn {
    /// Dollars that the provider charges for it; nothing when prices are not known.
    pub fn charged(&self, usage: &ReportedUsage) -> f64 {
        cost::charged(&self.model, usage)
    }

    /// The model as the request spells it.
    pub fn model(&self) -> &str {
        &self.asked_model
    }

    /// What it took if nobody reports it: the prompt as it was counted.
    pub fn assumed_usage(&self) -> ReportedUsage {
        ReportedUsage { input: self.tokens.1, ..ReportedUsage::default() }
    }

    /// The same turn, sent as it came after the provider rejected what we made of it.
    pub fn as_it_came(&self) -> Turn {
        Turn {
            outcome: Outcome::FailedOpen,
            tokens: (self.tokens.0, self.tokens.0),
            decided: self.tokens.0,
            counted: self.whole.counted,
            sent: self.whole.sent,
            checkpoint: None,
            ..self.clone()
        }
    }
}

/// Whether a request may be folded after its provider refused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    Allowed,
    /// It was left alone on purpose.
    Forbidden,
}
