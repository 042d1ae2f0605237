//! The objects of the machine formats, with their fields in a fixed order.

use super::change::BlockReport;
use super::classify::FailureClass;
use super::gate::Gate;
use super::model::{EvidenceReport, ResultReport, RuleReport, RunReport, TraceBytes, ViolationReport};
use super::run_measures::RecordedMeasures;
use super::table::{Location, ReportItem, ReportTable};
use super::unjudged::UnjudgedReport;
use averment_base::truth::Verdict;
use averment_checker::ir::Severity;
use averment_engine::vm::outcome::{Role, Status, UndecidedCause};
use serde::Serialize;
use serde_json::value::RawValue;

/// The version of all machine formats.
pub const VERSION: u32 = 1;

/// One object of `runs`.
#[derive(Serialize)]
pub struct RunObject<'a> {
    run: &'a str,
    passed: bool,
    score: Option<f64>,
    #[serde(serialize_with = "as_object")]
    named_scores: &'a [(String, f64)],
    results: Vec<ResultObject<'a>>,
    rules: Vec<RuleObject<'a>>,
    warnings: Vec<WarningObject<'a>>,
    /// Omitted unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a RecordedMeasures>,
}

#[derive(Serialize)]
struct ResultObject<'a> {
    id: &'a str,
    rule: Option<&'a str>,
    text: &'a str,
    verdict: Verdict,
    status: Status,
    score: Option<f64>,
    weight: f64,
    severity: Severity,
    message: Option<&'a str>,
    reason: &'a str,
    /// Omitted unless it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<UndecidedCause>,
    class: Option<&'a FailureClass>,
    tags: &'a [String],
    location: &'a Location,
    evidence: Vec<EvidenceObject<'a>>,
    violations: Option<ViolationsObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unjudged: Option<UnjudgedObject<'a>>,
    /// Omitted unless a baseline lists it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    /// Omitted unless a statement over all runs decides instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rated: bool,
    /// Omitted unless the assertion is in a file of another system.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<OwnObject<'a>>,
}

#[derive(Serialize)]
struct OwnObject<'a> {
    system: &'a str,
    verdict: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

impl<'a> OwnObject<'a> {
    fn new(item: &'a ReportItem, result: &ResultReport) -> Option<Self> {
        let own = item.own.as_deref()?;
        let verdict = own.word_for(result.verdict)?;
        // If the other system has scores, the measured score replaces it.
        let score = verdict.score.map(|score| result.score.unwrap_or(score));
        Some(Self { system: &own.system, verdict: &verdict.word, score })
    }
}

/// Steps that a passing assertion could not judge.
#[derive(Serialize)]
struct UnjudgedObject<'a> {
    count: u64,
    of: u64,
    things: &'a str,
    reason: &'a str,
}

/// The unjudged steps in a line of `--format jsonl`.
#[derive(Serialize)]
pub struct UnjudgedFinding<'a> {
    id: &'a str,
    #[serde(flatten)]
    unjudged: UnjudgedObject<'a>,
}

impl<'a> UnjudgedFinding<'a> {
    /// The unjudged steps of a result; `None` if all were judged.
    pub fn new(table: &'a ReportTable, result: &'a ResultReport) -> Option<Self> {
        let unjudged = UnjudgedObject::new(result.unjudged.as_ref()?);
        Some(Self { id: &table.items.get(result.item)?.id, unjudged })
    }
}

impl<'a> UnjudgedObject<'a> {
    fn new(one: &'a UnjudgedReport) -> Self {
        Self { count: one.count, of: one.of, things: &one.things, reason: &one.reason }
    }
}

#[derive(Serialize)]
struct RuleObject<'a> {
    id: &'a str,
    verdict: Verdict,
    passed: bool,
    score: Option<f64>,
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    /// Omitted unless the run records the rule's workflow block.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<&'a BlockReport>,
}

#[derive(Serialize)]
struct WarningObject<'a> {
    line: usize,
    message: &'a str,
}

/// A piece of evidence.
#[derive(Serialize)]
pub struct EvidenceObject<'a> {
    step: Option<u32>,
    path: &'a str,
    value: Option<&'a RawValue>,
    source: Option<TraceBytes>,
    role: Role,
    label: &'a str,
}

/// Evidence that may be written twice. The second time, the JSON of the first time is copied.
#[derive(Serialize)]
#[serde(untagged)]
enum EvidenceList<'a> {
    Pieces(Vec<EvidenceObject<'a>>),
    Written(&'a RawValue),
}

impl<'a> EvidenceList<'a> {
    fn new(evidence: &'a [EvidenceReport], written: Option<&'a RawValue>) -> Self {
        written.map_or_else(|| Self::Pieces(evidence.iter().map(EvidenceObject::new).collect()), Self::Written)
    }
}

/// Serializes the evidence of a failure without listed violations. It is used twice: for the failure, and for its only violation.
pub fn write_evidence(result: &ResultReport) -> Option<Box<RawValue>> {
    if !result.violations.listed.is_empty() || result.violation_count() == 0 {
        return None;
    }
    let pieces: Vec<EvidenceObject<'_>> = result.evidence.iter().map(EvidenceObject::new).collect();
    serde_json::value::to_raw_value(&pieces).ok()
}

/// The part of a `--format jsonl` line between the run's name and its findings.
#[derive(Serialize)]
pub struct RunHead<'a> {
    passed: bool,
    score: Option<f64>,
    verdicts: Vec<Option<Verdict>>,
    scores: Vec<Option<f64>>,
    #[serde(serialize_with = "as_object")]
    named_scores: &'a [(String, f64)],
    /// Omitted unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a RecordedMeasures>,
}

/// One of the findings in such a line.
#[derive(Serialize)]
pub struct FindingObject<'a> {
    id: &'a str,
    verdict: Verdict,
    status: Status,
    message: Option<&'a str>,
    reason: &'a str,
    /// Omitted unless it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<UndecidedCause>,
    /// Omitted unless its message assigns one; the assertion's own class is in the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a FailureClass>,
    evidence: EvidenceList<'a>,
    violations: Option<ViolationsObject<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
}

#[derive(Serialize)]
struct ViolationsObject<'a> {
    count: u64,
    truncated: bool,
    list: Vec<ViolationObject<'a>>,
}

#[derive(Serialize)]
struct ViolationObject<'a> {
    step: Option<u32>,
    source: Option<TraceBytes>,
    reason: &'a str,
    evidence: EvidenceList<'a>,
}

/// One entry of the header of `--format jsonl`.
#[derive(Serialize)]
pub struct HeaderItem<'a> {
    id: &'a str,
    rule: Option<&'a str>,
    text: &'a str,
    severity: Severity,
    weight: f64,
    class: Option<&'a FailureClass>,
    tags: &'a [String],
    location: &'a Location,
    /// Omitted unless a statement over all runs decides instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rated: bool,
}

/// Serializes pairs as an object, in order. The last of equal names wins.
fn as_object<S: serde::Serializer>(pairs: &&[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    let object: indexmap::IndexMap<&str, f64> = pairs.iter().map(|(name, score)| (name.as_str(), *score)).collect();
    object.serialize(serializer)
}

fn rule_id<'a>(table: &'a ReportTable, item: &ReportItem) -> Option<&'a str> {
    table.rule_of(item).map(|rule| rule.id.as_str())
}

impl<'a> RunObject<'a> {
    /// Creates the object of a run.
    pub fn new(table: &'a ReportTable, run: &'a RunReport) -> Self {
        Self {
            run: &run.run,
            passed: run.gate == Gate::Open,
            score: run.score,
            named_scores: &run.named_scores,
            results: run.results.iter().filter_map(|one| ResultObject::new(table, one)).collect(),
            rules: run.rules.iter().filter_map(|one| RuleObject::new(table, one)).collect(),
            warnings: run.warnings.iter().map(|(line, message)| WarningObject { line: *line, message }).collect(),
            measured: run.measured.as_deref(),
        }
    }
}

impl<'a> ResultObject<'a> {
    fn new(table: &'a ReportTable, result: &'a ResultReport) -> Option<Self> {
        let item = table.items.get(result.item)?;
        Some(Self {
            id: &item.id,
            rule: rule_id(table, item),
            text: &item.text,
            verdict: result.verdict,
            status: result.status,
            score: result.score,
            weight: item.weight,
            severity: item.severity,
            message: result.message.as_deref(),
            reason: &result.reason,
            because: result.because,
            class: item.class_of(result),
            tags: &item.tags,
            location: &item.location,
            evidence: result.evidence.iter().map(EvidenceObject::new).collect(),
            violations: ViolationsObject::new(result, None),
            unjudged: result.unjudged.as_ref().map(UnjudgedObject::new),
            known: result.known,
            rated: item.over_runs,
            own: OwnObject::new(item, result),
        })
    }
}

impl<'a> RuleObject<'a> {
    fn new(table: &'a ReportTable, rule: &'a RuleReport) -> Option<Self> {
        let item = table.rules.get(rule.rule)?;
        Some(Self {
            id: &item.id,
            verdict: rule.verdict,
            passed: rule.passed,
            score: rule.score,
            threshold: item.threshold,
            known: rule.known,
            own: rule.block.as_deref(),
        })
    }
}

impl<'a> EvidenceObject<'a> {
    fn new(evidence: &'a EvidenceReport) -> Self {
        Self {
            step: evidence.step,
            path: &evidence.path,
            value: evidence.value.as_deref(),
            source: evidence.source,
            role: evidence.role,
            label: &evidence.label,
        }
    }
}

impl<'a> ViolationsObject<'a> {
    /// Creates the violations of a failure. A failure without a list is itself one violation.
    fn new(result: &'a ResultReport, written: Option<&'a RawValue>) -> Option<Self> {
        let count = Some(result.violation_count()).filter(|count| *count > 0)?;
        let of_one = |one: &'a ViolationReport| ViolationObject::new(&one.reason, &one.evidence, None);
        let mut list: Vec<ViolationObject<'a>> = result.violations.listed.iter().map(of_one).collect();
        if list.is_empty() {
            list.push(ViolationObject::new(&result.reason, &result.evidence, written));
        }
        Some(Self { count, truncated: count > u64::try_from(list.len()).unwrap_or(u64::MAX), list })
    }
}

impl<'a> ViolationObject<'a> {
    fn new(reason: &'a str, evidence: &'a [EvidenceReport], written: Option<&'a RawValue>) -> Self {
        Self {
            step: evidence.iter().find_map(|one| one.step),
            source: evidence.iter().find_map(|one| one.source),
            reason,
            evidence: EvidenceList::new(evidence, written),
        }
    }
}

impl<'a> RunHead<'a> {
    /// Creates the head of a run. Verdicts and scores are in the order of the header; `null` if an assertion does not apply to the run.
    pub fn new(table: &'a ReportTable, run: &'a RunReport) -> Self {
        let mut verdicts = vec![None; table.items.len()];
        let mut scores = vec![None; table.items.len()];
        for result in &run.results {
            if let (Some(verdict), Some(score)) = (verdicts.get_mut(result.item), scores.get_mut(result.item)) {
                (*verdict, *score) = (Some(result.verdict), result.score);
            }
        }
        let passed = run.gate == Gate::Open;
        let measured = run.measured.as_deref();
        Self { passed, score: run.score, verdicts, scores, named_scores: &run.named_scores, measured }
    }
}

impl<'a> FindingObject<'a> {
    /// Creates the finding of a result. `written` is the result of [`write_evidence`].
    pub fn new(table: &'a ReportTable, result: &'a ResultReport, written: Option<&'a RawValue>) -> Option<Self> {
        let item = table.items.get(result.item)?;
        Some(Self {
            id: &item.id,
            verdict: result.verdict,
            status: result.status,
            message: result.message.as_deref(),
            reason: &result.reason,
            because: result.because,
            class: item.class_of(result).filter(|_| result.classified.is_some()),
            evidence: EvidenceList::new(&result.evidence, written),
            violations: ViolationsObject::new(result, written),
            known: result.known,
        })
    }
}

impl<'a> HeaderItem<'a> {
    /// Returns the entries of the header, in the order of the verdicts in every line.
    pub fn of_table(table: &'a ReportTable) -> Vec<Self> {
        table
            .items
            .iter()
            .map(|item| Self {
                id: &item.id,
                rule: rule_id(table, item),
                text: &item.text,
                severity: item.severity,
                weight: item.weight,
                class: item.class.as_ref(),
                tags: &item.tags,
                location: &item.location,
                rated: item.over_runs,
            })
            .collect()
    }
}

/// The `summary` object: runs first, then results by status.
#[derive(Serialize)]
pub struct SummaryObject {
    runs: u64,
    #[serde(flatten)]
    counts: super::totals::Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_judged: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_judged_at_least: bool,
}

impl SummaryObject {
    /// Creates the object of totals.
    pub fn new(totals: &super::totals::RunTotals) -> Self {
        let not_judged = Some(totals.not_judged).filter(|count| *count > 0);
        let not_judged_at_least = not_judged.is_some() && totals.not_judged_at_least;
        Self { runs: totals.runs, counts: totals.counts, not_judged, not_judged_at_least }
    }
}
