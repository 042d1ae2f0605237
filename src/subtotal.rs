//! Subtotals of rules over all runs, for callers that judge parts of the runs separately: partitions of a cluster, days of a month.

use crate::batch::{Batch, ReportNeeds};
use crate::error::{Diagnostics, Problem, RulesError};
use crate::outcome::Outcome;
use crate::rules::Rules;
use averment_bulk::all_runs::{self, OverRunsTally};
use averment_engine::bytecode::codec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The contribution of some runs to the rules over all runs (`in at least 95% of runs: …`). Combined in order, the subtotals of all parts give the
/// same result as one check of all runs. Rates are counts. An average or a percentile keeps 8 bytes per run, for up to 131,072 runs.
///
/// ```
/// use averment::{Rules, RunsSubtotal, Trace};
///
/// let rules = Rules::from_text("refunds.assert", "in at least 50% of runs: never refund")?;
/// let parts = [[r#"{"calls": []}"#; 3], [r#"{"calls": [{"tool": "refund"}]}"#; 3]];
/// let mut all = RunsSubtotal::new(&rules)?;
/// for part in parts {
///     // Another process may do this, and send the bytes.
///     let bytes = rules.batch().subtotal_of_traces(part.map(Trace::from))?.to_bytes();
///     all.append(RunsSubtotal::from_bytes(&bytes)?)?;
/// }
/// let outcome = all.conclude(&rules)?.unwrap();
/// assert!(outcome.passed() && all.runs() == 6);
/// # Ok::<(), averment::RulesError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunsSubtotal {
    /// The version that created it. Other versions may store other data.
    version: String,
    /// Checksums of the programs that it belongs to.
    marks: Vec<u32>,
    tally: OverRunsTally,
    left_out: u64,
}

impl RunsSubtotal {
    /// Creates the subtotal of no runs.
    ///
    /// # Errors
    /// Returns an error for rules with `near-names`, which look at all runs at once and have no subtotals.
    pub fn new(rules: &Rules) -> Result<Self, RulesError> {
        if rules.inner.policy.deny_near_names {
            return Err(subtotal_error("`near-names` looks at all runs at once, and has no subtotals", "leave it out"));
        }
        let marks = rules.inner.programs.iter().map(codec::program_mark).collect();
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), marks, tally: OverRunsTally::default(), left_out: 0 })
    }

    /// Appends the subtotal of the following runs.
    ///
    /// # Errors
    /// Returns an error for a subtotal of other rules or of another version.
    pub fn append(&mut self, behind: Self) -> Result<(), RulesError> {
        if behind.version != self.version || behind.marks != self.marks {
            return Err(foreign_error());
        }
        self.tally.append(behind.tally);
        self.left_out = self.left_out.saturating_add(behind.left_out);
        Ok(())
    }

    /// Judges the rules over all runs; `None` if there are no such rules.
    ///
    /// # Errors
    /// Returns an error for a subtotal of other rules or of another version.
    pub fn conclude(&self, rules: &Rules) -> Result<Option<Outcome>, RulesError> {
        let mut own = Self::new(rules)?;
        own.append(self.clone())?;
        let pipeline = rules.batch().build_pipeline(ReportNeeds { findings: true, ..ReportNeeds::default() });
        let report = all_runs::over_runs_report(&pipeline, &own.tally);
        Ok(report.map(|report| Outcome::new(Arc::clone(&pipeline.table), report, pipeline.policy)))
    }

    /// Returns the number of judged runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.tally.runs()
    }

    /// Returns the number of runs that could not be read or judged. The rules do not count them.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Serializes the subtotal, for example to send it to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Cannot fail: the output is in memory, and all lengths are known.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// Reads the bytes that [`RunsSubtotal::to_bytes`] wrote.
    ///
    /// # Errors
    /// Returns an error for other bytes, and for those of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RulesError> {
        match postcard::take_from_bytes::<Self>(bytes) {
            Ok((subtotal, [])) if subtotal.version == env!("CARGO_PKG_VERSION") => Ok(subtotal),
            _ => Err(subtotal_error(
                "these bytes are no subtotal of this version",
                "make all subtotals with the same version, and give each as it was made",
            )),
        }
    }
}

impl Batch {
    /// Judges the runs of some traces, and returns their subtotal. No outcomes are made.
    ///
    /// # Errors
    /// Returns the errors of [`RunsSubtotal::new`].
    pub fn subtotal_of_traces(
        &self,
        traces: impl IntoIterator<Item = crate::Trace>,
    ) -> Result<RunsSubtotal, RulesError> {
        let mut subtotal = RunsSubtotal::new(self.rules())?;
        let (summary, tally) = self.count_inputs(traces.into_iter().map(crate::Trace::into_input).collect());
        subtotal.tally = tally;
        subtotal.left_out = summary.unreadable().saturating_add(summary.not_judged());
        Ok(subtotal)
    }
}

fn foreign_error() -> RulesError {
    subtotal_error("this subtotal is one of other rules", "make all subtotals with the same rules and parameters")
}

fn subtotal_error(message: &str, help: &str) -> RulesError {
    RulesError::of_problem(Problem::new(message, help), Diagnostics::default())
}
