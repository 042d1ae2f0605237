//! A guard denies a call exactly where the run that ends with it fails finally and the run before it did not.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that meets something unexpected has failed")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")]

#[path = "replay/policies.rs"]
mod policies;
#[path = "replay/resident.rs"]
mod resident;
#[path = "replay/rule_texts.rs"]
mod rule_texts;

use averment::{Rules, Verdict};
use averment_guard::judge::{GuardMode, judge_stop};
use averment_guard::replay::replay_run;
use serde_json::{Value, json};

/// Rules for each kind of statement that can deny, some that are owed, and some that only report.
const RULES: &str = r#"
rule r1 { before a -> b }
rule r2 { before a(k: $k) ok -> b(k: $k) }
rule r3 { never c }
rule r4 { count b <= 2 }
rule r5 { only a, b, c, d }
rule r6 { first a }
rule r7 { never b after c until a }
rule r8 { each a: args.k <= 2 }
rule r9 { immediately before a -> d }
rule r10 { immediately after c -> a }
rule r11 { sum(args.k of d) <= 3 }
rule r12 { after a -> b }
rule r13 { require d }
rule r14 { each d: result == 1 }
rule r15 { never repeat b more than 1 times }
rule r16 { not both c, d }
rule r17 { last d }
rule r18 { count a == count b }
rule r19 { length(calls) >= 3 }
rule r20 { length(calls) <= 6 }
rule r21 { max(args.k of a) <= 2 }
"#;

struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn run(&mut self) -> Value {
        let calls = (0..=self.below(7)).map(|_| {
            let tool = ["a", "b", "c", "d", "e"][usize::try_from(self.below(5)).unwrap()];
            let mut call = json!({ "tool": tool, "args": { "k": self.below(4) } });
            match self.below(4) {
                0 => call["error"] = "failed".into(),
                1 => call["result"] = 2.into(),
                _ => call["result"] = 1.into(),
            }
            call
        });
        json!({ "calls": calls.collect::<Vec<_>>() })
    }
}

fn failed(rules: &Rules, calls: &[Value]) -> Vec<String> {
    let mut calls = calls.to_vec();
    if let Some(last) = calls.last_mut() {
        last.as_object_mut().unwrap().retain(|key, _| key == "tool" || key == "args");
    }
    let outcome = rules.check_one(&json!({ "calls": calls, "complete": false })).unwrap();
    let is_final = |one: &averment::AssertionResult<'_>| one.assertion().fails_for_good();
    let failed = outcome.results().filter(|one| one.verdict() == Verdict::Fail && is_final(one));
    failed.map(|one| one.id().to_owned()).collect()
}

#[test]
fn a_call_is_denied_exactly_where_the_prefix_that_it_ends_fails_for_good() {
    let rules = Rules::from_text("r.assert", RULES).unwrap();
    let mut choices = Choices(7);
    let mut denied = std::collections::BTreeSet::new();
    for _ in 0..150 {
        let run = choices.run();
        let calls = run["calls"].as_array().unwrap();
        let replay = replay_run(&rules, GuardMode::Log, &run.to_string()).unwrap();
        assert_eq!(replay.calls, calls.len());
        let mut before = failed(&rules, &[]);
        for end in 1..=calls.len() {
            let now = failed(&rules, &calls[..end]);
            let found = replay.breaches.iter().find(|one| one.call == end);
            let told: Vec<&str> =
                found.map(|one| one.breaches.iter().map(|breach| breach.id.as_str()).collect()).unwrap_or_default();
            for id in now.iter().filter(|id| !before.contains(id)) {
                assert!(told.contains(&id.as_str()), "call {end}: {id} fails first here: {run}");
            }
            for id in told {
                assert!(now.iter().any(|one| one == id), "call {end}: {id} does not fail here: {run}");
                denied.insert(id.to_owned());
            }
            before = failed_with_results(&rules, &calls[..end]);
        }
    }
    // A rule that is owed or needs a result denies nothing.
    let never = ["r12.1", "r13.1", "r14.1", "r17.1", "r18.1", "r19.1"];
    assert!(never.iter().all(|id| !denied.contains(*id)), "{denied:?}");
    assert_eq!(denied.len(), 21 - never.len(), "{denied:?}");
}

fn failed_with_results(rules: &Rules, calls: &[Value]) -> Vec<String> {
    let outcome = rules.check_one(&json!({ "calls": calls, "complete": false })).unwrap();
    let is_final = |one: &averment::AssertionResult<'_>| one.assertion().fails_for_good();
    let failed = outcome.results().filter(|one| one.verdict() == Verdict::Fail && is_final(one));
    failed.map(|one| one.id().to_owned()).collect()
}

/// The effect of each kind of assertion while a run is unfinished, as reported by `aver lint --online`.
const FORETOLD: &[(&str, &str)] = &[
    ("require a", "owed"),
    ("require b 1..2 times", "denies, owed"),
    ("never c(k == 3)", "denies"),
    ("never c failed", "reports"),
    ("never c(result == 2)", "reports"),
    ("never b after c", "denies"),
    ("never b after c failed", "denies"),
    ("never a before b", "denies"),
    ("never a between b and c", "denies"),
    ("only a, b, c", "denies"),
    ("count a == 1", "denies, owed"),
    ("count a >= 2", "owed"),
    ("count a in 0..2", "denies"),
    ("count a failed <= 0", "reports"),
    ("first a", "denies"),
    ("last a", "owed"),
    ("before a ok -> b", "denies"),
    ("starts before a -> b", "denies"),
    ("after a -> b", "owed"),
    ("after a -> b within 2 calls", "denies, owed"),
    ("immediately after a -> b", "denies, owed"),
    ("sequence a -> b", "owed"),
    ("sequence exactly a -> b", "denies, owed"),
    ("sequence only a -> b", "denies, owed"),
    ("nested a -> b", "denies, owed"),
    ("together a, b", "owed"),
    ("apart a, b", "denies"),
    ("if a then b", "owed"),
    ("either a or b", "owed"),
    ("a iff b", "owed"),
    ("not both a, b", "denies"),
    ("never repeat a more than 1 times", "denies"),
    ("flow d -> e", "denies, owed"),
    ("each a: args.k <= 2", "denies"),
    ("each a: result == 1", "reports"),
    ("some a: args.k == 2", "owed"),
    ("no a: args.k == 2", "denies"),
    ("sum(args.k of d) <= 3", "denies"),
    ("sum(args.k of d ok) <= 3", "reports"),
    ("sum(args.k of d(k: $k)) <= 3", "denies"),
    ("sum(args.k of d(k: $k, result: 1)) <= 3", "reports"),
    ("count d == count e", "owed"),
    ("length(calls) >= 3", "owed"),
    ("length(calls) <= 6", "denies"),
    ("output contains \"x\"", "reports"),
    ("cost <= $1", "reports"),
    ("not require a", "denies"),
    ("never a when tools exists", "reports"),
    ("count a in [0, 2]", "denies, owed"),
    ("count a == 0", "denies"),
    ("each d: args.k <= inputs.most", "reports"),
    ("any of { never a; never b }", "denies"),
    ("all of { never a; require b }", "denies, owed"),
    ("none of { require a }", "denies"),
    ("before c { require a }", "denies"),
    ("each d { args.k <= 2 }", "denies"),
];

#[test]
fn what_is_foretold_of_an_assertion_is_what_a_guard_does() {
    let texts: Vec<String> =
        FORETOLD.iter().enumerate().map(|(number, (text, _))| format!("rule f{number} {{ {text} }}\n")).collect();
    let rules = Rules::from_text("r.assert", &texts.concat()).unwrap();
    let mut choices = Choices(11);
    let (mut denied, mut owed) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for _ in 0..150 {
        let mut run = choices.run();
        for (number, call) in run["calls"].as_array_mut().unwrap().iter_mut().enumerate() {
            call["turn"] = (number / 2).into();
        }
        for call in replay_run(&rules, GuardMode::Log, &run.to_string()).unwrap().breaches {
            denied.extend(call.breaches.into_iter().map(|breach| breach.id));
        }
        let mut open = run.clone();
        open["complete"] = false.into();
        let missing = judge_stop(&rules, GuardMode::Log, &open.to_string(), &run.to_string()).unwrap();
        owed.extend(missing.into_iter().map(|breach| breach.id));
    }
    let mut wrong = Vec::new();
    for (assertion, (text, word)) in rules.assertions().zip(FORETOLD) {
        let does = (denied.contains(assertion.id()), owed.contains(assertion.id()));
        let used = assertion.online_use();
        if (used.denies, used.owed) != does || used.word() != *word {
            wrong.push(format!("{text}: {word} is listed, {} is foretold, (denied, owed) is {does:?}", used.word()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
