//! `--format sarif`: SARIF 2.1.0, with a result per violation. The invocation lists the exit code, unreadable traces and diagnostics.

use super::by_rule::ByRule;
use super::fingerprint::ViolationFingerprints;
use super::model::{EvidenceReport, ResultReport, RunReport, UnreadableTrace, ViolationView};
use super::standing::{self, FindingLevel, ResultStanding};
use super::table::{Location, ReportItem, ReportTable};
use super::{Options, Report, ReportEnding, ReportedCommand};
use averment_base::diagnostic::render::printable;
use averment_base::words::count_noun;
use averment_engine::vm::outcome::Status;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The `sarif` report.
pub struct SarifReport {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    fingerprints: ViolationFingerprints,
    rules: HashMap<(String, String), usize>,
    /// Number of results, including those above the limit.
    results: u64,
    left_out: u64,
    notifications: Vec<Value>,
}

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// GitHub code scanning's limit of results for one run.
const MOST: u64 = 25_000;
/// Exit codes up to this one are successful executions: rules hold, or assertions failed.
const DONE: u8 = 1;

impl SarifReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let (by_rule, fingerprints, rules, results, left_out) = Default::default();
        Self { out, options, by_rule, fingerprints, rules, results, left_out, notifications: Vec::new() }
    }

    fn rule_descriptors(&mut self, table: &ReportTable) -> Vec<Value> {
        let mut rules = Vec::new();
        for item in &table.items {
            if let Entry::Vacant(place) = self.rules.entry(rule_key(&item.location, &item.id)) {
                place.insert(rules.len());
                rules.push(rule_descriptor(table, item));
            }
        }
        let with_threshold = table.rules.iter().filter(|rule| rule.threshold.is_some());
        for rule in with_threshold {
            if let Entry::Vacant(place) = self.rules.entry(rule_key(&rule.location, &rule.id)) {
                place.insert(rules.len());
                let text = rule.sentence.as_deref().unwrap_or(&rule.id);
                rules.push(json!({"id": rule.id, "shortDescription": {"text": text},
                    "defaultConfiguration": {"level": level_word(severity_level(rule.severity))}}));
            }
        }
        rules
    }

    fn write_result(&mut self, result: &Value) -> io::Result<()> {
        if self.results >= MOST {
            self.left_out += 1;
            return Ok(());
        }
        self.results += 1;
        self.out.write_all(if self.results > 1 { b",\n" } else { b"\n" })?;
        Ok(serde_json::to_writer(&mut self.out, result)?)
    }

    fn add_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let standing = ResultStanding::of_result(table, result, self.options.policy);
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        if matches!(standing, ResultStanding::Passed | ResultStanding::Vacuous | ResultStanding::Skipped) {
            return Ok(());
        }
        let listed: Vec<ViolationView<'_>> = crate::model::listed_violations(result).collect();
        let more = standing::not_listed(result);
        for violation in listed {
            let mut object = self.violation_result(table, item, standing, run, result, violation);
            if let Some(properties) = object.get_mut("properties").filter(|_| more > 0) {
                set_entry(properties, "violationsNotListed", json!(more));
            }
            self.write_result(&object)?;
        }
        Ok(())
    }

    fn violation_result(
        &mut self,
        table: &ReportTable,
        item: &ReportItem,
        standing: ResultStanding,
        run: &RunReport,
        result: &ResultReport,
        violation: ViolationView<'_>,
    ) -> Value {
        let in_trace: Vec<&EvidenceReport> = violation.evidence.iter().filter(|one| one.source.is_some()).collect();
        let mut locations = vec![json!({"physicalLocation": rule_gate(table, item)})];
        locations.extend(in_trace.first().map(|one| in_run(run, one)));
        let elsewhere = violation.evidence.iter().filter(|one| one.source.is_none());
        let elsewhere = elsewhere.filter_map(|one| Some((table.span_location(one.rule_span?), &one.label)));
        let in_rules = elsewhere.map(
            |(at, label)| json!({"physicalLocation": physical_location(&at), "message": {"text": printable(label)}}),
        );
        let related = in_trace.iter().map(|one| in_run(run, one)).chain(in_rules).enumerate();
        let related = related.map(|(number, mut location)| {
            set_entry(&mut location, "id", json!(number + 1));
            location
        });
        let open = result.status == Status::Undecided && !standing.fails_run();
        let kind = if open { "open" } else { "fail" };
        // In SARIF, only failures have a level.
        let level = if kind == "fail" { level_word(FindingLevel::of_standing(standing, item)) } else { "none" };
        let sentence = standing::result_sentence(self.options.command, item, result, violation);
        let message = match self.options.command {
            ReportedCommand::Check => format!("{sentence} [{}]", run.run),
            ReportedCommand::Test | ReportedCommand::Lint => sentence,
        };
        let mut object = json!({
            "ruleId": item.id,
            "ruleIndex": self.rules.get(&rule_key(&item.location, &item.id)),
            "kind": kind,
            "level": level,
            "message": {"text": printable(&message)},
            "locations": locations,
            "relatedLocations": related.collect::<Vec<_>>(),
            "partialFingerprints": {"averment/v1": self.fingerprints.violation_fingerprint(item, run, violation)},
            "properties": {"run": run.run, "verdict": result.verdict.as_str(), "status": result.status.as_str(),
                "failsRun": standing.fails_run(), "score": result.score},
        });
        if let Some((properties, class)) =
            object.get_mut("properties").zip(result.classified.and(item.class_of(result)))
        {
            set_entry(properties, "class", json!(class));
        }
        if in_trace.len() > 1 {
            let mut flow: Vec<&EvidenceReport> = in_trace;
            flow.sort_by_key(|one| one.source.map(|at| at.start));
            let steps: Vec<Value> = flow.iter().map(|one| json!({"location": in_run(run, one)})).collect();
            set_entry(&mut object, "codeFlows", json!([{"threadFlows": [{"locations": steps}]}]));
        }
        if standing == ResultStanding::Known {
            mark_known(&mut object);
        }
        if standing == ResultStanding::Expected {
            let why = item.expected.as_deref().filter(|why| !why.is_empty()).unwrap_or("a failure is expected");
            let suppression = json!([{"kind": "inSource", "status": "accepted", "justification": why}]);
            set_entry(&mut object, "suppressions", suppression);
        }
        object
    }

    fn compiler_notes(&self) -> Vec<Value> {
        let all = self.options.diagnostics.as_array().into_iter().flatten();
        let notification = |one: &Value| {
            let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
            let level = match text("severity") {
                "error" => "error",
                "warning" => "warning",
                _ => "note",
            };
            let at = one.get("location");
            let number = |key: &str| at.and_then(|at| at.get(key)).and_then(Value::as_u64).unwrap_or(1).max(1);
            let file = at.and_then(|at| at.get("file")).and_then(Value::as_str).unwrap_or_default();
            json!({"descriptor": {"id": text("slug")}, "level": level, "message": {"text": text("message")},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": path_uri(file)},
                    "region": {"startLine": number("line"), "startColumn": number("column")}}}]})
        };
        all.map(notification).collect()
    }
}

fn rule_descriptor(table: &ReportTable, item: &ReportItem) -> Value {
    let rule = table.rule_of(item);
    let short = rule.and_then(|rule| rule.sentence.as_deref()).unwrap_or(&item.text);
    let mut object = json!({
        "id": item.id,
        "shortDescription": {"text": short},
        "fullDescription": {"text": item.text},
        "defaultConfiguration": {"level": level_word(severity_level(item.severity))},
        "properties": {"tags": item.tags, "rule": rule.map(|rule| &rule.id), "weight": item.weight,
            "class": item.class},
    });
    if let Some(help) = &item.help {
        set_entry(&mut object, "help", json!({"text": help, "markdown": help}));
    }
    object
}

fn severity_level(severity: averment_checker::ir::Severity) -> FindingLevel {
    use averment_checker::ir::Severity;
    match severity {
        Severity::Error => FindingLevel::Error,
        Severity::Warn => FindingLevel::Warning,
        Severity::Info => FindingLevel::Note,
    }
}

fn level_word(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Note => "note",
    }
}

fn rule_gate(table: &ReportTable, item: &ReportItem) -> Value {
    let mut location = physical_location(&item.location);
    if let Some(region) = location.get_mut("region").filter(|_| table.sources.get(item.span.file).is_some()) {
        let end = table.sources.line_column(item.span.at_end());
        set_entry(region, "endLine", json!(end.line));
        set_entry(region, "endColumn", json!(end.column));
    }
    location
}

fn set_entry(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

fn physical_location(at: &Location) -> Value {
    json!({"artifactLocation": {"uri": path_uri(&at.file)},
        "region": {"startLine": at.line.max(1), "startColumn": at.column.max(1)}})
}

fn in_run(run: &RunReport, evidence: &EvidenceReport) -> Value {
    let (line, start, length) = evidence.source.map_or((1, 0, 0), |at| (at.line, at.start, at.end - at.start));
    let mut words = evidence.label.clone();
    if let Some(value) = &evidence.value {
        let _ = write!(words, "{}{} = {}", if words.is_empty() { "" } else { ": " }, evidence.path, value.get());
    }
    if words.is_empty() {
        words.clone_from(&evidence.path);
    }
    json!({"physicalLocation": {"artifactLocation": {"uri": path_uri(&run.file)},
            "region": {"startLine": line.max(1), "byteOffset": start, "byteLength": length}},
        "logicalLocations": [{"fullyQualifiedName": format!("{}{}", run.run, evidence.path), "kind": "element"}],
        "message": {"text": printable(&words)}})
}

fn path_uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'+' | b'@' => {
                uri.push(char::from(byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

impl Report for SarifReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        let driver = json!({"name": "averment", "version": env!("CARGO_PKG_VERSION"),
            "rules": self.rule_descriptors(table)});
        write!(
            self.out,
            "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":["
        )
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        run.results.iter().try_for_each(|result| self.add_result(table, run, result))?;
        for rule in standing::judged_rules(table, run) {
            let fails = standing::rule_fails(table, rule, self.options.policy);
            let (Some(item), Some(missed)) = (table.rules.get(rule.rule), standing::missed_threshold(table, rule))
            else {
                continue;
            };
            let mut object = json!({"ruleId": item.id, "ruleIndex": self.rules.get(&rule_key(&item.location, &item.id)), "kind": "fail",
                "level": if fails { "error" } else { "warning" },
                "message": {"text": printable(&format!("fail: {missed} [{}]", run.run))},
                "locations": [{"physicalLocation": physical_location(&item.location)}],
                "partialFingerprints": {"averment/v1": super::digest::to_hex(&super::digest::hash_texts::<16>(&[&item.id, &run.run]))},
                "properties": {"run": run.run, "score": rule.score, "threshold": item.threshold, "failsRun": fails}});
            if rule.known {
                mark_known(&mut object);
            }
            self.write_result(&object)?;
        }
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let at = Location { file: what.file.clone(), line: what.line, column: what.column };
        let help = if what.help.is_empty() { String::new() } else { format!("; help: {}", what.help) };
        self.notifications.push(json!({"descriptor": {"id": "unreadable"}, "level": "error",
            "message": {"text": printable(&format!("{}{help}", what.message))},
            "locations": [{"physicalLocation": physical_location(&at)}]}));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        let totals = ending.totals;
        if self.left_out > 0 {
            let text =
                format!("{} left out: code scanning takes {MOST}; json has all", count_noun(self.left_out, "result"));
            self.notifications
                .push(json!({"descriptor": {"id": "left-out"}, "level": "warning", "message": {"text": text}}));
        }
        if let Some(missing) = totals.missing_runs() {
            let text = format!("{missing} not judged: the evaluation broke down or was interrupted");
            self.notifications
                .push(json!({"descriptor": {"id": "not-judged"}, "level": "error", "message": {"text": text}}));
        }
        let of_rules: Map<String, Value> =
            self.by_rule.rows.iter().map(|row| (row.name.clone(), json!(row.counts))).collect();
        let invocation = json!({"executionSuccessful": ending.exit <= DONE, "exitCode": ending.exit,
            "toolExecutionNotifications": self.notifications, "toolConfigurationNotifications": self.compiler_notes()});
        let mut properties = json!({"command": self.options.command.as_str(), "runs": totals.runs,
            "runsFailed": totals.runs_failed, "unreadable": totals.unreadable, "notJudged": totals.not_judged,
            "score": totals.mean_score(), "counts": totals.counts, "rules": of_rules});
        if totals.not_judged_at_least {
            set_entry(&mut properties, "notJudgedAtLeast", json!(true));
        }
        writeln!(self.out, "\n],\n\"invocations\":[{invocation}],\n\"properties\":{properties}}}]}}")?;
        self.out.flush()
    }
}

fn mark_known(object: &mut Value) {
    set_entry(object, "baselineState", json!("unchanged"));
    let suppression = json!([{"kind": "external", "status": "accepted", "justification": "the baseline knows it"}]);
    set_entry(object, "suppressions", suppression);
}

/// Returns a key that distinguishes rules with the same id in several files.
fn rule_key(at: &Location, id: &str) -> (String, String) {
    (at.file.clone(), id.to_owned())
}
