//! Test vectors of the Assay program and of its documentation.

use crate::judged::Given;
use crate::tally::{Tally, few_decisions};
use averment::{UndecidedCause, Verdict};
use averment_fixtures::{lines, shared};
use serde_json::{Value, json};

/// Returns Assay's word for a verdict.
fn outcome(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "held",
        Verdict::Fail => "violated",
        // Assay calls an undecided rule of an unfinished run not exercised.
        Verdict::Vacuous | Verdict::Undecided => "not_exercised",
        Verdict::Error => "error",
        Verdict::Skipped => "skipped",
    }
}

/// True if both outcomes are equivalent. For an unfinished run, `held` in Assay means that nothing has broken the rule so far; here that is undecided
/// with the cause open or owed.
fn same_outcome(vector: &Value, found: (Verdict, Option<UndecidedCause>)) -> bool {
    let causes = [Some(UndecidedCause::Open), Some(UndecidedCause::Owed)];
    let may_change = found.0 == Verdict::Undecided && causes.contains(&found.1);
    vector["outcome"] == outcome(found.0) || may_change && vector["extent"] == "partial" && vector["outcome"] == "held"
}

/// Returns the verdict of the only rule of a policy on a run, and the cause if it is undecided.
fn verdict_with_cause(policy: &Value, run: &Value) -> Result<(Verdict, Option<UndecidedCause>), String> {
    let text = policy.to_string();
    let given = Given { name: "policy.yaml", text: &text, ..Given::default() };
    let judged = given.judge(&run.to_string())?;
    assert_eq!(judged.results.len(), 1, "{text}");
    Ok((judged.results[0].1, judged.causes[0]))
}

fn verdict(policy: &Value, run: &Value) -> Result<Verdict, String> {
    Ok(verdict_with_cause(policy, run)?.0)
}

fn run(vector: &Value) -> Value {
    let named = |name: &Value| json!({ "tool": name, "args": {} });
    let calls = match vector["calls"].as_array() {
        Some(calls) => calls.clone(),
        None => vector["trace"].as_array().unwrap().iter().map(named).collect(),
    };
    match vector["extent"].as_str() {
        Some("partial") => json!({ "calls": calls, "complete": false }),
        _ => json!({ "calls": calls }),
    }
}

/// Tests each rule as a policy of the Assay program, with the aliases of the vector.
fn of_rules(file: &str) -> Option<(usize, usize)> {
    let path = shared(&format!("conformance/assay/{file}"))?;
    let mut tally = Tally::of(file);
    for vector in lines(&path) {
        let mut policy = json!({ "version": "1.1", "name": "policy", "sequences": [vector["rule"]] });
        if vector["aliases"].is_object() {
            policy["aliases"] = vector["aliases"].clone();
        }
        match verdict_with_cause(&policy, &run(&vector)) {
            Ok(found) if same_outcome(&vector, found) => tally.agrees(),
            Err(said) if said.contains("regular expression") => {
                tally.decided("an expression that cannot be read is an error, where the program lets it match nothing");
            }
            other => tally.wrong(format!("{vector}\n  {other:?}")),
        }
    }
    Some(tally.end())
}

/// Tests the rules of the documentation, which have only pass and fail.
fn of_documents() -> Option<(usize, usize)> {
    let file = "docs_vectors/sequences_v1.0.0.jsonl";
    let path = shared(&format!("conformance/assay/{file}"))?;
    let mut tally = Tally::of(file);
    for vector in lines(&path) {
        let test = json!({ "id": "t", "metric": "sequence_valid", "rules": [vector["rule"]] });
        let suite = json!({ "version": "1", "suite": "s", "tests": [test] });
        match verdict(&suite, &run(&vector)) {
            Ok(found) if (vector["expect"] == "pass") == (found != Verdict::Fail) => tally.agrees(),
            other => tally.wrong(format!("{vector}\n  {other:?}")),
        }
    }
    Some(tally.end())
}

fn of_globs() -> Option<(usize, usize)> {
    let file = "oracle/glob.jsonl";
    let path = shared(&format!("conformance/assay/{file}"))?;
    let mut tally = Tally::of(file);
    for vector in lines(&path) {
        let pattern = vector["pattern"].as_str().unwrap();
        let policy = json!({ "version": "2.0", "name": "policy", "tools": { "deny": [pattern] } });
        let run = json!({ "calls": [{ "tool": vector["tool"], "args": {} }] });
        match verdict(&policy, &run) {
            Ok(found) if vector["match"] == (found == Verdict::Fail) => tally.agrees(),
            Ok(_) if pattern.trim_matches('*').contains('*') || pattern.contains('?') => {
                tally.decided("`*` stands for any characters inside of a name, too, and `?` for one");
            }
            Err(_) if pattern.is_empty() => tally.decided("an empty name is refused"),
            other => tally.wrong(format!("{vector}\n  {other:?}")),
        }
    }
    Some(tally.end())
}

fn of_schemas() -> Option<(usize, usize)> {
    let file = "oracle/schema.jsonl";
    let path = shared(&format!("conformance/assay/{file}"))?;
    let mut tally = Tally::of(file);
    for vector in lines(&path) {
        let policy = match vector["policy"].is_object() {
            true => vector["policy"].clone(),
            false => json!({ "version": "2.0", "name": "policy", "schemas": { "T": vector["schema"] } }),
        };
        let run = json!({ "calls": [{ "tool": "T", "args": vector["args"] }] });
        let allowed = vector["status"] == "allowed";
        match verdict(&policy, &run) {
            Ok(found) if allowed == (found != Verdict::Fail) => tally.agrees(),
            Err(_) if vector["reason_code"] == "E_SCHEMA_COMPILE" => tally.agrees(),
            Ok(Verdict::Fail) if vector["schema"].to_string().contains("\"format\"") => {
                tally.decided("`format` is asserted in every draft");
            }
            Err(said) if said.contains("example.invalid") => {
                tally.decided("a schema that leads out of its policy is refused, whether or not its tool is called");
            }
            other => tally.wrong(format!("{vector}\n  {other:?}")),
        }
    }
    Some(tally.end())
}

/// Imports every rule of the vectors.
#[test]
fn what_is_imported_is_formatted_and_no_lint_finds_anything() {
    let mut seen = std::collections::BTreeSet::new();
    for file in
        ["oracle/seq.jsonl", "oracle/alias.jsonl", "oracle/args_match.jsonl", "docs_vectors/sequences_v1.0.0.jsonl"]
    {
        let Some(path) = shared(&format!("conformance/assay/{file}")) else { return };
        for vector in lines(&path) {
            if !seen.insert(vector["rule"].to_string()) {
                continue;
            }
            let test = json!({ "id": "t", "metric": "sequence_valid", "rules": [vector["rule"]] });
            let mut policy = json!({ "version": "1.1", "name": "policy", "sequences": [vector["rule"]] });
            if vector["aliases"].is_object() {
                policy["aliases"] = vector["aliases"].clone();
            }
            for document in [json!({ "version": "1", "suite": "s", "tests": [test] }), policy] {
                let text = document.to_string();
                let given = Given { name: "policy.yaml", text: &text, ..Given::default() };
                if given.imported().is_ok() {
                    given.imports_cleanly();
                }
            }
        }
    }
    assert!(seen.len() > 30);
}

#[test]
fn assay_conformance() {
    let files = ["oracle/seq.jsonl", "oracle/alias.jsonl", "oracle/args_match.jsonl"].map(of_rules);
    let files = files.into_iter().chain([of_documents(), of_globs(), of_schemas(), super::program::suites()]);
    let counted: Vec<(usize, usize)> = files.flatten().collect();
    if !counted.is_empty() {
        few_decisions("Assay", counted);
    }
}
