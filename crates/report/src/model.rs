//! A run as every format sees it: its results with all that reports say of them, free of the run's memory.
//!
//! It is built where the run was evaluated and can be sent to the thread that writes.

use super::VIOLATIONS_DRAWN;
use super::change::BlockReport;
use super::gate::Gate;
use super::measured::Measured;
use super::unjudged::UnjudgedReport;
pub use super::unreadable::Unreadable;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{Role, Status};
use serde::Serialize;
use serde_json::value::RawValue;

/// One run with its results.
#[derive(Debug)]
pub struct RunReport {
    /// Its name: `trace.jsonl:3` or the file's.
    pub run: String,
    /// The file it was read from, as the user named it.
    pub file: String,
    /// What it does to the exit code.
    pub gate: Gate,
    /// Its score; `None` when nothing counted.
    pub score: Option<f64>,
    /// Scores recorded with `as`.
    pub named_scores: Vec<(String, f64)>,
    /// One per selected assertion that applies to the run, in file order.
    pub results: Vec<ResultReport>,
    /// One per rule with a selected assertion.
    pub rules: Vec<RuleReport>,
    /// What was odd while reading it, with the line.
    pub warnings: Vec<(usize, String)>,
    /// Its steps, where a format shows them.
    pub timeline: Option<Box<TimelineReport>>,
    /// How long reading and judging it took, where that is asked for.
    pub nanoseconds: Option<u64>,
    /// Whether it is no run: what is said of all of them together, after the last.
    pub over_runs: bool,
    /// What it records of itself, where somebody keeps that.
    pub measured: Option<Box<Measured>>,
}

impl RunReport {
    /// True when nothing fails the run.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.gate == Gate::Open
    }
}

/// One result.
#[derive(Debug)]
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
    /// What proves it.
    pub evidence: Vec<EvidenceReport>,
    /// The pieces of the trace that the evidence stands in, where a format draws them.
    pub excerpts: Vec<Excerpt>,
    /// Of a failure in several places: each of them.
    pub violations: ViolationsReport,
    /// Steps that a pass says nothing of.
    pub unjudged: Option<UnjudgedReport>,
    /// True for a failure that a [baseline](super::baseline) knows: it fails no run.
    pub known: bool,
    /// The steps that its patterns match, from 1, where a format shows steps.
    pub matched: Vec<u32>,
    /// The value that a condition before or after the run looked at, redacted, where a format shows steps.
    pub checked: Option<Box<RawValue>>,
}

/// The violations of a failure. One that is a single violation lists none: its own reason and evidence are that violation.
#[derive(Debug, Default)]
pub struct ViolationsReport {
    /// How many there are, where there is more than one.
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
#[derive(Debug)]
pub struct ViolationReport {
    /// Why, redacted.
    pub reason: String,
    /// What proves it.
    pub evidence: Vec<EvidenceReport>,
    /// The pieces of the trace that the evidence stands in, where a format draws them.
    pub excerpts: Vec<Excerpt>,
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

    /// How many violations a failure has; none of anything else.
    #[must_use]
    pub fn violation_count(&self) -> u64 {
        if self.has_failed() { self.violations.count.max(1) } else { 0 }
    }

    /// A result without anything to say of it.
    #[must_use]
    pub fn bare(item: usize, verdict: Verdict, status: Status, score: Option<f64>) -> Self {
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
#[derive(Debug)]
pub struct RuleReport {
    /// The rule, as an index into [`Table::rules`].
    pub rule: usize,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it passed.
    pub passed: bool,
    /// Its score.
    pub score: Option<f64>,
    /// True where it is below its threshold and a [baseline](super::baseline) knows it.
    pub known: bool,
    /// What the run records of the block that it is about, where it is of a workflow of another system.
    pub block: Option<Box<BlockReport>>,
}

/// A piece of evidence.
#[derive(Debug, Default)]
pub struct EvidenceReport {
    /// What it is to the verdict.
    pub role: Role,
    /// A remark for people, redacted.
    pub label: String,
    /// The step, from 1.
    pub step: Option<u32>,
    /// The tool, where the step is a call, redacted.
    pub tool: Option<String>,
    /// What people call the step, where they see it: `call 3`, `step 70, call 31`.
    pub place: Option<String>,
    /// JSON pointer into the normal form; empty when it is no single value.
    pub path: String,
    /// The value for machines, redacted.
    pub value: Option<Box<RawValue>>,
    /// The value for people, redacted and short.
    pub shown: Option<String>,
    /// The bytes in the file that was read.
    pub source: Option<Bytes>,
    /// The part of the rule, as a span of [`Table::sources`].
    pub rule_span: Option<Span>,
}

/// Bytes of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bytes {
    /// The line of the first byte, from 1.
    pub line: usize,
    /// Offset of the first byte in the file.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

/// A step of the run, or a value beside its steps, on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
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
#[derive(Debug, Default)]
pub struct TimelineReport {
    /// Those that are shown, in order.
    pub steps: Vec<StepReport>,
    /// How many the run has.
    pub count: usize,
    /// The names of the tools that it calls, each once, in the order of their first calls.
    pub tools: Vec<String>,
}

/// A step.
#[derive(Debug)]
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

/// How much is made ready of each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// The width of the pieces of the trace; `None` when no format draws them.
    pub excerpt: Option<usize>,
    /// False where no format shows reasons and evidence.
    pub findings: bool,
    /// How many violations of a failure are drawn.
    pub violations: usize,
    /// True where a format shows whole runs, step by step.
    pub steps: bool,
    /// True where somebody keeps what runs record of themselves.
    pub measured: bool,
}

impl Detail {
    /// Reasons and evidence, and nothing that is drawn.
    pub const FINDINGS: Self = Self { excerpt: None, findings: true, violations: 0, steps: false, measured: false };

    /// Whether a run has to be read in full, whatever its rules look at.
    #[must_use]
    pub fn takes_whole_runs(&self) -> bool {
        self.steps || self.measured
    }
}

/// The mean of the scores of several rule files.
pub fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = scores.fold((0.0, 0u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
