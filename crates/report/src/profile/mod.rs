//! The profile of a check: made at the end from the costs that the threads recorded, as tables for people and as JSON for programs.

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
#[derive(Debug)]
pub struct CheckCosts {
    clock: ProfileClock,
    /// The number of threads.
    pub threads: u64,
    /// Counts of runs, by how much of them was read.
    pub reads: ReadCounts,
    /// Size of the traces, in bytes.
    pub bytes: u64,
    /// Nanoseconds by phase.
    pub phases: [u64; ProfilePhase::ALL.len()],
    /// Cost of runs that were read in full, by format name.
    pub formats: BTreeMap<&'static str, ReadCost>,
    /// Number of runs that were read in full for a reason other than an assertion.
    pub other_full_reads: [u64; OtherCause::ALL.len()],
    /// The programs, in the order of the table.
    pub programs: Vec<ProgramCosts>,
}

/// Counts of judged runs, by how much of them was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Number of runs that the prefilter decided from their bytes.
    pub prefiltered: u64,
    /// Number of prefiltered runs of which no value was read, because the names of their calls were enough.
    pub by_default: u64,
    /// Number of runs of which only the needed values were read.
    pub projected: u64,
    /// Number of runs that were read in full.
    pub full: u64,
}

impl ReadCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.prefiltered = self.prefiltered.saturating_add(other.prefiltered);
        self.by_default = self.by_default.saturating_add(other.by_default);
        self.projected = self.projected.saturating_add(other.projected);
        self.full = self.full.saturating_add(other.full);
    }

    /// Returns the number of all runs.
    #[must_use]
    pub fn runs(self) -> u64 {
        self.full.saturating_add(self.projected).saturating_add(self.prefiltered)
    }

    /// Returns the number of runs that were read partly.
    fn in_part(self) -> u64 {
        self.projected.saturating_add(self.prefiltered.saturating_sub(self.by_default))
    }
}

/// The cost of one program.
#[derive(Debug)]
pub struct ProgramCosts {
    /// Costs of the parts of its evaluation.
    pub profile: Profile,
    /// Its assertions, by number.
    pub assertions: Vec<AssertionReading>,
}

/// Costs of an assertion: how often the prefilter decides it, and how often it needs a full run.
#[derive(Debug, Clone, Default)]
pub struct AssertionReading {
    /// Number of runs in which the prefilter decided it.
    pub decided: u64,
    /// Number of runs that were read in full for it, by purpose.
    pub full_reads: [u64; FullReadFor::ALL.len()],
    /// The data for its verdict that partial reading does not provide.
    pub needs: String,
    /// True if it always needs full runs.
    pub is_always_read: bool,
}

/// Purposes of reading a run in full for an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullReadFor {
    /// The verdict of an assertion.
    Verdict,
    /// The reason of its verdict.
    Reason,
    /// The trace excerpt beside a failure in a report.
    Excerpt,
}

impl FullReadFor {
    /// All purposes.
    pub const ALL: [Self; 3] = [Self::Verdict, Self::Reason, Self::Excerpt];
}

/// Other causes of reading a run in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherCause {
    /// An option of the command.
    Option,
    /// A report that shows whole runs.
    Report,
    /// The format of the run, or something unusual in it.
    Run,
}

impl OtherCause {
    /// All causes.
    pub const ALL: [Self; 3] = [Self::Option, Self::Report, Self::Run];

    /// Returns the cause in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Option => "an option of the command line",
            Self::Report => "a report that shows whole runs",
            Self::Run => "their format, or something unusual in them",
        }
    }
}

/// The cost of reading the runs of one format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCost {
    /// Number of runs.
    pub runs: u64,
    /// Size of the runs, in bytes.
    pub bytes: u64,
    /// Time in nanoseconds.
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
    /// Creates empty costs for programs with these numbers of assertions. `clock` measures times.
    pub fn new(assertions: impl IntoIterator<Item = usize>, clock: ProfileClock) -> Self {
        let program =
            |count| ProgramCosts { profile: Profile::new(clock), assertions: vec![AssertionReading::default(); count] };
        Self {
            clock,
            threads: 0,
            reads: ReadCounts::default(),
            bytes: 0,
            phases: [0; ProfilePhase::ALL.len()],
            formats: BTreeMap::new(),
            other_full_reads: [0; OtherCause::ALL.len()],
            programs: assertions.into_iter().map(program).collect(),
        }
    }

    /// Returns empty costs for the same programs.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self::new(self.programs.iter().map(|program| program.assertions.len()), self.clock)
    }

    /// Returns the clock that measures times.
    #[must_use]
    pub fn clock(&self) -> ProfileClock {
        self.clock
    }

    /// Returns the time of a phase in nanoseconds, summed over all threads.
    fn phase_time(&self, phase: ProfilePhase) -> u64 {
        self.phases.get(phase as usize).copied().unwrap_or(0)
    }

    /// Returns the time for deciding assertions in nanoseconds: the first look, and the evaluation of open assertions.
    fn judging(&self) -> u64 {
        self.phase_time(ProfilePhase::FirstLook).saturating_add(self.phase_time(ProfilePhase::Evaluating))
    }

    /// Adds time to a phase; returns it in nanoseconds.
    pub fn add_time(&mut self, phase: ProfilePhase, time: Duration) -> u64 {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Some(sum) = self.phases.get_mut(phase as usize) {
            *sum += time;
        }
        time
    }

    /// Returns the costs of an assertion.
    pub fn assertion_mut(&mut self, program: usize, number: u32) -> Option<&mut AssertionReading> {
        self.programs.get_mut(program)?.assertions.get_mut(number as usize)
    }

    /// Adds the costs that another thread recorded.
    pub fn add_costs(&mut self, other: &Self) {
        self.threads += other.threads;
        self.reads.add(other.reads);
        self.bytes += other.bytes;
        add_each(&mut self.phases, other.phases);
        add_each(&mut self.other_full_reads, other.other_full_reads);
        for (format, reading) in &other.formats {
            let sum = self.formats.entry(format).or_default();
            sum.runs += reading.runs;
            sum.bytes += reading.bytes;
            sum.time += reading.time;
        }
        for (sum, program) in self.programs.iter_mut().zip(&other.programs) {
            sum.profile.add_profile(&program.profile);
            sum.assertions.iter_mut().zip(&program.assertions).for_each(|(sum, one)| sum.add(one));
        }
    }
}

impl AssertionReading {
    fn add(&mut self, other: &Self) {
        self.decided += other.decided;
        add_each(&mut self.full_reads, other.full_reads);
        self.is_always_read |= other.is_always_read;
        if self.needs.is_empty() {
            self.needs.clone_from(&other.needs);
        }
    }
}

fn add_each<const N: usize>(sums: &mut [u64; N], others: [u64; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

/// The profile of a check.
#[derive(Debug)]
pub struct ProfileReport {
    elapsed: u64,
    costs: CheckCosts,
    /// The rows of rules, in file order.
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
    reading: AssertionReading,
    cost: PartCost,
}

#[derive(Debug)]
struct CostRow {
    kind: &'static str,
    name: String,
    /// The first occurrence; `None` for a built-in function.
    location: Option<Location>,
    uses: u64,
    cost: PartCost,
}

/// An assertion for which runs were read in full.
struct FullRead<'r> {
    /// The display name of the assertion.
    name: &'r str,
    assertion: &'r AssertionRow,
    what_for: FullReadFor,
    runs: u64,
}

impl FullRead<'_> {
    /// True if the assertion prevents all partial reading.
    fn blocks_partial_reading(&self) -> bool {
        self.what_for == FullReadFor::Verdict && self.assertion.reading.is_always_read
    }
}

impl ProfileReport {
    /// Returns the assertions for which runs were read in full, in file order.
    fn full_reads(&self) -> Vec<FullRead<'_>> {
        let named = self.rules.iter().flat_map(|rule| {
            let is_alone = rule.assertions.len() == 1;
            rule.assertions.iter().map(move |one| (if is_alone { &rule.name } else { &one.id }, one))
        });
        let each = named.flat_map(|(name, assertion)| {
            let all = FullReadFor::ALL.into_iter().zip(assertion.reading.full_reads);
            all.map(move |(what_for, runs)| FullRead { name, assertion, what_for, runs })
        });
        each.filter(|one| one.runs > 0).collect()
    }
}

impl RuleRow {
    fn rule_cost(&self) -> PartCost {
        self.assertions.iter().fold(PartCost::default(), |mut sum, one| {
            sum.add_cost(&one.cost);
            sum
        })
    }

    /// Returns an upper bound for the number of runs in which the first look decides all assertions of the rule.
    fn decided_runs(&self) -> u64 {
        self.assertions.iter().map(|one| one.reading.decided).min().unwrap_or(0)
    }
}
