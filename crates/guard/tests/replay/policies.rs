//! Runs a scripted agent over the tests of the policies in `examples/policies`. It is stopped at exactly the call that breaks the rule of a test, and
//! in no run that keeps the rule.

use averment::guard::{CallEnd, Decision, Guard, MessageRole, ProposedCall};
use averment::{Rules, Verdict};
use averment_base::limits::Limits;
use averment_guard::judge::GuardMode;
use averment_guard::replay::{ReplayedBreach, replay_run};
use averment_runs::run::StepKind;
use averment_runs::write_normal::normal_form;
use averment_traces::read_str;
use bumpalo::Bump;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A test of a policy: its rule, its run as written and in the normal form, and the expected verdict.
struct PolicyTest {
    name: String,
    rule: String,
    written: Value,
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
            PolicyTest { name: test.name.clone(), rule, written: test.run.parse().unwrap(), run, expect: test.expect }
        })
        .collect()
}

/// A step as a session reports it.
enum ToldStep<'a> {
    Message(&'a Value),
    Call { call: ProposedCall, step: &'a Value },
}

impl ToldStep<'_> {
    fn step(&self) -> &Value {
        match self {
            Self::Message(step) | Self::Call { step, .. } => step,
        }
    }
}

/// Returns the steps of a run in order. A command, a read or a write is the effect of a coding agent's call.
///
/// # Errors
/// The reason why a session cannot report them.
fn told_steps(test: &PolicyTest) -> Result<Vec<ToldStep<'_>>, &'static str> {
    let run = &test.run;
    let kinds = StepKind::ALL.into_iter().filter(|kind| is_written(&test.written, *kind));
    let mut lists: Vec<(StepKind, std::slice::Iter<'_, Value>)> =
        kinds.map(|kind| (kind, list_of(run, kind.list_key()).iter())).collect();
    let order: Vec<StepKind> = match run.get("steps").and_then(Value::as_array) {
        Some(steps) => steps.iter().map(|kind| kind_of(kind.as_str().unwrap())).collect(),
        None => lists.iter().flat_map(|(kind, list)| vec![*kind; list.len()]).collect(),
    };
    let mut told = Vec::new();
    for kind in order {
        let Some(step) = lists.iter_mut().find(|(own, _)| *own == kind).and_then(|(_, list)| list.next()) else {
            continue;
        };
        let of_tool = |tool: &str, args: Value| {
            let agent = step.get("agent").and_then(Value::as_str).filter(|agent| *agent != "main");
            let call = ProposedCall::new(format!("c{}", told.len()), tool, args);
            ToldStep::Call { call: ProposedCall { agent: agent.map(ToOwned::to_owned), ..call }, step }
        };
        let one = match kind {
            StepKind::Message => ToldStep::Message(step),
            StepKind::Call => of_tool(step["tool"].as_str().unwrap(), step.get("args").cloned().unwrap_or(json!({}))),
            StepKind::Command => of_tool("Bash", json!({ "command": step.get("command").unwrap_or(step) })),
            StepKind::Read => of_tool("Read", json!({ "file_path": step.get("path").unwrap_or(step) })),
            StepKind::Write => {
                of_tool("Write", json!({ "file_path": step.get("path").unwrap_or(step), "content": "" }))
            }
            _ => return Err("hand-overs, skills, spans and requests"),
        };
        told.push(one);
    }
    Ok(told)
}

fn list_of<'a>(run: &'a Value, key: &str) -> &'a [Value] {
    run.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn kind_of(word: &str) -> StepKind {
    StepKind::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap()
}

/// True if the run itself lists steps of this kind, instead of deriving them from others.
fn is_written(written: &Value, kind: StepKind) -> bool {
    let steps = list_of(written, "steps");
    !list_of(written, kind.list_key()).is_empty() || steps.iter().any(|step| step["kind"] == kind.as_str())
}

/// Returns the calls, from 1, that break the rule in a session in log mode, and whether the session fails in the end.
fn driven(rules: &Rules, test: &PolicyTest, steps: Vec<ToldStep<'_>>) -> (BTreeSet<usize>, bool) {
    let mut guard = Guard::new(rules, GuardMode::Log);
    let (mut broken, mut number, mut clock) = (BTreeSet::new(), 0, 1_000);
    // The result of a call is reported when it arrives, because calls of one turn run concurrently.
    let mut open: Vec<(u64, Option<u64>, CallEnd)> = Vec::new();
    if let Some(prompt) = test.run.get("prompt").and_then(Value::as_str).filter(|_| test.run.get("messages").is_none())
    {
        guard.message(MessageRole::User, prompt, clock).unwrap();
    }
    for told in steps {
        let whole = |key: &str| told.step().get(key).and_then(Value::as_u64);
        clock = whole("start").unwrap_or(clock + 1_000);
        let turn = whole("turn");
        let is_over = |(end, of, _): &(u64, Option<u64>, CallEnd)| *end <= clock && (of.is_none() || *of != turn);
        let (ended, still): (Vec<_>, Vec<_>) = open.drain(..).partition(is_over);
        ended.into_iter().for_each(|(end, _, call)| guard.result(&call, end).unwrap());
        open = still;
        let end = whole("end").unwrap_or(clock + 1);
        match told {
            ToldStep::Message(step) => {
                let role = match step["role"].as_str() {
                    Some("user") => MessageRole::User,
                    Some("assistant") => MessageRole::Assistant,
                    _ => MessageRole::System,
                };
                guard.message(role, step["text"].as_str().unwrap_or_default(), clock).unwrap();
            }
            ToldStep::Call { call, step } => {
                number += 1;
                let before = warnings(&guard, &test.rule);
                assert_eq!(guard.propose(&call, clock).unwrap(), Decision::Pass);
                if warnings(&guard, &test.rule) > before {
                    broken.insert(number);
                }
                open.extend(end_of(call, step).map(|ended| (end, turn, ended)));
            }
        }
    }
    open.into_iter().for_each(|(end, _, call)| guard.result(&call, end).unwrap());
    let ended = guard.trace().to_owned() + "{\"guard\":\"stop\",\"time\":99999999999999}\n";
    let last = rules.check_one(&*ended).unwrap();
    let fails = last.results().any(|one| is_of_rule(one.id(), &test.rule) && one.verdict() == Verdict::Fail);
    (broken, fails)
}

fn warnings(guard: &Guard, rule: &str) -> usize {
    let lines = guard.trace().lines().map(|line| line.parse::<Value>().unwrap());
    lines.filter(|line| line["guard"] == "warned" && is_of_rule(line["rule"].as_str().unwrap(), rule)).count()
}

fn end_of(call: ProposedCall, step: &Value) -> Option<CallEnd> {
    let error = step.get("error").filter(|error| !error.is_null()).cloned();
    let has_failed = step["status"] == "failed" || step.get("exit_code").is_some_and(|code| *code != 0);
    let done = step.get("exit_code").map(|_| Value::from("done"));
    // For calls in turns, it only matters that they have ended.
    let done = done.or(step.get("turn").map(|_| Value::Null));
    match (error, step.get("result").cloned().or(done)) {
        (Some(error), _) => Some(CallEnd::of(call, Err(error))),
        (None, _) if has_failed => Some(CallEnd::of(call, Err(true.into()))),
        (None, result) => result.map(|result| CallEnd::of(call, Ok(result))),
    }
}

/// Facts about a run beside its steps, which a session does not report.
const FACTS: [&str; 8] = ["output", "meta", "inputs", "cost", "usage", "files", "env", "tools"];

fn is_of_rule(assertion: &str, rule: &str) -> bool {
    assertion.rsplit_once('.').is_some_and(|(own, _)| own == rule)
}

#[test]
fn a_scripted_agent_is_stopped_at_the_call_that_breaks_its_policy_and_at_no_other() {
    let (mut stopped, mut told_later, mut kept) = (BTreeSet::new(), BTreeSet::new(), 0);
    let (mut rules_seen, mut left_out, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for file in policy_files() {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let rules = Rules::from_text(&name, &std::fs::read_to_string(&file).unwrap()).unwrap();
        for test in tests_of(&rules) {
            let id = format!("{name}/{}", test.rule);
            rules_seen.insert(id.clone());
            let assertions = || rules.assertions().filter(|one| is_of_rule(one.id(), &test.rule));
            let denies = assertions().any(|one| one.online_use().denies);
            let steps = match told_steps(&test) {
                Ok(steps) => steps,
                Err(why) => {
                    left_out.insert((id, why));
                    continue;
                }
            };
            let (broken, fails) = driven(&rules, &test, steps);
            // Only calls are replayed; their effects are part of them there.
            let does_more =
                StepKind::ALL.into_iter().any(|kind| kind != StepKind::Call && is_written(&test.written, kind));
            let has_facts = FACTS.iter().any(|key| test.written.get(key).is_some());
            if !does_more && !has_facts {
                let replay = replay_run(&rules, GuardMode::Log, &test.run.to_string()).unwrap();
                let is_own =
                    |one: &ReplayedBreach| one.breaches.iter().any(|breach| is_of_rule(&breach.id, &test.rule));
                let foretold: BTreeSet<usize> =
                    replay.breaches.iter().filter(|one| is_own(one)).map(|one| one.call).collect();
                if broken != foretold && !assertions().any(|one| one.text().starts_with("apart")) {
                    wrong.push(format!("{id}: {}: stopped at {broken:?}, foretold {foretold:?}", test.name));
                }
            }
            let is_right = match test.expect {
                Verdict::Fail if denies => !broken.is_empty() || fails,
                _ => broken.is_empty(),
            };
            // Sessions record no turns, so conditions on turns are undecided.
            let asks_turns = assertions().any(|one| one.text().contains(" turn"));
            if asks_turns {
                assert!(broken.is_empty() && !fails, "{id}: {}", test.name);
                left_out.insert((id, "turns"));
            } else if has_facts && denies && test.expect == Verdict::Fail && broken.is_empty() {
                left_out.insert((id, "what only a recorded run says"));
            } else if !is_right {
                wrong.push(format!("{id}: {}: {} is expected, stopped at {broken:?}", test.name, test.expect.as_str()));
            } else if test.expect != Verdict::Fail {
                kept += 1;
            } else if !broken.is_empty() {
                stopped.insert(id);
            } else {
                told_later.insert(id);
            }
        }
    }
    told_later.retain(|id| !stopped.contains(id));
    left_out.retain(|(id, _)| !stopped.contains(id) && !told_later.contains(id));
    let (seen, stopped, told_later) = (rules_seen.len(), stopped.len(), told_later.len());
    println!("{seen} rules: {stopped} stop, {told_later} are told later; {kept} kept runs; left out: {left_out:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(stopped > 50 && kept > 120 && left_out.len() <= 5, "{stopped} stopped, {kept} kept, {left_out:?}");
}
