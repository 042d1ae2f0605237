//! Independently computed facts about recorded sessions: equivalent rules give the same results.

use crate::folder::Folder;
use averment_fixtures::shared;
use serde_json::Value;
use std::collections::BTreeSet;

/// The facts as rules. Their numbers are parameters.
const RULES: &str = r#"
param made: number = 0
param failures: number = 0
param parallel: number = 0
param recovered: number = 0
param tried_again: number = 0

length(calls) == made
(count c in calls: c.error exists) == failures
(count c in calls: (any d in calls: d.turn == c.turn and d.index > c.index) and not any e in calls: e.turn == c.turn and e.index < c.index) == parallel
(count c in calls: c.error exists and any d in calls: d.index > c.index and d.index <= c.index + 3 and d.tool == c.tool and d.ok) == recovered
(count c in calls: c.error exists and any d in calls: d.index == c.index + 1 and d.tool == c.tool and d.args == c.args) == tried_again
before any(file_path: $p) where ok and tool in ["Read", "Write", "Edit", "MultiEdit"] -> any(file_path: $p) where tool in ["Edit", "MultiEdit"] and error is missing
"#;

#[test]
fn conformance_of_traces_facts_about_recorded_sessions() {
    let Some(folder) = shared("traces") else { return };
    let facts: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("facts.json")).unwrap()).unwrap();
    let facts = facts.as_object().unwrap();
    for (file, fact) in facts {
        let longest = fact["max_identical_consecutive_calls"].as_u64().unwrap();
        let repeats = format!(
            "never repeat any more than {longest} times\nnever repeat any more than {} times\n",
            longest.max(2) - 1
        );
        let work = Folder::new(&[("facts.assert", &format!("{RULES}{repeats}"))]);
        let number = |key: &str| match &fact[key] {
            Value::Array(list) => list.len().to_string(),
            value => value.to_string(),
        };
        let params = [
            ("made", "n_calls"),
            ("failures", "n_error"),
            ("parallel", "messages_with_parallel_calls"),
            ("recovered", "errors_recovered_same_tool_ok_within_next_3_calls"),
            ("tried_again", "errors_followed_immediately_by_identical_call"),
        ];
        let params: String = params.iter().map(|(name, key)| format!(" --param {name}={}", number(key))).collect();
        let trace = folder.join(file);
        let ran = work.aver(&format!("check facts.assert {} --format json --all-violations{params}", trace.display()));
        let report = ran.json();
        let results = report["runs"][0]["results"].as_array().unwrap_or_else(|| panic!("{file}: {ran:?}"));
        // A record that was not understood may have been a call.
        if file.ends_with("edge_cases.jsonl") {
            assert!(results.iter().take(5).all(|result| result["because"] == "open"), "{file}: {results:?}");
            continue;
        }
        for result in results.iter().take(5) {
            assert_eq!(result["verdict"], "pass", "{file}: {result}");
        }
        assert_eq!(results[6]["verdict"], "pass", "{file}: {}", results[6]);
        assert_eq!(results[7]["verdict"] == "fail", longest > 1, "{file}: {}", results[7]);
        assert_eq!(
            unread(&results[5]),
            positions(&fact["edit_without_prior_successful_read_or_write_same_path"]),
            "{file}"
        );
    }
    eprintln!("facts: rules agree on {} files", facts.len());
}

fn positions(list: &Value) -> BTreeSet<u64> {
    list.as_array().unwrap().iter().map(|position| position.as_u64().unwrap()).collect()
}

/// Returns the positions of the calls that violate an assertion.
fn unread(result: &Value) -> BTreeSet<u64> {
    let violations = result["violations"]["list"].as_array().into_iter().flatten();
    let position = |violation: &Value| {
        let path = violation["evidence"][0]["path"].as_str().unwrap();
        path.strip_prefix("/calls/").unwrap().parse().unwrap()
    };
    violations.map(position).collect()
}
