//! Runsight: its recorded results for assertions, lists, transforms and suites.

use crate::judged::{Given, Judged};
use crate::tally::{Tally, few_decisions};
use averment::Verdict;
use averment_fixtures::{lines, shared};
use serde_json::{Value as Json, json};
use std::path::Path;

/// The page that documents the differences.
const PAGE: &str = include_str!("../../../../docs/reference/runsight.md");

/// Returns a value as YAML 1.1: JSON in which exponents need a decimal point.
fn yaml(value: &Json) -> String {
    match value {
        Json::Number(number) => {
            let text = number.to_string();
            match text.find(['e', 'E']) {
                Some(at) if !text.contains('.') => format!("{}.0{}", &text[..at], &text[at..]),
                _ => text,
            }
        }
        Json::Array(items) => format!("[{}]", items.iter().map(yaml).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", Json::from(key.as_str()), yaml(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns the keys of a vector that belong to the assertion.
fn assertion(vector: &Json) -> Json {
    let keys = ["type", "value", "threshold", "config", "transform", "weight", "metric"];
    let entries = vector.as_object().unwrap().iter().filter(|(key, _)| keys.contains(&key.as_str()));
    Json::Object(entries.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Returns the run of a vector.
fn run(vector: &Json) -> String {
    let context = &vector["context"];
    json!({"output": vector["output"], "cost": context["cost_usd"], "duration": context["latency_ms"]}).to_string()
}

fn judged(assertions: &[Json], vector: &Json, newest: bool) -> Result<Judged, String> {
    let text = format!("assertions: {}", yaml(&Json::from(assertions.to_vec())));
    Given { name: "block.yaml", text: &text, newest, ..Given::default() }.judge(&run(vector))
}

/// Returns the result in Runsight of a verdict: whether it passes, and its score.
fn own((_, verdict, score): &(String, Verdict, Option<f64>)) -> (bool, f64) {
    match verdict {
        Verdict::Pass => (true, score.unwrap_or(1.0)),
        Verdict::Vacuous => (true, 1.0),
        _ => (false, score.unwrap_or(0.0)),
    }
}

/// Returns the documented reason why a vector may differ.
fn decision(vector: &Json, file: &Result<Judged, String>) -> Option<&'static str> {
    let has = |key: &str, words: &[&str]| {
        vector.get(key).is_some_and(|value| words.iter().any(|word| value.to_string().contains(word)))
    };
    let kind = kind(vector);
    Some(match () {
        () if has("output", &["NaN", "Infinity"]) || has("value", &["NaN", "Infinity"]) => {
            "NaN and Infinity are no JSON"
        }
        () if vector.get("expected_error").is_some() => "what aborts there is judged, or said of the file",
        () if has("value", &["dependencies"]) => "`dependencies` is understood in every dialect of JSON Schema",
        () if kind.ends_with("equals")
            && ["true", "false", "0.10000000000000001"].iter().any(|word| vector["value"] == *word) =>
        {
            "true is not 1, and fractions are compared by their digits"
        }
        () if has("value", &["format"]) => "`format` is asserted in every draft",
        () if kind.ends_with("rouge-n") && !vector["value"].to_string().is_ascii() => {
            "words of every script are scored"
        }
        () if ["bleu", "rouge-n"].contains(&kind) && vector["value"].is_null() && vector["output"] == "" => {
            "nothing to compare is vacuous"
        }
        () if kind.ends_with("regex") && has("output", &["İ", "ı"]) => {
            "case-insensitive expressions fold each character by itself"
        }
        () if file.is_err() => "a bad file is refused",
        () => return None,
    })
}

fn kind(vector: &Json) -> &str {
    vector["type"].as_str().unwrap_or("")
}

fn compare(tally: &mut Tally, vector: &Json, file: Result<Judged, String>) {
    let expected = vector
        .get("expected_passed")
        .map(|passed| (passed.as_bool().unwrap(), vector["expected_score"].as_f64().unwrap()));
    let same = match (&file, expected) {
        (Ok(judged), Some(expected)) => own(&judged.results[0]) == expected,
        // An assertion that fails or aborts for every output is an error of the file here.
        (Err(_), None) => true,
        (Err(_), Some((passed, _))) => !passed,
        // The documentation promises `is-json` without a schema, and newer releases of the path library find nothing where older ones raised an
        // error.
        (Ok(_), None) => vector["value"].is_null() && kind(vector).contains("json") || !vector["transform"].is_null(),
    };
    match decision(vector, &file) {
        _ if same => tally.agrees(),
        Some(reason) => tally.decided(reason),
        None => {
            let said = file.map_or_else(|error| error, |judged| format!("{:?}", judged.results));
            let shown = format!(
                "{} {} on {}: {said}, there {expected:?} {}",
                vector["id"],
                assertion(vector),
                vector["output"],
                vector["expected_reason"]
            );
            tally.wrong(shown.chars().take(600).collect());
        }
    }
}

#[test]
fn conformance_of_runsight() {
    let Some(folder) = shared("conformance/runsight") else { return };
    let mut files = assertions(&folder);
    files.extend([lists(&folder), suites(&folder), transforms(&folder)]);
    few_decisions("Runsight", files);
}

fn assertions(folder: &Path) -> Vec<(usize, usize)> {
    let mut files = Vec::new();
    for (name, newest) in
        [("golden_assertions.jsonl", true), ("unit_test_vectors.jsonl", true), ("golden_equals_legacy.jsonl", false)]
    {
        let mut tally = Tally::of(name);
        for vector in lines(&folder.join(name)) {
            let file = judged(&[assertion(&vector)], &vector, newest);
            compare(&mut tally, &vector, file);
        }
        files.push(tally.decided_in(PAGE).end());
    }
    files
}

fn lists(folder: &Path) -> (usize, usize) {
    let mut tally = Tally::of("golden_lists.jsonl");
    for vector in lines(&folder.join("golden_lists.jsonl")) {
        let list: Vec<Json> = vector["assertions"].as_array().unwrap().iter().map(assertion).collect();
        let Some(expected) = vector.get("expected") else {
            match judged(&list, &vector, true) {
                Err(_) => tally.agrees(),
                Ok(_) => tally.decided("what aborts there is judged"),
            }
            continue;
        };
        let judged = match judged(&list, &vector, true) {
            Ok(judged) => judged,
            Err(_) if list.is_empty() => {
                tally.decided("a list without assertions passes nothing");
                continue;
            }
            Err(error) => {
                tally.wrong(format!("{}: {error}", vector["id"]));
                continue;
            }
        };
        let results = expected["results"].as_array().unwrap();
        let of = |one: &Json| (one["passed"].as_bool().unwrap(), one["score"].as_f64().unwrap());
        let each = judged.results.iter().map(own).eq(results.iter().map(of));
        let score = judged.rules[0].2 == expected["aggregate_score"].as_f64();
        let named = expected["named_scores"].as_object().unwrap();
        let names = judged.named.len() == named.len()
            && judged.named.iter().all(|(name, score)| named[name.as_str()].as_f64() == Some(*score));
        let twice = list.iter().filter_map(|one| one.get("metric")).count() > named.len();
        match each && score && judged.passed == expected["passed"].as_bool().unwrap() {
            true if names => tally.agrees(),
            true if twice => tally.decided("a metric that is named twice records the mean"),
            _ => tally.wrong(format!("{}: {judged:?}, there {expected}", vector["id"])),
        }
    }
    tally.decided_in(PAGE).end()
}

fn suites(folder: &Path) -> (usize, usize) {
    let mut tally = Tally::of("golden_eval_suites.jsonl");
    for vector in lines(&folder.join("golden_eval_suites.jsonl")) {
        let given = Given { name: "suite.yaml", text: vector["workflow_yaml"].as_str().unwrap(), ..Given::default() };
        let expected = vector.get("expected");
        let judged = given.imported().map(|text| {
            let rules =
                averment::Rules::from_text("suite.assert", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            given.judge(&rules.compiled_programs()[0].tests[0].run).unwrap()
        });
        match (judged, expected) {
            (Err(_), None) => tally.agrees(),
            (Err(said), Some(expected)) => {
                let fails = expected["passed"] == false;
                match fails {
                    true => tally.agrees(),
                    false if said.contains("always pass") => tally.decided("a suite that expects nothing is refused"),
                    false => tally.wrong(format!("{}: {said}, there {expected}", vector["id"])),
                }
            }
            (Ok(judged), Some(expected)) => {
                let (_, verdict, score) = judged.rules.iter().find(|rule| rule.0 == "eval").unwrap();
                let there = expected["score"].as_f64().unwrap();
                let same = (score.unwrap() - there).abs() < 1e-12 && (*verdict == Verdict::Pass) == expected["passed"];
                if same {
                    tally.agrees()
                } else {
                    tally.wrong(format!("{}: {judged:?}, there {expected}", vector["id"]))
                }
            }
            (Ok(judged), None) => match vector["expected_error_message"].as_str().unwrap_or("") {
                // The documentation promises `is-json` without a schema.
                said if said.contains("Failed validating") => tally.agrees(),
                said => tally.wrong(format!("{}: {judged:?}, there {said}", vector["id"])),
            },
        }
    }
    tally.decided_in(PAGE).end()
}

fn transforms(folder: &Path) -> (usize, usize) {
    // Where the path library changed, its newer releases follow RFC 9535.
    let newer = lines(&folder.join("golden_transforms_ng116_diff.jsonl"));
    let mut tally = Tally::of("golden_transforms.jsonl");
    for vector in lines(&folder.join("golden_transforms.jsonl")) {
        let now = newer.iter().find(|one| one["id"] == vector["id"]);
        let expected = now.and_then(|one| one.get("jsonpath_ng_1.16.0")).unwrap_or(&vector);
        let text = |key: &str| expected.get(key).and_then(Json::as_str);
        let wanted = text("expected_output");
        let equal = json!({"type": "levenshtein", "value": wanted.unwrap_or("\u{1}"), "threshold": 0, "transform": vector["transform"]});
        let file = judged(&[equal], &json!({"output": vector["output"]}), true);
        let same = match &file {
            Ok(judged) => (judged.results[0].1 == Verdict::Pass) == wanted.is_some(),
            Err(_) => wanted.is_none(),
        };
        match (same, &vector["transform"]) {
            (true, _) => tally.agrees(),
            (false, path) if vector["output"].as_str().unwrap().contains("NaN") || path.to_string().contains("NaN") => {
                tally.decided("NaN and Infinity are no JSON");
            }
            (false, path) if path.to_string().contains('*') => {
                tally.decided("members of objects come in the order of their names")
            }
            (false, path) if path == "json_path:$[0]" => tally.decided("an index into a text selects nothing"),
            (false, path) => {
                let said = file.map_or_else(|error| error, |judged| format!("{:?}", judged.results));
                tally.wrong(
                    format!(
                        "{} {path} of {:.200}: {said:.300}, there {wanted:?} {now:?}",
                        vector["id"], vector["output"]
                    )
                    .chars()
                    .take(700)
                    .collect(),
                );
            }
        }
    }
    tally.decided_in(PAGE).end()
}

#[test]
fn workflows_and_suites_of_the_documents_import_cleanly() {
    let Some(folder) = shared("conformance/runsight/docs_yaml") else { return };
    let mut clean = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let given = Given { name: "workflow.yaml", text: &text, ..Given::default() };
        // A list that shows all types at once contradicts itself. A list without a workflow shows several equivalent forms of a type.
        let shown =
            text.contains("approved") && text.contains("conclusion") || text.lines().any(|line| line.starts_with("- "));
        match given.imported() {
            Ok(_) if shown => {}
            Ok(_) => {
                given.imports_cleanly();
                clean += 1;
            }
            Err(said) => println!("{}: {said}", entry.file_name().display()),
        }
    }
    assert!(clean >= 14, "{clean} of the documents' examples can be imported");
}

#[test]
fn a_block_is_judged_by_its_own_record_alone() {
    let text = "blocks: {final: {assertions: [{type: not-contains, value: error}, {type: cost, threshold: 1}]}}";
    let given = Given { name: "workflow.yaml", text, ..Given::default() };
    let verdicts = |run: &str| given.judge(run).unwrap().results.iter().map(|one| one.1).collect::<Vec<_>>();
    assert_eq!(verdicts(r#"{"output": "fine", "cost": 0.5}"#), [Verdict::Pass, Verdict::Pass]);
    assert_eq!(
        verdicts(r#"{"blocks": {"final": {"output": "fine", "cost_usd": 0.5}}}"#),
        [Verdict::Pass, Verdict::Pass]
    );
    let other = verdicts(r#"{"blocks": {"draft": {"output": "fine", "cost_usd": 0.5}}}"#);
    assert!(!other.contains(&Verdict::Pass), "{other:?}");
}

#[test]
fn a_bare_list_is_about_the_output() {
    let given = Given {
        name: "list.yaml",
        text: "- type: contains\n  value: fine\n- {type: not-regex, value: bad}\n",
        ..Given::default()
    };
    let passed = |run: &str| given.judge(run).unwrap().passed;
    assert!(passed(r#"{"output": "all fine"}"#) && !passed(r#"{"output": "fine, but bad"}"#));
}
