//! What the HTTP side asks of conversations on the way of a request: the seam at which it guards itself against them.

use super::ask::{Ask, Timestamp};
use super::fault::Fault;
use super::prepared::{Prepared, Turn};
use super::task::{FoldTask, Planned};
use super::{Compacted, Conversations, ReportedUsage};
use crate::refusal::Refusal;
use foldline_core::summary::Summary;

/// Rewrites requests. Whatever goes wrong in it, panics included, the request goes out as it came.
pub trait Rewriter: Send + Sync {
    /// Makes a request ready to be forwarded.
    fn prepare<'a>(&self, ask: &Ask<'a>) -> Result<Prepared<'a>, Fault>;
    /// Folds a request harder that the provider refused for its size.
    fn overflow<'a>(
        &self,
        ask: &Ask<'a>,
        turn: &Turn,
        refusal: &Refusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, Fault>;
    /// Drops what the provider rejected in a turn while it took the request as it came.
    fn reject(&self, turn: &Turn);
    /// Takes note of what the provider reported for a forwarded request.
    fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp);
    /// Plans a fold in the background.
    fn plan(&self, task: &mut FoldTask) -> Result<Planned, Fault>;
    /// Finishes a fold in the background.
    fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<Option<Compacted>, Fault>;
}

impl Rewriter for Conversations {
    fn prepare<'a>(&self, ask: &Ask<'a>) -> Result<Prepared<'a>, Fault> {
        Conversations::prepare(self, ask)
    }

    fn overflow<'a>(
        &self,
        ask: &Ask<'a>,
        turn: &Turn,
        refusal: &Refusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, Fault> {
        Conversations::overflow(self, ask, turn, refusal, attempt)
    }

    fn reject(&self, turn: &Turn) {
        Conversations::reject(self, turn);
    }

    fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
        Conversations::observe(self, turn, usage, now);
    }

    fn plan(&self, task: &mut FoldTask) -> Result<Planned, Fault> {
        Conversations::plan(self, task)
    }

    fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<Option<Compacted>, Fault> {
        Conversations::run(self, task, summary, now)
    }
}
