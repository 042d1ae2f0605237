//! Reports: from outcomes to text for people and data for machines.
//!
//! Every format sees the same [`model::RunReport`]s, one run at a time, so that results are printed as they come and memory does not
//! depend on the number of runs. What a format may show of a value (redaction, length) is decided here and nowhere else.

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

/// Violations of each failure that are drawn, unless all are asked for.
pub const VIOLATIONS_DRAWN: usize = 3;
/// Violations of each failure that are listed where all are asked for; beyond that they are only counted.
pub const ALL_VIOLATIONS: usize = 10_000;

/// Report options beside the runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The style of text output.
    pub style: TextStyle,
    /// The results that fail a run.
    pub policy: GatePolicy,
    /// The number of failures to draw; `None` draws a few of each assertion.
    pub max_failures: Option<usize>,
    /// The sections that reports for people show.
    pub show: show::ShownSections,
    /// The number of violations drawn for each failure.
    pub violations: usize,
    /// The compiler's diagnostics as a JSON array.
    pub diagnostics: serde_json::Value,
    /// The command whose results these are.
    pub command: ReportedCommand,
    /// When that was, in nanoseconds since 1970, for formats that have a place for it; `None` where nobody says.
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
    /// As it is called: `aver check`.
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
    /// True when everything that was asked for was checked and nothing failed: exit code 0.
    pub passed: bool,
    /// The exit code of the command.
    pub exit: u8,
}

/// A format that is written as results come. It has to say what it writes of a run, of a trace that cannot be read, and at the end.
pub trait Report {
    /// Called once, before everything else.
    ///
    /// # Errors
    /// What the writer says.
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        Ok(())
    }

    /// Called for every run, in order.
    ///
    /// # Errors
    /// What the writer says.
    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()>;

    /// Called once behind the last run with what is said of all of them together, where there is something; a format that says nothing of it
    /// elsewhere tells it like a run.
    ///
    /// # Errors
    /// What the writer says.
    fn add_over_runs(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.add_run(table, run)
    }

    /// Replaces [`Report::run`] if counts are enough: receives those of a chunk of runs.
    fn add_chunk(&mut self, _: &chunk_totals::ChunkTotals) {}

    /// Called in front of [`Report::add_chunk`] for those of its runs that a report may take examples from.
    ///
    /// # Errors
    /// What the writer says.
    fn show_example(&mut self, _: &ReportTable, _: &ExampleRun) -> io::Result<()> {
        Ok(())
    }

    /// Called instead of [`Report::add_run`] with finished lines of `jsonl`.
    ///
    /// # Errors
    /// What the writer says.
    fn add_lines(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Called for every trace, or line of one, that cannot be read; in order with the runs.
    ///
    /// # Errors
    /// What the writer says.
    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()>;

    /// Hands on what is written so far: called when the next run is waited for. A report that writes at its end has nothing to hand on.
    ///
    /// # Errors
    /// What the writer says.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Called once, at the end, also after an interruption.
    ///
    /// # Errors
    /// What the writer says.
    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()>;
}

#[cfg(test)]
#[cfg(feature = "pictures")]
mod tests;
