//! `--format spans`: OpenTelemetry traces in OTLP JSON, with a span per run and an event per verdict. Names follow OpenTelemetry's conventions for
//! evaluations of generative AI (`gen_ai.evaluation.result`).

use super::by_rule::ByRule;
use super::digest::{hash_texts, to_hex};
use super::model::{ResultReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::ReportTable;
use super::{Options, Report, ReportEnding, conditions};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::Status;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The `spans` report.
pub struct SpansReport {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    /// Makes the ids of equal spans different.
    number: u64,
}

/// OTLP span status codes.
const OK: u8 = 1;
const ERROR: u8 = 2;
/// The OTLP span kind "internal".
const INTERNAL: u8 = 1;

impl SpansReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, by_rule: ByRule::default(), number: 0 }
    }

    fn now_text(&self) -> String {
        self.options.now.unwrap_or(0).to_string()
    }

    fn trace_id(&self) -> String {
        to_hex(&hash_texts::<16>(&["trace", self.options.command.as_str(), &self.now_text()]))
    }

    fn root_id(&self) -> String {
        to_hex(&hash_texts::<8>(&["root", self.options.command.as_str(), &self.now_text()]))
    }

    fn write_span(&mut self, name: &str, failed: bool, attributes: Vec<Value>, events: Vec<Value>) -> io::Result<()> {
        self.number += 1;
        let id = to_hex(&hash_texts::<8>(&[name, &self.number.to_string(), &self.now_text()]));
        let span = json!({"traceId": self.trace_id(), "spanId": id, "parentSpanId": self.root_id(), "name": name,
            "kind": INTERNAL, "startTimeUnixNano": self.now_text(), "endTimeUnixNano": self.now_text(),
            "attributes": attributes, "events": events, "status": {"code": if failed { ERROR } else { OK }}});
        serde_json::to_writer(&mut self.out, &span)?;
        self.out.write_all(b",\n")
    }

    /// Writes one span for pre-conditions and one for post-conditions, as STOP defines them.
    fn write_conditions(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        for (phase, name) in conditions::PHASES {
            let results = conditions::phase_results(table, run, phase);
            if results.is_empty() {
                continue;
            }
            let passed = |result: &ResultReport| matches!(result.verdict, Verdict::Pass | Verdict::Vacuous);
            let failed = results.iter().filter(|(_, result)| !passed(result)).count();
            let total = results.len();
            let told: Vec<Value> = results
                .iter()
                .map(|(item, result)| {
                    let status = if passed(result) { "pass" } else { "fail" };
                    let mut told =
                        vec![text_attribute("check", conditions::check_name(item)), text_attribute("status", status)];
                    let value = result
                        .checked
                        .as_deref()
                        .filter(|_| passed(result))
                        .and_then(|raw| serde_json::from_str(raw.get()).ok());
                    told.extend(value.map(|value: Value| json!({"key": "value", "value": any_value(&value)})));
                    json!({"kvlistValue": {"values": told}})
                })
                .collect();
            let attributes = vec![
                text_attribute("kind", "assertion.check"),
                text_attribute("averment.run", &run.run),
                number_attribute("assertions.total", total as u64),
                number_attribute("assertions.passed", total.saturating_sub(failed) as u64),
                number_attribute("assertions.failed", failed as u64),
                json!({"key": "assertions.results", "value": {"arrayValue": {"values": told}}}),
            ];
            self.write_span(name, failed > 0, attributes, Vec::new())?;
        }
        Ok(())
    }

    fn result_event(&self, table: &ReportTable, result: &ResultReport) -> Option<Value> {
        let item = table.items.get(result.item).filter(|_| result.status != Status::Skipped)?;
        let standing = ResultStanding::of_result(table, result, self.options.policy);
        let mut attributes = vec![
            text_attribute("gen_ai.evaluation.name", &item.id),
            text_attribute("gen_ai.evaluation.score.label", result.verdict.as_str()),
            text_attribute("averment.status", result.status.as_str()),
            text_attribute("averment.severity", item.severity.as_str()),
            flag_attribute("averment.fails_run", standing.fails_run()),
            text_attribute("code.file.path", &item.location.file),
            number_attribute("code.line.number", item.location.line as u64),
        ];
        attributes.extend(result.score.map(|score| double_attribute("gen_ai.evaluation.score.value", score)));
        attributes.extend(table.rule_of(item).map(|rule| text_attribute("averment.rule", &rule.id)));
        if !matches!(standing, ResultStanding::Passed) {
            let explanation =
                standing::result_sentence(self.options.command, item, result, crate::model::first_violation(result));
            attributes.push(text_attribute("gen_ai.evaluation.explanation", &explanation));
        }
        if result.status == Status::Error {
            attributes.push(text_attribute("error.type", "evaluation_error"));
        }
        if result.known {
            attributes.push(flag_attribute("averment.known", true));
        }
        if result.violation_count() > 0 {
            attributes.push(number_attribute("averment.violations", result.violation_count()));
        }
        Some(json!({"name": "gen_ai.evaluation.result", "timeUnixNano": self.now_text(), "attributes": attributes}))
    }
}

fn text_attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Returns an integer attribute, which OTLP JSON writes as a string.
fn number_attribute(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn double_attribute(key: &str, value: f64) -> Value {
    json!({"key": key, "value": {"doubleValue": value}})
}

fn flag_attribute(key: &str, value: bool) -> Value {
    json!({"key": key, "value": {"boolValue": value}})
}

fn any_value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) if number.is_i64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(any_value).collect::<Vec<_>>()}}),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| json!({"key": key, "value": any_value(value)}));
            json!({"kvlistValue": {"values": entries.collect::<Vec<_>>()}})
        }
        Value::Null => json!({}),
    }
}

impl Report for SpansReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        let version = env!("CARGO_PKG_VERSION");
        let resource = json!({"attributes": [text_attribute("service.name", "averment"), text_attribute("service.version", version)]});
        let scope = json!({"name": "averment", "version": version});
        writeln!(
            self.out,
            "{{\"resourceSpans\":[{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":["
        )
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        let events = run.results.iter().filter_map(|result| self.result_event(table, result)).collect();
        let mut attributes =
            vec![text_attribute("averment.run", &run.run), flag_attribute("averment.passed", run.passed())];
        attributes.extend(run.score.map(|score| double_attribute("averment.score", score)));
        let named = run.named_scores.iter();
        attributes.extend(named.map(|(name, score)| double_attribute(&format!("averment.score.{name}"), *score)));
        for rule in standing::judged_rules(table, run) {
            let Some(item) = table.rules.get(rule.rule) else { continue };
            attributes
                .extend(rule.score.map(|score| double_attribute(&format!("averment.rule.{}.score", item.id), score)));
            attributes.push(flag_attribute(&format!("averment.rule.{}.passed", item.id), rule.passed));
        }
        self.write_span("evaluate run", !run.passed(), attributes, events)?;
        self.write_conditions(table, run)
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let attributes = vec![
            text_attribute("averment.file", &what.file),
            number_attribute("averment.line", what.line as u64),
            text_attribute("error.type", "unreadable"),
            text_attribute("error.message", &what.message),
        ];
        self.write_span("read trace", true, attributes, Vec::new())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        let totals = ending.totals;
        let mut attributes = vec![
            number_attribute("averment.exit_code", u64::from(ending.exit)),
            number_attribute("averment.runs", totals.runs),
            number_attribute("averment.runs_failed", totals.runs_failed),
            number_attribute("averment.unreadable", totals.unreadable),
            number_attribute("averment.not_judged", totals.not_judged),
        ];
        if totals.not_judged_at_least {
            attributes.push(flag_attribute("averment.not_judged_at_least", true));
        }
        let rows = self.by_rule.rows.iter().filter(|row| row.counts.all_results() > 0);
        attributes
            .extend(rows.map(|row| text_attribute(&format!("averment.rule.{}", row.name), &row.counts.in_words())));
        let root = json!({"traceId": self.trace_id(), "spanId": self.root_id(), "name": self.options.command.as_str(),
            "kind": INTERNAL, "startTimeUnixNano": self.now_text(), "endTimeUnixNano": self.now_text(),
            "attributes": attributes, "status": {"code": if ending.passed { OK } else { ERROR }}});
        writeln!(self.out, "{root}\n]}}]}}]}}")?;
        self.out.flush()
    }
}
