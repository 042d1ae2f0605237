//! Replacement for `record` in builds without the feature `history`: nothing is recorded.

use super::exit::CommandError;
use averment_engine::bytecode::program::Program;
use averment_report::model::RunReport;
use averment_report::table::ReportTable;
use std::path::Path;

/// Empty, because recording is disabled.
#[derive(Debug, clap::Args)]
pub struct RecordArguments {}

/// There is none.
pub enum RunRecording {}

impl RecordArguments {
    /// No file.
    #[expect(clippy::unused_self, reason = "with the feature it has flags")]
    pub fn output_file(&self) -> Option<&Path> {
        None
    }

    /// Nothing is asked for.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "with the feature it has flags")]
    pub fn open_recording(&self, _: &[Program]) -> Result<Option<RunRecording>, CommandError> {
        Ok(None)
    }
}

impl RunRecording {
    /// Never called.
    pub fn add_run(&mut self, _: &ReportTable, _: &RunReport) {}

    /// Never called.
    pub fn finish_recording(&mut self, _: &ReportTable) -> bool {
        true
    }
}
