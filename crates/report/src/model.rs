//! A run as every format sees it: its results with all that reports say of them, free of the run's memory.
//!
//! It is built where the run was evaluated and can be sent to the thread that writes.

use super::drawn::Drawn;
use super::excerpt::{self, Excerpt, Hidden};
use super::gate::{self, Gate, Policy};
use super::redact::{self, Withheld, redact};
use super::table::Table;
use super::value;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::{AssertionOutcome, Evidence, Outcome, Role, Status};
use averment_runs::run::{Run, RunSource};
use averment_traces::error::ReadError;
use serde::Serialize;
use serde_json::value::RawValue;
use std::cell::OnceCell;
use std::ops::Range;

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
    /// What proves it.
    pub evidence: Vec<EvidenceReport>,
    /// The pieces of the trace that the evidence stands in, where a format draws them.
    pub excerpts: Vec<Excerpt>,
}

impl ResultReport {
    /// A result without anything to say of it.
    pub(super) fn bare(item: usize, verdict: Verdict, status: Status, score: Option<f64>) -> Self {
        Self {
            item,
            verdict,
            status,
            score,
            reason: String::new(),
            message: None,
            evidence: Vec::new(),
            excerpts: Vec::new(),
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

/// A trace, or a line of one, that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty when there is nothing to say.
    pub help: String,
}

impl Unreadable {
    /// What the reader says, redacted: it may quote a key or a value.
    #[must_use]
    pub fn of(error: &ReadError) -> Self {
        Self {
            file: error.file.clone(),
            line: error.line.max(1),
            column: error.column.max(1),
            message: redact(&error.message).into_owned(),
            help: redact(&error.help).into_owned(),
        }
    }
}

/// How much is made ready of each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// The width of the pieces of the trace; `None` when no format draws them.
    pub excerpt: Option<usize>,
    /// False where no format shows reasons and evidence.
    pub findings: bool,
}

/// Values for people are cut to this many characters.
const SHOWN: usize = 120;
/// Reasons and messages are cut to this many characters.
const REASON: usize = 2_000;
/// More evidence of one result than this is left out: it is for people and their tools, not a copy of the run.
const EVIDENCE: usize = 64;

/// The run's text with its line starts, which are looked for only when evidence needs them.
struct Text<'a> {
    text: &'a str,
    source: &'a RunSource,
    /// The recorded environment, and each text in it.
    environment: Vec<Range<usize>>,
    /// Those texts.
    withheld: Withheld,
    lines: OnceCell<Vec<usize>>,
}

impl Text<'_> {
    /// The line of a byte offset, from 0, and where that line starts.
    fn line(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1)).collect()
        });
        let index = lines.partition_point(|&start| start <= offset).saturating_sub(1);
        (index, lines.get(index).copied().unwrap_or(0))
    }

    fn bytes(&self, range: &Range<usize>) -> Bytes {
        let at = |offset: usize| self.source.offset + u64::try_from(offset).unwrap_or(u64::MAX);
        Bytes { line: self.source.line.max(1) + self.line(range.start).0, start: at(range.start), end: at(range.end) }
    }
}

/// Makes single findings of a run where no report of the whole run is needed.
pub struct Findings<'a> {
    table: &'a Table,
    text: Text<'a>,
    detail: Detail,
}

impl<'a> Findings<'a> {
    /// For the findings of a run. `outcomes` are those that may have evidence, with the numbers of their programs.
    pub fn new<'o>(
        table: &'a Table,
        run: &'a Run<'_>,
        outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
        detail: Detail,
    ) -> Self {
        let (environment, withheld) = withheld(Some(run), outcomes, detail);
        let text = Text { text: run.text, source: &run.source, environment, withheld, lines: OnceCell::new() };
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
    let mut report = build_of(table, (run.text, &run.source), Some(run), outcomes, policy, detail, drawn);
    let line = |offset: usize| {
        let before = run.text.as_bytes().get(..offset).unwrap_or_default();
        run.source.line.max(1) + memchr::memchr_iter(b'\n', before).count()
    };
    report.warnings = run.warnings.iter().map(|one| (line(one.offset), redact::of_run(run, &one.message))).collect();
    report
}

/// The same for a run that was judged without being read in full: nothing is known then of its environment, and no reason is of the run.
#[must_use]
pub fn build_of(
    table: &Table,
    (text, source): (&str, &RunSource),
    run: Option<&Run<'_>>,
    outcomes: &[Outcome],
    policy: Policy,
    detail: Detail,
    drawn: &mut Drawn,
) -> RunReport {
    let numbered = outcomes.iter().enumerate();
    let all = numbered.flat_map(|(program, outcome)| outcome.results.iter().map(move |one| (program, one)));
    let mut wants = |(program, one): (usize, &AssertionOutcome)| {
        table.item(program, one.assertion).is_some_and(|item| drawn.wants(item, one.status))
    };
    let wanted: Vec<bool> = all.clone().map(&mut wants).collect();
    let mut wanted = wanted.into_iter();
    let shows = Detail { findings: detail.findings && wanted.clone().any(|wanted| wanted), ..detail };
    let (environment, withheld) = withheld(run, all, shows);
    let text = Text { text, source, environment, withheld, lines: OnceCell::new() };
    let mut results = Vec::with_capacity(table.items.len());
    let mut rules = Vec::new();
    for (program, outcome) in outcomes.iter().enumerate() {
        let of_program = outcome.results.iter();
        results.extend(of_program.zip(wanted.by_ref()).filter_map(|(one, wanted)| {
            result(table, program, one, &text, Detail { findings: detail.findings && wanted, ..detail })
        }));
        rules.extend(outcome.rules.iter().filter_map(|one| {
            let rule = table.rule(program, one.rule)?;
            Some(RuleReport { rule, verdict: one.verdict, passed: one.passed, score: one.score })
        }));
    }
    RunReport {
        run: source.name(),
        file: source.file.clone(),
        gate: gate::of_run(table, &results, &rules, policy),
        score: mean(outcomes.iter().filter_map(|outcome| outcome.score)),
        named_scores: outcomes.iter().flat_map(|outcome| outcome.named_scores.iter().cloned()).collect(),
        results,
        rules,
        warnings: Vec::new(),
    }
}

/// What no finding of a run shows, its places and texts: what the run keeps to itself, and what a predicate has found anywhere in it.
fn withheld<'o>(
    run: Option<&Run<'_>>,
    outcomes: impl Iterator<Item = (usize, &'o AssertionOutcome)>,
    detail: Detail,
) -> (Vec<Range<usize>>, Withheld) {
    let mut findings = outcomes.filter(|(_, one)| detail.findings && one.status != Status::Passed).peekable();
    let (Some(run), Some(_)) = (run, findings.peek()) else { return Default::default() };
    let (mut places, mut texts) = redact::environment(run);
    for (_, one) in findings {
        for (place, text) in one.evidence.iter().filter_map(redact::found) {
            places.extend(place);
            texts.push(text);
        }
    }
    (places, Withheld::of(texts))
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
    text: &Text<'_>,
    detail: Detail,
) -> Option<ResultReport> {
    let item = table.item(program, outcome.assertion)?;
    let mut report = ResultReport::bare(item, outcome.verdict, outcome.status, outcome.score);
    if detail.findings && outcome.status != Status::Passed {
        let masked = table.items.get(item).is_some_and(|item| item.masked);
        let kept = outcome.evidence.get(..EVIDENCE).unwrap_or(&outcome.evidence);
        let hides: Vec<bool> = kept.iter().map(|one| masked || is_secret(one)).collect();
        let hidden = Withheld::of(hidden_texts(kept, &hides)).and(&text.withheld);
        report.reason = said(&outcome.reason, &hidden);
        report.message = outcome.message.as_deref().map(|message| said(message, &hidden));
        let all = kept.iter().zip(&hides);
        report.evidence = all.map(|(one, hide)| evidence(table, program, one, text, detail, *hide, &hidden)).collect();
        if matches!(outcome.status, Status::Failed | Status::UnexpectedPassed) {
            report.excerpts = excerpts(kept, &hides, text, detail);
        }
    }
    Some(report)
}

/// The pieces of the trace around the evidence.
fn excerpts(evidence: &[Evidence], hides: &[bool], text: &Text<'_>, detail: Detail) -> Vec<Excerpt> {
    let Some(width) = detail.excerpt else { return Vec::new() };
    let places = evidence.iter().enumerate().filter_map(|(number, one)| Some((number, one.origin.clone()?)));
    let line = |offset| {
        let (line, start) = text.line(offset);
        excerpt::Line { number: text.source.line.max(1) + line, start }
    };
    let hidden = evidence.iter().zip(hides).filter(|(_, hide)| **hide).filter_map(|(one, _)| one.origin.clone());
    let hide: Vec<Range<usize>> = hidden.chain(text.environment.iter().cloned()).collect();
    let hidden = Hidden { places: &hide, texts: text.withheld.in_json() };
    excerpt::windows(text.text, places, line, width, hidden)
}

/// True for a value that no report shows: one that its name makes a secret (`password`), and what comes from the environment.
fn is_secret(evidence: &Evidence) -> bool {
    let Some(json) = &evidence.value else { return false };
    let name = evidence.path.rsplit('/').next().unwrap_or("");
    let of_environment = evidence.path == "/env" || evidence.path.starts_with("/env/");
    of_environment || json.starts_with('"') && !redact::secrets(&format!("\"{name}\": {json}")).is_empty()
}

/// Texts that are not shown.
fn hidden_texts(evidence: &[Evidence], hides: &[bool]) -> Vec<String> {
    let hidden = evidence.iter().zip(hides).filter(|(_, hide)| **hide);
    let texts = hidden.filter_map(|(one, _)| serde_json::from_str::<String>(one.value.as_deref()?).ok());
    texts.collect()
}

/// Words for people: redacted, without what is hidden, and not longer than anyone reads.
fn said(words: &str, hidden: &Withheld) -> String {
    value::shortened(&hidden.without(redact(words).into_owned()), REASON)
}

fn evidence(
    table: &Table,
    program: usize,
    evidence: &Evidence,
    text: &Text<'_>,
    detail: Detail,
    masked: bool,
    hidden: &Withheld,
) -> EvidenceReport {
    let json = evidence.value.as_deref().map(|json| text.withheld.without_in_json(json));
    let json = json.as_deref();
    let origin = evidence.origin.clone().filter(|range| text.text.get(range.clone()).is_some());
    EvidenceReport {
        role: evidence.role,
        label: said(&evidence.label, hidden),
        step: evidence.step.map(|step| step.saturating_add(1)),
        path: hidden.without(redact(&evidence.path).into_owned()),
        value: json.and_then(|json| value::for_machines(json, masked)),
        shown: detail.excerpt.and_then(|_| json.map(|json| value::for_people(json, masked, SHOWN))),
        source: origin.map(|range| text.bytes(&range)),
        rule_span: evidence.rule_span.map(|span| table.span(program, span)),
    }
}
