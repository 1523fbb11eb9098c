//! Why a request could not be prepared. The caller forwards the original.

use foldline_core::EngineError;
use foldline_store::StoreError;
use foldline_transcript::wire::WireError;

/// A fault of ours, never of the client: the original request goes through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The body is no conversation that we can read.
    #[error("the request cannot be read: {0}")]
    Unreadable(#[from] WireError),
    /// The body is JSON, but no request with messages.
    #[error("expected a JSON object with messages")]
    NoConversation,
    /// A conversation could not be rewritten.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PrepareError {
    /// The name in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            PrepareError::Unreadable(_) | PrepareError::NoConversation => "unreadable",
            PrepareError::Engine(_) => "engine",
            PrepareError::Store(_) => "store",
        }
    }
}
