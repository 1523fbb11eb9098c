//! Sessions and the compactions in them.

use crate::errors::raised;
use foldline_embed::{self as embed, Ask, Look, Options, Step};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// One conversation.
#[pyclass(frozen, module = "foldline._native")]
pub(crate) struct Session(embed::Session);

#[pymethods]
impl Session {
    /// Options are JSON; `saved` is what `save` returned.
    #[new]
    fn new(options: &str, saved: Option<&str>) -> PyResult<Session> {
        let options = Options::read(options).map_err(raised)?;
        Ok(Session(match saved {
            Some(saved) => embed::Session::restore(options, saved).map_err(raised)?,
            None => embed::Session::new(options),
        }))
    }

    /// Compacts a body: a `Done`, or a `Pending` that waits for a model.
    fn compact<'py>(&self, py: Python<'py>, body: &str, ask: &str) -> PyResult<Bound<'py, PyAny>> {
        let ask = Ask::read(ask).map_err(raised)?;
        step(py, py.detach(|| self.0.compact(body, ask)))
    }

    fn observe(&self, py: Python<'_>, body: &str, prompt_tokens: u64, completion_tokens: u64) {
        py.detach(|| self.0.observe(body, prompt_tokens, completion_tokens));
    }

    fn original(&self, handle: &str) -> PyResult<String> {
        self.0.original(handle).map(|original| original.text.to_string()).map_err(raised)
    }

    fn recall(&self, py: Python<'_>, handle: &str, look: &str) -> PyResult<String> {
        let look = Look::read(look).map_err(raised)?;
        py.detach(|| self.0.recall(handle, &look)).map_err(raised)
    }

    fn save(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.save())
    }

    fn status(&self) -> String {
        self.0.status()
    }
}

/// A finished compaction.
#[pyclass(frozen, module = "foldline._native")]
pub(crate) struct Done(Box<embed::Done>);

#[pymethods]
impl Done {
    #[getter]
    fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    #[getter]
    fn report(&self) -> &str {
        &self.0.report
    }

    #[getter]
    fn kept(&self) -> Vec<Option<usize>> {
        self.0.kept.clone()
    }

    /// Handle, tool and text of everything that was removed.
    #[getter]
    fn originals(&self) -> Vec<(&str, &str, &str)> {
        let originals = self.0.originals.iter();
        originals.map(|removed| (removed.handle.as_str(), removed.tool.as_str(), &*removed.text)).collect()
    }
}

/// A compaction that waits for a model. It is answered once.
#[pyclass(frozen, module = "foldline._native")]
pub(crate) struct Pending(Mutex<Option<Box<embed::Pending>>>);

#[pymethods]
impl Pending {
    /// System prompt, user prompt, tokens that the reply may take.
    #[getter]
    fn prompt(&self) -> PyResult<(String, String, u32)> {
        let pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let prompt = pending.as_ref().ok_or_else(answered)?.prompt();
        Ok((prompt.system.clone(), prompt.user.clone(), prompt.max_tokens))
    }

    /// Goes on with the model's words, or with why there are none.
    fn answer<'py>(&self, py: Python<'py>, text: Option<&str>, error: &str) -> PyResult<Bound<'py, PyAny>> {
        let pending = self.0.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(answered)?;
        step(py, py.detach(|| pending.answer(text.ok_or(error))))
    }
}

fn answered() -> PyErr {
    PyRuntimeError::new_err("this compaction has been answered already")
}

fn step<'py>(py: Python<'py>, step: Result<Step, embed::Error>) -> PyResult<Bound<'py, PyAny>> {
    match step.map_err(raised)? {
        Step::Done(done) => Ok(Done(done).into_pyobject(py)?.into_any()),
        Step::Asks(pending) => Ok(Pending(Mutex::new(Some(pending))).into_pyobject(py)?.into_any()),
    }
}
