//! Many runs at a time: traces cut into chunks, a prefilter that settles most runs without reading them in full, threads, incremental totals.
//!
//! It says what an evaluation of each run says, and only sooner.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it reads traces with threads")]

pub mod all_runs;
pub mod faults;
pub mod feed;
pub mod incremental_totals;
pub mod judge;
mod near_bytes;
mod near_globs;
pub mod near_names;
mod near_words;
pub mod ordered;
pub mod pipeline;
pub mod prefilter;
pub mod reading_notes;
mod skipped_rules;
pub mod unused_names;
pub mod workers;
