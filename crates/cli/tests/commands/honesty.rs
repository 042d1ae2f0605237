//! Rules that could pass by mistake: the command's output for each, and the reference page that lists the ones that still pass.

use crate::folder::{Folder, Ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const RULES: &str = "rules.assert";
/// A folder with one readable trace and other files that are skipped.
const MIXED: &str = "hon/mixed";

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns everything that is reported for a case: verdicts, `lint`, `compile`, the exit code.
fn said(case: &Value) -> BTreeSet<String> {
    let rules = format!("{}\n", case["rules"].as_str().unwrap());
    let folder = Folder::new(&[(RULES, &rules)]);
    let trace = match &case["run"] {
        Value::String(name) if name.starts_with("hon/") => {
            if name == MIXED {
                let call = |tool: &str| format!("{{\"calls\": [{{\"tool\": \"{tool}\"}}]}}\n");
                folder.write("hon/mixed/good.json", call("look").as_bytes());
                ["bad.ndjson", "bad.log"]
                    .iter()
                    .for_each(|file| folder.write(&format!("{MIXED}/{file}"), call("refund").as_bytes()));
            } else {
                std::fs::create_dir_all(folder.path().join("hon/emptydir")).unwrap();
            }
            name.clone()
        }
        Value::String(text) => {
            folder.write("run.jsonl", text.as_bytes());
            "run.jsonl".to_owned()
        }
        run => {
            folder.write("run.json", run.to_string().as_bytes());
            "run.json".to_owned()
        }
    };
    let checked = folder.aver(&format!("check {RULES} '{trace}' --format json --no-project"));
    let linted = folder.aver(&format!("lint {RULES} --format short --no-project"));
    told(&checked, &linted)
}

fn told(checked: &Ran, linted: &Ran) -> BTreeSet<String> {
    let mut said = BTreeSet::from([format!("exit{}", checked.code)]);
    // Numbers that are too large for `serde_json` are replaced.
    let report: Value = serde_json::from_str(&checked.out.replace("1e400", "1")).unwrap_or_default();
    for run in report["runs"].as_array().into_iter().flatten() {
        for result in run["results"].as_array().into_iter().flatten() {
            said.extend(result["verdict"].as_str().map(str::to_owned));
            said.extend(result["unjudged"].is_object().then(|| "lint".to_owned()));
        }
        said.extend(run["warnings"].as_array().is_some_and(|all| !all.is_empty()).then(|| "lint".to_owned()));
    }
    let beside = checked.err.contains("warning:") || checked.err.contains("note:") || !linted.out.is_empty();
    said.extend(beside.then(|| "lint".to_owned()));
    said.extend((checked.code == 3).then(|| "compile".to_owned()));
    said
}

#[test]
fn what_turns_green_by_accident_is_listed_with_its_reason() {
    let text = std::fs::read_to_string(project("tests/conformance/honesty/cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let page = std::fs::read_to_string(project("docs/reference/honesty.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    let mut green = BTreeSet::new();
    for case in &cases {
        let (name, said) = (case["name"].as_str().unwrap(), said(case));
        let wanted = |one: &String| case["want"].as_array().unwrap().iter().any(|want| want == one.as_str());
        let fine = said.iter().any(wanted);
        println!("{:4} {name}: {}", if fine { "ok" } else { "GREEN" }, said.into_iter().collect::<Vec<_>>().join(" "));
        if !fine {
            green.insert(name);
        }
    }
    let share = 100.0 * (cases.len() - green.len()) as f64 / cases.len() as f64;
    println!("{} of {} are not green by accident: {share:.1} %", cases.len() - green.len(), cases.len());
    assert_eq!(green, listed, "what turns green and what docs/reference/honesty.md lists");
    assert!(share >= 85.0, "{share:.1} %");
}
