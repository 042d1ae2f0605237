//! A run as every format sees it: its results with all that reports say of them, free of the run's memory.
//!
//! It is built where the run was evaluated and can be sent to the thread that writes.

use super::VIOLATIONS_DRAWN;
use super::block::{self, BlockReport};
use super::conditions;
use super::drawn::Drawn;
use super::gate::{self, Gate, Policy};
use super::measured::Measured;
pub use super::proof::{Excerpt, RunText};
use super::proof::{Maker, Text, said};
use super::redact::{self, Withheld};
use super::table::Table;
use super::timeline::{self, TimelineReport};
use super::unjudged::UnjudgedReport;
pub use super::unreadable::Unreadable;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{AssertionOutcome, Evidence, Outcome, Role, Status};
use averment_runs::run::Run;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;

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

/// Makes single findings of a run where no report of the whole run is needed.
pub struct Findings<'a, 'run> {
    table: &'a Table,
    text: Text<'a, 'run>,
    detail: Detail,
}

impl<'a, 'run> Findings<'a, 'run> {
    /// For the findings of a run. `outcomes` are those that may have evidence, with the numbers of their programs.
    pub fn new<'o>(
        table: &'a Table,
        run: &'a Run<'run>,
        outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
        detail: Detail,
    ) -> Self {
        let withheld = withheld(Some(run), outcomes, detail);
        let (text, source) = (run.text, &run.source);
        let text = Text { text, source, run: Some(run), withheld, lines: OnceCell::new() };
        Self { table, text, detail }
    }

    /// Whether the run has anything that no finding of it shows: then even findings that are alike may differ.
    #[must_use]
    pub fn withhold(&self) -> bool {
        !self.text.withheld.is_empty()
    }

    /// What reports say of the assertions.
    #[must_use]
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The result of an outcome.
    #[must_use]
    pub fn result(&self, program: usize, outcome: &AssertionOutcome) -> Option<ResultReport> {
        result(self.table, program, outcome, &self.text, self.detail)
    }
}

/// Builds the report of a run from the outcome of each program, in the order of the table's programs.
#[must_use]
pub fn build(table: &Table, run: &Run<'_>, outcomes: &[Outcome], policy: Policy, detail: Detail) -> RunReport {
    build_some(table, run, outcomes, policy, detail, &mut Drawn::default())
}

/// The same with the words of those findings alone that are asked for.
#[must_use]
pub fn build_some(
    table: &Table,
    run: &Run<'_>,
    outcomes: &[Outcome],
    policy: Policy,
    detail: Detail,
    drawn: &mut Drawn,
) -> RunReport {
    let text = RunText { text: run.text, source: &run.source, run: Some(run) };
    let mut report = build_of(table, text, outcomes, policy, detail, drawn);
    let line = |offset: usize| run.source.place(run.text, offset).0;
    report.warnings = run.warnings.iter().map(|one| (line(one.offset), redact::of_run(run, &one.message))).collect();
    report.warnings.sort_by_key(|(line, _)| *line);
    report
}

/// The same for a run that was judged without being read in full: nothing is known then of its environment, and no reason is of the run.
#[must_use]
pub fn build_of(
    table: &Table,
    of: RunText<'_, '_>,
    outcomes: &[Outcome],
    policy: Policy,
    detail: Detail,
    drawn: &mut Drawn,
) -> RunReport {
    let RunText { text, source, run } = of;
    let numbered = outcomes.iter().enumerate();
    let all = numbered.flat_map(|(program, outcome)| outcome.results.iter().map(move |one| (program, one)));
    let mut wants = |program: usize, one: &AssertionOutcome| {
        table.item(program, one.assertion).is_some_and(|item| drawn.wants(item, one.status))
    };
    let wanted: Vec<bool> = all.clone().map(|(program, one)| wants(program, one)).collect();
    let mut wanted = wanted.into_iter();
    let shows = Detail { findings: detail.findings && wanted.clone().any(|wanted| wanted), ..detail };
    let withheld = if detail.takes_whole_runs() { withheld_of_all(run, all) } else { withheld(run, all, shows) };
    let text = Text { text, source, run, withheld, lines: OnceCell::new() };
    let mut results = Vec::with_capacity(table.items.len());
    let mut rules = Vec::new();
    for (program, outcome) in outcomes.iter().enumerate() {
        let of_program = outcome.results.iter();
        results.extend(of_program.zip(wanted.by_ref()).filter_map(|(one, wanted)| {
            result(table, program, one, &text, Detail { findings: detail.findings && wanted, ..detail })
        }));
        rules.extend(outcome.rules.iter().filter_map(|one| {
            let rule = table.rule(program, one.rule)?;
            let (verdict, passed, score) = (one.verdict, one.passed, one.score);
            Some(RuleReport { rule, verdict, passed, score, known: false, block: None })
        }));
    }
    block::add(table, run, &results, &mut rules);
    let measured = run.filter(|_| detail.measured).map(|run| Box::new(Measured::of(run, &text.withheld)));
    let timeline = run.filter(|_| detail.steps).map(|run| Box::new(timeline::of(table, run, outcomes, &text)));
    RunReport {
        run: redact::of_name(source),
        file: redact::of_file(&source.file).into_owned(),
        gate: gate::of_run(table, &results, &rules, policy),
        score: mean(outcomes.iter().filter_map(|outcome| outcome.score)),
        named_scores: outcomes.iter().flat_map(|outcome| outcome.named_scores.iter().cloned()).collect(),
        results,
        rules,
        warnings: Vec::new(),
        timeline,
        nanoseconds: None,
        over_runs: false,
        measured,
    }
}

/// What no finding of a run shows: what the run keeps to itself, and what a predicate has found anywhere in it.
fn withheld<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
    detail: Detail,
) -> Withheld {
    let speaks = |one: &AssertionOutcome| detail.findings && one.status != Status::Passed || one.unjudged.is_some();
    let mut findings = outcomes.filter(|(_, one)| speaks(one)).peekable();
    if findings.peek().is_none() {
        return Withheld::default();
    }
    withheld_of_all(run, findings)
}

/// The same where something is said of the run whatever was found.
fn withheld_of_all<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
) -> Withheld {
    let Some(run) = run else { return Withheld::default() };
    let mut texts = redact::environment(run);
    for (_, one) in outcomes {
        let of_violations = one.violations.listed.iter().flat_map(|violation| &violation.evidence);
        texts.extend(one.evidence.iter().chain(of_violations).filter_map(redact::found));
    }
    Withheld::of(texts)
}

/// The mean of the scores of several rule files.
pub fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = scores.fold((0.0, 0u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn result(
    table: &Table,
    program: usize,
    outcome: &AssertionOutcome,
    text: &Text<'_, '_>,
    detail: Detail,
) -> Option<ResultReport> {
    let item = table.item(program, outcome.assertion)?;
    let mut report = ResultReport::bare(item, outcome.verdict, outcome.status, outcome.score);
    report.unjudged = outcome
        .unjudged
        .as_deref()
        .map(|unjudged| UnjudgedReport::new(unjudged, |words| Cow::Owned(text.withheld.without(words))));
    if detail.steps {
        report.checked = conditions::checked(table, item, text.run, &text.withheld);
    }
    // What is said of all runs together rests on values that are worth knowing of a pass, too.
    let told = outcome.status != Status::Passed || table.items.get(item).is_some_and(|item| item.of_all_runs);
    if detail.findings && told {
        let of_violations = outcome.violations.listed.iter().flat_map(|one| &one.evidence);
        let found = outcome.evidence.iter().chain(of_violations).filter(|one| one.found.is_some());
        let found: Vec<&Evidence> = found.collect();
        let masked = table.items.get(item).is_some_and(|item| item.masked);
        let maker = Maker { table, program, text, masked, shows: detail.steps, found: &found };
        let draws = matches!(outcome.status, Status::Failed | Status::UnexpectedPassed);
        let own = maker.violation(&outcome.reason, &outcome.evidence, detail.excerpt, draws);
        report.message = outcome.message.as_deref().map(|message| said(message, &own.1));
        (report.reason, report.evidence, report.excerpts) = (own.0.reason, own.0.evidence, own.0.excerpts);
        report.violations.count = outcome.violations.count;
        let listed = outcome.violations.listed.iter().enumerate();
        let listed = listed.map(|(number, one)| {
            // The first is drawn as the failure itself.
            let width = detail.excerpt.filter(|_| draws && (1..detail.violations).contains(&number));
            maker.violation(&one.reason, &one.evidence, width, draws).0
        });
        report.violations.listed = listed.collect();
        report.classified = table.items.get(item).and_then(|item| item.classified(&report));
    }
    Some(report)
}
