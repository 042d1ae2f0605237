//! Reads a list of `{schema, policy, logs}` (JSON), and prints for each whether the policy is valid, and the decisions of each log.

use dogwood_language::{parse_trace, Authorizer, Decision, LoweredPolicySet, PolicySchema, ServiceSchema, Validator, UNPINNED_EVENT_SCHEMA};
use dogwood_local_engine::LocalTemporalEngine;
use serde_json::{json, Value};
use std::io::Read;

fn outcome(case: &Value) -> Result<Value, String> {
    let service = ServiceSchema::builder().event_schema_str(UNPINNED_EVENT_SCHEMA).build().map_err(|e| format!("{e:?}"))?;
    let schema = PolicySchema::from_cedarschema_str(case["schema"].as_str().unwrap()).map_err(|e| format!("{e:?}"))?;
    let lower = || LoweredPolicySet::from_str(case["policy"].as_str().unwrap(), &service, &schema).map_err(|e| format!("{e:?}"));
    let result = Validator::new().validate(&lower()?);
    let mut all = Vec::new();
    for log in case["logs"].as_array().unwrap() {
        let events = parse_trace(log.as_str().unwrap()).map_err(|e| format!("{e:?}"))?;
        let mut engine = Authorizer::builder(lower()?).temporal_engine(LocalTemporalEngine::new()).build().map_err(|e| format!("{e:?}"))?;
        let decisions: Vec<bool> = events.iter().filter_map(|event| engine.is_authorized(event)).map(|r| r.decision() == Decision::Allow).collect();
        all.push(decisions);
    }
    Ok(json!({"valid": result.validation_passed(), "why": format!("{result:?}").chars().take(400).collect::<String>(), "decisions": all}))
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let all: Vec<Value> = cases.as_array().unwrap().iter().map(|case| outcome(case).unwrap_or_else(|error| json!({"error": error}))).collect();
    println!("{}", Value::from(all));
}
