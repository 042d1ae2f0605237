//! The compiled half of the Python package `averment`.
//!
//! It carries text and bytes over the border and judges while Python runs on: outcomes leave as JSON, which the Python half
//! (`python/averment`) shows as attributes. No Python object is touched while detached from the interpreter, and no panic leaves.

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

    /// The version of the package, which is that of the command.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
