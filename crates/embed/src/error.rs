//! What can go wrong, by what a caller can do about it.

use foldline_core::EngineError;
use foldline_core::planning::CannotFit;
use foldline_transcript::wire::WireError;

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The body is no transcript.
    #[error(transparent)]
    Transcript(#[from] WireError),
    /// The target cannot be met.
    #[error(transparent)]
    CannotFit(#[from] CannotFit),
    /// An option or a setting that cannot be used.
    #[error("{0}")]
    Options(String),
    /// No original has this handle, or what was asked of it is not there.
    #[error("{0}")]
    Recall(String),
    /// What should be a saved session is none.
    #[error("this is no saved session: {0}; expected what an earlier session saved")]
    Saved(String),
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Error {
        match error {
            EngineError::Wire(error) => Error::Transcript(error),
            EngineError::CannotFit(error) => Error::CannotFit(error),
            other => Error::Options(other.to_string()),
        }
    }
}
