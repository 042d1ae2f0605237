//! Runs Dogwood: reads a list of `{schema, policy, log, first}`; for each, prints the decisions, or the first denied call.

use dogwood_language::{
    Authorizer, Decision, LoweredPolicySet, PolicySchema, ServiceSchema, UNPINNED_EVENT_SCHEMA, Validator, parse_trace,
};
use dogwood_local_engine::LocalTemporalEngine;
use serde_json::{Value, json};

fn outcome(asked: &Value) -> Result<Value, String> {
    let text = |name: &str| asked[name].as_str().unwrap_or_default();
    let service =
        ServiceSchema::builder().event_schema_str(UNPINNED_EVENT_SCHEMA).build().map_err(|error| format!("{error:?}"))?;
    let schema = PolicySchema::from_cedarschema_str(text("schema")).map_err(|error| format!("{error:?}"))?;
    let lowered =
        || LoweredPolicySet::from_str(text("policy"), &service, &schema).map_err(|error| format!("{error:?}"));
    let validated = Validator::new().validate(&lowered()?);
    if !validated.validation_passed() {
        return Err(format!("{validated:?}").chars().take(400).collect());
    }
    let engine = LocalTemporalEngine::new();
    let mut engine =
        Authorizer::builder(lowered()?).temporal_engine(engine).build().map_err(|error| format!("{error:?}"))?;
    let events = parse_trace(text("log")).map_err(|error| format!("{error:?}"))?;
    let decisions: Vec<bool> = events
        .iter()
        .filter_map(|event| engine.is_authorized(event))
        .map(|response| response.decision() == Decision::Allow)
        .collect();
    Ok(match asked["first"] == true {
        true => json!(decisions.iter().position(|allowed| !allowed)),
        false => json!(decisions),
    })
}

fn main() {
    let asked: Vec<Value> = serde_json::from_reader(std::io::stdin()).expect("a list of inputs");
    let outcomes: Vec<Value> =
        asked.iter().map(|one| outcome(one).unwrap_or_else(|error| json!({ "error": error }))).collect();
    println!("{}", serde_json::to_string(&outcomes).expect("outcomes"));
}
