//! `--format assay`: a list with a result per rule and run, in the output format of Assay's metrics.

use super::model::{EvidenceReport, ResultReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::{Location, ReportItem, ReportTable};
use super::{Options, Report, ReportEnding};
use averment_base::source::Span;
use averment_engine::vm::outcome::{Role, Status};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};

/// The `assay` report.
pub struct AssayReport {
    out: Box<dyn Write>,
    options: Options,
    any: bool,
}

/// Maximum length of a constraint, in characters.
const CONSTRAINT: usize = 300;

#[derive(Serialize)]
struct MetricResult<'a> {
    /// The id of the rule, or of the assertion if no rule contains it.
    id: &'a str,
    metric: &'a str,
    status: &'a str,
    violations: Vec<ViolationEntry<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    violations_not_listed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    run: &'a str,
}

#[derive(Serialize, Default)]
struct ViolationEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_file: Option<String>,
    /// Index among all calls, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_line: Option<usize>,
    reason: &'a str,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AssayReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, any: false }
    }

    fn write_result(&mut self, result: &MetricResult<'_>) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        self.out.write_all(serde_json::to_string_pretty(result)?.as_bytes())
    }

    /// Writes a result that belongs to no rule; the reason is its only violation.
    fn write_broken(&mut self, id: &str, trace_line: Option<usize>, reason: &str) -> io::Result<()> {
        let violations = vec![ViolationEntry { trace_line, reason, ..ViolationEntry::default() }];
        let (metric, status) = ("trace", "error");
        self.write_result(&MetricResult {
            id,
            metric,
            status,
            violations,
            violations_not_listed: 0,
            duration_ms: None,
            run: id,
        })
    }

    /// Returns the status for all results of a test. The most severe one decides.
    fn test_status(&self, table: &ReportTable, run: &RunReport, results: &[&ResultReport]) -> &'static str {
        let standings: Vec<ResultStanding> =
            results.iter().map(|result| ResultStanding::of_result(table, result, self.options.policy)).collect();
        let rule = results.first().and_then(|result| table.items.get(result.item)?.rule);
        let below = run.rules.iter().filter(|one| Some(one.rule) == rule);
        let misses = below.filter(|one| standing::rule_fails(table, one, self.options.policy)).count() > 0;
        let is = |wanted: ResultStanding| standings.contains(&wanted);
        let broken = || results.iter().any(|result| is_violation(result));
        match () {
            () if is(ResultStanding::Broken) => "error",
            () if is(ResultStanding::Failed) || misses => "fail",
            () if broken() => "warn",
            () if is(ResultStanding::Passed) || is(ResultStanding::Expected) => "pass",
            () if is(ResultStanding::Vacuous) || is(ResultStanding::Tolerated) => "not_exercised",
            () => "skipped",
        }
    }
}

/// True if a result is a violation, even if it does not fail its run.
fn is_violation(result: &ResultReport) -> bool {
    matches!(result.status, Status::Failed | Status::UnexpectedPassed | Status::Error)
}

fn group_tests<'a>(table: &ReportTable, run: &'a RunReport) -> Vec<Vec<&'a ResultReport>> {
    let rule = |result: &ResultReport| table.items.get(result.item).and_then(|item| item.rule);
    let mut tests: Vec<Vec<&'a ResultReport>> = Vec::new();
    for result in &run.results {
        let known = |test: &&mut Vec<&'a ResultReport>| {
            rule(result).is_some() && test.first().is_some_and(|first| rule(first) == rule(result))
        };
        match tests.last_mut().filter(known) {
            Some(test) => test.push(result),
            None => tests.push(vec![result]),
        }
    }
    tests
}

fn test_names<'a>(table: &'a ReportTable, item: &'a ReportItem) -> (&'a str, &'a str) {
    let (id, metric) = table.rule_of(item).map_or((&item.id, &item.metric), |rule| (&rule.id, &rule.metric));
    (id, metric.as_ref().unwrap_or(id))
}

fn list_violations<'a>(
    table: &'a ReportTable,
    item: &'a ReportItem,
    result: &'a ResultReport,
) -> Vec<ViolationEntry<'a>> {
    crate::model::listed_violations(result).map(|one| violation_entry(table, item, one.reason, one.evidence)).collect()
}

fn violation_entry<'a>(
    table: &'a ReportTable,
    item: &'a ReportItem,
    reason: &'a str,
    evidence: &'a [EvidenceReport],
) -> ViolationEntry<'a> {
    // A nearest miss is helpful only if no failing step is known.
    let is_of_failure = |one: &&EvidenceReport| one.role != Role::NearMiss;
    let is_placed = evidence.iter().filter(is_of_failure).any(|one| one.tool.is_some());
    let shown = || evidence.iter().filter(move |one| !is_placed || is_of_failure(one));
    let (argument, value) = argument_evidence(shown()).unzip();
    let part = evidence.iter().find(|one| one.label.starts_with("does not fit `")).and_then(|one| one.rule_span);
    let Location { file, line, .. } = part.map_or_else(|| item.location.clone(), |part| table.span_location(part));
    let call = shown().find(|one| one.tool.is_some());
    ViolationEntry {
        tool: call.and_then(|one| one.tool.as_deref()),
        argument,
        value: value.flatten(),
        constraint: Some(broken_constraint(table, item, part)),
        policy_line: Some(line),
        policy_file: Some(file),
        call_index: call.and_then(|one| one.path.strip_prefix("/calls/")?.split('/').next()?.parse().ok()),
        trace_line: shown().find_map(|one| one.source).map(|at| at.line),
        reason,
    }
}

/// Returns the violated constraint in the author's words: a part of a schema, a line of another system's file, or the assertion.
fn broken_constraint(table: &ReportTable, item: &ReportItem, part: Option<Span>) -> String {
    let written = part.or_else(|| item.own.as_ref().map(|_| item.span)).and_then(|span| table.text_at(span));
    // For an `only` assertion from a policy, the sentence lists the allowed tools; their schemas are not the constraint.
    let written = written.filter(|text| !(item.text.starts_with("only ") && holds_mappings(text)));
    let lines = written.unwrap_or(&item.text).lines().map(|line| line.trim().trim_end_matches(','));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    standing::shorten_line(&lines.join(", "), CONSTRAINT)
}

fn holds_mappings(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|pair| {
        pair.first().is_some_and(|line| line.trim_end().ends_with(':'))
            && pair.last().is_some_and(|line| !line.trim_start().starts_with('-'))
    })
}

/// Returns the argument that evidence names, with its value: a missing one, otherwise the most deeply nested one.
fn argument_evidence<'a>(
    evidence: impl Iterator<Item = &'a EvidenceReport> + Clone,
) -> Option<(String, Option<&'a RawValue>)> {
    let missing =
        |one: &EvidenceReport| Some(one.label.strip_prefix("`args.")?.strip_suffix("` is missing")?.to_owned());
    if let Some(name) = evidence.clone().find_map(missing) {
        return Some((name, None));
    }
    let named = evidence.filter_map(|one| Some((argument_path(&one.path)?, one.value.as_deref())));
    named.max_by_key(|(path, _)| path.len()).map(|(path, value)| (path.join("."), value))
}

fn argument_path(pointer: &str) -> Option<Vec<String>> {
    let (_, inside) = pointer.strip_prefix("/calls/")?.split_once("/args/")?;
    Some(inside.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect())
}

impl Report for AssayReport {
    fn begin_report(&mut self, _: &ReportTable) -> io::Result<()> {
        self.out.write_all(b"[")
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        for results in group_tests(table, run) {
            let Some(item) = results.first().and_then(|result| table.items.get(result.item)) else { continue };
            let (id, metric) = test_names(table, item);
            let status = self.test_status(table, run, &results);
            let fails = |result: &&&ResultReport| {
                is_violation(result) || ResultStanding::of_result(table, result, self.options.policy).fails_run()
            };
            let broken = || results.iter().filter(fails);
            let of_item = |result: &&'_ ResultReport| table.items.get(result.item);
            let listed = broken().filter_map(|result| Some(list_violations(table, of_item(result)?, result)));
            let result = MetricResult {
                id,
                metric,
                status,
                violations: listed.flatten().collect(),
                violations_not_listed: broken().map(|result| standing::not_listed(result)).sum(),
                duration_ms: run.nanoseconds.map(to_milliseconds),
                run: &run.run,
            };
            self.write_result(&result)?;
        }
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        self.write_broken(&what.file, Some(what.line), &what.message)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_count() {
            let what = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            self.write_broken("not-judged", None, &what)?;
        }
        writeln!(self.out, "{}]", if self.any { "\n" } else { "" })?;
        self.out.flush()
    }
}

/// Converts nanoseconds to milliseconds, with microsecond precision.
fn to_milliseconds(nanoseconds: u64) -> f64 {
    let micros = u32::try_from(nanoseconds / 1_000).unwrap_or(u32::MAX);
    f64::from(micros) / 1_000.0
}
