//! Keys of a run that are nearly keys of the normal form: what they say is not understood, and so it is no evidence of its opposite.

use averment::Rules;
use serde_json::{Value, json};

/// The verdicts of rules on a run, read in each way.
fn verdicts(rules: &str, run: &Value) -> Vec<String> {
    let rules = Rules::from_text("rules.assert", rules).unwrap();
    let results = |run: &str| -> Vec<String> {
        rules.check_one(run).unwrap().results().map(|one| one.verdict().as_str().to_owned()).collect()
    };
    let line = run.to_string();
    let in_full = results(&line);
    // Of many lines the keys alone are looked at first.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::write(&path, format!("{line}\n").repeat(3)).unwrap();
    for outcome in rules.batch().outcomes([&path]) {
        let of_line: Vec<String> = outcome.unwrap().results().map(|one| one.verdict().as_str().to_owned()).collect();
        assert_eq!(of_line, in_full, "{line}");
    }
    assert_eq!(rules.batch().summary([&path]).passed(), in_full.iter().all(|verdict| verdict == "pass"), "{line}");
    in_full
}

#[test]
fn a_run_whose_error_is_misspelt_is_no_run_without_an_error() {
    let run = |key: &str, value: Value| {
        let mut run = json!({"calls": [{"tool": "fetch", "result": "x"}], "output": "a"});
        run[key] = value;
        run
    };
    for key in ["eror", "Error", "errror", "errors", "ERROR", "erorr"] {
        for value in [json!("boom"), json!({"code": 7}), json!(["a"]), json!(true), json!(3)] {
            assert_eq!(verdicts("error is missing", &run(key, value.clone())), ["undecided"], "{key} {value}");
        }
        // Nothing is said there.
        for value in [json!(null), json!([]), json!({}), json!(""), json!(false), json!(0)] {
            assert_eq!(verdicts("error is missing", &run(key, value.clone())), ["pass"], "{key} {value}");
        }
    }
    for key in ["terms", "mirror", "event", "err_count", "arrow"] {
        assert_eq!(verdicts("error is missing", &run(key, json!("boom"))), ["pass"], "{key}");
    }
    let mut both = run("errors", json!(["a"]));
    both["error"] = json!("boom");
    assert_eq!(verdicts("error is missing", &both), ["fail"]);
}

#[test]
fn a_call_that_may_say_how_it_ended_under_a_misspelt_key_did_not_surely_succeed() {
    let call = |key: &str, value: Value| {
        let mut call = json!({"tool": "fetch", "result": "x"});
        call[key] = value;
        json!({"calls": [call], "output": "a"})
    };
    let rules = "never any failed\neach fetch: ok";
    for (key, value) in [
        ("eror", json!("boom")),
        ("Error", json!("boom")),
        ("errors", json!(["boom"])),
        ("statuss", json!("failed")),
        ("Status", json!("error")),
        ("is_eror", json!(true)),
        ("iserror", json!(true)),
        ("exitCode", json!(1)),
        ("exit_cod", json!(1)),
    ] {
        assert_eq!(verdicts(rules, &call(key, value.clone())), ["undecided", "undecided"], "{key} {value}");
    }
    for (key, value) in [
        ("eror", json!(null)),
        ("errors", json!([])),
        ("Status", json!("success")),
        ("exitCode", json!(0)),
        ("is_eror", json!(false)),
        ("stats", json!({"ms": 3})),
        ("states", json!(["a"])),
        ("note", json!("error")),
    ] {
        assert_eq!(verdicts(rules, &call(key, value.clone())), ["pass", "pass"], "{key} {value}");
    }
    // What is said under the right key counts.
    let mut said = call("statuss", json!("failed"));
    said["calls"][0]["status"] = json!("ok");
    assert_eq!(verdicts(rules, &said), ["pass", "pass"]);
}
