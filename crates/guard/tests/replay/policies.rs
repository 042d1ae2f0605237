//! A scripted agent over the tests of the policies in `examples/policies`: it is stopped at exactly the call that breaks the rule of a test,
//! and in no run that keeps it.

use averment::guard::{CallEnd, Decision, Guard, MessageRole, ProposedCall};
use averment::{Rules, Verdict};
use averment_base::limits::Limits;
use averment_guard::judge::GuardMode;
use averment_guard::replay::replay_run;
use averment_runs::write_normal::normal_form;
use averment_traces::read_str;
use bumpalo::Bump;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a test of a policy says: its rule, its run in the normal form, and the verdict.
struct PolicyTest {
    name: String,
    rule: String,
    run: Value,
    expect: Verdict,
}

fn policy_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> =
        folders.map(|path| path.join(path.file_name().unwrap()).with_extension("assert")).collect();
    files.sort();
    files
}

fn tests_of(rules: &Rules) -> Vec<PolicyTest> {
    let program = &rules.compiled_programs()[0];
    let of_one_rule = program.tests.iter().filter(|test| test.rules.len() == 1);
    of_one_rule
        .map(|test| {
            let arena = Bump::new();
            let run = read_str(&test.run, &arena, &Limits::default()).unwrap();
            let rule = program.rules[test.rules[0] as usize].id.clone();
            let run = normal_form(&run).parse().unwrap();
            PolicyTest { name: test.name.clone(), rule, run, expect: test.expect }
        })
        .collect()
}

/// Why a session cannot tell what a run does.
fn untold(run: &Value) -> Option<&'static str> {
    let list = |key: &str| run.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let steps = || list("calls").iter().chain(list("messages"));
    if steps().any(|step| step.get("turn").is_some()) {
        return Some("turns");
    }
    if ["reads", "writes", "commands", "http", "skills", "spans", "handovers"].iter().any(|kind| !list(kind).is_empty())
    {
        return Some("steps that are no calls");
    }
    if ["output", "meta", "inputs", "cost", "usage", "files", "env", "tools"].iter().any(|key| run.get(key).is_some()) {
        return Some("what is known of the whole run");
    }
    if steps().any(|step| {
        step.get("status").and_then(Value::as_str).is_some_and(|word| !matches!(word, "ok" | "failed" | "unknown"))
    }) {
        return Some("calls that others denied");
    }
    let has_agents = list("calls").iter().any(|call| call.get("agent").is_some() || call.get("parent_id").is_some());
    has_agents.then_some("agents")
}

/// The steps of a run in their order: whether each is a call, and the step.
fn steps_of(run: &Value) -> Vec<(bool, &Value)> {
    let list = |key: &str| run.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mut calls, mut messages) = (list("calls").iter(), list("messages").iter());
    match run.get("steps").and_then(Value::as_array) {
        Some(steps) => steps
            .iter()
            .map(|kind| match kind.as_str().unwrap() {
                "call" => (true, calls.next().unwrap()),
                _ => (false, messages.next().unwrap()),
            })
            .collect(),
        None => messages.map(|step| (false, step)).chain(calls.map(|step| (true, step))).collect(),
    }
}

/// The calls, from 1, at which a session that is not held to the rules breaks the rule; and whether it owes it in the end.
fn driven(rules: &Rules, rule: &str, run: &Value) -> (BTreeSet<usize>, bool) {
    let mut guard = Guard::new(rules, GuardMode::Log);
    let (mut broken, mut number) = (BTreeSet::new(), 0);
    let steps = steps_of(run);
    let mut clock = 1_000;
    // What a call gave back is told when it came, before the next step that begins later.
    let mut open: Vec<(u64, CallEnd)> = Vec::new();
    let told = |guard: &Guard| {
        let lines = guard.trace().lines().map(|line| line.parse::<Value>().unwrap());
        lines.filter(|line| line["guard"] == "warned" && is_of_rule(line["rule"].as_str().unwrap(), rule)).count()
    };
    if let Some(prompt) = run.get("prompt").and_then(Value::as_str).filter(|_| run.get("messages").is_none()) {
        guard.message(MessageRole::User, prompt, clock).unwrap();
    }
    for (is_call, step) in steps {
        clock = step.get("start").and_then(Value::as_u64).unwrap_or(clock + 1_000);
        let (ended, still): (Vec<_>, Vec<_>) = open.drain(..).partition(|(end, _)| *end <= clock);
        ended.into_iter().for_each(|(end, call)| guard.result(&call, end).unwrap());
        open = still;
        if !is_call {
            let role = match step["role"].as_str() {
                Some("user") => MessageRole::User,
                Some("assistant") => MessageRole::Assistant,
                _ => MessageRole::System,
            };
            guard.message(role, step["text"].as_str().unwrap_or_default(), clock).unwrap();
            continue;
        }
        number += 1;
        let args = step.get("args").cloned().unwrap_or(Value::Object(serde_json::Map::new()));
        let call = ProposedCall::new(format!("c{number}"), step["tool"].as_str().unwrap(), args);
        let before = told(&guard);
        assert!(matches!(guard.propose(&call, clock).unwrap(), Decision::Pass));
        if told(&guard) > before {
            broken.insert(number);
        }
        let end = step.get("end").and_then(Value::as_u64).unwrap_or(clock + 1);
        let result = step.get("result").filter(|_| step["status"] != "failed").cloned();
        match (result, step.get("error").filter(|error| !error.is_null())) {
            (_, Some(error)) => open.push((end, CallEnd::of(call, Err(error.clone())))),
            (Some(result), None) => open.push((end, CallEnd::of(call, Ok(result)))),
            (None, None) if step["status"] == "failed" => open.push((end, CallEnd::of(call, Err(true.into())))),
            (None, None) => {}
        }
    }
    open.into_iter().for_each(|(end, call)| guard.result(&call, end).unwrap());
    let ended = guard.trace().to_owned() + "{\"guard\":\"stop\",\"time\":99999999999999}\n";
    let last = rules.check_one(&*ended).unwrap();
    let owes = last.results().any(|one| is_of_rule(one.id(), rule) && one.verdict() == Verdict::Fail);
    (broken, owes)
}

fn is_of_rule(assertion: &str, rule: &str) -> bool {
    assertion.rsplit_once('.').is_some_and(|(own, _)| own == rule)
}

#[test]
fn a_scripted_agent_is_stopped_at_the_call_that_breaks_its_policy_and_at_no_other() {
    let (mut stopped, mut reported, mut kept) = (BTreeSet::new(), BTreeSet::new(), 0);
    let (mut rules_seen, mut left_out, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for file in policy_files() {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let rules = Rules::from_text(&name, &std::fs::read_to_string(&file).unwrap()).unwrap();
        for test in tests_of(&rules) {
            let id = format!("{name}/{}", test.rule);
            rules_seen.insert(id.clone());
            if let Some(why) = untold(&test.run) {
                left_out.insert((id, why));
                continue;
            }
            let (broken, owes) = driven(&rules, &test.rule, &test.run);
            let replay = replay_run(&rules, GuardMode::Log, &test.run.to_string()).unwrap();
            let is_own = |breach: &averment_guard::judge::RuleBreach| is_of_rule(&breach.id, &test.rule);
            let foretold: BTreeSet<usize> =
                replay.breaches.iter().filter(|one| one.breaches.iter().any(is_own)).map(|one| one.call).collect();
            if broken != foretold {
                wrong.push(format!("{id}: {}: stopped at {broken:?}, foretold {foretold:?}", test.name));
            }
            let denies = rules.assertions().any(|one| is_of_rule(one.id(), &test.rule) && one.online_use().denies);
            let is_right = match test.expect {
                Verdict::Fail if denies => !broken.is_empty() || owes,
                _ => broken.is_empty(),
            };
            if !is_right {
                wrong.push(format!("{id}: {}: {} is expected, stopped at {broken:?}", test.name, test.expect.as_str()));
            }
            match test.expect {
                Verdict::Fail if denies => drop(stopped.insert(id)),
                Verdict::Fail => drop(reported.insert(id)),
                _ => kept += 1,
            }
        }
    }
    left_out.retain(|(id, _)| !stopped.contains(id) && !reported.contains(id));
    let (seen, stopped, reported) = (rules_seen.len(), stopped.len(), reported.len());
    println!("{seen} rules: {stopped} stop, {reported} are told later; {kept} kept runs; left out: {left_out:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(stopped > 30 && kept > 60, "{stopped} stopped, {kept} kept");
}
