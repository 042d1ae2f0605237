//! Runsight workflows on the command line: comparison of blocks with earlier runs, regressions, and suites without a trace.

use crate::folder::Folder;
use averment_fixtures::{lines, shared};
use serde_json::{Value, json};

/// Returns a workflow whose block `n1` has this score on the output `good`, rounded to tenths.
fn workflow(score: f64, passes: bool) -> String {
    let passing = (score * 10.0).round();
    let mut text = "blocks:\n  n1:\n    type: llm\n    assertions:\n".to_owned();
    if passing > 0.0 && (passes || score < 1.0) {
        text.push_str(&format!("      - {{type: contains, value: good, weight: {passing}}}\n"));
    }
    if !passes {
        text.push_str(&format!("      - {{type: contains, value: better, weight: {}}}\n", 10.0 - passing));
    }
    text
}

/// Returns a run of it with the measurements of a node of the test vectors.
fn run(node: &Value) -> Value {
    let mut block = json!({"output": "good", "cost_usd": node["cost_usd"]});
    if let Some(tokens) = node["tokens"].get("total") {
        block["total_tokens"] = tokens.clone();
    }
    json!({"blocks": {"n1": block, "n2": {"output": ""}}})
}

/// Returns a report of earlier runs with these facts about the block.
fn report(blocks: &[Value]) -> String {
    let runs: Vec<Value> = blocks.iter().map(|own| json!({"rules": [{"id": "n1", "own": own}]})).collect();
    json!({ "runs": runs }).to_string()
}

fn block(folder: &Folder, flags: &str) -> Value {
    let ran = folder.aver(&format!("check workflow.yaml run.json --format json {flags}"));
    ran.json()["runs"][0]["rules"][0]["own"].clone()
}

/// Creates the workflow and the run that have the score and the verdict of a node.
fn of_node(node: &Value) -> Folder {
    let passes = node["eval_passed"] != false && node["eval_score"].as_f64().is_none_or(|score| score >= 1.0);
    let score = node["eval_score"].as_f64().unwrap_or(if passes { 1.0 } else { 0.0 });
    Folder::new(&[("workflow.yaml", &workflow(score, passes)), ("run.json", &run(node).to_string())])
}

#[test]
fn deltas_are_those_of_the_vectors() {
    let Some(vectors) = shared("conformance/runsight") else { return };
    for vector in lines(&vectors.join("golden_baseline_delta.jsonl")) {
        let (node, baseline) = (&vector["node"], &vector["baseline"]);
        let folder = of_node(node);
        let flags = if baseline.is_null() { "" } else { "--baseline earlier.json" };
        let before = json!({"cost_usd": baseline["avg_cost"], "total_tokens": baseline["avg_tokens"], "score": baseline["avg_score"]});
        let count = baseline["run_count"].as_u64().unwrap_or(0) as usize;
        folder.write("earlier.json", report(&vec![before; count]).as_bytes());
        let own = block(&folder, flags);
        assert_eq!(own["delta"], vector["expected_delta"], "{vector}: {own}");
        if let Some(score) = node["eval_score"].as_f64() {
            assert_eq!(own["score"], score, "{vector}");
        }
    }
}

#[test]
fn regressions_are_those_of_the_vectors() {
    let Some(vectors) = shared("conformance/runsight") else { return };
    for vector in lines(&vectors.join("golden_regressions.jsonl")) {
        let (node, previous) = (&vector["current"], &vector["previous"]);
        let folder = of_node(node);
        let before = json!({"cost_usd": previous["cost_usd"], "passed": previous["eval_passed"], "score": previous["eval_score"]});
        folder.write("earlier.json", report(&[before]).as_bytes());
        let own = block(&folder, "--baseline earlier.json");
        let said = own["regressions"].as_array().unwrap().clone();
        let there = vector["expected_issues"].as_array().unwrap();
        let there: Vec<Value> = there.iter().map(|one| json!({"type": one["type"], "delta": one["delta"]})).collect();
        assert_eq!(said, there, "{vector}: {own}");
    }
}

#[test]
fn a_report_of_earlier_runs_is_what_later_ones_are_compared_with() {
    let earlier = json!({"cost_usd": 0.1, "tokens": {"total": 100}});
    let folder = of_node(&earlier);
    folder.write("earlier.json", folder.aver("check workflow.yaml run.json --format json").out.as_bytes());
    let own = block(&folder, "--baseline earlier.json");
    let delta = json!({"cost_pct": 0.0, "tokens_pct": 0.0, "score_delta": 0.0, "baseline_run_count": 1});
    assert_eq!(own["delta"], delta, "{own}");
    let ran = folder.aver("check workflow.yaml run.json --baseline earlier.json");
    assert!(ran.err.contains("note: no regression against 1 earlier run"), "{ran:?}");

    let mut dear = run(&json!({"cost_usd": 0.15, "tokens": {"total": 100}}));
    dear["blocks"]["n1"]["output"] = json!("poor");
    folder.write("dear.json", dear.to_string().as_bytes());
    let ran = folder.aver("check workflow.yaml dear.json --baseline earlier.json");
    let said = "1 block became worse against 1 earlier run: n1 in dear.json: assertion_regression, cost_spike +50.0%, quality_drop -1.00";
    assert!(ran.err.replace('\n', " ").contains(said), "{ran:?}");

    // Another `soul_version` has no earlier run to compare with.
    dear["blocks"]["n1"]["soul_version"] = json!("v2");
    folder.write("run.json", dear.to_string().as_bytes());
    let own = block(&folder, "--baseline earlier.json");
    assert_eq!((&own["delta"], &own["regressions"]), (&Value::Null, &json!([])), "{own}");
    assert_eq!(own["soul_version"], "v2");

    folder.write("other.json", b"{\"runs\": []}");
    folder.aver("check workflow.yaml run.json --baseline other.json").refused(&["other.json", "--format json"]);
    let ran = folder.aver("check workflow.yaml run.json --baseline earlier.json --update-baseline");
    ran.refused(&["is something else than a baseline"]);
}

const SUITE: &str = "\
eval:
  threshold: 0.5
  cases:
    - id: greeting
      fixtures: {answer: \"Hello there\"}
      expected:
        answer:
          - {type: contains, value: Hello}
          - {type: contains, value: Goodbye}
";

#[test]
fn a_suite_is_judged_on_its_recorded_outputs_where_no_trace_is_named() {
    let folder = Folder::new(&[("suite.yaml", SUITE), ("strict.yaml", &SUITE.replace("0.5", "0.8"))]);
    let ran = folder.aver("check suite.yaml");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = folder.aver("check strict.yaml");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("the recorded outputs") && ran.out.contains("strict.yaml:9"), "{ran:?}");
    let report = folder.aver("check strict.yaml --format json").json();
    let rule = &report["runs"][0]["rules"][0];
    assert_eq!(
        (&rule["id"], &rule["score"], &rule["threshold"]),
        (&json!("eval"), &json!(0.5), &json!(0.8)),
        "{report}"
    );

    // The assertions of its workflow are about runs, so they are left out.
    let whole = format!("blocks:\n  answer:\n    assertions:\n      - {{type: cost, threshold: 1}}\n{SUITE}");
    folder.write("whole.yaml", whole.as_bytes());
    let report = folder.aver("check whole.yaml --format json").json();
    assert_eq!(report["runs"][0]["rules"].as_array().map(Vec::len), Some(1), "{report}");
}

#[test]
fn suites_are_judged_as_their_tests_are_and_as_in_the_vectors() {
    let Some(vectors) = shared("conformance/runsight") else { return };
    let (mut agree, mut refused) = (0, 0);
    for vector in lines(&vectors.join("golden_eval_suites.jsonl")) {
        let folder = Folder::new(&[("suite.yaml", vector["workflow_yaml"].as_str().unwrap())]);
        let (checked, tested) = (folder.aver("check suite.yaml").code, folder.aver("test suite.yaml").code);
        if checked == 3 {
            // Refused files are compared in the tests of the import.
            refused += 1;
            assert_ne!(tested, 0, "{}", vector["id"]);
            continue;
        }
        assert_eq!(checked, tested, "{}", vector["id"]);
        if let Some(expected) = vector.get("expected") {
            assert_eq!(checked == 0, expected["passed"] == true, "{}", vector["id"]);
            agree += 1;
        }
    }
    println!("golden_eval_suites.jsonl: {agree} agree, {refused} are refused");
    assert!(agree >= 10, "{agree}");
}
