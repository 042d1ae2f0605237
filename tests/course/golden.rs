//! What reports say: for each file of rules in `tests/golden/course` the runs in its comments, with reasons and evidence.

use crate::run::{rules, run};
use averment::vm::outcome::Outcome;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

#[test]
fn reasons_and_evidence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/course");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut count = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "assert")) {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, report(&text)));
        count += 1;
    }
    assert!(count > 5);
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

fn write_outcome(rules: &averment::Rules, outcome: &Outcome, out: &mut String) {
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
