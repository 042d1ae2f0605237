//! Results of checks over time: a database of results, trust scores of skills and rules, and the comparison of two sets of runs.
//!
//! [`record::Recorder`] writes the run reports of `aver check` into a SQLite file; [`read::Snapshot`] reads them back. [`trust`] and [`compare`]
//! compute from them and return the result as text, JSON and HTML.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a history is a file")]

pub mod compare;
mod error;
pub mod labels;
pub mod read;
pub mod record;
mod schema;
pub mod trust;

pub use error::HistoryError;
