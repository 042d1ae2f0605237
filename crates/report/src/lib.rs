//! Reports: convert outcomes to text for people and data for programs.
//!
//! Every format gets the same [`model::RunReport`]s, one run at a time. So results are printed immediately, and memory does not depend on the number
//! of runs. This crate alone decides how values are redacted and shortened.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

#[cfg(feature = "pictures")]
mod assay;
pub mod baseline;
pub mod block;
pub mod by_rule;
pub mod change;
pub mod chunk_totals;
pub mod classify;
pub mod conditions;
#[cfg(feature = "pictures")]
mod csv;
pub mod derivation;
#[cfg(feature = "pictures")]
pub mod diagnostic;
pub mod digest;
pub mod draw_limits;
#[cfg(feature = "pictures")]
mod failure;
mod failure_shape;
pub mod fingerprint;
mod format;
pub mod gate;
#[cfg(feature = "pictures")]
mod github;
#[cfg(feature = "pictures")]
mod gitlab;
#[cfg(feature = "pictures")]
mod html;
#[cfg(feature = "pictures")]
mod human;
pub mod item_set;
pub mod json;
pub mod json_escape;
pub mod jsonl;
#[cfg(feature = "pictures")]
mod junit;
pub mod line;
#[cfg(feature = "pictures")]
mod markdown;
pub mod model;
pub mod over_runs;
#[cfg(feature = "columns")]
mod parquet;
pub mod profile;
mod proof;
pub mod redact;
mod redact_rules;
pub mod report_builder;
pub mod run_measures;
#[cfg(feature = "pictures")]
mod sarif;
mod secrets;
#[cfg(feature = "pictures")]
mod short;
mod short_values;
pub mod show;
#[cfg(feature = "pictures")]
mod spans;
#[cfg(feature = "pictures")]
pub mod standing;
mod step_line;
#[cfg(feature = "pictures")]
mod stop_trace;
#[cfg(feature = "pictures")]
mod summary;
pub mod table;
#[cfg(feature = "pictures")]
mod tap;
pub mod timeline;
pub mod totals;
pub mod unjudged;
#[cfg(feature = "pictures")]
mod unread_traces;
mod unreadable;
mod value;
#[cfg(feature = "pictures")]
mod verdict_row;
#[cfg(feature = "pictures")]
mod warnings;
pub mod wire;
mod withheld_values;
#[cfg(feature = "pictures")]
mod worst_findings;

use averment_base::diagnostic::render::TextStyle;
#[cfg(feature = "pictures")]
pub use format::open;
pub use format::{CombinedNeeds, Format, Needs, Notation, Reader, Reasons, RunGranularity};
use gate::GatePolicy;
use model::{ExampleRun, RunReport, UnreadableTrace};
pub use redact::redact;
pub use redact::redact_run_text as redact_run;
use std::io;
use table::ReportTable;
use totals::RunTotals;
#[cfg(feature = "pictures")]
pub use unread_traces::write_unreadable as tell_unreadable;

/// Number of violations drawn for each failure, unless all are requested.
pub const VIOLATIONS_DRAWN: usize = 3;
/// Maximum number of violations listed for each failure if all are requested; further ones are only counted.
pub const ALL_VIOLATIONS: usize = 10_000;

/// Report options beside the runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The style of text output.
    pub style: TextStyle,
    /// The results that fail a run.
    pub policy: GatePolicy,
    /// Maximum number of failures to draw; `None` draws a few of each assertion.
    pub max_failures: Option<usize>,
    /// The sections that reports for people show.
    pub show: show::ShownSections,
    /// The number of violations drawn for each failure.
    pub violations: usize,
    /// The compiler's diagnostics as a JSON array.
    pub diagnostics: serde_json::Value,
    /// The command that produced the results.
    pub command: ReportedCommand,
    /// Time of the report in nanoseconds since 1970, for formats that include it; `None` if unknown.
    pub now: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            style: TextStyle::PLAIN,
            policy: GatePolicy::default(),
            max_failures: None,
            show: show::ShownSections::default(),
            violations: VIOLATIONS_DRAWN,
            diagnostics: serde_json::Value::Array(Vec::new()),
            command: ReportedCommand::Check,
            now: None,
        }
    }
}

/// A command whose results are reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReportedCommand {
    /// Checks runs against rules.
    #[default]
    Check,
    /// Tests of rules: each test is an assertion, and its file is the run.
    Test,
    /// Lint findings: each is a failing assertion, its lint is the rule, and the rule file is the run.
    Lint,
}

impl ReportedCommand {
    /// Returns the command line words: `aver check`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Check => "aver check",
            Self::Test => "aver test",
            Self::Lint => "aver lint",
        }
    }
}

/// The facts known after the last run.
#[derive(Debug)]
pub struct ReportEnding<'a> {
    /// Counts over all runs.
    pub totals: &'a RunTotals,
    /// True if the exit code is 0: everything was checked, and nothing failed.
    pub passed: bool,
    /// The exit code of the command.
    pub exit: u8,
}

/// A format that is written while results arrive. It must handle runs, unreadable traces, and the end.
pub trait Report {
    /// Called once, before everything else.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        Ok(())
    }

    /// Called for every run, in order.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()>;

    /// Called once after the last run, if there are results over all runs. By default they are reported like a run.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.add_run(table, run)
    }

    /// Called instead of [`Report::add_run`] with the totals of a chunk of runs, if counts are enough.
    fn add_chunk(&mut self, _: &chunk_totals::ChunkTotals) {}

    /// Called before [`Report::add_chunk`] for runs of the chunk that can be examples.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn show_example(&mut self, _: &ReportTable, _: &ExampleRun) -> io::Result<()> {
        Ok(())
    }

    /// Called instead of [`Report::add_run`] with finished lines of `jsonl`.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn add_lines(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Called for every unreadable trace or line, in order with the runs.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()>;

    /// Flushes the output, before waiting for the next run. By default does nothing, for reports that are written at the end.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Called once at the end, even after an interruption.
    ///
    /// # Errors
    /// Returns the error of the writer.
    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()>;
}

#[cfg(test)]
#[cfg(feature = "pictures")]
mod tests;
