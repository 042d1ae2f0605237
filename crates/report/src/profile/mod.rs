//! What a check cost: made once at its end, from what its threads noted, for people as tables and for programs as one object.

mod json;
mod rows;
mod table;

use super::table::Location;
use averment_engine::vm::profile::{PartCost, Profile, ProfileClock};
pub use json::profile_json;
use std::collections::BTreeMap;
use std::time::Duration;
pub use table::profile_tables;

/// Costs that threads record while they judge.
#[derive(Debug, Default)]
pub struct CheckCosts {
    /// The number of threads.
    pub threads: u64,
    /// Runs that were judged.
    pub runs: u64,
    /// Runs that the first look decides in full.
    pub decided: u64,
    /// Nanoseconds by phase.
    pub phases: [u64; ProfilePhase::ALL.len()],
    /// Reading, by the name of the format.
    pub formats: BTreeMap<&'static str, ReadCost>,
    /// The programs, in the order of the table.
    pub programs: Vec<ProgramCosts>,
}

/// The cost of one program.
#[derive(Debug)]
pub struct ProgramCosts {
    /// The parts of its evaluation.
    pub profile: Profile,
    /// By assertion: runs in which the first look decides it.
    pub decided: Vec<u64>,
}

/// The cost of reading the runs of one format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCost {
    /// Runs.
    pub runs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Nanoseconds.
    pub time: u64,
}

/// The phases of a check, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfilePhase {
    /// Reads, checks and compiles rules.
    Rules,
    /// Prepares a program for judging, in each thread.
    Preparing,
    /// Decides assertions from names, literals and patterns, before a run is read in full.
    FirstLook,
    /// Reads runs in full.
    Reading,
    /// Evaluates assertions.
    Evaluating,
    /// Builds reports from outcomes.
    Reporting,
}

impl ProfilePhase {
    /// All phases.
    pub const ALL: [Self; 6] =
        [Self::Rules, Self::Preparing, Self::FirstLook, Self::Reading, Self::Evaluating, Self::Reporting];

    /// The name of the phase.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "compiling rules",
            Self::Preparing => "preparing",
            Self::FirstLook => "first look",
            Self::Reading => "reading runs",
            Self::Evaluating => "evaluating",
            Self::Reporting => "reporting",
        }
    }
}

impl CheckCosts {
    /// Notes of programs with so many assertions; `clock` tells the times of their parts.
    pub fn of_programs(assertions: impl IntoIterator<Item = usize>, clock: ProfileClock) -> Self {
        let program = |count| ProgramCosts { profile: Profile::new(clock), decided: vec![0; count] };
        Self { programs: assertions.into_iter().map(program).collect(), ..Self::default() }
    }

    fn total_bytes(&self) -> u64 {
        self.formats.values().map(|reading| reading.bytes).sum()
    }

    /// In nanoseconds, summed over all threads.
    fn phase_time(&self, phase: ProfilePhase) -> u64 {
        self.phases.get(phase as usize).copied().unwrap_or(0)
    }

    /// Adds time to a phase.
    pub fn add_time(&mut self, phase: ProfilePhase, time: Duration) -> u64 {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Some(sum) = self.phases.get_mut(phase as usize) {
            *sum += time;
        }
        time
    }

    /// Takes over what another thread noted.
    pub fn add_costs(&mut self, other: &Self) {
        self.threads += other.threads;
        self.runs += other.runs;
        self.decided += other.decided;
        self.phases.iter_mut().zip(other.phases).for_each(|(sum, time)| *sum += time);
        for (format, reading) in &other.formats {
            let sum = self.formats.entry(format).or_default();
            sum.runs += reading.runs;
            sum.bytes += reading.bytes;
            sum.time += reading.time;
        }
        for (sum, program) in self.programs.iter_mut().zip(&other.programs) {
            sum.profile.add_profile(&program.profile);
            sum.decided.iter_mut().zip(&program.decided).for_each(|(sum, count)| *sum += count);
        }
    }
}

/// The profile of a check.
#[derive(Debug)]
pub struct ProfileReport {
    elapsed: u64,
    costs: CheckCosts,
    /// In file order.
    rules: Vec<RuleRow>,
    patterns: Vec<CostRow>,
    functions: Vec<CostRow>,
}

#[derive(Debug)]
struct RuleRow {
    id: String,
    name: String,
    location: Location,
    assertions: Vec<AssertionRow>,
}

#[derive(Debug)]
struct AssertionRow {
    id: String,
    text: String,
    location: Location,
    decided: u64,
    cost: PartCost,
}

/// A pattern or a function.
#[derive(Debug)]
struct CostRow {
    kind: &'static str,
    name: String,
    /// The first occurrence; `None` for a language function.
    location: Option<Location>,
    uses: u64,
    cost: PartCost,
}

impl RuleRow {
    fn rule_cost(&self) -> PartCost {
        self.assertions.iter().fold(PartCost::default(), |mut sum, one| {
            sum.add_cost(&one.cost);
            sum
        })
    }

    /// An upper bound for the runs in which the first look decides all of it.
    fn decided_runs(&self) -> u64 {
        self.assertions.iter().map(|one| one.decided).min().unwrap_or(0)
    }

    fn evaluated_runs(&self) -> u64 {
        self.assertions.iter().map(|one| one.cost.calls).max().unwrap_or(0)
    }
}
