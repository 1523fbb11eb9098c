//! The extension module `foldline._native`: texts in, texts out, the lock of the interpreter released while the engine
//! works. What users call is in `python/foldline/`.

mod errors;
mod session;

use errors::raised;
use foldline_embed as embed;
use pyo3::prelude::*;

/// Violations of a body as JSON.
#[pyfunction]
fn validate(py: Python<'_>, body: &str, format: Option<&str>) -> PyResult<String> {
    py.detach(|| embed::validate(body, format)).map_err(raised)
}

/// A text without its secrets.
#[pyfunction]
fn redact(py: Python<'_>, text: &str, mode: &str) -> PyResult<String> {
    py.detach(|| embed::redact(text, mode)).map_err(raised)
}

/// Kind and text of a shorter output, or nothing.
#[pyfunction]
fn reduce(py: Python<'_>, text: &str, tool: &str, argument: &str) -> Option<(String, String)> {
    py.detach(|| embed::reduce(text, tool, argument)).map(|shorter| (shorter.kind, shorter.text))
}

/// Tokens of a body.
#[pyfunction]
fn count(py: Python<'_>, body: &str, model: Option<&str>, format: Option<&str>) -> PyResult<u64> {
    py.detach(|| embed::count(body, model, format)).map_err(raised)
}

/// Tokens of a text.
#[pyfunction]
fn count_text(py: Python<'_>, text: &str, model: Option<&str>) -> u64 {
    py.detach(|| embed::count_text(text, model))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::errors::{CannotFit, FoldlineError, OptionError, RecallError, TranscriptError};
    #[pymodule_export]
    use super::session::{Done, Pending, Session};
    #[pymodule_export]
    use super::{count, count_text, redact, reduce, validate};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
