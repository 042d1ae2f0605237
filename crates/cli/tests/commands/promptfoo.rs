//! Promptfoo results on the command line: judged by the assertions they contain, and compared with the recorded outcomes.

use crate::folder::Folder;
use serde_json::{Value, json};

/// Returns a result whose assertions were all recorded as passed.
fn result(index: usize, output: &str, asserts: Value) -> Value {
    let recorded: Vec<Value> =
        asserts.as_array().unwrap().iter().map(|one| json!({"pass": true, "score": 1, "assertion": one})).collect();
    json!({
        "id": format!("r-{index}"), "testIdx": index, "promptIdx": 0, "success": true, "score": 1, "traceId": "t",
        "vars": {}, "response": {"output": output}, "testCase": {"vars": {}, "assert": asserts},
        "gradingResult": {"pass": true, "score": 1, "componentResults": recorded},
    })
}

fn results(rows: &[Value]) -> String {
    let span = json!({"spanId": "0000000000000001", "name": "answer", "startTime": 1_760_000_000_000_u64, "endTime": 1_760_000_000_005_u64});
    let traces = json!([{"traceId": "t", "spans": [span]}]);
    format!("{:#}", json!({"evalId": "e", "results": {"version": 3, "results": rows}, "traces": traces}))
}

/// Returns the verdict and the message of each result of a run that did not pass.
fn told(report: &Value, run: usize) -> Vec<(String, String)> {
    let results = report["runs"][run]["results"].as_array().unwrap();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let others = results.iter().filter(|one| one["verdict"] != "pass" && one["verdict"] != "skipped");
    others.map(|one| (text(one, "verdict"), text(one, "message"))).collect()
}

#[test]
fn results_are_judged_by_their_own_assertions_and_disagreements_are_told() {
    let vacuous = json!([{"type": "trace-span-count", "value": {"pattern": "pay*", "max": 0}}]);
    let other = json!([{"type": "contains", "value": "refund"}]);
    let rows = [result(0, "Your refund is on its way.", vacuous), result(1, "No.", other)];
    let folder = Folder::new(&[("results.json", results(&rows).as_str())]);
    let ran = folder.aver("check results.json --format json");
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = ran.json();
    let verdicts = |run: usize| told(&report, run).into_iter().map(|(verdict, _)| verdict).collect::<Vec<_>>();
    assert_eq!(verdicts(0), ["vacuous"], "{report:#}");
    assert_eq!(verdicts(1), ["fail", "fail"], "{report:#}");
    let said = folder.aver("check results.json --format short");
    assert!(said.out.contains("promptfoo recorded another verdict of `contains`"), "{said:?}");
    // With promptfoo's semantics, an assertion that holds because a value is missing passes.
    let alone = Folder::new(&[("results.json", results(&rows[..1]).as_str())]);
    assert_eq!(alone.aver("check results.json").code, 0);
    let as_there = alone.aver("check results.json --compat promptfoo --format json");
    assert_eq!((as_there.code, told(&as_there.json(), 0)), (0, Vec::new()), "{as_there:?}");
}

#[test]
fn a_single_result_on_one_line_is_judged_as_over_many_lines() {
    let other = json!([{"type": "contains", "value": "refund"}]);
    let spread = results(&[result(0, "No.", other)]);
    let line = serde_json::from_str::<Value>(&spread).unwrap().to_string();
    let alone =
        |text: &str| told(&Folder::new(&[("results.json", text)]).aver("check results.json --format json").json(), 0);
    assert_eq!(alone(&spread).len(), 2);
    assert_eq!(alone(&line), alone(&spread));
    assert_eq!(alone(&format!("{line}\n")), alone(&spread));
}
