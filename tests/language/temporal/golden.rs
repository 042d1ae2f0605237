//! What reports say: for each file of rules in `tests/golden/temporal` the runs in its comments, with reasons and evidence.

use crate::temporal::run::{rules, run};
use averment_engine::vm::outcome::RunOutcome;
use averment_fixtures as fixtures;
use serde_json::Value;
use std::fmt::Write;

#[test]
fn reasons_and_evidence() {
    let folder = fixtures::project("tests/golden/temporal");
    let paths = fixtures::rule_files(&folder);
    for path in &paths {
        let _scope = fixtures::snapshot_beside(path);
        insta::assert_snapshot!(fixtures::stem(path), report(&std::fs::read_to_string(path).unwrap()));
    }
    assert!(paths.len() > 5);
}

/// The rules with what they say of each run.
fn report(text: &str) -> String {
    let compiled = rules(text);
    let mut out = text.trim_end().to_owned();
    for line in text.lines() {
        let short = line.strip_prefix("# run: ").map(run);
        let long = line.strip_prefix("# json: ").map(|text| serde_json::from_str::<Value>(text).unwrap());
        let Some(run) = short.or(long) else { continue };
        let _ = write!(out, "\n\n──── {line}");
        let outcome = compiled.check_json(&run.to_string()).unwrap();
        write_outcome(&compiled, &outcome, &mut out);
    }
    out
}

fn write_outcome(rules: &averment_fixtures::Rules, outcome: &RunOutcome, out: &mut String) {
    for result in &outcome.results {
        let assertion = &rules.program().assertions[result.assertion as usize];
        let _ = write!(out, "\n{}\n  {}", assertion.text, result.verdict.as_str());
        if !result.reason.is_empty() {
            let _ = write!(out, ": {}", result.reason);
        }
        for evidence in &result.evidence {
            let step = evidence.step.map(|step| format!(" step {}", step + 1)).unwrap_or_default();
            let value = evidence.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
            let role = format!("{:?}", evidence.role).to_lowercase();
            let _ = write!(out, "\n  - {role}{step} {}{value}: {}", evidence.path, evidence.label);
        }
    }
}
