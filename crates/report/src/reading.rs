//! Reading a run for a report: under limits, and with what is odd in it as an error where that is asked for.

use crate::model::UnreadableTrace;
use crate::redact_path::{self, RedactPath};
use crate::redact_run;
use averment_base::limits::Limits;
use averment_runs::run::Run;
use averment_traces::error::{ReadError, TraceProblem};
use averment_traces::expected::ExpectedRows;
use averment_traces::names::PartNames;
use averment_traces::prices::PriceTable;
use averment_traces::read::{self, RawRun, ReadOptions};
use bumpalo::Bump;
use std::sync::Arc;

/// How runs are read.
#[derive(Debug, Clone, Default)]
pub struct RunReadOptions {
    /// Sizes and depths.
    pub limits: Limits,
    /// Treat trace warnings as errors.
    pub strict: bool,
    /// The names of a home-grown format (`--map`).
    pub names: Option<Arc<PartNames>>,
    /// Token prices (`--prices`).
    pub prices: Option<Arc<PriceTable>>,
    /// Expected results of single runs (`--expected`).
    pub expected: Option<Arc<ExpectedRows>>,
    /// Transcripts of agents are read as SkillGym reads them (`--compat skillgym`).
    pub as_skillgym: bool,
    /// Paths whose values no report shows.
    pub redact: Arc<[RedactPath]>,
    /// Texts that no report shows.
    pub withheld: Arc<[String]>,
}

impl RunReadOptions {
    /// True if runs must be read in full: for warnings, redaction, costs or expected results.
    #[must_use]
    pub fn is_in_full(&self) -> bool {
        let hides = !self.redact.is_empty() || !self.withheld.is_empty();
        self.strict || self.as_skillgym || self.prices.is_some() || self.expected.is_some() || hides
    }
}

/// Reads one run.
///
/// # Errors
/// What is not JSON, no run of a known format, beyond a limit, or odd where that is an error.
pub fn parse_run<'run>(
    raw: &'run RawRun,
    arena: &'run Bump,
    reading: &RunReadOptions,
) -> Result<Run<'run>, UnreadableTrace> {
    let RunReadOptions { names, prices, expected, .. } = reading;
    let told = ReadOptions {
        names: names.as_deref(),
        prices: prices.as_deref(),
        expected: expected.as_deref(),
        as_skillgym: reading.as_skillgym,
    };
    let mut run =
        read::parse_under(raw, arena, &reading.limits, told).map_err(|error| UnreadableTrace::of_error(&error))?;
    run.withheld = redact_path::path_values(&reading.redact, &run);
    run.withheld.extend_from_slice(&reading.withheld);
    match run.warnings.first().filter(|_| reading.strict) {
        Some(warning) => {
            let problem =
                TraceProblem { message: redact_run(&run, &warning.message), help: String::new(), no_trace: false };
            Err(UnreadableTrace::of_error(&ReadError::at_offset(&run.source, run.text, warning.offset, problem)))
        }
        None => Ok(run),
    }
}
