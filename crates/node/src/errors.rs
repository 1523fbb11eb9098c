//! Errors: the class of the JavaScript error stands before the message, and `index.js` takes it off.

use foldline_embed::Error;

/// The error to throw.
pub(crate) fn thrown(error: Error) -> napi::Error {
    let class = match error {
        Error::Transcript(_) => "TranscriptError",
        Error::CannotFit(_) => "CannotFitError",
        Error::Recall(_) => "RecallError",
        _ => "OptionError",
    };
    napi::Error::from_reason(format!("{class}: {error}"))
}
