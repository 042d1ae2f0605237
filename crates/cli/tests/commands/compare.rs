//! `aver compare`: what changed between two sets of runs.

use crate::folder::{Folder, Ran};
use averment_fixtures::{lines, shared};
use serde_json::{Value, json};

const RULES: &str = "rule answers { output.ok == true }\nrule short { turns <= 3 }\n";

/// Returns a run with these measurements.
fn run(ok: bool, cost: f64) -> Value {
    json!({"calls": [], "output": {"ok": ok}, "turns": 2, "cost": cost, "usage": {"total_tokens": 100.0}, "duration": 1000})
}

/// Creates a folder with reports about two sets of runs, in every report format.
fn folder(base: &[Value], new: &[Value]) -> Folder {
    let folder = Folder::new(&[("rules.assert", RULES)]);
    for (name, runs) in [("base", base), ("new", new)] {
        let lines: String = runs.iter().map(|run| format!("{run}\n")).collect();
        folder.write("runs.jsonl", lines.as_bytes());
        for format in ["json", "jsonl"] {
            folder.aver(&format!(
                "check rules.assert runs.jsonl --measures --report {format}={name}.{format} --record runs.db --label set={name},as={format}"
            ));
        }
        folder.write(&format!("{name}/report.json"), folder.read(&format!("{name}.json")).as_bytes());
    }
    folder
}

fn json_of(ran: &Ran) -> Value {
    let json = ran.json();
    let schema = serde_json::from_str(include_str!("../../../../docs/schema/compare.schema.json")).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(json["passed"], ran.code == 0);
    json
}

#[test]
fn reports_folders_and_histories_are_compared_alike() {
    let folder = folder(
        &[run(true, 0.1), run(true, 0.1), run(false, 0.1)],
        &[run(true, 0.1), run(false, 0.2), run(true, 0.1), run(true, 0.5)],
    );
    let mut found = Vec::new();
    for sides in
        ["base.json new.json", "base.jsonl new.jsonl", "base new", "runs.db#set=base,as=json runs.db#set=new,as=jsonl"]
    {
        let ran = folder.aver(&format!("compare {sides} --format json"));
        let mut json = json_of(&ran);
        (json["base"]["name"], json["new"]["name"]) = (json!("a"), json!("b"));
        found.push(json);
    }
    let first = &found[0];
    found.iter().for_each(|other| assert_eq!(first, other));
    assert_eq!((&first["matched"], &first["added"]), (&json!(3), &json!(["runs.jsonl:4"])));
    let kinds: Vec<&Value> = first["results"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["regression", "improvement"]);
    // Means cover only the runs that are in both sets.
    let cost = &first["measures"][1];
    assert!((cost["percent"].as_f64().unwrap() - 100.0 / 3.0).abs() < 1e-9, "{cost}");
    assert_eq!(cost["runs"], json!([3, 3]));
    assert_eq!(first["worse"][0]["type"], "assertion_regression");
    assert_eq!(first["worse"][1]["type"], "cost_spike");
    let said = folder.aver("compare base.json new.json").out;
    for part in [
        "base.json (3 runs) -> new.json (4 runs): 3 runs are in both, by their names",
        "regression: answers.1 in runs.jsonl:2: passed -> failed",
        "improvement: answers.1 in runs.jsonl:3: failed -> passed",
        "answers.1: 2/3 -> 3/4 (too few runs to say more)",
        "runs.jsonl:2: cost_spike +100.0%",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let page = folder.aver("compare base.json new.json --format markdown").out;
    assert!(page.contains("| `runs.jsonl:2` | `answers.1` | passed | failed |"), "{page}");
    assert!(page.contains("| cost | $0.1000 | $0.1333 | +33.3% |"), "{page}");
    // Selects the last runs of a history.
    let json = json_of(&folder.aver("compare runs.db#set=base runs.db#set=new,last=2 --format json"));
    assert_eq!(json["new"]["runs"], 2);
}

#[test]
fn tolerances_are_gates() {
    let folder = folder(&vec![run(true, 0.1); 4], &[vec![run(true, 0.115); 3], vec![run(false, 0.115)]].concat());
    for (flags, code) in [
        ("", 0),
        ("--max-score-drop 0.13", 0),
        ("--max-score-drop 0.1", 1),
        ("--max-cost-increase 20%", 0),
        ("--max-cost-increase 15%", 0),
        ("--max-cost-increase 14.9%", 1),
        ("--max-tokens-increase 0%", 0),
        ("--max-duration-increase 0%", 0),
        ("--fail-on regressions", 1),
        ("--fail-on changes", 1),
        ("--fail-on missing,significant", 0),
    ] {
        let ran = folder.aver(&format!("compare base.json new.json {flags}"));
        assert_eq!(ran.code, code, "{flags}: {ran:?}");
        assert!(flags.is_empty() || ran.out.contains(if code == 0 { "holds" } else { "FAILS" }), "{ran:?}");
    }
    assert_eq!(folder.aver("compare new.json base.json --fail-on regressions").code, 0);
    let ran = folder.aver("compare base.json new.json --max-score-drop 0.1 --format markdown");
    assert!(
        ran.out.contains("**fails**") && ran.err.contains("error: --max-score-drop 0.1: the score changed by -0.125"),
        "{ran:?}"
    );
    folder.aver("compare base.json new.json --max-cost-increase 20").refused(&["write 20%"]);
    folder.aver("compare base.json new.json --max-score-drop 10").refused(&["such as 0.95 or 95%"]);
    assert_eq!(folder.aver("compare base.json new.json --max-score-drop 13%").code, 0);
    folder
        .aver("compare base.json new.json --fail-on everything")
        .refused(&["regressions, significant, missing, unexercised, changes"]);
}

/// A limit that cannot be judged counts as exceeded, with a hint.
#[test]
fn what_is_not_known_passes_no_gate() {
    let folder = folder(&[run(true, 0.0)], &[run(true, 0.1)]);
    let ran = folder.aver("compare base.json new.json --max-cost-increase 20%");
    assert!(ran.code == 1 && ran.out.contains("cost was 0 and is not"), "{ran:?}");
    folder.aver("check rules.assert runs.jsonl --report json=plain.json");
    let ran = folder.aver("compare base.json plain.json --max-cost-increase 20%");
    assert!(ran.code == 1 && ran.out.contains("`aver check --measures`"), "{ran:?}");
    folder.write("other.jsonl", format!("{}\n", run(false, 0.1)).as_bytes());
    folder.aver("check rules.assert other.jsonl --report json=other.json");
    let ran = folder.aver("compare base.json other.json --fail-on regressions");
    assert!(ran.code == 1 && ran.out.contains("no run is in both"), "{ran:?}");
    assert_eq!(folder.aver("compare base.json other.json --fail-on missing").code, 1);
}

#[test]
fn a_difference_is_called_significant_only_where_it_is() {
    let of = |passing: usize, all: usize| -> Vec<Value> { (0..all).map(|number| run(number < passing, 0.1)).collect() };
    for (before, after, p, significant) in [
        (of(3, 3), of(0, 3), Value::Null, false),
        (of(10, 10), of(8, 10), json!(0.947_368), false),
        (of(10, 10), of(2, 10), json!(0.001_429), true),
    ] {
        let folder = folder(&before, &after);
        let ran = folder.aver("compare base.json new.json --fail-on significant --format json");
        let one = json_of(&ran)["assertions"][0].clone();
        match p.as_f64() {
            // Corrected for testing two assertions.
            Some(p) => assert!((one["p"].as_f64().unwrap() - p).abs() < 1e-5, "{one}"),
            None => assert_eq!(one["p"], Value::Null),
        }
        assert_eq!((&one["significant"], ran.code), (&json!(significant), i32::from(significant)));
    }
}

/// Compares Runsight's own test vectors, as two reports with workflow blocks.
#[test]
fn blocks_that_became_worse_are_those_of_the_vectors() {
    let Some(vectors) = shared("conformance/runsight") else { return };
    let mut count = 0;
    for vector in lines(&vectors.join("golden_regressions.jsonl")) {
        let report = |node: &Value| {
            let own = json!({"passed": node["eval_passed"], "score": node["eval_score"], "cost_usd": node["cost_usd"]});
            let rule = json!({"id": node["node_id"], "own": own});
            json!({"runs": [{"run": "a", "passed": true, "score": null, "results": [], "rules": [rule]}]}).to_string()
        };
        let folder = Folder::new(&[("a.json", &report(&vector["previous"])), ("b.json", &report(&vector["current"]))]);
        let worse = json_of(&folder.aver("compare a.json b.json --format json"))["worse"].clone();
        let said: Vec<Value> = worse
            .as_array()
            .unwrap()
            .iter()
            .map(|one| json!({"type": one["type"], "delta": one["delta"], "node_id": one["block"]}))
            .collect();
        let there = vector["expected_issues"].as_array().unwrap();
        let there: Vec<Value> = there
            .iter()
            .map(|one| json!({"type": one["type"], "delta": one["delta"], "node_id": one["node_id"]}))
            .collect();
        assert_eq!(said, there, "{vector}");
        count += 1;
    }
    assert!(count >= 7, "{count}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder(&[run(true, 0.1)], &[run(true, 0.1)]);
    folder.write("text.json", b"no json");
    folder.write("other.json", b"{\"tests\": []}");
    folder.write("none.json", br#"{"runs": []}"#);
    folder.write("empty/readme.md", b"");
    for (side, said) in [
        ("none", "there is no file or folder `none`"),
        ("text.json", "`text.json` is no report"),
        ("other.json", "is no report"),
        ("none.json", "holds no run"),
        ("empty", "no `.json` and no `.jsonl` file"),
        ("runs.db#last=many", "`last=many` is no number of runs"),
        ("runs.db#set", "is no `NAME=VALUE`"),
        ("runs.db#set=else", "has no run with the label set=else"),
        ("base.json#last=2", "is no history"),
    ] {
        folder.aver(&format!("compare {side} new.json")).refused(&[said]);
    }
    let evil = json!({"runs": [{"run": "a\u{1b}[31m|`<b>", "passed": true, "score": 1, "rules": [],
        "results": [{"id": "x\u{202e}|", "rule": null, "text": "t", "status": "passed"}]}]});
    let other = evil.to_string().replace("passed\"}", "failed\"}");
    folder.write("evil.json", evil.to_string().as_bytes());
    folder.write("other.json", other.as_bytes());
    for format in ["human", "markdown", "json"] {
        let out = folder.aver(&format!("compare evil.json other.json --format {format}")).out;
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{format}: {out}");
    }
}

#[test]
fn what_is_said_of_all_runs_is_compared_and_what_it_counts_is_no_regression() {
    let rules = "rule answers { output.ok == true }\nin at least 60% of runs: rule answers\n";
    let folder = Folder::new(&[("rules.assert", rules)]);
    for (name, passing) in [("base", [true, true, true]), ("near", [true, true, false]), ("far", [true, false, false])]
    {
        let lines: String = passing.iter().map(|ok| format!("{}\n", run(*ok, 0.1))).collect();
        folder.write("runs.jsonl", lines.as_bytes());
        folder.aver(&format!("check rules.assert runs.jsonl --report json={name}.json --report jsonl={name}.jsonl"));
    }
    for format in ["json", "jsonl"] {
        let compared = |new: &str, gate: &str| {
            folder.aver(&format!("compare base.{format} {new}.{format} --format json --fail-on {gate}"))
        };
        let kinds = |ran: &Ran| -> Vec<String> {
            let each = |one: &Value| format!("{} {}", one["run"].as_str().unwrap(), one["kind"].as_str().unwrap());
            json_of(ran)["results"].as_array().unwrap().iter().map(each).collect()
        };
        let near = compared("near", "regressions");
        assert_eq!((near.code, kinds(&near)), (0, vec!["runs.jsonl:3 other".to_owned()]), "{format}: {near:?}");
        assert_eq!(compared("near", "changes").code, 1);
        let far = compared("far", "regressions");
        assert_eq!(far.code, 1);
        assert!(kinds(&far).contains(&"all 3 runs regression".to_owned()), "{format}: {far:?}");
    }
    // A truncated report is rejected.
    let whole = folder.read("far.jsonl");
    let cut = whole.trim_end().rsplit_once('\n').unwrap().0;
    folder.write("cut.jsonl", format!("{cut}\n").as_bytes());
    folder.aver("compare base.jsonl cut.jsonl").refused(&["cut off"]);
}

#[test]
fn what_is_exercised_no_more_can_fail_a_comparison() {
    let folder = Folder::new(&[("rules.assert", "rule limit { each refund: args.amount <= 10 }\nrequire x\n")]);
    let x = json!({"tool": "x"});
    for (name, calls) in [("base", json!([x, {"tool": "refund", "args": {"amount": 9}}])), ("new", json!([x]))] {
        folder.write("runs.jsonl", format!("{}\n", json!({"id": "r", "calls": calls})).as_bytes());
        folder.aver(&format!("check rules.assert runs.jsonl --report json={name}.json"));
    }
    let lost = folder.aver("compare base.json new.json --fail-on unexercised");
    assert!(lost.code == 1 && lost.out.contains("1 assertion is exercised no more"), "{lost:?}");
    assert_eq!(folder.aver("compare base.json base.json --fail-on unexercised").code, 0);
    let other = folder.aver("compare base.json new.json --fail-on regressions");
    assert!(other.out.contains("0 results that passed fail"), "{other:?}");
}
