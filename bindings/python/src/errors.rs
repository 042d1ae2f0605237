//! Converts errors to the exceptions of `averment._errors`.

use averment::{Diagnostic, DiagnosticSeverity, Diagnostics, ReadError, RulesError, RunError};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call from Python. A panic is a bug of the library, and becomes an exception.
///
/// Catching is safe because everything the closure borrows is dropped, or is a lock that becomes poisoned.
pub fn catch_panic<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(internal_error(py, "the evaluation broke down")))
}

/// Creates an exception of `averment._errors`.
fn new_error<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    match py.import("averment._errors").and_then(|module| module.getattr(class)?.call1(arguments)) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

pub fn internal_error(py: Python<'_>, message: &str) -> PyErr {
    new_error(py, "InternalError", (message,))
}

/// Creates the exception for an invalid argument other than the rules.
pub fn given_error(py: Python<'_>, message: &str, help: &str) -> PyErr {
    new_error(py, "RulesError", (message, help, "[]"))
}

pub fn rules_error(py: Python<'_>, error: &RulesError) -> PyErr {
    let help = error.problem().map_or("", |problem| &problem.help);
    let message = error.problem().map_or_else(|| error.to_string(), |problem| problem.message.clone());
    new_error(py, "RulesError", (message, help, diagnostics_json(error.diagnostics())))
}

/// Creates the exception for rules that do not compile, with the compiler's diagnostics.
pub fn compile_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    new_error(py, "RulesError", (diagnostics.to_string().trim_end(), "", diagnostics_json(diagnostics)))
}

pub fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::Read(ReadError { file, line, column, message, help, .. }) => {
            new_error(py, "ReadError", (message, help, file, line, column))
        }
        other => internal_error(py, &other.to_string()),
    }
}

/// Returns diagnostics as JSON, with the attributes that Python shows.
pub fn diagnostics_json(diagnostics: &Diagnostics) -> String {
    Value::Array(diagnostics.iter().map(|one| diagnostic_data(&one)).collect()).to_string()
}

fn diagnostic_data(one: &Diagnostic) -> Value {
    json!({
        "id": one.id, "severity": severity_word(one.severity), "message": one.message, "help": one.help,
        "file": one.place.file, "line": one.place.line, "column": one.place.column,
    })
}

fn severity_word(severity: DiagnosticSeverity) -> &'static str {
    match severity {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Info => "info",
    }
}
