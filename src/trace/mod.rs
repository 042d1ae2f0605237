//! Traces: reading files of any known format into the normal form of a run.
pub mod run;
