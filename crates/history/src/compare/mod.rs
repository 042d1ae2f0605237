//! What changed between two sets of runs: results, score, cost, tokens, duration; and whether that is within tolerances.

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

/// The name of a side, and its number of runs.
#[derive(Debug, Serialize)]
pub struct SideSummary {
    /// As it was given.
    pub name: String,
    /// Its runs.
    pub runs: usize,
}

/// The differences. The JSON form is `docs/schema/compare.schema.json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The version of the format.
    pub version: u32,
    /// The side that is compared with.
    pub base: SideSummary,
    /// The side that is compared.
    pub new: SideSummary,
    /// The number of runs in both sides.
    pub matched: usize,
    /// How runs were matched; `None` if none were.
    pub matched_by: Option<MatchedBy>,
    /// Runs of the base alone.
    pub missing: Vec<String>,
    /// Runs that the base does not have.
    pub added: Vec<String>,
    /// Score, cost, tokens and duration.
    pub measures: Vec<MeasureChange>,
    /// Assertions whose results changed.
    pub assertions: Vec<AssertionChange>,
    /// Results that changed, in runs that are in both.
    pub results: Vec<ResultChange>,
    /// Runs, and blocks of workflows in them, that became worse as Runsight tells it.
    pub worse: Vec<WorseRun>,
    /// The results of the tolerances.
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

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |text| text + "\n")
    }
}
