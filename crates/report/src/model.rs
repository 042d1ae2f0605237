//! A run as every format sees it: its results with all that reports say of them, free of the run's memory.
//!
//! It is built where the run was evaluated and can be sent to the thread that writes.

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
    /// Its name: `trace.jsonl:3` or the file's.
    pub run: String,
    /// The `id` that it records, redacted, where a [baseline](super::baseline) asks for it.
    pub id: Option<String>,
    /// The file it was read from, as the user named it.
    pub file: String,
    /// The effect on the exit code.
    pub gate: Gate,
    /// Its score; `None` when nothing counted.
    pub score: Option<f64>,
    /// Scores recorded with `as`.
    pub named_scores: Vec<(String, f64)>,
    /// One per selected assertion that applies to the run, in file order.
    pub results: Vec<ResultReport>,
    /// One per rule with a selected assertion.
    pub rules: Vec<RuleReport>,
    /// Warnings about the trace, each with its line.
    pub warnings: Vec<(usize, String)>,
    /// Its steps, where a format shows them.
    pub timeline: Option<Box<TimelineReport>>,
    /// Time to read and judge the run, if requested.
    pub nanoseconds: Option<u64>,
    /// True for the summary over all runs, which follows the last run.
    pub over_runs: bool,
    /// The run's recorded measurements, if a report needs them.
    pub measured: Option<Box<RecordedMeasures>>,
}

impl RunReport {
    /// The report of a run of this name, from this file, of which no result is told. Both are redacted.
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

    /// True when nothing fails the run.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.gate == Gate::Open
    }
}

/// One result.
#[derive(Debug, Clone)]
pub struct ResultReport {
    /// The assertion, as an index into [`Table::items`].
    pub item: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict as the report sees it.
    pub status: Status,
    /// The score; `None` for what does not count.
    pub score: Option<f64>,
    /// Why, redacted; empty for a pass.
    pub reason: String,
    /// The author's message, redacted.
    pub message: Option<String>,
    /// The class that its message gives it, as an index into [`Item::classifiers`](super::table::Item::classifiers).
    pub classified: Option<usize>,
    /// The evidence.
    pub evidence: Vec<EvidenceReport>,
    /// The pieces of the trace that the evidence stands in, where a format draws them.
    pub excerpts: Vec<TraceExcerpt>,
    /// The violations of a failure in several places.
    pub violations: ViolationsReport,
    /// Steps that a pass says nothing of.
    pub unjudged: Option<UnjudgedReport>,
    /// What an undecided one waits for.
    pub because: Option<UndecidedCause>,
    /// What fails, by tool and argument names, where a [baseline](super::baseline) compares it.
    pub shapes: Vec<String>,
    /// True for a failure that a [baseline](super::baseline) knows: it fails no run.
    pub known: bool,
    /// The steps that its patterns match, from 1, where a format shows steps.
    pub matched: Vec<u32>,
    /// The value that a condition before or after the run looked at, redacted, where a format shows steps.
    pub checked: Option<Box<RawValue>>,
}

/// The violations of a failure. One that is a single violation lists none: its own reason and evidence are that violation.
#[derive(Debug, Clone, Default)]
pub struct ViolationsReport {
    /// The number of violations, if there are several.
    pub count: u64,
    /// The first of them, in the order of the run.
    pub listed: Vec<ViolationReport>,
}

impl ViolationsReport {
    /// `23 violations; 3 shown, --all-violations shows all`, where so many are not all.
    #[must_use]
    pub fn not_drawn(&self, shown: usize) -> Option<String> {
        let how = if shown > VIOLATIONS_DRAWN { "" } else { ", `--all-violations` shows all" };
        let all = u64::try_from(shown).is_ok_and(|shown| shown >= self.count);
        (!all).then(|| format!("{} violations; {shown} shown{how}", self.count))
    }
}

/// One step, pair of steps, element or value that fails an assertion.
#[derive(Debug, Clone)]
pub struct ViolationReport {
    /// Why, redacted.
    pub reason: String,
    /// The evidence.
    pub evidence: Vec<EvidenceReport>,
    /// The pieces of the trace that the evidence stands in, where a format draws them.
    pub excerpts: Vec<TraceExcerpt>,
}

impl ResultReport {
    /// True for a failure, also where it is expected.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.verdict == Verdict::Fail
    }

    /// True for a pass, also where a failure is expected.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    /// The number of violations of a failure; 0 for any other result.
    #[must_use]
    pub fn violation_count(&self) -> u64 {
        if self.has_failed() { self.violations.count.max(1) } else { 0 }
    }

    /// A result without anything to say of it.
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

    /// True for what is worth saying of a run: everything but passes and skipped assertions. A pass where a failure is expected is one.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        !matches!(self.status, Status::Passed | Status::Skipped)
    }
}

/// The outcome of a rule.
#[derive(Debug, Clone)]
pub struct RuleReport {
    /// The rule, as an index into [`Table::rules`].
    pub rule: usize,
    /// Its verdict.
    pub verdict: Verdict,
    /// True if the rule passed.
    pub passed: bool,
    /// Its score.
    pub score: Option<f64>,
    /// True where it is below its threshold and a [baseline](super::baseline) knows it.
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
    /// The tool, where the step is a call, redacted.
    pub tool: Option<String>,
    /// The step as people know it: `call 3`, `step 70, call 31`.
    pub place: Option<String>,
    /// JSON pointer into the normal form; empty when it is no single value.
    pub path: String,
    /// The value for machines, redacted.
    pub value: Option<Box<RawValue>>,
    /// The value for people, redacted and short.
    pub shown: Option<String>,
    /// The bytes in the file that was read.
    pub source: Option<TraceBytes>,
    /// The part of the rule, as a span of [`Table::sources`].
    pub rule_span: Option<Span>,
}

/// Bytes of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TraceBytes {
    /// The line of the first byte, from 1.
    pub line: usize,
    /// Offset of the first byte in the file.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

/// A step of the run, or a value beside its steps, on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceExcerpt {
    /// The line of its first place in the file, from 1.
    pub line: usize,
    /// The column of that place in its line, in characters, from 1.
    pub column: usize,
    /// What is shown of it.
    pub text: String,
    /// What evidence speaks of, in bytes of `text`, with the number of the evidence.
    pub marks: Vec<(usize, std::ops::Range<usize>)>,
}

/// The steps of a run.
#[derive(Debug, Clone, Default)]
pub struct TimelineReport {
    /// Those that are shown, in order.
    pub steps: Vec<StepReport>,
    /// How many the run has.
    pub count: usize,
    /// The names of the tools that it calls, each once, in the order of their first calls.
    pub tools: Vec<String>,
}

/// A step.
#[derive(Debug, Clone)]
pub struct StepReport {
    /// Its number among all steps, from 1.
    pub number: u32,
    /// Its kind.
    pub kind: &'static str,
    /// The line of the file that it stands on, from 1; 0 where it has no place of its own.
    pub line: usize,
    /// What it did.
    pub text: String,
    /// Pieces of that text that results speak of: the result, by its place among those of the run, and the bytes.
    pub marks: Vec<(usize, std::ops::Range<usize>)>,
    /// `turn 2`; empty where it is not recorded.
    pub turn: String,
    /// When it started, counted from the first step; empty where it is not recorded.
    pub time: String,
    /// How it ended; empty where it is not recorded.
    pub status: &'static str,
    /// How long it took; empty where it is not recorded.
    pub duration: String,
    /// What it was given and gave back, by name, as JSON.
    pub parts: Vec<(&'static str, String)>,
}

/// The statuses of the results that reports hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusSet(u16);

impl StatusSet {
    /// Every status.
    pub const ALL: Self = Self(u16::MAX);

    /// Some statuses; all where none is named.
    #[must_use]
    pub fn of_statuses(statuses: &[Status]) -> Self {
        if statuses.is_empty() {
            return Self::ALL;
        }
        Self(statuses.iter().fold(0, |set, status| set | 1 << *status as u16))
    }

    /// True if results with this status are held.
    #[must_use]
    pub fn contains(self, status: Status) -> bool {
        self.0 & 1 << status as u16 != 0
    }
}

/// One of many runs that are counted, from which reports take examples.
#[derive(Debug, Clone)]
pub struct ExampleRun {
    /// The run.
    pub report: RunReport,
    /// False if it was read in full only because it is an example. What is odd in it would not be seen otherwise, and which runs are
    /// examples depends on the threads.
    pub has_own_warnings: bool,
}

/// How much detail is prepared for each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportDetail {
    /// The width of the pieces of the trace; `None` when no format draws them.
    pub excerpt: Option<usize>,
    /// False where no format shows reasons and evidence.
    pub findings: bool,
    /// The number of violations to draw for each failure.
    pub violations: usize,
    /// True where a format shows whole runs, step by step.
    pub steps: bool,
    /// True where somebody keeps what runs record of themselves.
    pub measured: bool,
    /// True where a [baseline](super::baseline) compares what failed.
    pub shapes: bool,
    /// The results that reports hold. Whether a run passed, and its score, are those of all.
    pub told: StatusSet,
}

impl Default for ReportDetail {
    fn default() -> Self {
        Self::FINDINGS
    }
}

impl ReportDetail {
    /// Reasons and evidence, and nothing that is drawn.
    pub const FINDINGS: Self = Self {
        excerpt: None,
        findings: true,
        violations: 0,
        steps: false,
        measured: false,
        shapes: false,
        told: StatusSet::ALL,
    };

    /// Reasons and evidence, with the pieces of the trace that pictures of this width draw.
    #[must_use]
    pub fn of_pictures(width: usize) -> Self {
        Self { excerpt: Some(width), violations: VIOLATIONS_DRAWN, ..Self::FINDINGS }
    }

    /// True if runs must be read in full, whatever the rules look at.
    #[must_use]
    pub fn takes_whole_runs(&self) -> bool {
        self.steps || self.measured || self.shapes
    }
}

/// The mean of the scores of several rule files.
pub fn mean_score(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = scores.fold((0.0, 0u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// A violation: its reason and its evidence.
#[derive(Debug, Clone, Copy)]
pub struct ViolationView<'a> {
    /// Why the assertion does not hold.
    pub reason: &'a str,
    /// What proves it.
    pub evidence: &'a [EvidenceReport],
}

/// The violation that a result begins with.
#[must_use]
pub fn first_violation(result: &ResultReport) -> ViolationView<'_> {
    ViolationView { reason: &result.reason, evidence: &result.evidence }
}

/// Each of the violations of a result that are listed; one that lists none is a violation by itself.
pub fn listed_violations(result: &ResultReport) -> impl Iterator<Item = ViolationView<'_>> {
    let own = result.violations.listed.is_empty().then(|| first_violation(result));
    let listed = result.violations.listed.iter();
    own.into_iter().chain(listed.map(|one| ViolationView { reason: &one.reason, evidence: &one.evidence }))
}
