//! What parts of many runs give to the rules over all runs, for those who judge the parts apart: partitions of a cluster, days of a month.

use crate::batch::{Batch, ReportNeeds};
use crate::error::{Diagnostics, Problem, RulesError};
use crate::outcome::Outcome;
use crate::rules::Rules;
use averment_bulk::all_runs::{self, OverRunsTally};
use averment_engine::bytecode::codec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What some runs give to the rules that speak of all runs together (`in at least 95% of runs: …`). Subtotals of all parts, put together in
/// the order of the parts, give the result that one check of all runs gives. Rates are counts; an average or a percentile keeps 8 bytes a run,
/// up to 131,072 runs.
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
    /// The version that made it: what is kept may be something else in another.
    version: String,
    /// Tells the programs apart that it belongs to.
    marks: Vec<u32>,
    tally: OverRunsTally,
    left_out: u64,
}

impl RunsSubtotal {
    /// That of no runs.
    ///
    /// # Errors
    /// Rules under `near-names` look at all runs at once, and have no subtotals.
    pub fn new(rules: &Rules) -> Result<Self, RulesError> {
        if rules.inner.policy.deny_near_names {
            return Err(subtotal_error("`near-names` looks at all runs at once, and has no subtotals", "leave it out"));
        }
        let marks = rules.inner.programs.iter().map(codec::program_mark).collect();
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), marks, tally: OverRunsTally::default(), left_out: 0 })
    }

    /// Adds that of the runs behind these.
    ///
    /// # Errors
    /// One of other rules, or of another version.
    pub fn append(&mut self, behind: Self) -> Result<(), RulesError> {
        if behind.version != self.version || behind.marks != self.marks {
            return Err(foreign_error());
        }
        self.tally.append(behind.tally);
        self.left_out = self.left_out.saturating_add(behind.left_out);
        Ok(())
    }

    /// What the rules say of all these runs together; `None` where they say nothing of the kind.
    ///
    /// # Errors
    /// A subtotal of other rules, or of another version.
    pub fn conclude(&self, rules: &Rules) -> Result<Option<Outcome>, RulesError> {
        let mut own = Self::new(rules)?;
        own.append(self.clone())?;
        let pipeline = rules.batch().build_pipeline(ReportNeeds { findings: true, ..ReportNeeds::default() });
        let report = all_runs::over_runs_report(&pipeline, &own.tally);
        Ok(report.map(|report| Outcome::new(Arc::clone(&pipeline.table), report, pipeline.policy)))
    }

    /// Runs that were judged.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.tally.runs()
    }

    /// Runs that could not be read or judged, which the rules do not count.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// To be sent elsewhere.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing to memory fails for no subtotal: all lengths are known.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// What [`RunsSubtotal::to_bytes`] has written.
    ///
    /// # Errors
    /// Other bytes, or those of another version.
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
    /// What the runs of some traces give to the rules over all runs. No outcome is made.
    ///
    /// # Errors
    /// Those of [`RunsSubtotal::new`].
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
