//! The interface through which the HTTP side prepares requests. Failures behind it never fail a request.

use super::error::PrepareError;
use super::incoming::{IncomingTurn, Timestamp};
use super::prepared::{Prepared, Turn};
use super::task::{FoldTask, Planned};
use super::{Compacted, Conversations, ReportedUsage};
use crate::refusal::SizeRefusal;
use foldline_core::summary::Summary;

/// Rewrites requests. Whatever goes wrong in it, panics included, the request goes out as it came.
pub trait Rewriter: Send + Sync {
    /// Makes a request ready to be forwarded.
    fn prepare<'a>(&self, ask: &IncomingTurn<'a>) -> Result<Prepared<'a>, PrepareError>;
    /// The same on a thread that must not block; `None` where that takes more than what is in memory.
    fn prepare_at_once<'a>(&self, _ask: &IncomingTurn<'a>) -> Option<Prepared<'a>> {
        None
    }
    /// Folds a request harder that the provider refused for its size.
    fn overflow<'a>(
        &self,
        ask: &IncomingTurn<'a>,
        turn: &Turn,
        refusal: &SizeRefusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, PrepareError>;
    /// Drops what the provider rejected in a turn while it took the request as it came.
    fn reject(&self, turn: &Turn);
    /// Takes note of what the provider reported for a forwarded request.
    fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp);
    /// The same on a thread that must not block; `false` where it has to, and nothing was noted.
    fn observe_at_once(&self, _turn: &Turn, _usage: ReportedUsage, _now: Timestamp) -> bool {
        false
    }
    /// Plans a fold in the background.
    fn plan(&self, task: &mut FoldTask) -> Result<Planned, PrepareError>;
    /// Finishes a fold in the background.
    fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<Option<Compacted>, PrepareError>;
}

impl Rewriter for Conversations {
    fn prepare<'a>(&self, ask: &IncomingTurn<'a>) -> Result<Prepared<'a>, PrepareError> {
        Conversations::prepare(self, ask)
    }

    fn prepare_at_once<'a>(&self, ask: &IncomingTurn<'a>) -> Option<Prepared<'a>> {
        Conversations::prepare_at_once(self, ask)
    }

    fn overflow<'a>(
        &self,
        ask: &IncomingTurn<'a>,
        turn: &Turn,
        refusal: &SizeRefusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, PrepareError> {
        Conversations::overflow(self, ask, turn, refusal, attempt)
    }

    fn reject(&self, turn: &Turn) {
        Conversations::reject(self, turn);
    }

    fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
        Conversations::observe(self, turn, usage, now);
    }

    fn observe_at_once(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) -> bool {
        Conversations::observe_at_once(self, turn, usage, now)
    }

    fn plan(&self, task: &mut FoldTask) -> Result<Planned, PrepareError> {
        Conversations::plan(self, task)
    }

    fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<Option<Compacted>, PrepareError> {
        Conversations::run(self, task, summary, now)
    }
}
