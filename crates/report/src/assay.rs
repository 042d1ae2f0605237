//! `--format assay`: a list with a result per rule and run, in the shape in which Assay's metrics print theirs.

use super::model::{EvidenceReport, ResultReport, RunReport, Unreadable};
use super::standing::{self, Standing};
use super::table::{Item, Location, Table};
use super::{Ending, Options, Report};
use averment_base::source::Span;
use averment_engine::vm::outcome::Status;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};

/// The report.
pub struct Assay {
    out: Box<dyn Write>,
    options: Options,
    any: bool,
}

/// What stands in the rules is cut to this many characters.
const CONSTRAINT: usize = 300;

/// A result of the list.
#[derive(Serialize)]
struct MetricResult<'a> {
    /// The test: the rule, or the assertion where it stands in none.
    id: &'a str,
    metric: &'a str,
    status: &'a str,
    violations: Vec<ViolationEntry<'a>>,
    /// Violations that are counted and not listed.
    #[serde(skip_serializing_if = "is_zero")]
    violations_not_listed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    run: &'a str,
}

/// What one step, argument or run breaks.
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
    /// The number of the call among all calls, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_line: Option<usize>,
    reason: &'a str,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Assay {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, any: false }
    }

    fn put(&mut self, result: &MetricResult<'_>) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        self.out.write_all(serde_json::to_string_pretty(result)?.as_bytes())
    }

    /// A result that no rule has: what is wrong is its only violation.
    fn broken(&mut self, id: &str, trace_line: Option<usize>, reason: &str) -> io::Result<()> {
        let violations = vec![ViolationEntry { trace_line, reason, ..ViolationEntry::default() }];
        let (metric, status) = ("trace", "error");
        self.put(&MetricResult { id, metric, status, violations, violations_not_listed: 0, duration_ms: None, run: id })
    }

    /// The word for all results of a test: the gravest one decides.
    fn status(&self, table: &Table, run: &RunReport, results: &[&ResultReport]) -> &'static str {
        let standings: Vec<Standing> =
            results.iter().map(|result| Standing::of(table, result, self.options.policy)).collect();
        let rule = results.first().and_then(|result| table.items.get(result.item)?.rule);
        let below = run.rules.iter().filter(|one| Some(one.rule) == rule);
        let misses = below.filter(|one| standing::rule_fails(table, one, self.options.policy)).count() > 0;
        let is = |wanted: Standing| standings.contains(&wanted);
        let broken = || results.iter().any(|result| breaks(result));
        match () {
            () if is(Standing::Broken) => "error",
            () if is(Standing::Failed) || misses => "fail",
            () if broken() => "warn",
            () if is(Standing::Passed) || is(Standing::Expected) => "pass",
            () if is(Standing::Vacuous) || is(Standing::Tolerated) => "not_exercised",
            () => "skipped",
        }
    }
}

/// Whether a result is a violation, whatever it does to its run.
fn breaks(result: &ResultReport) -> bool {
    matches!(result.status, Status::Failed | Status::UnexpectedPassed | Status::Error)
}

/// The results of each test, in the order of the rules.
fn tests<'a>(table: &Table, run: &'a RunReport) -> Vec<Vec<&'a ResultReport>> {
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

/// The name of the test that an item belongs to, and what it measures.
fn names<'a>(table: &'a Table, item: &'a Item) -> (&'a str, &'a str) {
    let (id, metric) = table.rule_of(item).map_or((&item.id, &item.metric), |rule| (&rule.id, &rule.metric));
    (id, metric.as_ref().unwrap_or(id))
}

/// The violations of a result, where it is one or fails its run.
fn violations<'a>(table: &'a Table, item: &'a Item, result: &'a ResultReport) -> Vec<ViolationEntry<'a>> {
    standing::violations(result).map(|one| violation(table, item, one.reason, one.evidence)).collect()
}

fn violation<'a>(
    table: &'a Table,
    item: &'a Item,
    reason: &'a str,
    evidence: &'a [EvidenceReport],
) -> ViolationEntry<'a> {
    let (argument, value) = argument(evidence).unzip();
    let part = evidence.iter().find(|one| one.label.starts_with("does not fit `")).and_then(|one| one.rule_span);
    let Location { file, line, .. } = part.map_or_else(|| item.location.clone(), |part| table.location(part));
    let call = evidence.iter().find(|one| one.tool.is_some());
    ViolationEntry {
        tool: call.and_then(|one| one.tool.as_deref()),
        argument,
        value: value.flatten(),
        constraint: Some(constraint(table, item, part)),
        policy_line: Some(line),
        policy_file: Some(file),
        call_index: call.and_then(|one| one.path.strip_prefix("/calls/")?.split('/').next()?.parse().ok()),
        trace_line: evidence.iter().find_map(|one| one.source).map(|at| at.line),
        reason,
    }
}

/// What is broken, as whoever wrote the rules wrote it: the part of a schema, the line of another system's file, or the assertion.
fn constraint(table: &Table, item: &Item, part: Option<Span>) -> String {
    let written = part.or_else(|| item.own.as_ref().map(|_| item.span)).and_then(|span| table.text_at(span));
    let lines = written.unwrap_or(&item.text).lines().map(|line| line.trim().trim_end_matches(','));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    standing::line(&lines.join(", "), CONSTRAINT)
}

/// The argument that evidence speaks of, with its value: one that is missing, or the one that stands deepest.
fn argument(evidence: &[EvidenceReport]) -> Option<(String, Option<&RawValue>)> {
    let missing =
        |one: &EvidenceReport| Some(one.label.strip_prefix("`args.")?.strip_suffix("` is missing")?.to_owned());
    if let Some(name) = evidence.iter().find_map(missing) {
        return Some((name, None));
    }
    let named = evidence.iter().filter_map(|one| Some((path(&one.path)?, one.value.as_deref())));
    named.max_by_key(|(path, _)| path.len()).map(|(path, value)| (path.join("."), value))
}

/// The names on the way to a value inside of the arguments of a call.
fn path(pointer: &str) -> Option<Vec<String>> {
    let (_, inside) = pointer.strip_prefix("/calls/")?.split_once("/args/")?;
    Some(inside.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect())
}

impl Report for Assay {
    fn begin(&mut self, _: &Table) -> io::Result<()> {
        self.out.write_all(b"[")
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        for results in tests(table, run) {
            let Some(item) = results.first().and_then(|result| table.items.get(result.item)) else { continue };
            let (id, metric) = names(table, item);
            let status = self.status(table, run, &results);
            let fails =
                |result: &&&ResultReport| breaks(result) || Standing::of(table, result, self.options.policy).fails();
            let broken = || results.iter().filter(fails);
            let of_item = |result: &&'_ ResultReport| table.items.get(result.item);
            let listed = broken().filter_map(|result| Some(violations(table, of_item(result)?, result)));
            let result = MetricResult {
                id,
                metric,
                status,
                violations: listed.flatten().collect(),
                violations_not_listed: broken().map(|result| standing::not_listed(result)).sum(),
                duration_ms: run.nanoseconds.map(milliseconds),
                run: &run.run,
            };
            self.put(&result)?;
        }
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        self.broken(&what.file, Some(what.line), &what.message)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, _: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing() {
            let what = format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            self.broken("not-judged", None, &what)?;
        }
        writeln!(self.out, "{}]", if self.any { "\n" } else { "" })?;
        self.out.flush()
    }
}

/// Nanoseconds in milliseconds, to the microsecond.
fn milliseconds(nanoseconds: u64) -> f64 {
    let micros = u32::try_from(nanoseconds / 1_000).unwrap_or(u32::MAX);
    f64::from(micros) / 1_000.0
}
