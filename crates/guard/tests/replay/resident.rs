//! A guard with a session cache answers like one that reads the whole log for each decision.

use super::rule_texts::{MORE, TIMED};
use super::{Choices, FORETOLD};
use averment::Rules;
use averment::guard::decide::{CallJudge, EventLog};
use averment::guard::event::LogLine;
use averment::guard::log_memory::LogMemory;
use averment::guard::request::{answer_text, read_request};
use averment::guard::{CallEnd, Decision, ProposedCall};
use averment_guard::hook::SessionGuard;
use averment_guard::judge::GuardMode;
use averment_guard::resident::ResidentSessions;
use averment_guard::session::{SessionKey, now};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn rule_sets(choices: &mut Choices, sets: usize, more: &[&str]) -> Vec<Rules> {
    let texts: Vec<&str> = FORETOLD.iter().map(|(text, _)| *text).chain(more.iter().copied()).collect();
    let mut rule = |number: usize| {
        let text = texts[usize::try_from(choices.below(texts.len() as u64)).unwrap()];
        format!("rule s{number} {{ {text} }}\n")
    };
    let set = |_| {
        let rules: String = (0..7).map(&mut rule).collect();
        Rules::from_text("r.assert", &format!("def spotted(s) = s contains \"k3\"\n{rules}"))
    };
    (0..sets).map(set).collect::<Result<_, _>>().unwrap()
}

/// Generates the requests of a session. Some calls have no id or a duplicate one; results arrive late, twice or never.
fn requests(choices: &mut Choices, length: usize) -> Vec<Value> {
    let mut open: Vec<Value> = Vec::new();
    let mut made: Vec<Value> = Vec::new();
    let mut next = |number: usize| match choices.below(10) {
        0..=4 => {
            let word = ["a", "b", "c", "d", "e", "Bash", "Read", "Write"][usize::try_from(choices.below(8)).unwrap()];
            let command = ["ls", "rm -rf build", "cat notes.md"][usize::try_from(choices.below(3)).unwrap()];
            let path = ["notes.md", "src/a.rs"][usize::try_from(choices.below(2)).unwrap()];
            let k = choices.below(4);
            let name = if k == 3 { "k3" } else { "plain" };
            let mut call = json!({ "id": format!("c{number}"), "tool": word,
                "args": { "k": k, "name": name, "command": command, "file_path": path } });
            match choices.below(24) {
                0 => drop(call.as_object_mut().unwrap().remove("id")),
                1 => call["id"] = "c1".into(),
                2 => call["agent"] = "helper".into(),
                3 => call["args"] = Value::Null,
                _ => {}
            }
            open.push(call.clone());
            made.push(call.clone());
            json!({ "propose": call })
        }
        5..=7 if !open.is_empty() => {
            let place = usize::try_from(choices.below(open.len() as u64)).unwrap();
            let call = if choices.below(12) == 0 { open[place].clone() } else { open.remove(place) };
            match choices.below(4) {
                0 => json!({ "result": { "id": call["id"], "tool": call["tool"], "error": "failed" } }),
                result => json!({ "result": { "id": call["id"], "tool": call["tool"], "result": result % 3 } }),
            }
        }
        8 if !made.is_empty() => {
            json!({ "propose": made[usize::try_from(choices.below(made.len() as u64)).unwrap()] })
        }
        9 if number.is_multiple_of(4) => json!({ "stop": { "held": choices.below(2) == 0 } }),
        _ => {
            let role = ["user", "assistant"][number % 2];
            json!({ "message": { "role": role, "text": "go on" } })
        }
    };
    (0..length).map(&mut next).collect()
}

/// Returns a folder in memory if possible, because these tests are not about the disk.
fn log_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Truncates the log of a session somewhere, within a line or after one.
fn cut_log(folder: &Path, lines: usize, part: usize) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let kept: String = text.split_inclusive('\n').take(lines).collect();
        let rest = text[kept.len()..].chars().take(part).filter(|letter| *letter != '\n').collect::<String>();
        fs::write(path, kept + &rest).unwrap();
    }
}

/// Returns the lines of all logs, without their times.
fn log_lines(folder: &Path) -> Vec<Value> {
    let texts = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let whole = |text: String| text.rsplit_once('\n').map(|(lines, _)| lines.to_owned()).unwrap_or_default();
    let lines = texts
        .map(whole)
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>());
    lines.map(without_time).collect()
}

fn without_time(mut line: Value) -> Value {
    line.as_object_mut().unwrap().remove("time").map(|_| line).unwrap()
}

pub(crate) fn compare_ways(seed: u64, sets: usize, length: usize) -> usize {
    let mut choices = Choices(seed);
    let mut denied = 0;
    for (number, rules) in rule_sets(&mut choices, sets, MORE).into_iter().enumerate() {
        let mode = [GuardMode::Enforce, GuardMode::Warn, GuardMode::Log][number % 3];
        let (fresh, kept) = (log_folder(), log_folder());
        let new =
            |folder, resident| SessionGuard { rules: &rules, rule_names: "r", mode, folder, resident, seeds: false };
        let resident = Some(Arc::new(ResidentSessions::new(&rules)));
        let (reads_all, keeps) = (new(fresh.path(), None), new(kept.path(), resident));
        let other_writer = new(kept.path(), None);
        for (at, mut request) in requests(&mut choices, length).into_iter().enumerate() {
            request["session"] = "s".into();
            let line = request.to_string();
            // Waits a millisecond, since the order of ends and starts depends on times in milliseconds, and both guards must see the same order.
            thread::sleep(Duration::from_millis(1));
            let asked = if choices.below(6) == 0 { &other_writer } else { &keeps };
            let (one, other) = (reads_all.answer_request(line.as_bytes()), asked.answer_request(line.as_bytes()));
            assert_eq!(one, other, "seed {seed}, set {number}, request {at}: {line}\n{}", told(&rules, kept.path()));
            denied += usize::from(one.contains("deny"));
            if choices.below(25) == 0 {
                let (lines, part) = (usize::try_from(choices.below(at as u64 + 2)).unwrap(), at % 30);
                [fresh.path(), kept.path()].into_iter().for_each(|folder| cut_log(folder, lines, part));
            }
        }
        assert_eq!(log_lines(fresh.path()), log_lines(kept.path()), "seed {seed}, set {number}");
    }
    denied
}

fn told(rules: &Rules, folder: &Path) -> String {
    let rules: Vec<String> = rules.assertions().map(|one| format!("{}: {}", one.id(), one.text())).collect();
    let lines: Vec<String> = log_lines(folder).iter().map(Value::to_string).collect();
    format!("{}\n{}", rules.join("\n"), lines.join("\n"))
}

#[test]
fn a_resident_guard_answers_what_one_says_that_reads_all() {
    assert!(compare_ways(3, 9, 24) > 3);
}

/// A session that is judged as a whole each time.
#[derive(Default)]
struct WholeLog(LogMemory);

impl EventLog for WholeLog {
    fn memory_mut(&mut self) -> &mut LogMemory {
        &mut self.0
    }

    fn append_line(&mut self, line: &LogLine<'_>) -> Result<(), String> {
        self.0.push_line(&line.to_text());
        Ok(())
    }
}

/// `AVERMENT_GUARD_SETS=1000` tests that many sets of rules.
#[test]
fn a_session_is_judged_by_parts_as_it_is_as_a_whole() {
    let sets = std::env::var("AVERMENT_GUARD_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(25);
    let (mut choices, mut denied) = (Choices(17), 0);
    let more = [MORE, TIMED, TIMED].concat();
    for (number, rules) in rule_sets(&mut choices, sets, &more).into_iter().enumerate() {
        let mode = [GuardMode::Enforce, GuardMode::Warn, GuardMode::Log][number % 3];
        let (mut by_parts, mut whole) = (averment::guard::Guard::new(&rules, mode), WholeLog::default());
        let judge = CallJudge { rules: &rules, mode, index: None };
        let mut time = 0;
        for request in requests(&mut choices, 60) {
            time += choices.below(4);
            if whole.0.text().is_empty() {
                let first = LogLine::Session { id: "guard", agent: "guard", time, messages: true, seeded: None };
                whole.append_line(&first).unwrap();
            }
            let answer = by_parts.answer_request(request.to_string().as_bytes(), time);
            let asked = request.as_object().unwrap();
            let decided = read_request(asked, &[]).and_then(|event| judge.decide(&mut whole, &event, time));
            let expected = answer_text(&decided.unwrap_or_else(Decision::Refuse), mode);
            let rules = || rules.assertions().map(|one| format!("{}: {}\n", one.id(), one.text())).collect::<String>();
            assert_eq!(answer, expected, "set {number}: {request}\n{}{}", rules(), whole.0.text());
            denied += usize::from(answer.contains("deny"));
        }
        assert_eq!(by_parts.trace(), whole.0.text(), "set {number}");
    }
    assert!(denied > sets / 10, "{denied} of {sets} sets");
}

#[test]
fn a_session_in_memory_is_answered_as_one_on_the_disk() {
    let (mut choices, mut denied) = (Choices(5), 0);
    for (number, rules) in rule_sets(&mut choices, 12, MORE).into_iter().enumerate() {
        let mode = [GuardMode::Enforce, GuardMode::Warn, GuardMode::Log][number % 3];
        let folder = log_folder();
        let on_disk =
            SessionGuard { rules: &rules, rule_names: "r", mode, folder: folder.path(), resident: None, seeds: false };
        let mut in_memory = averment::guard::Guard::new(&rules, mode);
        for request in requests(&mut choices, 24) {
            let answer = in_memory.answer_request(request.to_string().as_bytes(), now());
            let mut asked = request;
            asked["session"] = "s".into();
            assert_eq!(answer, on_disk.answer_request(asked.to_string().as_bytes()), "set {number}: {asked}");
            denied += usize::from(answer.contains("deny"));
        }
        let lines = in_memory.trace().lines().skip(1).map(|line| without_time(line.parse().unwrap()));
        assert_eq!(lines.collect::<Vec<_>>(), log_lines(folder.path())[1..], "set {number}");
    }
    assert!(denied > 3);
}

#[test]
fn calls_stay_in_their_order_when_the_clock_is_set_back() {
    let rules = Rules::from_text("r.assert", "never send after fetch\nbefore read -> write").unwrap();
    let mut guard = averment::guard::Guard::new(&rules, GuardMode::Enforce);
    let call = |tool: &str| ProposedCall::new(tool, tool, json!({}));
    for (tool, time) in [("read", 9_000_000), ("write", 5_000_000), ("fetch", 4_000_000)] {
        assert_eq!(guard.propose(&call(tool), time).unwrap(), Decision::Pass, "{tool}");
    }
    assert!(matches!(guard.propose(&call("send"), 3_000_000).unwrap(), Decision::Deny(_)));
}

#[test]
fn calls_within_a_millisecond_do_not_overlap() {
    let rules = Rules::from_text("r.assert", "apart look, change").unwrap();
    let mut guard = averment::guard::Guard::new(&rules, GuardMode::Enforce);
    for tool in ["look", "change"] {
        let call = ProposedCall::new(tool, tool, json!({}));
        assert_eq!(guard.propose(&call, 1_000).unwrap(), Decision::Pass, "{tool}");
        guard.result(&CallEnd::of(call, Ok(1.into())), 1_000).unwrap();
    }
    // A call that begins before another one has ended overlaps it.
    let mut guard = averment::guard::Guard::new(&rules, GuardMode::Enforce);
    assert_eq!(guard.propose(&ProposedCall::new("1", "look", json!({})), 1_000).unwrap(), Decision::Pass);
    let second = guard.propose(&ProposedCall::new("2", "change", json!({})), 1_000).unwrap();
    assert_eq!(second, Decision::Pass, "whether it overlaps is known when both have ended");
}

#[test]
fn a_result_is_not_that_of_a_call_that_was_denied() {
    let text = "never approve(id == 1)\nbefore approve(id: $x) ok -> refund(id: $x)";
    let rules = Rules::from_text("r.assert", text).unwrap();
    let folder = log_folder();
    let guard = SessionGuard {
        rules: &rules,
        rule_names: "r",
        mode: GuardMode::Enforce,
        folder: folder.path(),
        resident: None,
        seeds: false,
    };
    let ask = |request: Value| guard.answer_request(request.to_string().as_bytes());
    let propose = |tool: &str, id: u32| json!({ "session": "s", "propose": { "tool": tool, "args": { "id": id } } });
    assert!(ask(propose("approve", 1)).contains("deny"));
    assert!(ask(propose("approve", 2)).contains("pass"));
    assert!(ask(json!({ "session": "s", "result": { "tool": "approve", "result": 1 } })).contains("pass"));
    assert!(ask(propose("refund", 1)).contains("deny"));
    assert!(ask(propose("refund", 2)).contains("pass"));
}

#[test]
fn what_is_owed_at_a_stop_lets_no_call_through() {
    let rules = Rules::from_text("r.assert", "all of { require x; never a }").unwrap();
    for is_resident in [false, true] {
        let folder = log_folder();
        let resident = is_resident.then(|| Arc::new(ResidentSessions::new(&rules)));
        let guard = SessionGuard {
            rules: &rules,
            rule_names: "r",
            mode: GuardMode::Enforce,
            folder: folder.path(),
            resident,
            seeds: false,
        };
        let ask = |request: Value| guard.answer_request(request.to_string().as_bytes());
        assert!(ask(json!({ "session": "s", "propose": { "tool": "b" } })).contains("pass"));
        assert!(ask(json!({ "session": "s", "stop": { "held": true } })).contains("pass"));
        assert!(ask(json!({ "session": "s", "propose": { "tool": "a" } })).contains("deny"), "{is_resident}");
    }
}

/// Returns the time of a decision after this many calls, of which the rules name few.
fn time_of_decision(rules: &Rules, calls: usize) -> Duration {
    let folder = log_folder();
    let key = SessionKey { agent: "serve", id: "s", rules: "r" };
    let first = r#"{"guard":"session","id":"s","agent":"serve","time":1,"messages":true}"#;
    let mut log = first.to_owned();
    for number in 0..calls {
        let args = format!("{{\"path\":\"src/{number}.rs\",\"words\":\"{}\"}}", "word ".repeat(20));
        log += &format!(
            "\n{{\"guard\":\"call\",\"id\":\"c{number}\",\"tool\":\"look\",\"args\":{args},\"time\":{number}}}"
        );
        log += &format!(
            "\n{{\"guard\":\"result\",\"id\":\"c{number}\",\"tool\":\"look\",\"time\":{number},\"result\":1}}"
        );
    }
    fs::write(folder.path().join(key.file_name()), log + "\n").unwrap();
    let resident = Some(Arc::new(ResidentSessions::new(rules)));
    let guard = SessionGuard {
        rules,
        rule_names: "r",
        mode: GuardMode::Enforce,
        folder: folder.path(),
        resident,
        seeds: false,
    };
    let mut times: Vec<Duration> = (0..15)
        .map(|number| {
            let tool = ["pay", "look"][number % 2];
            let call = json!({ "id": format!("p{number}"), "tool": tool, "args": { "amount": 1 } });
            let line = json!({ "session": "s", "propose": call }).to_string();
            let began = Instant::now();
            assert!(guard.answer_request(line.as_bytes()).contains("pass"));
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_decision_costs_what_its_rules_look_back_at() {
    let text = "count pay <= 90\nnever drop\nonly look, pay\nfirst look\nnever repeat pay more than 20 times";
    let rules = Rules::from_text("r.assert", text).unwrap();
    let (few, many) = (time_of_decision(&rules, 30), time_of_decision(&rules, 600));
    assert!(many < few * 5, "{many:?} behind 20 times as many calls as {few:?}");
}

/// Returns the time of a decision after this many calls that rules name but that share no value.
fn time_among_matches(rules: &Rules, calls: usize) -> Duration {
    let mut guard = averment::guard::Guard::new(rules, GuardMode::Enforce);
    let mut ask = |number: usize, tool: &str| {
        let call = ProposedCall::new(format!("c{number}"), tool, json!({}));
        let began = Instant::now();
        assert_eq!(guard.propose(&call, 0).unwrap(), Decision::Pass);
        let took = began.elapsed();
        guard.result(&CallEnd::of(call, Ok(1.into())), 0).unwrap();
        took
    };
    for number in 0..calls {
        ask(number, ["read", "write"][number % 2]);
    }
    let mut times: Vec<Duration> = (0..15).map(|number| ask(calls + number, "write")).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_few_earlier_calls_are_enough_where_one_is() {
    let rules = Rules::from_text("r.assert", "before read ok -> write\nbefore read -> write within 9h").unwrap();
    let (few, many) = (time_among_matches(&rules, 40), time_among_matches(&rules, 800));
    assert!(many < few * 3, "{many:?} behind 20 times as many calls as {few:?}");
}

#[test]
fn a_rule_that_cannot_be_evaluated_any_more_denies_what_it_looks_at() {
    let rule = "each note: all x in args.xs: all y in args.xs: x + y < 100";
    let few = averment::Limits { fuel: 2_000, ..averment::Limits::default() };
    let rules = Rules::builder().text("r", rule).limits(few).build().unwrap();
    let folder = TempDir::new().unwrap();
    let sessions = Arc::new(ResidentSessions::new(&rules));
    let guard = |mode, resident| SessionGuard {
        rules: &rules,
        rule_names: "r",
        mode,
        folder: folder.path(),
        resident,
        seeds: false,
    };
    for (session, resident) in [("read", None), ("kept", Some(sessions))] {
        let decision = |mode: GuardMode, mut request: Value| {
            request["session"] = session.into();
            let answer = guard(mode, resident.clone()).answer_request(request.to_string().as_bytes());
            serde_json::from_str::<Value>(&answer).unwrap()["decision"].as_str().unwrap().to_owned()
        };
        let note = |id: &str, xs: Vec<u64>| json!({ "propose": { "id": id, "tool": "note", "args": { "xs": xs } } });
        // In log mode the call was let through; from here on, the whole session cannot be judged by this rule.
        assert_eq!(decision(GuardMode::Log, note("a", vec![0; 100])), "pass");
        for id in ["b", "c"] {
            assert_eq!(decision(GuardMode::Enforce, note(id, vec![1, 200])), "deny", "{session}");
        }
        let look = json!({ "propose": { "id": "d", "tool": "look", "args": {} } });
        assert_eq!(decision(GuardMode::Enforce, look), "pass", "{session}");
    }
}
