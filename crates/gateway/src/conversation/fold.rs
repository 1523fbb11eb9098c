//! Folds beside the request path.

use super::ask::SessionId;
use foldline_core::summary::SummaryJob;

/// A fold to be made in the background. Dropping it gives the conversation free for another attempt.
#[derive(Debug)]
pub struct FoldTask {
    pub(super) session: SessionId,
}

impl FoldTask {
    /// The session it is for.
    pub fn session(&self) -> &SessionId {
        &self.session
    }
}

/// What a planned fold needs before it can be finished.
#[derive(Debug)]
pub enum Planned {
    /// Nothing: finish it with [`run`](super::Conversations::run) and no summary.
    Ready,
    /// A model's words.
    Ask(SummaryJob),
    /// There is nothing to fold after all; the task is over.
    Nothing,
}
