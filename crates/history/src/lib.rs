//! What checks found over time: a database of results, how far a skill or a rule can be trusted, and what changed between two sets of runs.
//!
//! [`record::Recorder`] takes the reports of runs as `aver check` makes them and puts them into a file of SQLite; [`read::Snapshot`] is what
//! stands in it. [`trust`] and [`compare`] compute from that, and say what they found in words, as data, and on a page.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a history is a file")]

pub mod compare;
mod error;
pub mod labels;
pub mod read;
pub mod record;
mod schema;
pub mod trust;

pub use error::HistoryError;
