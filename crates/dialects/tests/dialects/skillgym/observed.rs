//! Compares suites with recorded results of Node.js. Each line of `observed.jsonl` has an assertion, and whether it passes in Node.js for each run of
//! `runs.jsonl`. Everything that is read has the same meaning; a part that is not read is undecided. Nothing may pass here that fails there.

use super::imported_rules;
use averment::Verdict;
use serde_json::Value;

const RUNS: &str = include_str!("runs.jsonl");
const OBSERVED: &str = include_str!("observed.jsonl");

/// Code that only a running program decides.
const UNREAD: [&str; 5] = ["r.reverse()", "n += 1", "try {", "switch (", "assert.ok(true)"];

#[test]
fn what_is_read_means_what_node_makes_of_it() {
    let mut wrong: Vec<String> = Vec::new();
    for line in OBSERVED.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (body, passes) = (line["body"].as_str().unwrap(), line["passes"].as_array().unwrap());
        let (rules, text) = imported_rules(body);
        if text.contains("undecided(\"not read") != UNREAD.iter().any(|part| body.contains(part)) {
            wrong.push(text.clone());
        }
        for (run, wanted) in RUNS.lines().zip(passes) {
            let outcome = rules.check_one(run).unwrap();
            let verdicts: Vec<Verdict> = outcome.results().map(|one| one.verdict()).collect();
            let holds = |verdict: &Verdict| matches!(verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped);
            let passed = verdicts.iter().all(holds);
            let is_open = verdicts.contains(&Verdict::Undecided) && !verdicts.contains(&Verdict::Fail);
            if !is_open && passed != (*wanted == true) {
                wrong.push(format!("{verdicts:?}, there {wanted}: {run}\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
