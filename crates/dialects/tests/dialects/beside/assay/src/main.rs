//! Runs Assay: reads a list of inputs, prints a list of outcomes.

use assay_core::model::{Policy, SequenceRule};
use assay_core::policy_engine::{VerdictStatus, evaluate_tool_args};
use assay_core::sequence_eval::{RuleOutcome, SequenceCall, TraceExtent, evaluate_rules};
use serde_json::{Value, json};

fn outcome(asked: &Value) -> String {
    let policy = &asked["policy"];
    let calls = asked["calls"].as_array().cloned().unwrap_or_default();
    if policy["schemas"].is_object() {
        let verdict = evaluate_tool_args(&policy["schemas"], "pay", &calls[0]["args"]);
        return if verdict.status == VerdictStatus::Allowed { "allowed" } else { "blocked" }.to_owned();
    }
    let rules: Vec<SequenceRule> = match serde_json::from_value(policy["sequences"].clone()) {
        Ok(rules) => rules,
        Err(error) => {
            eprintln!("refused: {error}");
            return "refused".to_owned();
        }
    };
    let whole: Option<Policy> =
        serde_json::from_value(json!({"version": "1.1", "name": "policy", "aliases": policy["aliases"]})).ok();
    let calls: Vec<SequenceCall> = calls
        .iter()
        .map(|call| SequenceCall {
            name: call["tool"].as_str().unwrap_or_default().to_owned(),
            args: call["args"].clone(),
        })
        .collect();
    match evaluate_rules(&rules, &calls, whole.as_ref(), TraceExtent::Complete)[0].outcome {
        RuleOutcome::Held => "held",
        RuleOutcome::Violated => "violated",
        RuleOutcome::NotExercised => "not_exercised",
    }
    .to_owned()
}

fn main() {
    let asked: Vec<Value> = serde_json::from_reader(std::io::stdin()).expect("a list of inputs");
    let outcomes: Vec<String> = asked.iter().map(outcome).collect();
    println!("{}", serde_json::to_string(&outcomes).expect("texts"));
}
