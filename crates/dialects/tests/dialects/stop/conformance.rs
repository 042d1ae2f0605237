//! Compares recorded results of STOP's runtime for checks in a context with the verdicts here.

use super::{manifest, words};
use crate::tally::{Tally, few_decisions};
use averment_fixtures::shared;
use serde_json::{Value, json};

const UNKNOWN_DURATION: &str = "a duration that nobody recorded was not within a bound: it is undecided, and no pass";
const EMPTY_LIST: &str = "a list or a mapping without anything in it is empty";

/// Returns a manifest with the checks of a vector, and declarations of the inputs that they use.
fn of_vector(vector: &Value) -> String {
    let rules = vector["rules"].to_string();
    let mut inputs: Vec<String> = Vec::new();
    for piece in rules.split("${inputs.").skip(1) {
        let name = piece.split('}').next().unwrap().to_owned();
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !inputs.contains(&name) {
            inputs.push(name);
        }
    }
    let inputs: Vec<Value> = inputs.into_iter().map(|name| json!({"name": name, "type": "string"})).collect();
    let phase = vector["phase"].as_str().unwrap();
    let inputs = Value::from(inputs);
    manifest(&format!("inputs: {inputs}\nassertions: {{ {phase}: {rules} }}\n"))
}

/// Returns the context of a vector as a run. A folder is written as an existing file without text.
fn run_of(vector: &Value, files: &Value) -> String {
    let context = &vector["ctx"];
    let given = |key: &str| context.get(key).cloned().unwrap_or_else(|| json!({}));
    let mut run = json!({"inputs": given("inputs"), "output": given("outputs"), "env": given("env"), "files": {}});
    for (path, text) in files.as_object().unwrap() {
        let held = if text.is_null() { json!(true) } else { text.clone() };
        run["files"][path.trim_end_matches('/')] = held;
    }
    for (key, of_run) in [("tools", "tools"), ("duration_ms", "duration")] {
        if let Some(value) = context.get(key) {
            run[of_run] = value.clone();
        }
    }
    run.to_string()
}

/// Returns the documented reason why a result differs.
fn decision(rule: &Value, context: &Value) -> Option<&'static str> {
    let check = rule["check"].as_str()?;
    if check == "duration" && context.get("duration_ms").is_none() {
        return Some(UNKNOWN_DURATION);
    }
    let value = &context["outputs"][check.strip_prefix("output.")?];
    let empty = value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty);
    (rule["not_empty"] == true && empty).then_some(EMPTY_LIST)
}

fn vectors() -> (usize, usize) {
    let Some(path) = shared("conformance/stop/runner_vectors.json") else { return (0, 0) };
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut tally = Tally::of("runner_vectors.json");
    for vector in all["vectors"].as_array().unwrap() {
        let wanted: Vec<&str> =
            vector["results"].as_array().unwrap().iter().map(|one| one["status"].as_str().unwrap()).collect();
        let rules = vector["rules"].as_array().unwrap();
        // In STOP, an unusable check fails for every run.
        let found = words(&of_vector(vector), &run_of(vector, &all["fixture_files"]))
            .unwrap_or_else(|_| vec!["fail"; rules.len()]);
        let differing =
            || rules.iter().zip(wanted.iter().zip(&found)).filter(|(_, (a, b))| a != b).map(|(rule, _)| rule);
        let reasons: Vec<_> = differing().map(|rule| decision(rule, &vector["ctx"])).collect();
        match reasons.as_slice() {
            _ if found.len() != wanted.len() => tally.wrong(format!("{}: {found:?}, not {wanted:?}", vector["label"])),
            [] => tally.agrees(),
            several => match several.iter().copied().collect::<Option<Vec<_>>>() {
                Some(reasons) => tally.decided(reasons[0]),
                None => tally.wrong(format!("{}: {found:?}, not {wanted:?}", vector["label"])),
            },
        }
    }
    tally.end()
}

#[test]
fn conformance_stop() {
    if shared("conformance/stop").is_none() {
        return;
    }
    few_decisions("STOP", [vectors(), super::documents::examples()]);
}
