//! The profile as a JSON object. Its schema is `docs/schema/check-profile.schema.json`.

use super::super::table::Location;
use super::{AssertionRow, CostRow, FullRead, FullReadFor, OtherCause, ProfilePhase, ProfileReport, RuleRow};
use averment_engine::vm::profile::PartCost;
use serde::Serialize;

#[derive(Serialize)]
struct ProfileObject<'a> {
    version: u32,
    runs: u64,
    bytes: u64,
    read_in_full: u64,
    read_in_part: u64,
    decided_by_default: u64,
    full_reads: Vec<FullReadObject<'a>>,
    threads: u64,
    seconds: f64,
    phases: Vec<PhaseObject>,
    formats: Vec<FormatObject<'a>>,
    rules: Vec<RuleCostObject<'a>>,
    patterns: Vec<PartObject<'a>>,
    functions: Vec<PartObject<'a>>,
}

#[derive(Serialize)]
struct FullReadObject<'a> {
    /// The id of the assertion; `None` if something else needs the runs.
    id: Option<&'a str>,
    location: Option<&'a Location>,
    needs: &'a str,
    every_run: bool,
    runs: u64,
}

#[derive(Serialize)]
struct PhaseObject {
    phase: &'static str,
    seconds: f64,
}

#[derive(Serialize)]
struct FormatObject<'a> {
    format: &'a str,
    runs: u64,
    bytes: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct RuleCostObject<'a> {
    id: &'a str,
    location: &'a Location,
    calls: u64,
    decided_early: u64,
    #[serde(flatten)]
    cost: CostObject,
    assertions: Vec<AssertionObject<'a>>,
}

#[derive(Serialize)]
struct AssertionObject<'a> {
    id: &'a str,
    text: &'a str,
    location: &'a Location,
    calls: u64,
    decided_early: u64,
    #[serde(flatten)]
    cost: CostObject,
}

#[derive(Serialize)]
struct PartObject<'a> {
    kind: &'static str,
    name: &'a str,
    location: Option<&'a Location>,
    uses: u64,
    calls: u64,
    #[serde(flatten)]
    cost: CostObject,
}

#[derive(Serialize)]
struct CostObject {
    seconds: f64,
    self_seconds: f64,
    fuel: u64,
    self_fuel: u64,
    most_fuel: u64,
}

/// Returns the profile as JSON, in file order. Repeating the same check gives the same values, except for times.
#[must_use]
pub fn profile_json(report: &ProfileReport) -> String {
    let costs = &report.costs;
    let phases = ProfilePhase::ALL.into_iter().zip(costs.phases);
    let formats = costs.formats.iter().map(|(format, reading)| FormatObject {
        format,
        runs: reading.runs,
        bytes: reading.bytes,
        seconds: to_seconds(reading.time),
    });
    let object = ProfileObject {
        version: 1,
        runs: costs.reads.runs(),
        bytes: costs.bytes,
        read_in_full: costs.reads.full,
        read_in_part: costs.reads.in_part(),
        decided_by_default: costs.reads.by_default,
        full_reads: full_reads(report),
        threads: costs.threads,
        seconds: to_seconds(report.elapsed),
        phases: phases.map(|(phase, time)| PhaseObject { phase: phase.as_str(), seconds: to_seconds(time) }).collect(),
        formats: formats.collect(),
        rules: report.rules.iter().map(rule_object).collect(),
        patterns: report.patterns.iter().map(part_object).collect(),
        functions: report.functions.iter().map(part_object).collect(),
    };
    // Cannot fail, because the object has only texts, numbers and lists of them.
    serde_json::to_string_pretty(&object).unwrap_or_default() + "\n"
}

fn full_reads(report: &ProfileReport) -> Vec<FullReadObject<'_>> {
    let others = OtherCause::ALL.into_iter().zip(report.costs.other_full_reads).filter(|(_, runs)| *runs > 0);
    let others = others.map(|(cause, runs)| FullReadObject {
        id: None,
        location: None,
        needs: cause.as_str(),
        every_run: cause == OtherCause::Option,
        runs,
    });
    report.full_reads().into_iter().map(full_read).chain(others).collect()
}

fn full_read(cause: FullRead<'_>) -> FullReadObject<'_> {
    FullReadObject {
        id: Some(&cause.assertion.id),
        location: Some(&cause.assertion.location),
        needs: match cause.what_for {
            FullReadFor::Verdict => &cause.assertion.reading.needs,
            FullReadFor::Reason => "its reason",
            FullReadFor::Excerpt => "a picture of its failure",
        },
        every_run: cause.blocks_partial_reading(),
        runs: cause.runs,
    }
}

fn rule_object(row: &RuleRow) -> RuleCostObject<'_> {
    RuleCostObject {
        id: &row.id,
        location: &row.location,
        calls: row.rule_cost().calls,
        decided_early: row.decided_runs(),
        cost: cost_object(&row.rule_cost()),
        assertions: row.assertions.iter().map(assertion_object).collect(),
    }
}

fn assertion_object(row: &AssertionRow) -> AssertionObject<'_> {
    AssertionObject {
        id: &row.id,
        text: &row.text,
        location: &row.location,
        calls: row.cost.calls,
        decided_early: row.reading.decided,
        cost: cost_object(&row.cost),
    }
}

fn part_object(row: &CostRow) -> PartObject<'_> {
    PartObject {
        kind: row.kind,
        name: &row.name,
        location: row.location.as_ref(),
        uses: row.uses,
        calls: row.cost.calls,
        cost: cost_object(&row.cost),
    }
}

fn cost_object(cost: &PartCost) -> CostObject {
    CostObject {
        seconds: to_seconds(cost.time),
        self_seconds: to_seconds(cost.own_time),
        fuel: cost.fuel,
        self_fuel: cost.own_fuel,
        most_fuel: cost.most_fuel,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nanoseconds of a hundred days fit")]
fn to_seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
