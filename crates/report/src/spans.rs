//! `--format spans`: traces of OpenTelemetry in OTLP JSON: a span per run, and in it an event per verdict, as the conventions of OpenTelemetry
//! for evaluations of generative AI name them (`gen_ai.evaluation.result`).

use super::by_rule::ByRule;
use super::conditions;
use super::digest::{hashed, hex};
use super::model::{ResultReport, RunReport, Unreadable};
use super::standing::{self, Standing};
use super::table::Table;
use super::{Ending, Options, Report};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::Status;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The report.
pub struct Spans {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    /// Makes ids of what is alike different.
    number: u64,
}

/// Codes of the status of a span.
const OK: u8 = 1;
const ERROR: u8 = 2;
/// An internal span.
const INTERNAL: u8 = 1;

impl Spans {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, by_rule: ByRule::default(), number: 0 }
    }

    fn now(&self) -> String {
        self.options.now.unwrap_or(0).to_string()
    }

    fn trace(&self) -> String {
        hex(&hashed::<16>(&["trace", self.options.command.as_str(), &self.now()]))
    }

    fn root(&self) -> String {
        hex(&hashed::<8>(&["root", self.options.command.as_str(), &self.now()]))
    }

    fn span(&mut self, name: &str, failed: bool, attributes: Vec<Value>, events: Vec<Value>) -> io::Result<()> {
        self.number += 1;
        let id = hex(&hashed::<8>(&[name, &self.number.to_string(), &self.now()]));
        let span = json!({"traceId": self.trace(), "spanId": id, "parentSpanId": self.root(), "name": name,
            "kind": INTERNAL, "startTimeUnixNano": self.now(), "endTimeUnixNano": self.now(),
            "attributes": attributes, "events": events, "status": {"code": if failed { ERROR } else { OK }}});
        serde_json::to_writer(&mut self.out, &span)?;
        self.out.write_all(b",\n")
    }

    /// A span for the conditions before the run and one for those after it, as STOP tells them.
    fn conditions(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        for (phase, name) in conditions::PHASES {
            let results = conditions::of_phase(table, run, phase);
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
                    let mut told = vec![text("check", conditions::check(item)), text("status", status)];
                    let value = result
                        .checked
                        .as_deref()
                        .filter(|_| passed(result))
                        .and_then(|raw| serde_json::from_str(raw.get()).ok());
                    told.extend(value.map(|value: Value| json!({"key": "value", "value": any(&value)})));
                    json!({"kvlistValue": {"values": told}})
                })
                .collect();
            let attributes = vec![
                text("kind", "assertion.check"),
                text("averment.run", &run.run),
                number("assertions.total", total as u64),
                number("assertions.passed", total.saturating_sub(failed) as u64),
                number("assertions.failed", failed as u64),
                json!({"key": "assertions.results", "value": {"arrayValue": {"values": told}}}),
            ];
            self.span(name, failed > 0, attributes, Vec::new())?;
        }
        Ok(())
    }

    fn event(&self, table: &Table, result: &ResultReport) -> Option<Value> {
        let item = table.items.get(result.item).filter(|_| result.status != Status::Skipped)?;
        let standing = Standing::of(table, result, self.options.policy);
        let mut attributes = vec![
            text("gen_ai.evaluation.name", &item.id),
            text("gen_ai.evaluation.score.label", result.verdict.as_str()),
            text("averment.status", result.status.as_str()),
            text("averment.severity", item.severity.as_str()),
            flag("averment.fails_run", standing.fails()),
            text("code.file.path", &item.location.file),
            number("code.line.number", item.location.line as u64),
        ];
        attributes.extend(result.score.map(|score| double("gen_ai.evaluation.score.value", score)));
        attributes.extend(table.rule_of(item).map(|rule| text("averment.rule", &rule.id)));
        if !matches!(standing, Standing::Passed) {
            let explanation = standing::sentence(self.options.command, item, result, standing::first_violation(result));
            attributes.push(text("gen_ai.evaluation.explanation", &explanation));
        }
        if result.status == Status::Error {
            attributes.push(text("error.type", "evaluation_error"));
        }
        if result.known {
            attributes.push(flag("averment.known", true));
        }
        if result.violation_count() > 0 {
            attributes.push(number("averment.violations", result.violation_count()));
        }
        Some(json!({"name": "gen_ai.evaluation.result", "timeUnixNano": self.now(), "attributes": attributes}))
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Whole numbers are texts in OTLP JSON.
fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn double(key: &str, value: f64) -> Value {
    json!({"key": key, "value": {"doubleValue": value}})
}

fn flag(key: &str, value: bool) -> Value {
    json!({"key": key, "value": {"boolValue": value}})
}

/// A value of any type.
fn any(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) if number.is_i64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(any).collect::<Vec<_>>()}}),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| json!({"key": key, "value": any(value)}));
            json!({"kvlistValue": {"values": entries.collect::<Vec<_>>()}})
        }
        Value::Null => json!({}),
    }
}

impl Report for Spans {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        let version = env!("CARGO_PKG_VERSION");
        let resource = json!({"attributes": [text("service.name", "averment"), text("service.version", version)]});
        let scope = json!({"name": "averment", "version": version});
        writeln!(
            self.out,
            "{{\"resourceSpans\":[{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":["
        )
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.by_rule.add(run);
        let events = run.results.iter().filter_map(|result| self.event(table, result)).collect();
        let mut attributes = vec![text("averment.run", &run.run), flag("averment.passed", run.passed())];
        attributes.extend(run.score.map(|score| double("averment.score", score)));
        let named = run.named_scores.iter();
        attributes.extend(named.map(|(name, score)| double(&format!("averment.score.{name}"), *score)));
        for rule in standing::judged_rules(table, run) {
            let Some(item) = table.rules.get(rule.rule) else { continue };
            attributes.extend(rule.score.map(|score| double(&format!("averment.rule.{}.score", item.id), score)));
            attributes.push(flag(&format!("averment.rule.{}.passed", item.id), rule.passed));
        }
        self.span("evaluate run", !run.passed(), attributes, events)?;
        self.conditions(table, run)
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let attributes = vec![
            text("averment.file", &what.file),
            number("averment.line", what.line as u64),
            text("error.type", "unreadable"),
            text("error.message", &what.message),
        ];
        self.span("read trace", true, attributes, Vec::new())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, _: &Table, ending: &Ending<'_>) -> io::Result<()> {
        let totals = ending.totals;
        let mut attributes = vec![
            number("averment.exit_code", u64::from(ending.exit)),
            number("averment.runs", totals.runs),
            number("averment.runs_failed", totals.runs_failed),
            number("averment.unreadable", totals.unreadable),
            number("averment.not_judged", totals.not_judged),
        ];
        if totals.not_judged_at_least {
            attributes.push(flag("averment.not_judged_at_least", true));
        }
        let rows = self.by_rule.rows.iter().filter(|row| row.counts.all() > 0);
        attributes.extend(rows.map(|row| text(&format!("averment.rule.{}", row.name), &row.counts.in_words())));
        let root = json!({"traceId": self.trace(), "spanId": self.root(), "name": self.options.command.as_str(),
            "kind": INTERNAL, "startTimeUnixNano": self.now(), "endTimeUnixNano": self.now(),
            "attributes": attributes, "status": {"code": if ending.passed { OK } else { ERROR }}});
        writeln!(self.out, "{root}\n]}}]}}]}}")?;
        self.out.flush()
    }
}
