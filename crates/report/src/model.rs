//! The report of a run, which all formats share: its results with all displayed texts, independent of the run's memory.
//!
//! It is built by the thread that evaluated the run, and can be sent to the thread that writes.

use super::VIOLATIONS_DRAWN;
use super::change::BlockReport;
use super::gate::Gate;
use super::run_measures::RecordedMeasures;
use super::unjudged::UnjudgedReport;
pub use super::unreadable::UnreadableTrace;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{Role, Status, UndecidedCause};
use serde::Serialize;
use serde_json::value::RawValue;

/// One run with its results.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// Its name: `trace.jsonl:3`, or the name of the file.
    pub run: String,
    /// Its recorded `id`, redacted, if a [baseline](super::baseline) needs it.
    pub id: Option<String>,
    /// The file it was read from, as the user named it.
    pub file: String,
    /// The effect on the exit code.
    pub gate: Gate,
    /// Its score; `None` if no assertion counted.
    pub score: Option<f64>,
    /// Scores recorded with `as`.
    pub named_scores: Vec<(String, f64)>,
    /// The results of selected assertions that apply to the run, in file order.
    pub results: Vec<ResultReport>,
    /// The results of rules with a selected assertion.
    pub rules: Vec<RuleReport>,
    /// Warnings about the trace, each with its line.
    pub warnings: Vec<(usize, String)>,
    /// Its steps, if a format shows them.
    pub timeline: Option<Box<TimelineReport>>,
    /// Time to read and judge the run, if requested.
    pub nanoseconds: Option<u64>,
    /// True for the summary over all runs, which follows the last run.
    pub over_runs: bool,
    /// The run's recorded measurements, if a report needs them.
    pub measured: Option<Box<RecordedMeasures>>,
}

impl RunReport {
    /// Creates the report of a run without results. `run` and `file` must be redacted.
    #[must_use]
    pub fn without_results(run: String, file: String, gate: Gate, score: Option<f64>) -> Self {
        Self {
            run,
            id: None,
            file,
            gate,
            score,
            named_scores: Vec::new(),
            results: Vec::new(),
            rules: Vec::new(),
            warnings: Vec::new(),
            timeline: None,
            nanoseconds: None,
            over_runs: false,
            measured: None,
        }
    }

    /// True if nothing fails the run.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.gate == Gate::Open
    }
}

/// One result.
#[derive(Debug, Clone)]
pub struct ResultReport {
    /// The assertion, as an index into [`ReportTable::items`](super::table::ReportTable::items).
    pub item: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The status, which also considers expected failures.
    pub status: Status,
    /// The score; `None` if the result does not count.
    pub score: Option<f64>,
    /// The reason, redacted; empty for a pass.
    pub reason: String,
    /// The author's message, redacted.
    pub message: Option<String>,
    /// The class that its message assigns, as an index into [`ReportItem::classifiers`](super::table::ReportItem::classifiers).
    pub classified: Option<usize>,
    /// The evidence.
    pub evidence: Vec<EvidenceReport>,
    /// Excerpts of the trace with the evidence, if a format draws them.
    pub excerpts: Vec<TraceExcerpt>,
    /// The violations, if there are several.
    pub violations: ViolationsReport,
    /// The steps that a pass could not judge.
    pub unjudged: Option<UnjudgedReport>,
    /// Missing data or steps of an undecided result.
    pub because: Option<UndecidedCause>,
    /// The shapes of the failure (tool and argument names), if a [baseline](super::baseline) compares them.
    pub shapes: Vec<String>,
    /// True if a [baseline](super::baseline) knows the failure, so that it fails no run.
    pub known: bool,
    /// The steps that its patterns match, from 1, if a format shows steps.
    pub matched: Vec<u32>,
    /// The value that a condition before or after the run looked at, redacted, if a format shows steps.
    pub checked: Option<Box<RawValue>>,
}

/// The violations of a failure. If there is only one, the list is empty: the reason and evidence of the result describe it.
#[derive(Debug, Clone, Default)]
pub struct ViolationsReport {
    /// The number of violations, if there are several.
    pub count: u64,
    /// The first violations, in the order of the run.
    pub listed: Vec<ViolationReport>,
}

impl ViolationsReport {
    /// Returns a note such as `23 violations; 3 shown, --all-violations shows all`; `None` if all are shown.
    #[must_use]
    pub fn not_drawn(&self, shown: usize) -> Option<String> {
        let how = if shown > VIOLATIONS_DRAWN { "" } else { ", `--all-violations` shows all" };
        let all = u64::try_from(shown).is_ok_and(|shown| shown >= self.count);
        (!all).then(|| format!("{} violations; {shown} shown{how}", self.count))
    }
}

/// A step, a pair of steps, an element or a value that fails an assertion.
#[derive(Debug, Clone)]
pub struct ViolationReport {
    /// The reason, redacted.
    pub reason: String,
    /// The evidence.
    pub evidence: Vec<EvidenceReport>,
    /// Excerpts of the trace with the evidence, if a format draws them.
    pub excerpts: Vec<TraceExcerpt>,
}

impl ResultReport {
    /// True for a failure, even an expected one.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.verdict == Verdict::Fail
    }

    /// True for a pass, even if a failure is expected.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    /// Returns the number of violations of a failure; 0 for any other result.
    #[must_use]
    pub fn violation_count(&self) -> u64 {
        if self.has_failed() { self.violations.count.max(1) } else { 0 }
    }

    /// Creates a result without texts.
    #[must_use]
    pub fn bare_result(item: usize, verdict: Verdict, status: Status, score: Option<f64>) -> Self {
        Self {
            item,
            verdict,
            status,
            score,
            reason: String::new(),
            message: None,
            classified: None,
            evidence: Vec::new(),
            excerpts: Vec::new(),
            violations: ViolationsReport::default(),
            unjudged: None,
            because: None,
            shapes: Vec::new(),
            known: false,
            matched: Vec::new(),
            checked: None,
        }
    }

    /// True for all results except passed and skipped ones. An unexpected pass is a finding, too.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        !matches!(self.status, Status::Passed | Status::Skipped)
    }
}

/// The outcome of a rule.
#[derive(Debug, Clone)]
pub struct RuleReport {
    /// The rule, as an index into [`ReportTable::rules`](super::table::ReportTable::rules).
    pub rule: usize,
    /// Its verdict.
    pub verdict: Verdict,
    /// True if the rule passed.
    pub passed: bool,
    /// Its score.
    pub score: Option<f64>,
    /// True if it misses its threshold and a [baseline](super::baseline) knows that.
    pub known: bool,
    /// The workflow block that the rule is about, if the run records it.
    pub block: Option<Box<BlockReport>>,
}

/// A piece of evidence.
#[derive(Debug, Clone, Default)]
pub struct EvidenceReport {
    /// The role of the evidence in the verdict.
    pub role: Role,
    /// A remark for people, redacted.
    pub label: String,
    /// The step, from 1.
    pub step: Option<u32>,
    /// The tool, if the step is a call; redacted.
    pub tool: Option<String>,
    /// The displayed position of the step: `call 3`, `step 70, call 31`.
    pub place: Option<String>,
    /// JSON pointer into the normal form; empty if it is no single value.
    pub path: String,
    /// The value for programs, redacted.
    pub value: Option<Box<RawValue>>,
    /// The value for people, redacted and shortened.
    pub shown: Option<String>,
    /// The byte range in the file.
    pub source: Option<TraceBytes>,
    /// The part of the rule, as a span in [`ReportTable::sources`](super::table::ReportTable::sources).
    pub rule_span: Option<Span>,
}

/// A byte range of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TraceBytes {
    /// The line of the first byte, from 1.
    pub line: usize,
    /// Offset of the first byte in the file.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// An excerpt of the trace on one line: a step of the run, or a value outside of the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceExcerpt {
    /// The line of its start in the file, from 1.
    pub line: usize,
    /// The column of its start in characters, from 1.
    pub column: usize,
    /// The displayed text.
    pub text: String,
    /// The parts with evidence: the number of the evidence, and the byte range in `text`.
    pub marks: Vec<(usize, std::ops::Range<usize>)>,
}

/// The steps of a run.
#[derive(Debug, Clone, Default)]
pub struct TimelineReport {
    /// The shown steps, in order.
    pub steps: Vec<StepReport>,
    /// Number of steps in the run.
    pub count: usize,
    /// The names of the called tools, each once, in the order of their first calls.
    pub tools: Vec<String>,
}

/// A step.
#[derive(Debug, Clone)]
pub struct StepReport {
    /// Its number among all steps, from 1.
    pub number: u32,
    /// Its kind.
    pub kind: &'static str,
    /// The line in the file, from 1; 0 if the step has no location.
    pub line: usize,
    /// The action of the step.
    pub text: String,
    /// The parts of the text with evidence: the index of the result in the run, and the byte range.
    pub marks: Vec<(usize, std::ops::Range<usize>)>,
    /// The turn, such as `turn 2`; empty if not recorded.
    pub turn: String,
    /// Start time, relative to the first step; empty if not recorded.
    pub time: String,
    /// The status; empty if not recorded.
    pub status: &'static str,
    /// The duration; empty if not recorded.
    pub duration: String,
    /// Its inputs and outputs by name, as JSON.
    pub parts: Vec<(&'static str, String)>,
}

/// The statuses of the results that a report contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusSet(u16);

impl StatusSet {
    /// Every status.
    pub const ALL: Self = Self(u16::MAX);

    /// Creates a set of statuses. An empty list gives all statuses.
    #[must_use]
    pub fn of_statuses(statuses: &[Status]) -> Self {
        if statuses.is_empty() {
            return Self::ALL;
        }
        Self(statuses.iter().fold(0, |set, status| set | 1 << *status as u16))
    }

    /// True if the set contains the status.
    #[must_use]
    pub fn contains(self, status: Status) -> bool {
        self.0 & 1 << status as u16 != 0
    }
}

/// A run that reports can use as an example, if all runs are counted.
#[derive(Debug, Clone)]
pub struct ExampleRun {
    /// The run.
    pub report: RunReport,
    /// False if the run was read in full only because it is an example. Its warnings must not be shown then, because the choice of examples depends
    /// on the threads.
    pub has_own_warnings: bool,
}

/// The amount of detail that is prepared for each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportDetail {
    /// The width of trace excerpts; `None` if no format draws them.
    pub excerpt: Option<usize>,
    /// True if a format shows reasons and evidence.
    pub findings: bool,
    /// The number of violations to draw for each failure.
    pub violations: usize,
    /// True if a format shows whole runs, step by step.
    pub steps: bool,
    /// True if recorded measurements of runs are kept.
    pub measured: bool,
    /// True if a [baseline](super::baseline) compares the shapes of failures.
    pub shapes: bool,
    /// The results that reports contain. The gate and the score of a run still consider all results.
    pub told: StatusSet,
}

impl Default for ReportDetail {
    fn default() -> Self {
        Self::FINDINGS
    }
}

impl ReportDetail {
    /// Reasons and evidence, without data for drawings.
    pub const FINDINGS: Self = Self {
        excerpt: None,
        findings: true,
        violations: 0,
        steps: false,
        measured: false,
        shapes: false,
        told: StatusSet::ALL,
    };

    /// Reasons and evidence, with trace excerpts for drawings of this width.
    #[must_use]
    pub fn of_pictures(width: usize) -> Self {
        Self { excerpt: Some(width), violations: VIOLATIONS_DRAWN, ..Self::FINDINGS }
    }

    /// True if runs must be read in full, even if the rules need only parts.
    #[must_use]
    pub fn takes_whole_runs(&self) -> bool {
        self.steps || self.measured || self.shapes
    }
}

/// Returns the mean score of several rule files.
pub fn mean_score(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = scores.fold((0.0, 0u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// A violation: its reason and its evidence.
#[derive(Debug, Clone, Copy)]
pub struct ViolationView<'a> {
    /// The reason.
    pub reason: &'a str,
    /// The evidence.
    pub evidence: &'a [EvidenceReport],
}

/// Returns the first violation of a result.
#[must_use]
pub fn first_violation(result: &ResultReport) -> ViolationView<'_> {
    ViolationView { reason: &result.reason, evidence: &result.evidence }
}

/// Returns the listed violations of a result. A failure without a list is itself one violation.
pub fn listed_violations(result: &ResultReport) -> impl Iterator<Item = ViolationView<'_>> {
    let own = result.violations.listed.is_empty().then(|| first_violation(result));
    let listed = result.violations.listed.iter();
    own.into_iter().chain(listed.map(|one| ViolationView { reason: &one.reason, evidence: &one.evidence }))
}
