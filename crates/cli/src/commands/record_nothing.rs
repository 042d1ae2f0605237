//! Without the feature `history` nothing is recorded.

use super::exit::Stop;
use averment_engine::bytecode::program::Program;
use averment_report::model::RunReport;
use averment_report::table::Table;
use std::path::Path;

/// No flag.
#[derive(Debug, clap::Args)]
pub struct RecordArguments {}

/// There is none.
pub enum Recording {}

impl RecordArguments {
    /// No file.
    #[expect(clippy::unused_self, reason = "with the feature it has flags")]
    pub fn file(&self) -> Option<&Path> {
        None
    }

    /// Nothing is asked for.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "with the feature it has flags")]
    pub fn open(&self, _: &[Program]) -> Result<Option<Recording>, Stop> {
        Ok(None)
    }
}

impl Recording {
    /// Never called.
    pub fn add(&mut self, _: &Table, _: &RunReport) {}

    /// Never called.
    pub fn finish(&mut self, _: &Table) -> bool {
        true
    }
}
