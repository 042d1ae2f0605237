//! The library returns the same objects as the command, for the same rules and runs, in every format.

use assert_cmd::Command;
use averment::{Outcome, Rules, RunError, Trace};
use averment_fixtures::{files, name, project};
use serde_json::Value;
use std::path::{Path, PathBuf};

const RULES: &str = r#"
use std.secrets (secrets)
param limit: number
rule approval "Large refunds are approved" {
  tags money
  before approve(id: $id) -> refund(id: $id, amount > limit) message "no approval"
  never refund after cancel weight 2
}
never admin_*
no secrets in calls[*].args
each any: status != "denied"
output exists severity warn
cost <= $0.05
count message <= 40
"#;

/// Returns runs in every format, in one file each and many per file: golden files, examples, and generated lines.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let mut found =
        vec![folder.join("runs.jsonl"), folder.join("list.json"), folder.join("chat.jsonl"), folder.join("none.json")];
    std::fs::write(
        &found[0],
        "{\"calls\": [{\"tool\": \"refund\", \"args\": {\"id\": \"o-1\", \"amount\": 250}}]}\n\
         {\"calls\": [}\n\
         \n\
         {\"calls\": [{\"tool\": \"admin_reset\", \"args\": {\"key\": \"AKIAABCDEFGHIJKLMNOP\"}}], \"output\": {}, \"output\": 1}\n\
         {\"tool_calls\": [{\"name\": \"cancel\", \"arguments\": {}}, {\"name\": \"refund\", \"arguments\": {\"amount\": 1}}]}\n",
    )
    .unwrap();
    std::fs::write(
        &found[1],
        "[{\"calls\": []},\n {\"calls\": [{\"tool\": \"refund\", \"args\": {\"amount\": 101}}], \"cost\": 1}]",
    )
    .unwrap();
    std::fs::write(
        &found[2],
        "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}, {\"role\": \"assistant\", \"content\": \"yes\"}]}\n\
         {\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"1\", \"type\": \"function\", \
         \"function\": {\"name\": \"admin_reset\", \"arguments\": \"{}\"}}]}]}\n",
    )
    .unwrap();
    for folder in [
        "tests/golden/trace",
        "examples/refund-agent/runs",
        "examples/coding-agent/runs",
        "examples/reviewers-rules/runs",
    ] {
        let is_trace = |path: &PathBuf| name(path).contains(".json");
        found.extend(files(&project(folder)).into_iter().filter(is_trace));
    }
    found
}

/// Returns the output of `aver check --format json`.
fn said(rules: &Path, traces: &[PathBuf]) -> Value {
    let mut command = Command::cargo_bin("aver").unwrap();
    let command = command.arg("check").arg(rules).args(traces).args(["--param", "limit=100", "--format", "json"]);
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// Returns outcomes and unreadable traces, as the command would write them.
fn sorted(all: impl Iterator<Item = Result<Outcome, RunError>>) -> (Vec<Value>, Vec<Value>) {
    let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Ok(outcome) => runs.push(serde_json::to_value(&outcome).unwrap()),
            Err(RunError::Read(error)) => unreadable.push(serde_json::to_value(&error).unwrap()),
            Err(other) => panic!("{other}"),
        }
    }
    (runs, unreadable)
}

#[test]
fn every_way_in_says_what_the_command_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.assert");
    std::fs::write(&path, RULES).unwrap();
    let mut traces = traces(folder.path());
    traces.retain(|path| path.exists());
    let said = said(&path, &traces);
    let expected = (said["runs"].as_array().unwrap().clone(), said["unreadable"].as_array().unwrap().clone());
    assert!(expected.0.len() > 20 && !expected.1.is_empty(), "{} runs", expected.0.len());

    let rules = Rules::builder().file(&path).param("limit", 100).build().unwrap();
    let as_file = |path: &PathBuf| Trace::file(path);
    let as_bytes = |path: &PathBuf| Trace::from(std::fs::read(path).unwrap()).named(path.to_string_lossy());
    let as_reader = |path: &PathBuf| Trace::reader(std::fs::File::open(path).unwrap()).named(path.to_string_lossy());
    assert_eq!(sorted(traces.iter().map(as_file).flat_map(|trace| rules.check(trace))), expected);
    assert_eq!(sorted(traces.iter().map(as_bytes).flat_map(|trace| rules.check(trace))), expected);
    assert_eq!(sorted(traces.iter().map(as_reader).flat_map(|trace| rules.check(trace))), expected);
    for threads in [1, 2] {
        let mut outcomes = rules.batch().threads(threads).chunk(1 << 10).outcomes(&traces);
        assert_eq!(sorted(&mut outcomes), expected);
        let summary = outcomes.summary();
        assert_eq!(summary.runs(), expected.0.len() as u64);
        assert_eq!(serde_json::to_value(summary.score()).unwrap(), said["score"]);
        let mut counts = serde_json::to_value(summary.results()).unwrap();
        counts["runs"] = summary.runs().into();
        assert_eq!(counts, said["summary"]);
    }
}

#[test]
fn an_explanation_is_that_of_the_command() {
    let folder = project("examples/refund-agent");
    let (rules, trace) = (folder.join("refunds.assert"), folder.join("runs/wrong-order-approved.json"));
    let explained = |format: &str| {
        let mut command = Command::cargo_bin("aver").unwrap();
        let command = command.arg("explain").args([&rules, &trace]).args(["--format", format]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let rules = Rules::builder().file(&rules).build().unwrap();
    let explanation = rules.explain_one(Trace::file(&trace)).unwrap();
    assert_eq!(serde_json::to_value(&explanation).unwrap(), serde_json::from_str::<Value>(&explained("json")).unwrap());
    assert_eq!(explanation.to_string(), explained("human"));
}

#[test]
fn what_does_not_compile_is_said_in_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.assert");
    std::fs::write(&path, "nevr refund\noutput.x = 1\nuse \"./other\"\n").unwrap();
    let mut command = Command::cargo_bin("aver").unwrap();
    let output = command.arg("check").arg(&path).args(["x.json", "--format", "short"]).output().unwrap();
    let error = Rules::builder().file(&path).build().unwrap_err();
    assert_eq!(error.to_string(), String::from_utf8(output.stdout).unwrap().trim_end());
    assert_eq!(error.diagnostics().iter().count(), error.diagnostics().len());
}
