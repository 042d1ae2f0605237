//! Snapshots of every format on one example with two programs and several runs.

use super::*;
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
use averment_base::truth::Verdict;
use averment_checker::ir::{AssertionSettings, DenySettings, ProgramRule, RuleRole, Severity, Temporal};
use averment_engine::bytecode::program::{
    CodeId, CompiledAssertion, CompiledCheck, Program, ProgramSource, TemporalEntry, TemporalId,
};
use averment_engine::vm::outcome::{
    AssertionOutcome, Role, RuleOutcome, RunOutcome, Status, VerdictEvidence, ViolationList,
};
use averment_runs::run::{Run, RunSource};
use model::{ReportDetail, StatusSet};
use std::cell::RefCell;
use std::rc::Rc;

const RULES: &str = "\
rule approval \"Refunds above the limit need an approval for the same order\" {
  tags payments
  before approve(id: $id) -> refund(id: $id, amount > 100)
  never refund(id: $id) after cancel(id: $id)
}
output.status == \"refunded\"
cost <= $0.05
never drop_table
no secrets in calls[*].args
";

const LINE: &str = r#"{"id":"r-1","calls":[{"tool":"approve","args":{"id":"o-2"}},{"tool":"search","args":{"q":"o-1"}},{"tool":"refund","args":{"id":"o-1","amount":250}}],"output":{"status":"pending"}}"#;

fn span(text: &str) -> Span {
    let start = RULES.find(text).unwrap();
    Span::new(FileId(0), start, start + text.len())
}

fn at(text: &str) -> Option<std::ops::Range<usize>> {
    LINE.find(text).map(|start| start..start + text.len())
}

fn settings(tags: &[&str]) -> AssertionSettings<CodeId> {
    AssertionSettings { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..AssertionSettings::default() }
}

pub(super) fn program() -> Program {
    let assertion = |id: &str, rule, text: &str, check| CompiledAssertion {
        id: id.to_owned(),
        rule,
        text: text.to_owned(),
        span: span(text),
        settings: settings(if rule.is_some() { &["payments"] } else { &[] }),
        check,
    };
    let plain = || CompiledCheck::Expression(CodeId(0));
    let rule = ProgramRule {
        id: "approval".to_owned(),
        role: RuleRole::Rule,
        sentence: Some("Refunds above the limit need an approval for the same order".to_owned()),
        weight: 1.0,
        threshold: None,
        severity: Severity::Error,
        tags: vec!["payments".to_owned()],
        metric: None,
        denied: DenySettings::default(),
        over_runs: false,
        span: span("rule approval"),
    };
    let secrets = Temporal::NoneIn { values: CodeId(0), predicate: CodeId(0) };
    let temporal =
        TemporalEntry { temporal: secrets, span: span("no secrets"), bindings: 0, binding_names: Vec::new() };
    Program {
        sources: vec![ProgramSource { name: "refunds.assert".to_owned(), text: RULES.to_owned() }],
        temporals: vec![temporal],
        rules: vec![rule],
        assertions: vec![
            assertion("approval.1", Some(0), "before approve(id: $id) -> refund(id: $id, amount > 100)", plain()),
            assertion("approval.2", Some(0), "never refund(id: $id) after cancel(id: $id)", plain()),
            assertion("output-3f2a", None, "output.status == \"refunded\"", plain()),
            assertion("cost-11aa", None, "cost <= $0.05", plain()),
            assertion("never-77b0", None, "never drop_table", plain()),
            assertion("no-90c1", None, "no secrets in calls[*].args", CompiledCheck::Temporal(TemporalId(0))),
        ],
        ..Program::default()
    }
}

fn result(assertion: u32, verdict: Verdict, reason: &str, evidence: Vec<VerdictEvidence>) -> AssertionOutcome {
    AssertionOutcome {
        assertion,
        verdict,
        status: Status::of_verdict(verdict, false),
        score: match verdict {
            Verdict::Pass => Some(1.0),
            Verdict::Vacuous | Verdict::Skipped => None,
            _ => Some(0.0),
        },
        reason: reason.to_owned(),
        message: None,
        evidence,
        violations: ViolationList::default(),
        unjudged: None,
        by_missing: false,
        because: None,
        gates: std::collections::BTreeSet::new(),
        remark: None,
    }
}

fn failing() -> RunOutcome {
    let refund = VerdictEvidence {
        role: Role::Decisive,
        label: "no earlier approve with id \"o-1\"".to_owned(),
        step: Some(2),
        path: "/calls/2/args/id".to_owned(),
        value: Some("\"o-1\"".to_owned()),
        origin: at(r#""o-1","amount""#).map(|range| range.start..range.start + 5),
        rule_span: Some(span("$id, amount")).map(|span| Span { end: span.start + 3, ..span }),
        found: None,
    };
    let approve = VerdictEvidence {
        role: Role::NearMiss,
        label: "this approve has id \"o-2\"".to_owned(),
        step: Some(0),
        path: "/calls/0".to_owned(),
        value: None,
        origin: at(r#"{"tool":"approve","args":{"id":"o-2"}}"#),
        rule_span: None,
        found: None,
    };
    let status = VerdictEvidence {
        path: "/output/status".to_owned(),
        value: Some("\"pending\"".to_owned()),
        origin: at("\"pending\""),
        rule_span: Some(span("output.status")),
        found: None,
        ..VerdictEvidence::default()
    };
    let found = VerdictEvidence {
        label: "secrets found \"o-1\"".to_owned(),
        step: Some(1),
        path: "/calls/1/args/q".to_owned(),
        value: Some("\"o-1\"".to_owned()),
        origin: at(r#""o-1"}},{"tool":"refund""#).map(|range| range.start..range.start + 5),
        ..VerdictEvidence::default()
    };
    let reason = "refund at call 3 has no earlier approve with id \"o-1\"";
    RunOutcome {
        results: vec![
            result(0, Verdict::Fail, reason, vec![refund, approve]),
            result(1, Verdict::Vacuous, "no cancel occurs", Vec::new()),
            result(2, Verdict::Fail, "output.status is \"pending\", not \"refunded\"", vec![status]),
            result(3, Verdict::Undecided, "the run records no cost", Vec::new()),
            result(4, Verdict::Pass, "", Vec::new()),
            result(5, Verdict::Fail, "secrets found \"o-1\" in calls[*].args", vec![found]),
        ],
        rules: vec![RuleOutcome { rule: 0, verdict: Verdict::Fail, passed: false, score: Some(0.0) }],
        score: Some(0.25),
        passed: false,
        named_scores: vec![("quality".to_owned(), 0.9)],
    }
}

fn idle() -> RunOutcome {
    let results = (0..6).map(|number| result(number, Verdict::Vacuous, "nothing to look at", Vec::new())).collect();
    RunOutcome { results, passed: true, ..RunOutcome::default() }
}

fn run<'a>(arena: &'a bumpalo::Bump, line: usize) -> Run<'a> {
    let source = RunSource {
        file: "trace.jsonl".to_owned(),
        line,
        column: 1,
        offset: 1_000 * (line as u64 - 1),
        position: Some(line),
        by_line: true,
        parts: None,
        label: None,
    };
    Run { source, ..averment_traces::read::read_str(LINE, arena, &Limits::default()).unwrap() }
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn report(format: Format, style: TextStyle, outcomes: &[RunOutcome]) -> String {
    let text = String::from_utf8(report_bytes(format, style, outcomes)).unwrap();
    if format == Format::Html { readable(&text) } else { text }
}

fn report_bytes(format: Format, style: TextStyle, outcomes: &[RunOutcome]) -> Vec<u8> {
    let (program, policy, shared) = (program(), GatePolicy::default(), Shared::default());
    let table = ReportTable::new([&program], |_, _| true);
    let options = Options { style, policy, ..Options::default() };
    let mut report = open(format, Box::new(shared.clone()), options);
    let mut totals = RunTotals::default();
    let arena = bumpalo::Bump::new();
    report.begin_report(&table).unwrap();
    for (line, outcome) in (1..).zip(outcomes) {
        let detail = ReportDetail {
            excerpt: Some(style.width - 8),
            findings: true,
            violations: 3,
            steps: format.needs().steps,
            measured: false,
            shapes: false,
            told: StatusSet::ALL,
        };
        let one =
            report_builder::build_report(&table, &run(&arena, line), std::slice::from_ref(outcome), policy, detail);
        totals.add_run(&one);
        report.add_run(&table, &one).unwrap();
    }
    let passed = totals.gate.is_none_or(|gate| gate == gate::Gate::Open);
    report.finish_report(&table, &ReportEnding { totals: &totals, passed, exit: u8::from(!passed) }).unwrap();
    shared.0.take()
}

/// Returns a page with decompressed parts, without the content that all pages share.
fn readable(page: &str) -> String {
    use base64::Engine as _;
    let same = regex::Regex::new("(?s)<style>.*?</style>|<script>.*?</script>|sha256-[^']*").unwrap();
    let part = regex::Regex::new("(<script type=\"application/octet-stream\" data-part=\"[a-z]+\">)([^<]*)").unwrap();
    let unpacked = |found: &regex::Captures<'_>| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&found[2]).unwrap();
        let json = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        format!("{}\n{}\n", &found[1], serde_json::to_string_pretty(&value).unwrap())
    };
    part.replace_all(&same.replace_all(page, "…"), unpacked).into_owned()
}

fn golden(name: &str, text: &str) {
    let _scope = averment_fixtures::snapshots_in("tests/golden/report");
    // Snapshots do not keep CR at line ends, which CSV has, so it is replaced.
    insta::assert_snapshot!(name, text.replace('\r', "␍"));
}

const WIDE: TextStyle = TextStyle { unicode: true, color: false, width: 120 };

#[test]
fn every_format_says_the_same_run_in_its_own_way() {
    for format in Format::ALL {
        golden(format.as_str(), &report(format, WIDE, &[failing()]));
    }
}

#[test]
fn a_narrow_terminal_without_unicode_moves_long_remarks_into_notes() {
    let text = report(Format::Human, TextStyle::PLAIN, &[failing()]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    golden("human-narrow", &text);
}

#[test]
fn many_runs_fit_a_screen_and_the_commonest_failure_is_drawn() {
    let outcomes: Vec<RunOutcome> = (0..40).map(|_| failing()).collect();
    let text = report(Format::Human, WIDE, &outcomes);
    assert_eq!(text.matches("┌─ refunds.assert:3:3").count(), 1);
    assert!(text.lines().count() <= 40, "{text}");
    golden("human-many", &text);
}

#[test]
fn when_every_verdict_is_vacuous_the_first_line_says_so() {
    for format in [Format::Human, Format::Summary] {
        let text = report(format, WIDE, &[idle()]);
        assert!(text.lines().next().unwrap().starts_with("nothing was exercised"), "{text}");
    }
}

#[test]
fn what_a_predicate_found_stands_in_no_report() {
    for format in Format::ALL {
        let mut outcome = failing();
        outcome.results.drain(0..5);
        let text = report(format, WIDE, &[outcome]);
        assert!(!text.contains("o-1\\\"") && !text.contains("\"o-1\""), "{}: {text}", format.as_str());
    }
}

#[test]
fn colour_steers_nothing_but_colour() {
    let plain = report(Format::Human, WIDE, &[failing()]);
    let colored = report(Format::Human, TextStyle { color: true, ..WIDE }, &[failing()]);
    assert_ne!(plain, colored);
    let escape = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert_eq!(escape.replace_all(&colored, ""), plain);
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    for format in Format::ALL {
        assert_eq!(report(format, WIDE, &[failing(), idle()]), report(format, WIDE, &[failing(), idle()]));
    }
}

fn schema(text: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

fn valid(schema: &jsonschema::Validator, text: &str) {
    let value = serde_json::from_str(text).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
}

#[test]
fn the_machine_formats_are_what_their_schemas_say() {
    let outcomes = [failing(), idle(), failing()];
    valid(&schema(include_str!("../../../docs/schema/check.schema.json")), &report(Format::Json, WIDE, &outcomes));
    let line = schema(include_str!("../../../docs/schema/check-jsonl.schema.json"));
    let text = report(Format::Jsonl, WIDE, &outcomes);
    assert_eq!(text.lines().count(), 5);
    text.lines().for_each(|text| valid(&line, text));
    assert!(!line.is_valid(&serde_json::json!({"run": "x"})));
    let metrics = schema(include_str!("../../../docs/schema/assay.schema.json"));
    valid(&metrics, &report(Format::Assay, WIDE, &outcomes));
    assert!(!metrics.is_valid(&serde_json::json!([{"metric": "x", "status": "fine", "violations": []}])));
}

#[cfg(feature = "columns")]
#[test]
fn a_parquet_file_has_the_rows_of_csv() {
    use averment_columns::{ColumnForm, ColumnLines, ColumnOptions};
    use std::io::{Cursor, Read as _};
    let outcomes = [failing(), idle()];
    let (csv, file) = (report(Format::Csv, WIDE, &outcomes), report_bytes(Format::Parquet, WIDE, &outcomes));
    let column = |name: &str| {
        let options = ColumnOptions { run: Some(name.to_owned()), ..ColumnOptions::default() };
        let mut lines = String::new();
        let mut input =
            ColumnLines::open_input(ColumnForm::Parquet, Box::new(Cursor::new(file.clone())), options).unwrap();
        input.read_to_string(&mut lines).unwrap();
        lines.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    let (names, kinds, verdicts, tags) = (column("assertion"), column("kind"), column("verdict"), column("tags"));
    assert_eq!((names.len(), rows.len()), (12, 12));
    for (number, row) in rows.iter().enumerate() {
        let name = if names[number] == "null" { "" } else { &names[number] };
        let verdict = &verdicts[number];
        assert!(row.contains(&format!(",\"{name}\",")) && row.contains(&format!(",{verdict},")), "{row}");
        assert!(row.contains(&kinds[number]), "{row}");
        assert_eq!(tags[number] == "[\"payments\"]", row.contains("\"payments\""), "{row}");
    }
}
