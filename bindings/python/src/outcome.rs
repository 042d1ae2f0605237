//! The outcome of one run.

use crate::errors::{catch_panic, internal_error};
use averment::{Outcome, TextStyle};
use pyo3::prelude::*;
use serde::Serialize;

/// An outcome. Frequently used values are attributes, the rest is JSON.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawOutcome {
    outcome: Outcome,
}

impl RawOutcome {
    pub fn new(outcome: Outcome) -> Self {
        Self { outcome }
    }
}

#[pymethods]
impl RawOutcome {
    #[getter]
    fn run(&self) -> &str {
        self.outcome.run()
    }

    #[getter]
    fn trace(&self) -> &str {
        self.outcome.trace()
    }

    #[getter]
    fn passed(&self) -> bool {
        self.outcome.passed()
    }

    #[getter]
    fn score(&self) -> Option<f64> {
        self.outcome.score()
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        catch_panic(py, || json_text(py, &self.outcome))
    }

    fn draw(&self, py: Python<'_>, color: bool, unicode: bool, width: usize) -> PyResult<String> {
        let style = TextStyle { color, unicode, width: width.clamp(40, 400) };
        catch_panic(py, || Ok(py.detach(|| self.outcome.draw(style))))
    }
}

/// Returns a report as JSON text.
pub fn json_text(py: Python<'_>, report: &(impl Serialize + Sync)) -> PyResult<String> {
    py.detach(|| serde_json::to_string(report)).map_err(|error| internal_error(py, &error.to_string()))
}
