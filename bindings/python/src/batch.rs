//! Judges many runs in threads of the library, while Python continues.

use crate::errors::{catch_panic, internal_error, run_error};
use crate::outcome::RawOutcome;
use averment::{BatchOutcomes, Summary};
use pyo3::prelude::*;
use std::sync::Mutex;

/// The outcomes of some traces, in order.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawBatch {
    outcomes: Mutex<BatchOutcomes>,
}

impl RawBatch {
    pub fn new(outcomes: BatchOutcomes) -> Self {
        Self { outcomes: Mutex::new(outcomes) }
    }

    /// Accesses the outcomes while detached from the interpreter, because another Python thread may hold the lock and wait for a run.
    fn with_outcomes<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut BatchOutcomes) -> T + Send) -> PyResult<T> {
        let done = py.detach(|| self.outcomes.lock().ok().map(|mut outcomes| work(&mut outcomes)));
        done.ok_or_else(|| internal_error(py, "the evaluation broke down"))
    }
}

#[pymethods]
impl RawBatch {
    /// Returns the next outcome or its exception; `None` at the end.
    fn take_next(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        catch_panic(py, || match self.with_outcomes(py, Iterator::next)? {
            None => Ok(None),
            Some(Ok(outcome)) => Ok(Some(Py::new(py, RawOutcome::new(outcome))?.into_any())),
            Some(Err(error)) => Ok(Some(run_error(py, &error).into_value(py).into_any())),
        })
    }

    /// Returns the counts of the outcomes taken so far.
    fn summary(&self, py: Python<'_>) -> PyResult<RawSummary> {
        Ok(RawSummary { summary: self.with_outcomes(py, |outcomes| outcomes.summary().clone())? })
    }

    /// Returns the outcome of the rules over all runs, once the last run was taken. It is returned only once.
    fn over_runs(&self, py: Python<'_>) -> PyResult<Option<RawOutcome>> {
        Ok(self.with_outcomes(py, BatchOutcomes::take_over_runs)?.map(RawOutcome::new))
    }
}

/// Counts over runs.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawSummary {
    summary: Summary,
}

#[pymethods]
impl RawSummary {
    #[getter]
    fn runs(&self) -> u64 {
        self.summary.runs()
    }

    #[getter]
    fn runs_failed(&self) -> u64 {
        self.summary.runs_failed()
    }

    #[getter]
    fn unreadable(&self) -> u64 {
        self.summary.unreadable()
    }

    #[getter]
    fn not_judged(&self) -> u64 {
        self.summary.not_judged()
    }

    #[getter]
    fn score(&self) -> Option<f64> {
        self.summary.score()
    }

    #[getter]
    fn passed(&self) -> bool {
        self.summary.passed()
    }

    /// Returns the number of results by status, as JSON.
    fn counts(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.summary.results()).map_err(|error| internal_error(py, &error.to_string()))
    }

    /// Returns the sum of both summaries.
    fn plus(&self, other: &Self) -> Self {
        let mut summary = self.summary.clone();
        summary.add_summary(&other.summary);
        Self { summary }
    }
}
