//! Exceptions, by what a caller can do about them.

use foldline_embed::Error;
use pyo3::PyErr;
use pyo3::exceptions::PyException;

pyo3::create_exception!(foldline, FoldlineError, PyException, "Anything that Foldline could not do.");
pyo3::create_exception!(
    foldline,
    TranscriptError,
    FoldlineError,
    "The body is no transcript; the message says where and why."
);
pyo3::create_exception!(foldline, CannotFit, FoldlineError, "The target cannot be met; the message says the numbers.");
pyo3::create_exception!(foldline, OptionError, FoldlineError, "An option or a setting that cannot be used.");
pyo3::create_exception!(
    foldline,
    RecallError,
    FoldlineError,
    "No original has this handle, or what was asked of it is not there."
);

/// The exception for an error.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Transcript(_) => TranscriptError::new_err(message),
        Error::CannotFit(_) => CannotFit::new_err(message),
        Error::Recall(_) => RecallError::new_err(message),
        _ => OptionError::new_err(message),
    }
}
