//! Compares two sets of runs: results, score, cost, tokens and duration. Checks whether the changes are within tolerances.

mod changes;
mod gates;
mod human;
mod markdown;
mod pairing;
mod read_side;
mod report_file;
mod side;

pub use changes::{AssertionChange, MeasureChange, ResultChange, WorseRun};
pub use gates::{CompareGates, FailOn, GateOutcome};
pub use pairing::MatchedBy;
pub use side::{CompareSide, SideRun};

use serde::Serialize;

/// Name and number of runs of a side.
#[derive(Debug, Serialize)]
pub struct SideSummary {
    /// Name as given on the command line.
    pub name: String,
    /// Number of runs.
    pub runs: usize,
}

/// The differences between two sides. The JSON schema is `docs/schema/compare.schema.json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Version of the JSON format.
    pub version: u32,
    /// The side that is compared against.
    pub base: SideSummary,
    /// The side that is compared with the base.
    pub new: SideSummary,
    /// Number of runs that are in both sides.
    pub matched: usize,
    /// Criterion by which runs were matched; `None` if no runs were matched.
    pub matched_by: Option<MatchedBy>,
    /// Names of the runs that only the base has.
    pub missing: Vec<String>,
    /// Names of the runs that only the new side has.
    pub added: Vec<String>,
    /// Changes of score, cost, tokens and duration.
    pub measures: Vec<MeasureChange>,
    /// Assertions whose results changed.
    pub assertions: Vec<AssertionChange>,
    /// Changed results of runs that are in both sides.
    pub results: Vec<ResultChange>,
    /// Runs that became worse, and workflow blocks in them, by Runsight's definition.
    pub worse: Vec<WorseRun>,
    /// Results of the tolerances.
    pub gates: Vec<GateOutcome>,
    /// True if all tolerances hold.
    pub passed: bool,
}

impl Comparison {
    /// Compares two sides.
    #[must_use]
    pub fn compare_sides(base: &CompareSide, new: &CompareSide, gates: &CompareGates) -> Self {
        let pairing = pairing::RunPairing::pair_runs(base, new);
        let name = |run: &SideRun| run.name.clone();
        let summary = |side: &CompareSide| SideSummary { name: side.name.clone(), runs: side.runs.len() };
        let mut comparison = Self {
            version: 1,
            base: summary(base),
            new: summary(new),
            matched: pairing.pairs.len(),
            matched_by: pairing.by,
            missing: pairing.missing.iter().copied().map(name).collect(),
            added: pairing.added.iter().copied().map(name).collect(),
            measures: changes::measure_changes(base, new, &pairing),
            results: changes::result_changes(base, new, &pairing),
            assertions: Vec::new(),
            worse: changes::worse_runs(base, &pairing, new),
            gates: Vec::new(),
            passed: true,
        };
        comparison.assertions = changes::assertion_changes(base, new, &comparison.results);
        comparison.gates = gates.gate_outcomes(&comparison);
        comparison.passed = comparison.gates.iter().all(|gate| gate.holds);
        comparison
    }

    /// Returns the comparison as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |text| text + "\n")
    }
}
