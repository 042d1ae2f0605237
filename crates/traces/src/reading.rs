//! Reading a run as a user asks for it: under limits, with names and prices of theirs, and with what is odd in it as an error.

use crate::error::ReadError;
use crate::expected::ExpectedRows;
use crate::names::PartNames;
use crate::prices::PriceTable;
use crate::read::{self, RawRun, ReadOptions};
use crate::redact_path::{self, RedactPath};
use averment_base::limits::Limits;
use averment_runs::run::{ReadWarning, Run};
use bumpalo::Bump;
use std::sync::Arc;

/// How runs are read.
#[derive(Debug, Clone, Default)]
pub struct RunReadOptions {
    /// Sizes and depths.
    pub limits: Limits,
    /// What is odd in a trace is an error.
    pub strict: bool,
    /// The names of a home-grown format (`--map`).
    pub names: Option<Arc<PartNames>>,
    /// What tokens cost (`--prices`).
    pub prices: Option<Arc<PriceTable>>,
    /// What is expected of single runs (`--expected`).
    pub expected: Option<Arc<ExpectedRows>>,
    /// Transcripts of agents are read as SkillGym reads them (`--compat skillgym`).
    pub as_skillgym: bool,
    /// Paths whose values no report shows.
    pub redact: Arc<[RedactPath]>,
    /// Texts that no report shows.
    pub withheld: Arc<[String]>,
}

impl RunReadOptions {
    /// Whether runs have to be read in full: for what is odd in them, for what is not to be shown, for what they cost or what is expected of them.
    #[must_use]
    pub fn is_in_full(&self) -> bool {
        let hides = !self.redact.is_empty() || !self.withheld.is_empty();
        self.strict || self.as_skillgym || self.prices.is_some() || self.expected.is_some() || hides
    }

    /// Reads one run, with the texts in it that no report shows.
    ///
    /// # Errors
    /// What is not JSON, no run of a known format, beyond a limit, or odd where that is an error.
    pub fn parse_run<'run>(&self, raw: &'run RawRun, arena: &'run Bump) -> Result<Run<'run>, ReadFailure<'run>> {
        let told = ReadOptions {
            names: self.names.as_deref(),
            prices: self.prices.as_deref(),
            expected: self.expected.as_deref(),
            as_skillgym: self.as_skillgym,
        };
        let mut run = read::parse_under(raw, arena, &self.limits, told).map_err(ReadFailure::Unreadable)?;
        run.withheld = redact_path::path_values(&self.redact, &run);
        run.withheld.extend_from_slice(&self.withheld);
        match run.warnings.first().filter(|_| self.strict) {
            Some(warning) => Err(ReadFailure::Odd(warning.clone(), Box::new(run))),
            None => Ok(run),
        }
    }
}

/// Why a run is not read.
#[derive(Debug)]
pub enum ReadFailure<'run> {
    /// It cannot be.
    Unreadable(ReadError),
    /// It is odd, and that is an error. The run says what of that must not be shown.
    Odd(ReadWarning, Box<Run<'run>>),
}
