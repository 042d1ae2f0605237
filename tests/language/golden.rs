//! Golden files of the compiler and of the evaluation: sources beside what comes of them.

use averment_base::source::SourceFile;
use averment_engine::bytecode::disasm;
use averment_engine::vm::outcome::{AssertionOutcome, RunOutcome, VerdictEvidence};
use averment_fixtures as fixtures;
use averment_fixtures::Rules;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn golden(stage: &str) -> PathBuf {
    fixtures::project("tests/golden").join(stage)
}

fn rules(path: &Path) -> (String, Rules) {
    let name = fixtures::stem(path);
    let text = std::fs::read_to_string(path).unwrap();
    let rules = Rules::from_text(&format!("{name}.assert"), &text).unwrap_or_else(|error| panic!("{name}:\n{error}"));
    (name, rules)
}

#[test]
fn listings_of_programs() {
    for path in fixtures::rule_files(&golden("bytecode")) {
        let (name, rules) = rules(&path);
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(name, disasm::list_program(rules.program()));
    }
}

#[test]
fn verdicts_with_reasons_and_evidence() {
    for path in fixtures::rule_files(&golden("evaluate")) {
        let (name, rules) = rules(&path);
        let run = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let outcome = rules.check_json(&run).unwrap_or_else(|error| panic!("{name}: {error}"));
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(name, shown(&rules, &run, &outcome));
    }
}

fn shown(rules: &Rules, run: &str, outcome: &RunOutcome) -> String {
    let mut out = String::new();
    for result in &outcome.results {
        show_result(rules, run, result, &mut out);
    }
    for rule in &outcome.rules {
        let id = &rules.program().rules[rule.rule as usize].id;
        let passed = if rule.passed { "passed" } else { "not passed" };
        writeln!(out, "rule {id}: {}, {passed}, score {:?}", rule.verdict.as_str(), rule.score).unwrap();
    }
    for (name, score) in &outcome.named_scores {
        writeln!(out, "{name}: {score}").unwrap();
    }
    let passed = if outcome.passed { "passed" } else { "not passed" };
    writeln!(out, "run: {passed}, score {:?}", outcome.score).unwrap();
    out
}

fn show_result(rules: &Rules, run: &str, result: &AssertionOutcome, out: &mut String) {
    let assertion = &rules.program().assertions[result.assertion as usize];
    writeln!(out, "{}", assertion.text).unwrap();
    let score = result.score.map_or("no score".to_owned(), |score| format!("score {score}"));
    writeln!(out, "  {}, {score}", result.status.as_str()).unwrap();
    if !result.reason.is_empty() {
        writeln!(out, "  because {}", result.reason).unwrap();
    }
    if let Some(message) = &result.message {
        writeln!(out, "  message {message}").unwrap();
    }
    for evidence in &result.evidence {
        show_evidence(rules, run, evidence, out);
    }
    out.push('\n');
}

fn show_evidence(rules: &Rules, run: &str, evidence: &VerdictEvidence, out: &mut String) {
    let mut parts = vec![format!("{:?}", evidence.role).to_lowercase()];
    parts.extend(evidence.step.map(|step| format!("step {}", step + 1)));
    if !evidence.path.is_empty() {
        parts.push(evidence.path.clone());
    }
    parts.extend(evidence.value.clone());
    if let Some(origin) = &evidence.origin {
        let text = run[origin.clone()].replace('\n', " ");
        parts.push(format!("at {}..{} `{}`", origin.start, origin.end, shorten(&text)));
    }
    if let Some(span) = evidence.rule_span {
        let source = &rules.program().sources[span.file.0 as usize];
        let place = SourceFile::new("", None, &*source.text).line_column(span.start);
        parts.push(format!("rule {}:{} `{}`", place.line, place.column, &source.text[span.as_range()]));
    }
    writeln!(out, "  - {}: {}", evidence.label, parts.join(", ")).unwrap();
}

fn shorten(text: &str) -> String {
    if text.chars().count() > 40 { text.chars().take(39).chain(['…']).collect() } else { text.to_owned() }
}
