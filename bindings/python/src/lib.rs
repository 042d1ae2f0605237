//! The compiled part of the Python package `averment`.
//!
//! It exchanges text and bytes with Python, and judges while Python continues. Outcomes are returned as JSON, which the Python part
//! (`python/averment`) shows as attributes. No Python object is accessed while detached from the interpreter, and no panic reaches Python.

#![allow(missing_docs, reason = "what Python sees is documented in `python/averment`")]

mod arrow;
mod batch;
mod encode;
mod errors;
mod guard;
mod outcome;
mod rules;
mod settings;
mod tests;
mod verdict_rows;

use pyo3::prelude::*;

#[pymodule]
mod _averment {
    #[pymodule_export]
    use super::arrow::RawVerdicts;
    #[pymodule_export]
    use super::batch::{RawBatch, RawSummary};
    #[pymodule_export]
    use super::guard::RawGuard;
    #[pymodule_export]
    use super::outcome::RawOutcome;
    #[pymodule_export]
    use super::rules::RawRules;
    #[pymodule_export]
    use super::tests::RawTests;

    /// Version of the package, equal to that of the command.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
