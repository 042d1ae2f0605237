//! `--format stop-trace`: results as lines of a STOP trace, with a span of kind `assertion.check` for the conditions before and after each run and
//! one
//! for all other assertions.

use super::by_rule::ByRule;
use super::digest::{hash_texts, to_hex};
use super::model::{ResultReport, RunReport, UnreadableTrace};
use super::table::{ReportItem, ReportTable};
use super::{Options, Report, ReportEnding, ReportedCommand, conditions, standing};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::Status;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const CHECK: &str = "assertion.check";
/// The kind of spans that STOP does not define.
const CUSTOM: &str = "custom";

/// The `stop-trace` report.
pub struct StopTraceReport {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    spans: u64,
}

#[derive(Serialize)]
struct TraceSpan<'a, A: Serialize> {
    trace_id: String,
    span_id: String,
    kind: &'a str,
    name: &'a str,
    start_time: String,
    status: &'a str,
    attributes: A,
}

#[derive(Serialize)]
struct CheckAttributes<'a> {
    #[serde(rename = "averment.run")]
    run: &'a str,
    #[serde(rename = "assertions.total")]
    total: usize,
    #[serde(rename = "assertions.passed")]
    passed: usize,
    #[serde(rename = "assertions.failed")]
    failed: usize,
    #[serde(rename = "assertions.results")]
    results: Vec<CheckResult<'a>>,
}

#[derive(Serialize)]
struct CheckResult<'a> {
    check: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
    /// The reason if the assertion does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl<'a> CheckResult<'a> {
    fn of_result(item: &'a ReportItem, result: &'a ResultReport) -> Self {
        let passed = matches!(result.verdict, Verdict::Pass | Verdict::Vacuous);
        let value = result.checked.as_deref().filter(|_| passed);
        let sentence =
            || standing::result_sentence(ReportedCommand::Check, item, result, crate::model::first_violation(result));
        let (status, message) = if passed { ("pass", None) } else { ("fail", Some(sentence())) };
        Self { check: conditions::check_name(item), status, value, message }
    }
}

impl StopTraceReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, by_rule: ByRule::default(), spans: 0 }
    }

    fn write_span<A: Serialize>(
        &mut self,
        of: &str,
        kind: &str,
        name: &str,
        ok: bool,
        attributes: A,
    ) -> io::Result<()> {
        self.spans = self.spans.saturating_add(1);
        let nanoseconds = i128::from(self.options.now.unwrap_or(0));
        let span = TraceSpan {
            trace_id: format!("t_{}", to_hex(&hash_texts::<8>(&["stop", of]))),
            span_id: format!("s_assert_{:03}", self.spans),
            kind,
            name,
            start_time: jiff::Timestamp::from_nanosecond(nanoseconds).unwrap_or_default().to_string(),
            status: if ok { "ok" } else { "error" },
            attributes,
        };
        serde_json::to_writer(&mut self.out, &span)?;
        self.out.write_all(b"\n")
    }

    fn write_checks(&mut self, run: &str, name: &str, results: Vec<CheckResult<'_>>) -> io::Result<()> {
        if results.is_empty() {
            return Ok(());
        }
        let total = results.len();
        let passed = results.iter().filter(|result| result.status == "pass").count();
        let failed = total.saturating_sub(passed);
        self.write_span(run, CHECK, name, failed == 0, CheckAttributes { run, total, passed, failed, results })
    }
}

impl Report for StopTraceReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        Ok(())
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        for (phase, name) in conditions::PHASES {
            let results = conditions::phase_results(table, run, phase);
            let checks = results.into_iter().map(|(item, result)| CheckResult::of_result(item, result)).collect();
            self.write_checks(&run.run, name, checks)?;
        }
        let judged = run.results.iter().filter(|result| result.status != Status::Skipped);
        let with_items = judged.filter_map(|result| Some((table.items.get(result.item)?, result)));
        let is_phase = |item: &ReportItem| table.rule_of(item).is_some_and(|rule| rule.phase.is_some());
        let others = with_items
            .filter(|(item, _)| !is_phase(item))
            .map(|(item, result)| CheckResult::of_result(item, result))
            .collect();
        self.write_checks(&run.run, "assertions", others)
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let attributes = json!({"averment.file": what.file, "averment.line": what.line, "error.message": what.message});
        self.write_span(&what.file, CUSTOM, "read trace", false, attributes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        let totals = ending.totals;
        let mut attributes = Map::new();
        for (name, count) in [
            ("averment.exit_code", u64::from(ending.exit)),
            ("averment.runs", totals.runs),
            ("averment.runs_failed", totals.runs_failed),
            ("averment.unreadable", totals.unreadable),
            ("averment.not_judged", totals.not_judged),
        ] {
            attributes.insert(name.to_owned(), Value::from(count));
        }
        for row in self.by_rule.rows.iter().filter(|row| row.counts.all_results() > 0) {
            attributes.insert(format!("averment.rule.{}", row.name), Value::from(row.counts.in_words()));
        }
        let name = self.options.command.as_str();
        self.write_span(name, CUSTOM, name, ending.passed, Value::Object(attributes))?;
        self.out.flush()
    }
}
