//! What goes out: the body to forward, what was done to it, and what to hand back with the reply.

use super::ask::{CredentialId, Dialect, SessionId};
use super::fold::FoldTask;
use std::borrow::Cow;

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

/// A request, ready to be forwarded.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The body to send.
    pub body: Cow<'a, str>,
    /// The session it belongs to.
    pub session: SessionId,
    /// What became of it.
    pub outcome: Outcome,
    /// Tokens as they came and as they go out, counted.
    pub tokens: (u64, u64),
    /// To be handed back with the usage that the provider reports.
    pub turn: Turn,
    /// Work for a background thread, once the request is on its way.
    pub background: Option<FoldTask>,
    /// Things a person should know; no content.
    pub warnings: Vec<String>,
}

/// Remembers a forwarded request until its usage is known.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) credential: CredentialId,
    pub(super) session: SessionId,
    pub(super) dialect: Dialect,
    pub(super) model: String,
    pub(super) outcome: Outcome,
    pub(super) tokens: (u64, u64),
}
