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
pub mod drawn;
pub mod escaped;
#[cfg(feature = "pictures")]
mod failure;
pub mod fingerprint;
mod folded;
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
pub mod json;
pub mod jsonl;
#[cfg(feature = "pictures")]
mod junit;
pub mod line;
#[cfg(feature = "pictures")]
mod markdown;
pub mod measured;
pub mod model;
pub mod over_runs;
pub mod profile;
mod proof;
pub mod redact;
mod redact_rules;
pub mod report_builder;
#[cfg(feature = "pictures")]
mod sarif;
mod secrets;
#[cfg(feature = "pictures")]
mod short;
pub mod show;
#[cfg(feature = "pictures")]
mod spans;
#[cfg(feature = "pictures")]
pub mod standing;
mod step_line;
#[cfg(feature = "pictures")]
mod summary;
pub mod table;
#[cfg(feature = "pictures")]
mod tap;
pub mod timeline;
pub mod totals;
pub mod unjudged;
#[cfg(feature = "pictures")]
mod unread;
mod unreadable;
mod value;
#[cfg(feature = "pictures")]
mod warnings;
pub mod wire;
mod withheld;
#[cfg(feature = "pictures")]
mod worst;

use averment_base::diagnostic::render::Style;
#[cfg(feature = "pictures")]
pub use format::open;
pub use format::{Format, Given, Needs, Notation, Reader, Reasons, Wanted};
use gate::Policy;
#[cfg(feature = "pictures")]
use model::{RunReport, Unreadable};
pub use redact::of_run as redact_run;
pub use redact::redact;
use std::io;
use table::Table;
use totals::Totals;
#[cfg(feature = "pictures")]
pub use unread::unreadable as tell_unreadable;

/// Violations of each failure that are drawn, unless all are asked for.
pub const VIOLATIONS_DRAWN: usize = 3;
/// Violations of each failure that are listed where all are asked for; beyond that they are only counted.
pub const ALL_VIOLATIONS: usize = 10_000;

/// What a report is told beside the runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// How text looks.
    pub style: Style,
    /// What fails a run.
    pub policy: Policy,
    /// How many failures are drawn; `None` for a few, and few of the same assertion.
    pub max_failures: Option<usize>,
    /// What reports for people show.
    pub show: show::Show,
    /// How many violations of each failure are drawn.
    pub violations: usize,
    /// What the compiler said, as data; a list.
    pub diagnostics: serde_json::Value,
    /// The command whose results these are.
    pub command: Command,
    /// When that was, in nanoseconds since 1970, for formats that have a place for it; `None` where nobody says.
    pub now: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            style: Style::PLAIN,
            policy: Policy::default(),
            max_failures: None,
            show: show::Show::default(),
            violations: VIOLATIONS_DRAWN,
            diagnostics: serde_json::Value::Array(Vec::new()),
            command: Command::Check,
            now: None,
        }
    }
}

/// A command whose results are reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Command {
    /// Runs against rules.
    #[default]
    Check,
    /// Tests of rules: each is an assertion, and the file that it stands in is the run.
    Test,
    /// Findings in rules: each is an assertion that fails, its lint the rule, and the rule file the run.
    Lint,
}

impl Command {
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

/// What is known at the end.
#[derive(Debug)]
pub struct Ending<'a> {
    /// Counts over all runs.
    pub totals: &'a Totals,
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
    fn begin(&mut self, _: &Table) -> io::Result<()> {
        Ok(())
    }

    /// Called for every run, in order.
    ///
    /// # Errors
    /// What the writer says.
    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()>;

    /// Called once behind the last run with what is said of all of them together, where there is something; a format that says nothing of it
    /// elsewhere tells it like a run.
    ///
    /// # Errors
    /// What the writer says.
    fn over_runs(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.run(table, run)
    }

    /// Called instead of [`Report::run`] where counts are enough: with those of a chunk of runs.
    fn chunk(&mut self, _: &chunk_totals::ChunkTotals) {}

    /// Called instead of [`Report::run`] with finished lines of `jsonl`.
    ///
    /// # Errors
    /// What the writer says.
    fn lines(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Called for every trace, or line of one, that cannot be read; in order with the runs.
    ///
    /// # Errors
    /// What the writer says.
    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()>;

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
    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()>;
}

#[cfg(test)]
#[cfg(feature = "pictures")]
mod tests;
