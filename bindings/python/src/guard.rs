//! A guard session, which holds a running agent to rules.

use crate::encode::write_run;
use crate::errors::{catch_panic, given_error, internal_error};
use crate::rules::RawRules;
use averment::guard::{Guard, GuardMode};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// A guard session. Threads may share it; their requests are answered one after the other.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawGuard {
    session: Mutex<Guard>,
}

impl RawGuard {
    /// Locks the session. Fails after a panic, because it is unknown what the session had recorded.
    fn session(&self) -> Result<MutexGuard<'_, Guard>, &'static str> {
        self.session.lock().map_err(|_| "an earlier request of the session broke down")
    }
}

#[pymethods]
impl RawGuard {
    #[new]
    fn new(py: Python<'_>, rules: &RawRules, mode: &str) -> PyResult<Self> {
        catch_panic(py, || {
            let known = GuardMode::ALL.iter().find(|(word, _)| *word == mode);
            let (_, mode) =
                known.ok_or_else(|| given_error(py, &format!("`{mode}` is no mode"), "write enforce, warn or log"))?;
            Ok(Self { session: Mutex::new(Guard::new(rules.rules(), *mode)) })
        })
    }

    /// Answers a request as JSON. `time` is in milliseconds since 1970.
    fn answer(&self, py: Python<'_>, request: &Bound<'_, PyAny>, time: u64) -> PyResult<String> {
        catch_panic(py, || {
            let mut text = Vec::new();
            write_run(request, &mut text)?;
            let answer = py.detach(|| self.session().map(|mut session| session.answer_request(&text, time)));
            answer.map_err(|problem| internal_error(py, problem))
        })
    }

    /// Returns the session so far, as an unfinished run.
    fn trace(&self, py: Python<'_>) -> PyResult<String> {
        let trace = py.detach(|| self.session().map(|session| session.trace().to_owned()));
        trace.map_err(|problem| internal_error(py, problem))
    }
}
