//! Suites as the Assay program runs them: tests by prompt, on all runs of a trace.

use crate::judged::Given;
use crate::tally::Tally;
use averment::{Rules, Trace, Verdict};
use averment_checker::files::Disk;
use averment_fixtures::{lines, shared};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the result of each test, which passes if every run with its prompt passes.
fn tests(suite: &Path, trace: Option<&Path>) -> Result<BTreeMap<String, &'static str>, String> {
    let text = std::fs::read_to_string(suite).unwrap();
    let name = suite.to_str().unwrap();
    let rules = Rules::builder().files(Disk::anywhere(1 << 20)).text(name, text.as_str()).allow_empty(true);
    let rules = rules.build().map_err(|error| error.to_string())?;
    let mut found = BTreeMap::new();
    let Some(trace) = trace else { return Ok(found) };
    let bytes = std::fs::read(trace).unwrap();
    for outcome in rules.check(Trace::from(bytes).named(trace.to_str().unwrap())) {
        let outcome = outcome.map_err(|error| error.to_string())?;
        for rule in outcome.rules().filter(|rule| !matches!(rule.verdict(), Verdict::Undecided | Verdict::Skipped)) {
            let word = if rule.verdict() == Verdict::Fail { "fail" } else { "pass" };
            found.insert(rule.id().to_owned(), word);
        }
    }
    Ok(found)
}

/// Returns why a suite that the program rejects is accepted here.
fn decision(suite: &str) -> Option<&'static str> {
    [
        ("mcp-tool-safety-gate", "tests may have a `description`, as the documents show"),
        ("agent-function-calling", "the assertion names its tool by `tool_name`, as documents of version 0.9 do"),
    ]
    .into_iter()
    .find(|(part, _)| suite.contains(part))
    .map(|(_, reason)| reason)
}

/// Compares the suites of Assay's repository on their traces with recorded results of its program.
pub(super) fn suites() -> Option<(usize, usize)> {
    let path = shared("conformance/assay/EXPECTED.jsonl")?;
    let folder = path.parent().unwrap();
    let mut tally = Tally::of("EXPECTED.jsonl");
    for row in lines(&path) {
        let suite = row["suite"].as_str().unwrap();
        let found = tests(&folder.join(suite), row["trace"].as_str().map(|trace| folder.join(trace)).as_deref());
        let refused = row["exit"] == 2;
        match found {
            Err(_) if refused => tally.agrees(),
            Ok(_) if refused && decision(suite).is_some() => tally.decided(decision(suite).unwrap()),
            Ok(_) if row["trace"].is_null() && !refused => tally.agrees(),
            Err(said) if said.contains("regular expression") => {
                tally.decided(
                    "an expression that cannot be read is an error of the file, where the program fails its test",
                );
            }
            Ok(found) if !refused && agree(&row["tests"], &found) => tally.agrees(),
            other => tally.wrong(format!("{suite} {}: {:?}\n  {other:?}", row["exit"], row["tests"])),
        }
    }
    Some(tally.end())
}

fn agree(wanted: &Value, found: &BTreeMap<String, &'static str>) -> bool {
    let wanted = wanted.as_object().unwrap();
    wanted.len() == found.len()
        && wanted.iter().all(|(test, status)| found.get(test).is_some_and(|word| status == *word))
}

#[test]
fn a_test_judges_the_runs_of_its_prompt() {
    let text = "version: 1\nsuite: s\nmodel: trace\ntests:\n  - id: hello\n    tags: [smoke]\n    input: { prompt: \"Say hello\" }\n    expected: { type: must_contain, must_contain: [hello] }\n    assertions:\n      - { type: trace_must_not_call_tool, tool: Delete }\n      - { type: trace_max_steps, max: 1 }\n";
    let given = Given { name: "eval.yaml", text, ..Given::default() };
    given.imports_cleanly();
    let run = |prompt: &str, output: &str| {
        format!(
            r#"{{"type":"assay.trace","schema_version":1,"request_id":"r","prompt":"{prompt}","response":"{output}","meta":{{"tool_calls":[]}}}}"#
        )
    };
    assert!(given.judge(&run("Say hello", "hello you")).unwrap().passed);
    assert!(!given.judge(&run("Say hello", "good day")).unwrap().passed);
    assert!(given.judge(&run("Say no", "good day")).unwrap().passed);
}

#[test]
fn likeness_and_judgements_are_those_that_the_trace_records() {
    let text = "version: 1\nsuite: s\nmodel: trace\ntests:\n  - { id: like, input: p, expected: { type: semantic_similarity_to, text: \"a\", min_score: 0.9 } }\n  - { id: true_to, input: p, expected: { type: faithfulness, min_score: 0.7 } }\n";
    let given = Given { name: "eval.yaml", text, ..Given::default() };
    given.imports_cleanly();
    let run = |response: &str, score: f64| {
        format!(
            r#"{{"type":"assay.trace","schema_version":1,"request_id":"r","prompt":"p","response":"x","meta":{{"assay":{{"embeddings":{{"response":{response},"reference":[1.0,0.0]}},"judge":{{"faithfulness":{{"passed":true,"score":{score}}}}}}}}}}}"#
        )
    };
    let verdicts = |run: &str| -> Vec<Verdict> { given.judge(run).unwrap().rules.iter().map(|rule| rule.1).collect() };
    assert_eq!(verdicts(&run("[2.0, 0.1]", 0.7)), [Verdict::Pass, Verdict::Pass]);
    assert_eq!(verdicts(&run("[0.1, 2.0]", 0.6)), [Verdict::Fail, Verdict::Fail]);
}

#[test]
fn policies_are_checked_by_themselves() {
    let verdict = |text: &str, run: &str| {
        let given = Given { name: "policy.yaml", text, ..Given::default() };
        given.imports_cleanly();
        given.judge(run).unwrap().passed
    };
    let calls = |names: &[&str]| {
        let calls: Vec<String> =
            names.iter().map(|name| format!("{{\"tool\": \"{name}\", \"args\": {{\"path\": \"/app/x\"}}}}")).collect();
        format!("{{\"calls\": [{}]}}", calls.join(", "))
    };
    let structured = "version: \"2.0\"\nname: demo\ntools:\n  allow: [read_*, list]\n  deny: [exec]\nschemas:\n  read_file:\n    type: object\n    required: [path]\n    properties: { path: { type: string, pattern: \"^/app/.*\" } }\nenforcement: { unconstrained_tools: deny }\n";
    assert!(verdict(structured, &calls(&["read_file"])));
    assert!(!verdict(structured, &calls(&["list"])));
    assert!(!verdict(structured, &calls(&["exec"])));
    assert!(verdict("- a\n- b\n", &calls(&["a", "b"])));
    assert!(!verdict("- a\n- b\n", &calls(&["a", "x", "b"])));
    assert!(!verdict("- { type: never_after, trigger: a, forbidden: b }\n", &calls(&["a", "b"])));
    let aliased = "version: \"1.1\"\nname: sinks\naliases: { Sink: [web, mail] }\nsequences:\n  - { id: no-sink, type: never_after, trigger: read, forbidden: Sink }\n";
    assert!(!verdict(aliased, &calls(&["read", "mail"])));
    assert!(verdict(aliased, &calls(&["mail", "read"])));
    let old = "version: \"1.0\"\nname: old\nallow: [\"*\"]\ndeny: [shell]\nconstraints:\n  - { tool: read_file, params: { path: { matches: \"^/app/\" } } }\n";
    assert!(verdict(old, &calls(&["read_file"])));
    assert!(!verdict(old, &calls(&["shell"])));
}
