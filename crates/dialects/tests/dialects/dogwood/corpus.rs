//! Dogwood's corpus: every decision of each tested case has to equal the recorded one.
//!
//! `AVERMENT_DOGWOOD=1` tests all cases instead of every thirtieth.

use super::trace_log::read_trace;
use crate::judged::Given;
use averment::Rules;
use averment_fixtures::shared;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Cases whose decisions differ here, with the reason.
const LISTED: &[(&str, &str)] = &[(
    "0876_without_since_literal_guard_zero_fv",
    "a response there has other arguments than its request: a call has one set of them",
)];

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallDecision {
    Allowed,
    Denied,
    Undecided,
}

/// Adds the negation of each rule; a call that breaks neither is undecided.
pub fn with_opposites(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(line.to_owned());
        if let Some(rule) = line.strip_prefix("  each ") {
            let (head, rest) = rule.split_once("): ").unwrap();
            let (condition, _) = rest.rsplit_once(" message ").unwrap();
            lines.push(format!("  each {head}): not ({condition})"));
        }
    }
    lines.join("\n")
}

pub fn decisions(rules: &Rules, run: &serde_json::Value) -> Vec<CallDecision> {
    let outcome = rules.check_one(run.to_string()).unwrap();
    let outcome = serde_json::to_value(&outcome).unwrap();
    let calls = run["calls"].as_array().unwrap().len();
    let broken: Vec<BTreeSet<u64>> = outcome["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            assert_ne!(result["verdict"], "error", "{result}");
            let list = result["violations"]["list"].as_array().cloned().unwrap_or_default();
            assert_ne!(result["violations"]["truncated"], true);
            list.iter().map(|one| one["step"].as_u64().unwrap()).collect()
        })
        .collect();
    let decision = |call: u64| {
        let of = |at: usize| broken.iter().skip(at).step_by(2);
        match () {
            () if of(0).any(|steps| steps.contains(&call)) => CallDecision::Denied,
            () if of(1).all(|steps| steps.contains(&call)) => CallDecision::Allowed,
            () => CallDecision::Undecided,
        }
    };
    (1..=calls as u64).map(decision).collect()
}

fn case_files(folder: &Path, front: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.to_owned();
            name.starts_with(front).then(|| (name, fs::read_to_string(path).unwrap()))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn decisions_are_those_of_the_corpus() {
    let Some(corpus) = shared("conformance/dogwood") else { return };
    let mut cases: Vec<_> =
        fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    let every = if std::env::var_os("AVERMENT_DOGWOOD").is_some() { 1 } else { 30 };
    let only = std::env::var("AVERMENT_DOGWOOD_ONLY").unwrap_or_default();
    let (mut equal, mut wrong, mut odd) = (0, Vec::new(), Vec::new());
    for case in cases.iter().step_by(every) {
        let name = case.file_name().unwrap().to_str().unwrap();
        if !name.contains(&only) {
            continue;
        }
        let beside: Vec<(String, String)> =
            case_files(case, "schema.").into_iter().chain(case_files(case, "event.")).collect();
        let beside: Vec<(&str, &str)> = beside.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let policies = case_files(case, "policy_");
        let texts: Vec<String> = policies
            .iter()
            .map(|(file, text)| {
                let given = Given { name: file, text, beside: &beside, ..Given::default() };
                given.import_rules(false).unwrap_or_else(|said| panic!("{name}: {said}"))
            })
            .collect();
        let whole = policies.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        let text = match texts.as_slice() {
            [one] => one.clone(),
            _ => Given { name: "policy.dw", text: &whole, beside: &beside, ..Given::default() }
                .import_rules(false)
                .unwrap(),
        };
        let text = with_opposites(&text);
        let rules = Rules::builder()
            .text("policy.assert", text.as_str())
            .build()
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (trace, log) in case_files(case, "trace_") {
            let expected =
                fs::read_to_string(case.join(trace.replace("trace", "expected").replace(".log", ".out"))).unwrap();
            let recorded = read_trace(&log);
            if recorded.odd > 0 {
                odd.push(format!("{name}/{trace}: {} events", recorded.odd));
            }
            let found = if recorded.calls.is_empty() { Vec::new() } else { decisions(&rules, &recorded.run) };
            for line in expected.lines().filter(|line| line.starts_with('@')) {
                let (point, allowed) = line.split_once("time point ").unwrap().1.split_once("): ").unwrap();
                let at = recorded.calls[&point.parse::<usize>().unwrap()];
                let wanted = if allowed == "true" { CallDecision::Allowed } else { CallDecision::Denied };
                if found[at] == wanted {
                    equal += 1;
                } else if !LISTED.iter().any(|(listed, _)| *listed == name) {
                    wrong.push(format!("{name}/{trace}: {line}, and here {:?}", found[at]));
                }
            }
        }
    }
    println!(
        "{equal} decisions are equal; {} are not; {} traces hold events that no call does",
        wrong.len(),
        odd.len()
    );
    println!("{}", odd.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
